//! The logs of `tests/data/wal`, and how the tests read them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use hbase_files::wal::{End, LogEntry, Reader, Result};
use sstable::FileName;

/// The logs that were closed.
pub(crate) const CLOSED: [&str; 5] =
    ["plain.meta", "dictionary.closed", "dictionary.meta", "value.closed", "value.meta"];
/// The logs that were written when the process was halted.
pub(crate) const OPEN: [&str; 3] = ["plain.open", "dictionary.open", "value.open"];
/// The logs without entries.
pub(crate) const EMPTY: [&str; 3] = ["plain.empty", "dictionary.empty", "value.empty"];

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/wal")
}

pub(crate) fn bytes(name: &str) -> Vec<u8> {
    fs::read(data().join(name)).expect("committed")
}

/// Returns the entries that HBase's reader returned, each as JSON.
pub(crate) fn truth(name: &str) -> Vec<serde_json::Value> {
    if EMPTY.contains(&name) {
        return Vec::new();
    }
    let text = support::gunzip(&data().join(format!("{name}.entries.ndjson.gz")));
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

pub(crate) fn open(bytes: Vec<u8>) -> Result<Reader> {
    Reader::open(Arc::new(Bytes::from(bytes)), FileName::new("log"))
}

/// Reads all entries up to the end or an error.
pub(crate) fn read(bytes: Vec<u8>) -> Result<(Vec<LogEntry>, Result<End>)> {
    let mut reader = open(bytes)?;
    let mut entries = Vec::new();
    for entry in &mut reader {
        match entry {
            Ok(entry) => entries.push(entry),
            Err(error) => {
                assert!(reader.next().is_none(), "an error ends the iteration");
                return Ok((entries, Err(error)));
            }
        }
    }
    let end = reader.end().cloned().expect("the end is known");
    Ok((entries, Ok(end)))
}
