//! Filters compared with their Java originals: Guava's `BloomFilter` and the Java code of
//! `SimpleBloomFilter` write the same bytes for the same keys, and each side reads the other's.
//!
//! Run with `HBASE_JUDGE=1`; see `tests/hbase-judge/README.md`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use filter::ErrorRate;
use foreign_filters::{GuavaBloom, GuavaStrategy, SimpleBloom};
use support::{Random, judge, say};

/// Sizings on both sides of every rounding: few keys, odd rates, and one larger filter.
const SIZINGS: [(u64, f64); 12] = [
    (1, 0.5),
    (1, 0.3),
    (1, 0.01),
    (2, 0.1),
    (7, 0.25),
    (100, 0.03),
    (1_000, 0.01),
    (1_000, 0.7),
    (5_000, 1e-6),
    (20_000, 0.001),
    (100_000, 0.02),
    (1_000_000, 0.01),
];

fn text(path: &Path) -> &str {
    path.to_str().expect("a UTF-8 path")
}

/// Returns keys of all lengths, and the file from which the judge reads them.
fn keys(
    directory: &Path,
    name: &str,
    count: usize,
    key: impl Fn(&mut Random) -> Vec<u8>,
) -> (Vec<Vec<u8>>, PathBuf) {
    let mut random = Random::new(11);
    let keys: Vec<_> = (0..count).map(|_| key(&mut random)).collect();
    let mut lines = String::new();
    for key in &keys {
        for byte in key {
            write!(lines, "{byte:02x}").expect("a String");
        }
        lines.push('\n');
    }
    let path = directory.join(name);
    fs::write(&path, lines).expect("writable");
    (keys, path)
}

fn any_bytes(random: &mut Random) -> Vec<u8> {
    (0..=random.below(40)).map(|_| random.next_u64() as u8).collect()
}

/// Returns text of ASCII, of two-byte characters, or of characters of two UTF-16 units.
fn any_text(random: &mut Random) -> Vec<u8> {
    let alphabet: Vec<char> = "abcXYZ019/.:?&=äßж漢😀🦀".chars().collect();
    let text: String =
        (0..=random.below(30)).map(|_| alphabet[random.below(alphabet.len())]).collect();
    text.into_bytes()
}

#[test]
fn guava_writes_the_same_bytes_and_reads_ours() {
    if !judge::is_enabled("guava") {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (keys, keys_path) = keys(directory.path(), "keys", 2_000, any_bytes);
    let (theirs_path, ours_path) = (directory.path().join("theirs"), directory.path().join("ours"));
    let mut equal = 0;
    for (strategy, name) in [(GuavaStrategy::Mitz32, "32"), (GuavaStrategy::Mitz64, "64")] {
        for (expected, rate) in SIZINGS {
            let (expected_text, rate_text) = (expected.to_string(), rate.to_string());
            let made = judge::ask(&[
                "guava",
                "make",
                text(&theirs_path),
                text(&keys_path),
                "--strategy",
                name,
                "--expected",
                &expected_text,
                "--fpp",
                &rate_text,
            ]);
            assert_eq!(made["maybe"], keys.len(), "{made}");
            let error_rate = ErrorRate::new(rate).expect("in range");
            let mut ours = GuavaBloom::new(expected, error_rate, strategy).expect("small enough");
            for key in &keys {
                ours.insert(key);
            }
            let theirs = fs::read(&theirs_path).expect("the judge writes this file");
            assert!(ours.to_bytes() == theirs, "{strategy:?} for {expected} keys at {rate}");
            fs::write(&ours_path, ours.to_bytes()).expect("writable");
            let read = judge::ask(&["guava", "check", text(&ours_path), text(&keys_path)]);
            assert_eq!(read["maybe"], keys.len(), "{read}");
            let expected_rate = read["expectedFpp"].as_f64().expect("a number");
            assert!((ours.error_rate() - expected_rate).abs() <= 1e-12, "{read}");
            equal += 1;
        }
    }
    say(&format!("equal to Guava's bytes, and read by it: {equal} of {}", 2 * SIZINGS.len()));
}

#[test]
fn simple_bloom_filter_sets_the_same_bits_and_reads_ours() {
    if !judge::is_enabled("SimpleBloomFilter") {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (keys, keys_path) = keys(directory.path(), "keys", 5_000, any_text);
    let file = directory.path().join("bits");
    judge::ask(&["simplebloom", "make", text(&file), text(&keys_path)]);
    let mut ours = SimpleBloom::default();
    for key in &keys {
        ours.insert(std::str::from_utf8(key).expect("made from text"));
    }
    assert!(ours.to_bitset() == fs::read(&file).expect("the judge writes this file"));
    let read = judge::ask(&["simplebloom", "check", text(&file), text(&keys_path)]);
    assert_eq!(read["maybe"], keys.len(), "{read}");
    say(&format!("equal to the bits of SimpleBloomFilter: {0} of {0} texts", keys.len()));
}
