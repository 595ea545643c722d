//! A writer of HBase's write-ahead logs without dictionaries.

use sstable::CellRef;

use crate::protobuf::{field, varint};

/// The class of HBase's cell codec.
const CODEC: &[u8] = b"org.apache.hadoop.hbase.regionserver.wal.WALCellCodec";

/// The key of an entry.
#[derive(Clone, Copy, Debug)]
pub struct EntryKey<'k> {
    /// The encoded name of the region.
    pub region: &'k str,
    /// The name of the table.
    pub table: &'k str,
    /// The sequence id of the entry's cells.
    pub sequence: u64,
    /// The time of the write in milliseconds since 1970.
    pub write_time: u64,
    /// The length of a field that readers ignore.
    pub padding: usize,
}

/// A log without dictionaries and without a trailer.
#[derive(Clone, Debug)]
pub struct PlainLog {
    /// The bytes written so far.
    pub bytes: Vec<u8>,
}

impl PlainLog {
    /// Begins a log whose header has no fields.
    pub fn new() -> Self {
        Self { bytes: b"PWAL\0".to_vec() }
    }

    /// Begins a log whose header names HBase's codec.
    pub fn with_codec() -> Self {
        let header = field(5, CODEC);
        Self { bytes: [b"PWAL", &varint(header.len())[..], &header].concat() }
    }

    /// Writes an entry; returns its offset.
    pub fn entry(&mut self, key: EntryKey<'_>, cells: &[CellRef<'_>]) -> usize {
        let offset = self.bytes.len();
        let EntryKey { region, table, sequence, write_time, padding } = key;
        let number = |tag: u8, number: u64| [vec![tag], varint(number)].concat();
        let message = [
            field(1, region.as_bytes()),
            field(2, table.as_bytes()),
            number(0x18, sequence),
            number(0x20, write_time),
            number(0x38, cells.len() as u64),
            if padding == 0 { Vec::new() } else { field(12, &vec![0; padding]) },
        ]
        .concat();
        self.bytes.extend([varint(message.len()), message].concat());
        for cell in cells {
            let mut key = Vec::new();
            cell.key().write_flat(&mut key);
            let len = |len: usize| (len as u32).to_be_bytes();
            let body = [&len(key.len())[..], &len(cell.value.len()), &key, cell.value].concat();
            let tags = [&(cell.tags.len() as u16).to_be_bytes()[..], cell.tags].concat();
            let tags = if cell.tags.is_empty() { Vec::new() } else { tags };
            self.bytes.extend([&len(body.len() + tags.len())[..], &body, &tags].concat());
        }
        offset
    }

    /// Writes the marker of an event, such as `REGION_OPEN`.
    pub fn event(&mut self, key: EntryKey<'_>, event: &str) {
        let qualifier = format!("HBASE::REGION_EVENT::{event}");
        let time = sstable::Timestamp::new(1);
        let marker = CellRef::put(b"row", b"METAFAMILY", qualifier.as_bytes(), time, b"");
        self.entry(key, &[marker]);
    }
}

impl Default for PlainLog {
    fn default() -> Self {
        Self::new()
    }
}
