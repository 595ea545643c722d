//! The keys that the `PREFIX`, `DIFF` and `FAST_DIFF` encoders compare.

use std::ops::Range;

use cells::{CellRef, KeyRef};

use crate::input::write_vint;

/// The flat key of a cell, with the lengths of its fields.
#[derive(Debug, Default)]
pub(in crate::encoding) struct EncoderKey {
    flat: Vec<u8>,
    row_len: usize,
    family_len: usize,
    pub(super) timestamp: i64,
    pub(super) type_code: u8,
    pub(super) value_len: usize,
    /// The range of the value in the encoded block; if omitted, the range of the earlier equal
    /// value.
    pub(super) value_at: Range<usize>,
}

impl EncoderKey {
    /// Sets the key to the key of `cell`.
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

    /// The key from offset `at` on.
    pub(in crate::encoding) fn tail(&self, at: usize) -> &[u8] {
        &self.flat[at..]
    }

    /// Length of the prefix that the key shares with `previous`, as HBase computes it.
    ///
    /// The family is the same in all cells of a file and is not compared, so the result is either
    /// at most the end of the row or at least the start of the qualifier. Timestamp and type are
    /// compared only if `with_time` is set and the columns are equal.
    pub(in crate::encoding) fn common_len(&self, previous: &Self, with_time: bool) -> usize {
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
        let mut common_len = common_prefix(qualifier, before);
        if with_time && common_len == qualifier.len().max(before.len()) {
            // The qualifiers are equal, so timestamp and type are at the same offset.
            common_len = common_prefix(self.tail(qualifier_start), previous.tail(qualifier_start));
        }
        qualifier_start + common_len
    }

    /// Appends row length, row and qualifier, without the first `common_len` bytes of the key.
    pub(in crate::encoding) fn write_rest(
        &self,
        out: &mut Vec<u8>,
        cell: &CellRef<'_>,
        common_len: usize,
    ) {
        if let Some(shared) = common_len.checked_sub(self.qualifier_start()) {
            out.extend_from_slice(&cell.qualifier[shared..]);
        } else {
            out.extend_from_slice(&self.flat[common_len..2 + self.row_len]);
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
    write_vint(out, u32::try_from(len).expect("the writer has checked the lengths"));
}
