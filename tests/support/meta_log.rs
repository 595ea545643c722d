//! Changes `hbase:meta` of a root directory, by a log of one edit, and writes descriptions of regions.

use std::fs;
use std::path::Path;

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
    let key = [
        field(1, b"1588230740"),
        field(2, b"hbase:meta"),
        [vec![0x18], varint(1_000_000)].concat(),
        [vec![0x20], varint(TIME)].concat(),
        [vec![0x38], varint(puts.len() as u64)].concat(),
    ]
    .concat();
    let codec = b"org.apache.hadoop.hbase.regionserver.wal.WALCellCodec";
    let header = [field(4, b"ProtobufLogWriter"), field(5, codec)].concat();
    let cells: Vec<u8> = puts.iter().flat_map(cell).collect();
    let log = [
        b"PWAL",
        &varint(header.len() as u64)[..],
        &header,
        &varint(key.len() as u64),
        &key,
        &cells,
        b"\0\0\0\0LAWP",
    ]
    .concat();
    let name = directory.file_name().expect("it has a name").display().to_string();
    let name = format!("{}.meta.{TIME}.meta", name.replace(',', "%2C"));
    fs::write(directory.join(name), log).expect("ours");
}

fn cell(put: &MetaPut<'_>) -> Vec<u8> {
    let MetaPut { row, family, qualifier, value } = put;
    let key = [
        &(row.len() as u16).to_be_bytes()[..],
        row.as_bytes(),
        &[family.len() as u8],
        family.as_bytes(),
        qualifier.as_bytes(),
        &TIME.to_be_bytes(),
        &[4],
    ]
    .concat();
    let lens = [key.len() as u32, value.len() as u32].map(u32::to_be_bytes).concat();
    let len = (lens.len() + key.len() + value.len()) as u32;
    [&len.to_be_bytes()[..], &lens, &key, value].concat()
}
