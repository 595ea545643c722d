//! Helpers that several tests across crates use.

pub mod cells;
pub mod directory_cases;
pub mod directory_parts;
pub mod disk;
pub mod fixtures;
pub mod foreign;
pub mod hudi;
pub mod judge;
pub mod lookup;
pub mod meta_log;
pub mod mutants;
#[cfg(doctest)]
mod pages;
pub mod parts;
pub mod people;
pub mod plain_log;
pub mod protobuf;
pub mod random;
pub mod read_only;
pub mod root_directory;
pub mod sound;
pub mod spec;
pub mod store_parts;
pub mod test_store;
pub mod ways;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

pub use crate::random::Random;

/// Prints a line also when the test passes and its output is captured.
pub fn say(what: &str) {
    let line = format!("{what}\n");
    // A failed write to stderr cannot be reported.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Copies a directory with all that it contains. Files that are there already are replaced.
///
/// # Panics
///
/// If a file cannot be read or written.
pub fn copy_directory(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("ours");
    for entry in std::fs::read_dir(from).expect("there") {
        let from = entry.expect("listed").path();
        let to = to.join(from.file_name().expect("it has one"));
        if from.is_dir() {
            copy_directory(&from, &to);
        } else {
            std::fs::copy(&from, &to).expect("ours");
        }
    }
}

/// Returns all files below a directory, with their bytes.
///
/// # Panics
///
/// If a file cannot be read.
pub fn contents(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(directory).expect("there") {
        let path = entry.expect("listed").path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else {
            found.insert(path.clone(), std::fs::read(&path).expect("readable"));
        }
    }
    found
}

/// Returns the paths of all files below a directory, in order.
///
/// # Panics
///
/// If a file cannot be read.
pub fn files_below(directory: &Path) -> Vec<PathBuf> {
    contents(directory).into_keys().collect()
}

/// Returns the text of a gzipped file.
///
/// # Panics
///
/// If it cannot be read, or is no text.
pub fn gunzip(path: &Path) -> String {
    let file = std::fs::File::open(path).expect("the file is in the repository");
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).expect("gzipped text");
    text
}

/// Returns the CRC-32 of bytes.
pub fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// Returns bytes as lower-case hex, as in the NDJSON cell format.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}"); // Writing to a string cannot fail.
        hex
    })
}

/// Returns the bytes of hex digits.
///
/// # Panics
///
/// If the text is something else.
pub fn unhex(text: &str) -> Vec<u8> {
    let digits = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal");
    (0..text.len()).step_by(2).map(digits).collect()
}

/// The example of the workspace's README, as a doctest. No crate has it, because a package contains
/// only its own folder.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
