//! Reads and reproduces filters that Guava and Hadoop wrote.
//!
//! `tests/data/originals/README.md` in the repository says how the files were made.

use std::num::NonZeroU32;

use filter::ErrorRate;
use foreign_filters::hadoop::{BloomFilter, CountingBloomFilter, DynamicBloomFilter, Hash, Shape};
use foreign_filters::{GuavaBloom, GuavaStrategy};
use serde_json::Value;

fn original(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/");
    std::fs::read(format!("{folder}{name}")).expect("the originals are in the package")
}

fn keys() -> Vec<Vec<u8>> {
    let text = String::from_utf8(original("keys.txt")).expect("hexadecimal text");
    text.lines().filter(|line| !line.starts_with('#')).map(unhex).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16);
    (0..text.len()).step_by(2).map(|at| byte(at).expect("two digits per byte")).collect()
}

#[test]
fn guava_filters_are_reproduced_byte_for_byte() {
    let keys = keys();
    assert_eq!(keys.len(), 49);
    for (name, strategy) in [
        ("guava-mitz32.bloom", GuavaStrategy::Mitz32),
        ("guava-mitz64.bloom", GuavaStrategy::Mitz64),
    ] {
        let mut ours = GuavaBloom::new(50, ErrorRate::HBASE, strategy).expect("small enough");
        for key in &keys {
            ours.insert(key);
        }
        assert_eq!(ours.to_bytes(), original(name), "{name}");
        let read = GuavaBloom::from_bytes(&original(name)).expect("a Guava filter");
        assert_eq!(read, ours, "{name}");
    }
}

#[test]
fn hadoop_filters_are_reproduced_byte_for_byte() {
    let keys = keys();
    let text = String::from_utf8(original("hadoop.jsonl")).expect("text");
    assert_eq!(text.lines().count(), 6);
    for line in text.lines() {
        let filter: Value = serde_json::from_str(line).expect("JSON");
        let theirs = unhex(filter["bytes"].as_str().expect("hexadecimal"));
        let hash = if filter["hash"] == "jenkins" { Hash::Jenkins } else { Hash::Murmur };
        let shape = Shape::new(475, 7, hash).expect("in range");
        let (ours, again) = match filter["kind"].as_str() {
            Some("bloom") => {
                let mut filter = BloomFilter::new(shape).expect("small");
                for key in &keys {
                    filter.insert(key).expect("not empty");
                }
                let read = BloomFilter::from_bytes(&theirs);
                (filter.to_bytes(), read.map(|filter| filter.to_bytes()))
            }
            Some("counting") => {
                let mut filter = CountingBloomFilter::new(shape).expect("small");
                for key in &keys {
                    filter.insert(key).expect("not empty");
                }
                for key in &keys[..10] {
                    filter.remove(key).expect("a member");
                }
                let read = CountingBloomFilter::from_bytes(&theirs);
                (filter.to_bytes(), read.map(|filter| filter.to_bytes()))
            }
            _ => {
                let row_keys = NonZeroU32::new(20).expect("not zero");
                let mut filter = DynamicBloomFilter::new(shape, row_keys).expect("small");
                for key in &keys {
                    filter.insert(key).expect("not empty");
                }
                let read = DynamicBloomFilter::from_bytes(&theirs);
                (filter.to_bytes(), read.map(|filter| filter.to_bytes()))
            }
        };
        assert_eq!(ours, theirs, "{} {}", filter["kind"], filter["hash"]);
        assert_eq!(again, Ok(theirs), "{} {}", filter["kind"], filter["hash"]);
    }
}
