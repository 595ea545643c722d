//! A cell: a [key](KeyRef), a value, tags and a sequence id.
//!
//! Cells are ordered by key; of cells with equal keys, the last one written comes first.
//! [`CellRef`] borrows its bytes; [`Cell`] owns them, in one allocation:
//!
//! ```text
//! row │ family │ qualifier │ value │ tags
//! ```

use std::cmp::Ordering;
use std::fmt;

use crate::key::{CellType, KeyRef};
use crate::units::{SequenceId, Timestamp};

/// A cell whose bytes are borrowed from a block, a memstore or a [`Cell`].
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct CellRef<'a> {
    /// The row.
    pub row: &'a [u8],
    /// The column family.
    pub family: &'a [u8],
    /// The qualifier; family and qualifier together name the column.
    pub qualifier: &'a [u8],
    /// The timestamp of this version.
    pub timestamp: Timestamp,
    /// The type: put, or a kind of delete.
    pub cell_type: CellType,
    /// The value.
    pub value: &'a [u8],
    /// The tags: each `u16 BE length || u8 type || data`, where the length counts type and data.
    pub tags: &'a [u8],
    /// The sequence id of the write (HBase: mvcc); 0 if the file stores no sequence ids.
    pub sequence_id: SequenceId,
}

impl<'a> CellRef<'a> {
    /// Returns a put without tags and with sequence id 0.
    pub const fn put(
        row: &'a [u8],
        family: &'a [u8],
        qualifier: &'a [u8],
        timestamp: Timestamp,
        value: &'a [u8],
    ) -> Self {
        Self {
            row,
            family,
            qualifier,
            timestamp,
            cell_type: CellType::Put,
            value,
            tags: b"",
            sequence_id: SequenceId::new(0),
        }
    }

    /// The key of the cell.
    pub const fn key(&self) -> KeyRef<'a> {
        KeyRef {
            row: self.row,
            family: self.family,
            qualifier: self.qualifier,
            timestamp: self.timestamp,
            type_code: self.cell_type.code(),
        }
    }

    /// Compares in HBase's order: by key, and equal keys by descending sequence id.
    pub fn compare(&self, other: &CellRef<'_>) -> Ordering {
        self.key().cmp(&other.key()).then_with(|| other.sequence_id.cmp(&self.sequence_id))
    }

    /// Copies the cell into a [`Cell`], which owns its bytes in one allocation.
    ///
    /// # Panics
    ///
    /// If the fields together are 4 GiB or longer, which no block can hold.
    pub fn to_cell(&self) -> Cell {
        let CellRef { row, family, qualifier, value, tags, .. } = *self;
        let len = row.len() + family.len() + qualifier.len() + value.len() + tags.len();
        assert!(u32::try_from(len).is_ok(), "a cell is shorter than 4 GiB");
        let mut bytes = Vec::with_capacity(len);
        for part in [row, family, qualifier, value, tags] {
            bytes.extend_from_slice(part);
        }
        let row_end = row.len() as u32;
        let family_end = row_end + family.len() as u32;
        let qualifier_end = family_end + qualifier.len() as u32;
        Cell {
            bytes: bytes.into_boxed_slice(),
            row_end,
            family_end,
            qualifier_end,
            value_end: qualifier_end + value.len() as u32,
            timestamp: self.timestamp,
            sequence_id: self.sequence_id,
            cell_type: self.cell_type,
        }
    }

    /// Iterates over the tags, each as its type and data; ends at the first malformed tag.
    pub fn tags(&self) -> impl Iterator<Item = (u8, &'a [u8])> {
        let mut rest = self.tags;
        std::iter::from_fn(move || {
            let (len, after_len) = rest.split_first_chunk::<2>()?;
            let (tag, after_tag) = after_len.split_at_checked(u16::from_be_bytes(*len).into())?;
            rest = after_tag;
            tag.split_first().map(|(tag_type, data)| (*tag_type, data))
        })
    }
}

impl fmt::Debug for CellRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/vlen={}/seqid={}", self.key(), self.value.len(), self.sequence_id)
    }
}

/// A cell that owns its bytes.
#[derive(Clone, Eq, PartialEq)]
pub struct Cell {
    /// Row, family, qualifier, value and tags, concatenated.
    bytes: Box<[u8]>,
    row_end: u32,
    family_end: u32,
    qualifier_end: u32,
    value_end: u32,
    timestamp: Timestamp,
    sequence_id: SequenceId,
    cell_type: CellType,
}

impl Cell {
    /// Returns the cell in borrowed form.
    pub fn as_ref(&self) -> CellRef<'_> {
        let at = |start: u32, end: u32| &self.bytes[start as usize..end as usize];
        CellRef {
            row: at(0, self.row_end),
            family: at(self.row_end, self.family_end),
            qualifier: at(self.family_end, self.qualifier_end),
            timestamp: self.timestamp,
            cell_type: self.cell_type,
            value: at(self.qualifier_end, self.value_end),
            tags: &self.bytes[self.value_end as usize..],
            sequence_id: self.sequence_id,
        }
    }

    /// The row.
    pub fn row(&self) -> &[u8] {
        self.as_ref().row
    }

    /// The column family.
    pub fn family(&self) -> &[u8] {
        self.as_ref().family
    }

    /// The qualifier.
    pub fn qualifier(&self) -> &[u8] {
        self.as_ref().qualifier
    }

    /// The value.
    pub fn value(&self) -> &[u8] {
        self.as_ref().value
    }

    /// Returns the value. Reuses the cell's allocation, and moves the value to its front.
    pub fn into_value(self) -> Vec<u8> {
        let mut bytes = self.bytes.into_vec();
        bytes.truncate(self.value_end as usize);
        bytes.drain(..self.qualifier_end as usize);
        bytes
    }

    /// The timestamp of this version.
    pub const fn timestamp(&self) -> Timestamp {
        self.timestamp
    }

    /// The sequence id of the write.
    pub const fn sequence_id(&self) -> SequenceId {
        self.sequence_id
    }

    /// The type: put, or a kind of delete.
    pub const fn cell_type(&self) -> CellType {
        self.cell_type
    }

    /// Sets the timestamp.
    pub const fn set_timestamp(&mut self, timestamp: Timestamp) {
        self.timestamp = timestamp;
    }

    /// Sets the sequence id.
    pub const fn set_sequence_id(&mut self, sequence_id: SequenceId) {
        self.sequence_id = sequence_id;
    }
}

impl fmt::Debug for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.as_ref(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owned_cell_equals_the_borrowed_cell() {
        let borrowed = CellRef {
            row: b"row",
            family: b"f",
            qualifier: b"q",
            timestamp: Timestamp::new(7),
            cell_type: CellType::Put,
            value: b"value",
            tags: b"\x00\x03\x40tg\x00\x01\x41",
            sequence_id: SequenceId::new(3),
        };
        let owned = borrowed.to_cell();
        assert_eq!(owned.as_ref(), borrowed);
        assert_eq!(borrowed.tags().collect::<Vec<_>>(), [(0x40, &b"tg"[..]), (0x41, &b""[..])]);
    }

    /// What checks a cell names the fault, so that it must be possible to make the cell.
    #[test]
    fn a_cell_owns_fields_that_no_file_can_have() {
        let long = vec![b'f'; 70_000];
        for cell in [
            CellRef::put(&long, b"f", b"q", Timestamp::new(7), b"v"),
            CellRef::put(b"r", &long, b"q", Timestamp::new(7), b"v"),
        ] {
            assert_eq!(cell.to_cell().as_ref(), cell);
        }
    }
}
