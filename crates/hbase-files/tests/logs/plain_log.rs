//! A writer of logs without dictionaries, for tests.

use support::protobuf::{field, varint};

/// A cell to write: row, family, qualifier, timestamp and value; the type is a put.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Put<'c> {
    pub(crate) row: &'c [u8],
    pub(crate) family: &'c [u8],
    pub(crate) qualifier: &'c [u8],
    pub(crate) timestamp: u64,
    pub(crate) value: &'c [u8],
    pub(crate) tags: &'c [u8],
}

/// The key of an entry to write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key<'k> {
    pub(crate) region: &'k str,
    pub(crate) table: &'k str,
    pub(crate) sequence: u64,
    pub(crate) write_time: u64,
    /// The length of a field that the reader ignores.
    pub(crate) padding: usize,
}

/// A log without dictionaries and without a trailer.
pub(crate) struct PlainLog {
    pub(crate) bytes: Vec<u8>,
}

impl PlainLog {
    pub(crate) fn new() -> Self {
        Self { bytes: b"PWAL\0".to_vec() }
    }

    /// Writes an entry; returns its offset.
    pub(crate) fn entry(&mut self, key: Key<'_>, puts: &[Put<'_>]) -> usize {
        let offset = self.bytes.len();
        let padding = if key.padding == 0 { Vec::new() } else { field(12, &vec![0; key.padding]) };
        let message = [
            field(1, key.region.as_bytes()),
            field(2, key.table.as_bytes()),
            [vec![0x18], varint(key.sequence)].concat(),
            [vec![0x20], varint(key.write_time)].concat(),
            [vec![0x38], varint(puts.len() as u64)].concat(),
            padding,
        ]
        .concat();
        self.bytes.extend(varint(message.len() as u64));
        self.bytes.extend(message);
        for put in puts {
            self.cell(put);
        }
        offset
    }

    fn cell(&mut self, put: &Put<'_>) {
        let key = [
            &(put.row.len() as u16).to_be_bytes()[..],
            put.row,
            &[put.family.len() as u8],
            put.family,
            put.qualifier,
            &put.timestamp.to_be_bytes(),
            &[4],
        ]
        .concat();
        let cell = [
            &(key.len() as u32).to_be_bytes()[..],
            &(put.value.len() as u32).to_be_bytes(),
            &key,
            put.value,
            &(put.tags.len() as u16).to_be_bytes(),
            put.tags,
        ]
        .concat();
        self.bytes.extend((cell.len() as u32).to_be_bytes());
        self.bytes.extend(cell);
    }
}
