//! Cases of the log of table `walt`.

use std::fs;
use std::path::{Path, PathBuf};

use sstable::{CellRef, Timestamp};

use super::{DirectoryCase, Outcome, WALT};
use crate::cells::PUT;
use crate::plain_log::{EntryKey, PlainLog};

/// The cases.
pub(super) const CASES: &[DirectoryCase] = &[
    WALT.case("an entry of a log writes a cell twice", write_twice, Outcome::Cells),
    WALT.case("a log is of the codec of Phoenix", name_phoenix, Outcome::Cells),
    WALT.case("an entry of a log is damaged", damage, Outcome::Error("damaged at offset"))
        .verify("store files may be lost unnoticed"),
];

/// The class of the cell codec in the headers of HBase's logs.
const CODEC: &[u8] = b"org.apache.hadoop.hbase.regionserver.wal.WALCellCodec";
/// The class of Phoenix's.
const PHOENIX_CODEC: &[u8] = b"org.apache.hadoop.hbase.regionserver.wal.IndexedWALEditCodec";

/// Writes a cell that the table has twice in one entry: first with another value.
fn write_twice(root: &Path) {
    change_log(root, |bytes| {
        let (region, write_time) = ("83a2af9efa70f232938815b9cf317a11", 1_795_621_492_400);
        let key = EntryKey { region, table: "walt", sequence: 1_000, write_time, padding: 0 };
        let timestamp = Timestamp::new(1_795_621_492_236);
        let cell = |value| CellRef { row: b"app", qualifier: b"x", timestamp, value, ..PUT };
        let mut log = PlainLog { bytes: bytes.to_vec() };
        log.entry(key, &[cell(b"wrong"), cell(b"onetwo")]);
        log.bytes
    });
}

/// Names Phoenix's codec in the header; without dictionaries, both write the same.
fn name_phoenix(root: &Path) {
    change_log(root, |bytes| {
        let at = bytes.windows(CODEC.len()).position(|bytes| bytes == CODEC);
        let at = at.expect("the header names the codec");
        let (before, after) = (&bytes[..at], &bytes[at + CODEC.len()..]);
        let mut changed = [before, PHOENIX_CODEC, after].concat();
        // The lengths of the message and of the name; both are less than 128.
        let more = (PHOENIX_CODEC.len() - CODEC.len()) as u8;
        changed[4] += more;
        changed[at - 1] += more;
        changed
    });
}

/// Damages the length of an entry's key.
fn damage(root: &Path) {
    change_log(root, |bytes| {
        let region = b"\x0a\x2083a2af9efa70f232938815b9cf317a11";
        let at = bytes.windows(region.len()).position(|bytes| bytes == region).expect("an entry");
        let mut changed = bytes.to_vec();
        changed[at - 1] = 0;
        changed
    });
}

fn change_log(root: &Path, change: impl FnOnce(&[u8]) -> Vec<u8>) {
    let log: PathBuf = root
        .join("WALs/localhost,41253,1795621469921/localhost%2C41253%2C1795621469921.1795621474690");
    let bytes = fs::read(&log).expect("the log is there");
    fs::write(&log, change(&bytes)).expect("disk takes it");
}
