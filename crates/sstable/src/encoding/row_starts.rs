//! The row offsets of a block, collected while its cells are checked.

use super::plain_cursor::CheckingCursor;
use super::{CellLayout, CursorMove, DamageReason, PlainCells};

/// The row offsets of a block. A value exists only if all cells of the block were checked.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct RowStarts {
    /// The offset of each row's first cell; at least one.
    pub(crate) offsets: Vec<u32>,
    pub(crate) last_cell_at: usize,
    /// At least 1.
    pub(crate) cell_count: u64,
}

/// A low estimate of the bytes per row, so that the list of offsets rarely has to grow.
const SHORT_ROW_LEN: usize = 64;

impl RowStarts {
    /// Starts with the first cell of a block of `cells_len` bytes of plain cells.
    pub(super) fn begin(cells_len: usize) -> Self {
        let mut offsets = Vec::with_capacity(cells_len.div_ceil(SHORT_ROW_LEN));
        offsets.push(0);
        Self { offsets, last_cell_at: 0, cell_count: 1 }
    }

    /// Adds the next cell, which starts at `at`.
    pub(super) fn push_cell(&mut self, starts_row: bool, at: usize) -> Result<(), DamageReason> {
        debug_assert!(at > self.last_cell_at, "cell offsets ascend");
        if starts_row {
            self.offsets.push(u32::try_from(at).map_err(|_| "the cells exceed 4 GiB")?);
        }
        self.last_cell_at = at;
        self.cell_count += 1;
        Ok(())
    }

    /// Checks all cells of a block and collects the row offsets.
    pub(crate) fn from_plain(cells: &PlainCells, layout: CellLayout) -> Result<Self, DamageReason> {
        let mut cursor = CheckingCursor::begin(cells, layout)?;
        let mut starts = Self::begin(cells.body().len());
        loop {
            match cursor.step(cells, layout)? {
                CursorMove::End => return Ok(starts),
                step => starts.push_cell(step == CursorMove::NextRow, cursor.position())?,
            }
        }
    }
}
