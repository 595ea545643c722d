//! Compares the row of a cell with the row of the previous cell.
//!
//! A key starts with the row length (u16 BE) and the row, so the row ends at offset `row_end` of
//! the key. The number of bytes shared with the previous key includes the two bytes of the length.

use std::cmp::Ordering;

use cells::Comparator;

use super::current_cell::CurrentCell;
use super::fault::DeltaFault;
use crate::encoding::CursorMove;

impl CurrentCell {
    /// Sets `row_end` for the next key: the first `common` bytes of the current key, then `rest`.
    ///
    /// Returns whether the row equals the previous row or is greater; a smaller row is an error.
    /// Does not copy the key. The caller must check that the row ends within `rest`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as the body")]
    pub(super) fn enter_row(
        &mut self,
        common: usize,
        rest: &[u8],
    ) -> Result<CursorMove, DeltaFault> {
        if common >= self.row_end {
            return Ok(CursorMove::SameRow);
        }
        // Fast path: the row is as long as the previous one, because both bytes of the length are
        // shared, and is greater in the first byte that is not shared. Encoders share the longest
        // common prefix, so this byte usually decides.
        if common >= 2
            && self.layout.order == Comparator::Bytes
            && let Some(first) = rest.first()
            && *first > self.key.byte(common)
        {
            return Ok(CursorMove::NextRow);
        }
        self.enter_row_slow(common, rest)
    }

    /// The slow path of [`enter_row`](Self::enter_row).
    ///
    /// Takes the first cell of a block, rows of another length, orders that are not bytewise, and
    /// keys that share less than the longest common prefix.
    #[inline(never)]
    fn enter_row_slow(&mut self, common: usize, rest: &[u8]) -> Result<CursorMove, DeltaFault> {
        if common > self.key_len {
            return Err(DeltaFault::shares_too_much(common));
        }
        let (row_len, rest) = match (common, rest) {
            (0, [high, low, rest @ ..]) => (u16::from_be_bytes([*high, *low]).into(), rest),
            (1, [low, rest @ ..]) => (u16::from_be_bytes([self.key.byte(0), *low]).into(), rest),
            (0 | 1, _) => return Err(DeltaFault::KeyExceedsBlock),
            _ => (self.row_end - 2, rest),
        };
        if row_len > cells::KeyRef::ROW_LEN_MAX {
            return Err(DeltaFault::NegativeRowLen);
        }
        // The shared bytes of the row itself: `common` without the two bytes of the row length.
        let shared = common.max(2) - 2;
        let tail = rest.get(..row_len - shared).ok_or(DeltaFault::KeyExceedsBlock)?;
        // The first cell of a block has no previous row.
        let order = match self.key_len {
            0 => Ordering::Less,
            _ => self.compare_previous_row(shared, tail),
        };
        self.row_end = 2 + row_len;
        match order {
            Ordering::Less => Ok(CursorMove::NextRow),
            Ordering::Equal => Ok(CursorMove::SameRow),
            Ordering::Greater => Err(DeltaFault::RowOutOfOrder),
        }
    }

    /// Compares the previous row with a row made of its first `shared` bytes and `tail`.
    fn compare_previous_row(&self, shared: usize, tail: &[u8]) -> Ordering {
        let order = self.layout.order;
        if order == Comparator::Bytes {
            // The shared bytes need no comparison.
            return order.compare_rows(self.key.range(2 + shared, self.row_end), tail);
        }
        let row = [self.key.range(2, 2 + shared), tail].concat();
        order.compare_rows(self.key.range(2, self.row_end), &row)
    }
}
