//! Filters that their Java originals wrote: Guava's bytes, made again and read.
//!
//! `tests/data/originals` says how the files were made.

use filter::ErrorRate;
use filter::bloom::{GuavaBloom, GuavaStrategy};

fn original(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/originals/");
    std::fs::read(format!("{folder}{name}")).expect("the originals are in the repository")
}

fn keys() -> Vec<Vec<u8>> {
    let text = String::from_utf8(original("keys.txt")).expect("hexadecimal text");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let unhex = |line: &str| -> Result<Vec<u8>, _> {
        (0..line.len() / 2).map(|at| u8::from_str_radix(&line[2 * at..2 * at + 2], 16)).collect()
    };
    lines.map(|line| unhex(line).expect("two hexadecimal digits a byte")).collect()
}

#[test]
fn guava_and_we_make_the_same_bytes() {
    let keys = keys();
    assert_eq!(keys.len(), 49);
    for (name, strategy) in [
        ("guava-mitz32.bloom", GuavaStrategy::Mitz32),
        ("guava-mitz64.bloom", GuavaStrategy::Mitz64),
    ] {
        let mut ours = GuavaBloom::create(50, ErrorRate::HBASE, strategy).expect("small enough");
        for key in &keys {
            ours.insert(key);
        }
        assert_eq!(ours.to_bytes(), original(name), "{name}");
        let read = GuavaBloom::from_bytes(&original(name)).expect("a filter of Guava's");
        assert_eq!(read, ours, "{name}");
    }
}
