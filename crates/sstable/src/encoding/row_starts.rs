//! Where the rows of a block of plain cells start, noted while its cells are checked one by one.
#![allow(clippy::arithmetic_side_effects, reason = "a count of cells in memory")]

use super::plain_cursor::CheckingCursor;
use super::{CellLayout, DamageReason, PlainCells, Step};

/// Where the rows of a block start. One exists only of a block all of whose cells were checked.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct RowStarts {
    /// Of each row's first cell; at least one.
    pub(crate) offsets: Vec<u32>,
    pub(crate) last_cell_at: usize,
    /// At least 1.
    pub(crate) cell_count: u64,
}

/// A guess at the bytes of a row with its cells, on the low side: the list of rows mostly need not grow.
const SHORT_ROW_LEN: usize = 64;

impl RowStarts {
    /// Takes the first cell of a block of `cells_len` bytes of plain cells.
    pub(super) fn begin(cells_len: usize) -> Self {
        let mut offsets = Vec::with_capacity(cells_len.div_ceil(SHORT_ROW_LEN));
        offsets.push(0);
        Self { offsets, last_cell_at: 0, cell_count: 1 }
    }

    /// Takes the next cell, which starts at `at`.
    #[inline]
    pub(super) fn pass(&mut self, begins_row: bool, at: usize) -> Result<(), DamageReason> {
        debug_assert!(at > self.last_cell_at, "cells follow each other");
        if begins_row {
            self.offsets.push(u32::try_from(at).map_err(|_| "more than 4 GiB of cells")?);
        }
        self.last_cell_at = at;
        self.cell_count += 1;
        Ok(())
    }

    /// Checks all cells of a block.
    pub(crate) fn of_plain(cells: &PlainCells, layout: CellLayout) -> Result<Self, DamageReason> {
        let mut cursor = CheckingCursor::begin(cells, layout)?;
        let mut starts = Self::begin(cells.body().len());
        loop {
            match cursor.step(cells, layout)? {
                Step::End => return Ok(starts),
                step => starts.pass(step == Step::NextRow, cursor.position())?,
            }
        }
    }
}
