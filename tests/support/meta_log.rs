//! Changes `hbase:meta` of a root directory, by a log of one edit, and writes descriptions of regions.

use std::fs;
use std::path::Path;

use sstable::{CellRef, Timestamp};

use crate::plain_log::{EntryKey, PlainLog};
use crate::protobuf::{field, varint};

/// The start and the end of the key range of a region, and its id.
#[derive(Clone, Copy, Debug)]
pub struct RegionKeys<'r> {
    /// The smallest row.
    pub start: &'r str,
    /// The smallest row after the region.
    pub end: &'r str,
    /// The time at which the region was made.
    pub id: u64,
}

impl RegionKeys<'_> {
    /// Returns the message `RegionInfo` of a region of a table of the default namespace.
    pub fn message(&self, table: &str) -> Vec<u8> {
        let table = [field(1, b"default"), field(2, table.as_bytes())].concat();
        let keys = [field(3, self.start.as_bytes()), field(4, self.end.as_bytes())].concat();
        [vec![0x08], varint(self.id), field(2, &table), keys].concat()
    }

    /// Returns the value of the column `info:regioninfo`.
    pub fn meta_value(&self, table: &str) -> Vec<u8> {
        [b"PBUF", &self.message(table)[..]].concat()
    }

    /// Returns the bytes of a file `.regioninfo`.
    pub fn file(&self, table: &str) -> Vec<u8> {
        let message = self.message(table);
        [b"PBUF", &varint(message.len() as u64)[..], &message].concat()
    }
}

/// A cell of `hbase:meta` to write.
#[derive(Clone, Copy, Debug)]
pub struct MetaPut<'p> {
    /// The row, such as `TABLE,START_KEY,ID.ENCODED.`
    pub row: &'p str,
    /// The family.
    pub family: &'p str,
    /// The qualifier.
    pub qualifier: &'p str,
    /// The value.
    pub value: &'p [u8],
}

/// The time of the cells: after all of the small roots' cells, before the time of their reads.
const TIME: u64 = 1_795_624_000_000;

/// Adds a log with these cells to the directory of the logs of `hbase:meta`.
///
/// # Panics
///
/// If the root directory has no log of `hbase:meta`, or the disk does not take it.
pub fn put_in_meta(root: &Path, puts: &[MetaPut<'_>]) {
    let directories = fs::read_dir(root.join("WALs")).expect("the root has logs");
    let mut directories = directories.map(|entry| entry.expect("listed").path());
    let directory = directories.next().expect("the logs of a server");
    let cells: Vec<_> = puts
        .iter()
        .map(|MetaPut { row, family, qualifier, value }| {
            let time = Timestamp::new(TIME as i64);
            CellRef::put(row.as_bytes(), family.as_bytes(), qualifier.as_bytes(), time, value)
        })
        .collect();
    let (region, table) = ("1588230740", "hbase:meta");
    let key = EntryKey { region, table, sequence: 1_000_000, write_time: TIME, padding: 0 };
    let mut log = PlainLog::with_codec();
    log.entry(key, &cells);
    let log = [&log.bytes[..], b"\0\0\0\0LAWP"].concat();
    // As of a later server: its sequence ids do not continue those of the other log.
    let name = format!("localhost%2C99999%2C1.meta.{TIME}.meta");
    fs::write(directory.join(name), log).expect("ours");
}
