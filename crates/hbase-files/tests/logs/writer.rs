//! A writer of logs with dictionaries, for tests: it looks strings up in a list in the order of use.

use std::collections::HashMap;

pub(crate) use support::protobuf::{field, varint};

/// HBase's class for cells.
const CODEC: &str = "org.apache.hadoop.hbase.regionserver.wal.WALCellCodec";

/// Returns the header of a log.
pub(crate) fn header(message: &[u8]) -> Vec<u8> {
    [b"PWAL", &varint(message.len())[..], message].concat()
}

/// Returns the key of an entry.
pub(crate) fn key(region: &[u8], table: &[u8], cells: usize) -> Vec<u8> {
    let numbers = [&[0x18, 1, 0x20, 1, 0x38][..], &varint(cells)].concat();
    let message = [field(1, region), field(2, table), numbers].concat();
    [varint(message.len()), message].concat()
}

/// A dictionary: the number and the last use of each string.
struct Dictionary {
    capacity: usize,
    numbers: HashMap<Vec<u8>, usize>,
    /// By number: the string, and when it was used.
    strings: Vec<(Vec<u8>, u64)>,
    time: u64,
}

impl Dictionary {
    fn new(capacity: usize) -> Self {
        Self { capacity, numbers: HashMap::new(), strings: Vec::new(), time: 0 }
    }

    /// Writes a string; returns whether it has replaced another.
    fn write(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        self.time += 1;
        if let Some(number) = self.numbers.get(bytes) {
            self.strings[*number].1 = self.time;
            out.extend((*number as u16).to_be_bytes());
            return false;
        }
        out.push(0xff);
        out.extend(varint(bytes.len()));
        out.extend(bytes);
        if bytes.is_empty() {
            return false;
        }
        let is_full = self.strings.len() == self.capacity;
        let number = if is_full {
            let oldest = self.strings.iter().enumerate().min_by_key(|(_, (_, time))| *time);
            let number = oldest.expect("it is full").0;
            self.numbers.remove(&self.strings[number].0);
            number
        } else {
            self.strings.push(Default::default());
            self.strings.len() - 1
        };
        self.strings[number] = (bytes.to_vec(), self.time);
        self.numbers.insert(bytes.to_vec(), number);
        is_full
    }
}

/// Writes a log with dictionaries of HBase's capacities.
pub(crate) struct Writer {
    out: Vec<u8>,
    region: Dictionary,
    table: Dictionary,
    row: Dictionary,
    family: Dictionary,
    qualifier: Dictionary,
    /// How many strings have replaced another.
    pub(crate) replaced: usize,
}

impl Writer {
    pub(crate) fn new() -> Self {
        let message = [&[0x08, 1][..], &field(5, CODEC.as_bytes())].concat();
        Self {
            out: header(&message),
            region: Dictionary::new(32_767),
            table: Dictionary::new(32_767),
            row: Dictionary::new(32_767),
            family: Dictionary::new(127),
            qualifier: Dictionary::new(127),
            replaced: 0,
        }
    }

    /// Writes an entry with these rows, families and qualifiers.
    pub(crate) fn entry(&mut self, region: &[u8], table: &[u8], cells: &[[Vec<u8>; 3]]) {
        let (mut region_bytes, mut table_bytes) = (Vec::new(), Vec::new());
        self.region.write(region, &mut region_bytes);
        self.table.write(table, &mut table_bytes);
        self.out.extend(key(&region_bytes, &table_bytes, cells.len()));
        for [row, family, qualifier] in cells {
            let key_len = 12 + row.len() + family.len() + qualifier.len();
            self.out.extend([varint(key_len), varint(0), varint(0)].concat());
            let out = &mut self.out;
            self.replaced += usize::from(self.row.write(row, out))
                + usize::from(self.family.write(family, out))
                + usize::from(self.qualifier.write(qualifier, out));
            self.out.extend(b"\0\0\0\0\0\0\0\x01\x04");
        }
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.out.extend(b"\0\0\0\0LAWP");
        self.out
    }
}
