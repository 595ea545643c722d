//! A cell: a [key](KeyRef), a value, tags, and the write that brought it.
//!
//! Of equal keys the cell that was written last comes first. [`CellRef`] has its bytes somewhere else,
//! [`Cell`] owns them, in one allocation:
//!
//! ```text
//! row │ family │ qualifier │ value │ tags
//! ```
#![allow(
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::arithmetic_side_effects,
    reason = "the ends of the parts are below 2^32 and within the cell"
)]

use std::cmp::Ordering;
use std::fmt;

use crate::key::{CellType, KeyRef};
use crate::units::{SequenceId, Timestamp};

/// A cell whose bytes stand somewhere else: in a block, in a memstore, in a [`Cell`].
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct CellRef<'a> {
    /// The row.
    pub row: &'a [u8],
    /// The column family.
    pub family: &'a [u8],
    /// The qualifier, which with the family names the column.
    pub qualifier: &'a [u8],
    /// The time of this version.
    pub timestamp: Timestamp,
    /// Put, or a kind of delete.
    pub cell_type: CellType,
    /// The value.
    pub value: &'a [u8],
    /// The tags: each `u16 BE length || u8 type || data`, where the length counts type and data.
    pub tags: &'a [u8],
    /// The write that brought it (mvcc); 0 where the file does not say.
    pub sequence_id: SequenceId,
}

impl<'a> CellRef<'a> {
    /// A value without tags, and as yet without a sequence id.
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

    /// Its key.
    pub const fn key(&self) -> KeyRef<'a> {
        KeyRef {
            row: self.row,
            family: self.family,
            qualifier: self.qualifier,
            timestamp: self.timestamp,
            type_code: self.cell_type.code(),
        }
    }

    /// HBase's order of cells: by key, and of equal keys the one written last first.
    pub fn compare(&self, other: &CellRef<'_>) -> Ordering {
        self.key().cmp(&other.key()).then_with(|| other.sequence_id.cmp(&self.sequence_id))
    }

    /// Whether both are versions of one column.
    pub fn same_column(&self, other: &CellRef<'_>) -> bool {
        self.row == other.row && self.family == other.family && self.qualifier == other.qualifier
    }

    /// A copy that owns its bytes, in one allocation.
    pub fn to_cell(&self) -> Cell {
        Cell::from(*self)
    }

    /// The tags one by one as type and data; ends early where the bytes do not tile.
    pub fn tags(&self) -> impl Iterator<Item = (u8, &'a [u8])> {
        let mut rest = self.tags;
        std::iter::from_fn(move || {
            let (len, tail) = rest.split_first_chunk::<2>()?;
            let (tag, tail) = tail.split_at_checked(u16::from_be_bytes(*len).into())?;
            rest = tail;
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
    /// Row, family, qualifier, value and tags, one behind the other.
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
    /// The cell as a borrowed view, which has all the fields.
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

    /// The value alone, in the memory that the cell was in.
    pub fn into_value(self) -> Vec<u8> {
        let mut bytes = self.bytes.into_vec();
        bytes.truncate(self.value_end as usize);
        bytes.drain(..self.qualifier_end as usize);
        bytes
    }

    /// The time of this version.
    pub const fn timestamp(&self) -> Timestamp {
        self.timestamp
    }

    /// The write that brought it.
    pub const fn sequence_id(&self) -> SequenceId {
        self.sequence_id
    }

    /// Put, or a kind of delete.
    pub const fn cell_type(&self) -> CellType {
        self.cell_type
    }

    /// Says when this version is of.
    pub const fn set_timestamp(&mut self, timestamp: Timestamp) {
        self.timestamp = timestamp;
    }

    /// Says which write brought it.
    pub const fn set_sequence_id(&mut self, sequence_id: SequenceId) {
        self.sequence_id = sequence_id;
    }
}

impl From<CellRef<'_>> for Cell {
    /// # Panics
    ///
    /// If the parts together are longer than 4 GiB, which no block can hold.
    fn from(cell: CellRef<'_>) -> Self {
        let parts = [cell.row, cell.family, cell.qualifier, cell.value, cell.tags];
        let bytes = parts.concat().into_boxed_slice();
        assert!(u32::try_from(bytes.len()).is_ok(), "a cell is shorter than 4 GiB");
        let row_end = cell.row.len() as u32;
        let family_end = row_end + cell.family.len() as u32;
        let qualifier_end = family_end + cell.qualifier.len() as u32;
        let value_end = qualifier_end + cell.value.len() as u32;
        Self {
            bytes,
            row_end,
            family_end,
            qualifier_end,
            value_end,
            timestamp: cell.timestamp,
            sequence_id: cell.sequence_id,
            cell_type: cell.cell_type,
        }
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
    fn an_owned_cell_shows_what_it_was_made_from() {
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
}
