//! Cursors over plain cells: one that checks each cell it comes to, one for cells that were checked.
//!
//! Both find each cell once, and remember where its parts are. The one that checks compares
//! the cell's lengths, type, time and tags with each other, its row with the row before it, and the row
//! index, if the block stores one, with the rows.
#![allow(clippy::arithmetic_side_effects, reason = "the end of a cell is not before its start")]

use std::cmp::Ordering;

use super::{CellLayout, CellParts, DamageReason, PlainCells, Step};
use crate::CellRef;

/// A cursor over cells that were all checked before: on a cell.
///
/// Every call must be given the cells and the layout that the cursor was made with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainCursor {
    parts: CellParts,
}

impl PlainCursor {
    /// Returns a cursor on the cell that starts at `at`.
    ///
    /// # Panics
    ///
    /// If no cell starts there.
    #[inline]
    pub(crate) fn at(cells: &PlainCells, layout: CellLayout, at: usize) -> Self {
        match CellParts::read(cells.body().behind(at), at, layout) {
            Ok(parts) => Self { parts },
            Err(what) => not_a_checked_cell(at, &what),
        }
    }

    /// Goes to the next cell. Returns `false` behind the last one, and then stays on it.
    ///
    /// # Panics
    ///
    /// If the cells are not those that were checked.
    #[inline]
    pub(crate) fn advance(&mut self, cells: &PlainCells, layout: CellLayout) -> bool {
        let at = self.parts.end();
        let rest = cells.body().behind(at);
        if rest.is_empty() {
            return false;
        }
        match self.parts.go_on(rest, layout) {
            Ok(()) => true,
            Err(what) => not_a_checked_cell(at, &what),
        }
    }

    /// Where the cell starts.
    pub(crate) const fn position(&self) -> usize {
        self.parts.at()
    }

    /// The cell it stands on.
    #[inline]
    pub(crate) fn cell<'a>(&self, cells: &'a PlainCells) -> CellRef<'a> {
        let bytes = cells.body().between(self.parts.at(), self.parts.end());
        match self.parts.cell(bytes) {
            Some(cell) => cell,
            None => not_a_checked_cell(self.parts.at(), "it ends within the cell"),
        }
    }
}

/// A cursor over cells that nobody has checked: on a cell that it has checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckingCursor {
    checked: PlainCursor,
    /// Rows begun so far; at least 1.
    rows: usize,
}

impl CheckingCursor {
    /// Returns a cursor on the first cell of a block.
    pub(crate) fn begin(cells: &PlainCells, layout: CellLayout) -> Result<Self, DamageReason> {
        if cells.body().is_empty() {
            return Err("no cells".into());
        }
        let parts = CellParts::read(cells.body(), 0, layout).map_err(|what| located(0, &what))?;
        cells.check_row(0, 0)?;
        Ok(Self { checked: PlainCursor { parts }, rows: 1 })
    }

    /// Goes to the next cell, and checks it.
    #[inline]
    pub(crate) fn step(
        &mut self,
        cells: &PlainCells,
        layout: CellLayout,
    ) -> Result<Step, DamageReason> {
        let parts = &mut self.checked.parts;
        let at = parts.end();
        let rest = cells.body().behind(at);
        if rest.is_empty() {
            return cells.check_row_count(self.rows).map(|()| Step::End);
        }
        let row_before = parts.row();
        parts.go_on(rest, layout).map_err(|what| located(at, &what))?;
        match row_before.compare(&parts.row(), cells, layout.order) {
            Ordering::Equal => Ok(Step::SameRow),
            Ordering::Less => {
                cells.check_row(self.rows, at)?;
                self.rows += 1;
                Ok(Step::NextRow)
            }
            Ordering::Greater => Err(located(at, "its row is out of order")),
        }
    }

    /// Where the cell starts.
    pub(crate) const fn position(&self) -> usize {
        self.checked.position()
    }

    /// Bytes of the cell.
    pub(crate) const fn cell_len(&self) -> usize {
        self.checked.parts.end() - self.checked.parts.at()
    }

    /// The cell it stands on.
    #[inline]
    pub(crate) fn cell<'a>(&self, cells: &'a PlainCells) -> CellRef<'a> {
        self.checked.cell(cells)
    }
}

#[cold]
fn located(at: usize, what: &str) -> DamageReason {
    format!("cell at {at} in the block: {what}").into()
}

/// Ends a read whose cursor is in the wrong block, or whose block was not checked.
#[cold]
fn not_a_checked_cell(at: usize, what: &str) -> ! {
    panic!("a cursor came to {at} in a checked block, where no checked cell is: {what}")
}
