//! What the encoders of `PREFIX`, `DIFF` and `FAST_DIFF` know of a key and of the one before it.
#![allow(clippy::indexing_slicing, reason = "the parts of a key are within it")]

use std::ops::Range;

use crate::input::write_vint;
use crate::{CellRef, KeyRef};

/// The flat key of a cell, with the lengths of its parts.
#[derive(Debug, Default)]
pub(in crate::encoding) struct Key {
    flat: Vec<u8>,
    row_len: usize,
    family_len: usize,
    pub(super) timestamp: i64,
    pub(super) type_code: u8,
    pub(super) value_len: usize,
    /// Where the value stands in the encoded block; that of an earlier cell if it was left out.
    pub(super) value_at: Range<usize>,
}

impl Key {
    /// Becomes the key of `cell`.
    pub(in crate::encoding) fn set(&mut self, cell: &CellRef<'_>) {
        self.flat.clear();
        cell.key().write_flat(&mut self.flat);
        self.row_len = cell.row.len();
        self.family_len = cell.family.len();
        self.timestamp = cell.timestamp.get();
        self.type_code = cell.cell_type.code();
        self.value_len = cell.value.len();
    }

    pub(in crate::encoding) fn len(&self) -> usize {
        self.flat.len()
    }

    /// The key from byte `at` on.
    pub(in crate::encoding) fn tail(&self, at: usize) -> &[u8] {
        &self.flat[at..]
    }

    /// Bytes at the front that the key shares with `previous`, as HBase counts them.
    ///
    /// The family is the same in all cells of a file and is never compared, so a count that
    /// reaches the qualifier has passed the family whole. Timestamp and type are compared only for
    /// `with_time`, and only where the columns are the same.
    pub(in crate::encoding) fn common(&self, previous: &Self, with_time: bool) -> usize {
        if self.row_len != previous.row_len {
            return usize::from(self.flat[0] == previous.flat[0]);
        }
        let row_end = 2 + self.row_len;
        let row_common = common_prefix(&self.flat[..row_end], &previous.flat[..row_end]);
        if row_common < row_end {
            return row_common;
        }
        let qualifier_start = self.qualifier_start();
        let (qualifier, before) = (self.qualifier(), previous.qualifier());
        let mut common = common_prefix(qualifier, before);
        if with_time && common == qualifier.len().max(before.len()) {
            // As long as the qualifiers are the same, what follows them stands at the same place.
            common = common_prefix(self.tail(qualifier_start), previous.tail(qualifier_start));
        }
        qualifier_start + common
    }

    /// Appends what is left of row length, row and qualifier behind the first `common` bytes.
    pub(in crate::encoding) fn write_rest(
        &self,
        out: &mut Vec<u8>,
        cell: &CellRef<'_>,
        common: usize,
    ) {
        if let Some(shared) = common.checked_sub(self.qualifier_start()) {
            out.extend_from_slice(&cell.qualifier[shared..]);
        } else {
            out.extend_from_slice(&self.flat[common..2 + self.row_len]);
            out.extend_from_slice(cell.qualifier);
        }
    }

    fn qualifier_start(&self) -> usize {
        3 + self.row_len + self.family_len
    }

    fn qualifier(&self) -> &[u8] {
        let end = self.len() - (KeyRef::FIXED_LEN - 3);
        &self.flat[self.qualifier_start()..end]
    }
}

fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Appends a length as a vint.
pub(in crate::encoding) fn write_len(out: &mut Vec<u8>, len: usize) {
    write_vint(out, u32::try_from(len).expect("lengths of cells are checked"));
}
