//! The row of a cell, compared with the row before.

use std::cmp::Ordering;

use super::current_cell::CurrentCell;
use super::fault::DeltaFault;
use crate::Comparator;
use crate::encoding::Step;

impl CurrentCell {
    /// Finds the row of a key that shares its first `common` bytes with the key before; `rest` follows
    /// them. Returns whether it is the row before; it may not be less.
    ///
    /// Does not check that the row ends within `rest`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as what it does")]
    pub(super) fn enter_row(&mut self, common: usize, rest: &[u8]) -> Result<Step, DeltaFault> {
        if common >= self.row_end {
            return Ok(Step::SameRow);
        }
        // The fast path: a row as long as the one before, greater by its first byte that is not shared.
        // Encoders share the longest common prefix, so that this byte differs.
        if common >= 2
            && self.layout.order == Comparator::Bytes
            && let Some(first) = rest.first()
            && *first > self.key.byte(common)
        {
            return Ok(Step::NextRow);
        }
        self.enter_row_slow(common, rest)
    }

    /// Does the same for any row: of another length, of the first cell, in another order than that of
    /// bytes.
    #[inline(never)]
    fn enter_row_slow(&mut self, common: usize, rest: &[u8]) -> Result<Step, DeltaFault> {
        if common > self.key_len {
            return Err(DeltaFault::shares_too_much(common));
        }
        let (row_len, rest) = match (common, rest) {
            (0, [high, low, rest @ ..]) => (u16::from_be_bytes([*high, *low]).into(), rest),
            (1, [low, rest @ ..]) => (u16::from_be_bytes([self.key.byte(0), *low]).into(), rest),
            (0 | 1, _) => return Err(DeltaFault::KeyEnds),
            _ => (self.row_end - 2, rest),
        };
        if row_len > crate::KeyRef::ROW_LEN_MAX {
            return Err(DeltaFault::NegativeRowLen);
        }
        // Of the row; rows of different lengths share nothing that counts.
        let shared = common.max(2) - 2;
        let tail = rest.get(..row_len - shared).ok_or(DeltaFault::KeyEnds)?;
        let order = match self.key_len {
            0 => Ordering::Less,
            _ => self.compare_previous_row(shared, tail),
        };
        self.row_end = 2 + row_len;
        match order {
            Ordering::Less => Ok(Step::NextRow),
            Ordering::Equal => Ok(Step::SameRow),
            Ordering::Greater => Err(DeltaFault::RowOutOfOrder),
        }
    }

    /// Compares the row before with one that shares its first `shared` bytes and ends with `tail`.
    fn compare_previous_row(&self, shared: usize, tail: &[u8]) -> Ordering {
        let order = self.layout.order;
        if order == Comparator::Bytes {
            // What both share decides nothing.
            return order.compare_rows(self.key.range(2 + shared, self.row_end), tail);
        }
        let row = [self.key.range(2, 2 + shared), tail].concat();
        order.compare_rows(self.key.range(2, self.row_end), &row)
    }
}
