//! Cursors over plain cells: one for cells that were checked before, one that checks each cell.
//!
//! Both parse each cell once and keep the offsets of its fields. The checking cursor verifies
//! lengths, type, timestamp and tags of each cell, the order of rows, and the stored row index if
//! the block has one.

use std::cmp::Ordering;

use cells::CellRef;

use super::{CellBounds, CellLayout, CursorMove, DamageReason, PlainCells};

/// A cursor over checked cells. It is always on a cell.
///
/// The cursor does not keep the cells: every call must pass the cells and the layout with which the
/// cursor was created.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainCursor {
    bounds: CellBounds,
}

impl PlainCursor {
    /// Returns a cursor on the cell at `at`.
    ///
    /// # Panics
    ///
    /// If no cell starts at `at`.
    #[inline]
    pub(crate) fn at(cells: &PlainCells, layout: CellLayout, at: usize) -> Self {
        match CellBounds::read(cells.body().tail(at), at, layout) {
            Ok(bounds) => Self { bounds },
            Err(what) => no_checked_cell(at, &what),
        }
    }

    /// Moves to the next cell; returns `false` and stays if there is none.
    ///
    /// # Panics
    ///
    /// If no valid cell follows: the cells were not checked, or they are not the cells with which
    /// the cursor was created.
    #[inline]
    pub(crate) fn advance(&mut self, cells: &PlainCells, layout: CellLayout) -> bool {
        let at = self.bounds.end();
        let rest = cells.body().tail(at);
        if rest.is_empty() {
            return false;
        }
        match self.bounds.advance(rest, layout) {
            Ok(()) => true,
            Err(what) => no_checked_cell(at, &what),
        }
    }

    /// Returns the offset of the cell in the body.
    pub(crate) const fn position(&self) -> usize {
        self.bounds.at()
    }

    /// Returns the offset of the next cell in the body.
    pub(crate) const fn end(&self) -> usize {
        self.bounds.end()
    }

    /// Returns the row of the cell at the cursor.
    pub(crate) fn row<'a>(&self, cells: &'a PlainCells) -> &'a [u8] {
        self.bounds.row().row(cells)
    }

    /// Returns the cell at the cursor.
    #[inline]
    pub(crate) fn cell<'a>(&self, cells: &'a PlainCells) -> CellRef<'a> {
        let bytes = cells.body().range(self.bounds.at(), self.bounds.end());
        match self.bounds.cell(bytes) {
            Some(cell) => cell,
            None => no_checked_cell(self.bounds.at(), "the block ends within the cell"),
        }
    }
}

/// A cursor over unchecked cells, which checks each cell when it moves to that cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckingCursor {
    checked: PlainCursor,
    /// The number of rows from the first cell to the current one, at least 1.
    rows: usize,
}

impl CheckingCursor {
    /// Checks the first cell of a block and returns a cursor on it.
    pub(crate) fn begin(cells: &PlainCells, layout: CellLayout) -> Result<Self, DamageReason> {
        if cells.body().is_empty() {
            return Err("no cells".into());
        }
        let bounds =
            CellBounds::read(cells.body(), 0, layout).map_err(|what| damage_at(0, &what))?;
        cells.check_row(0, 0)?;
        Ok(Self { checked: PlainCursor { bounds }, rows: 1 })
    }

    /// Moves to the next cell and checks it.
    ///
    /// At the end, checks the row count of the stored row index, if there is one.
    #[inline]
    pub(crate) fn step(
        &mut self,
        cells: &PlainCells,
        layout: CellLayout,
    ) -> Result<CursorMove, DamageReason> {
        let bounds = &mut self.checked.bounds;
        let at = bounds.end();
        let rest = cells.body().tail(at);
        if rest.is_empty() {
            return cells.check_row_count(self.rows).map(|()| CursorMove::End);
        }
        let previous_row = *bounds.row();
        bounds.advance(rest, layout).map_err(|what| damage_at(at, &what))?;
        match previous_row.compare(bounds.row(), cells, layout.order) {
            Ordering::Equal => Ok(CursorMove::SameRow),
            Ordering::Less => {
                cells.check_row(self.rows, at)?;
                self.rows += 1;
                Ok(CursorMove::NextRow)
            }
            Ordering::Greater => Err(damage_at(at, "its row is out of order")),
        }
    }

    /// Returns the offset of the cell in the body.
    pub(crate) const fn position(&self) -> usize {
        self.checked.position()
    }

    /// Returns the length of the cell in bytes.
    pub(crate) const fn cell_len(&self) -> usize {
        self.checked.bounds.end() - self.checked.bounds.at()
    }

    /// Returns the cell at the cursor.
    #[inline]
    pub(crate) fn cell<'a>(&self, cells: &'a PlainCells) -> CellRef<'a> {
        self.checked.cell(cells)
    }
}

#[cold]
fn damage_at(at: usize, what: &str) -> DamageReason {
    format!("cell at {at} in the block: {what}").into()
}

/// Panics because the cursor was used with another block, or the block was not checked.
#[cold]
fn no_checked_cell(at: usize, what: &str) -> ! {
    panic!("a cursor is at {at} in a checked block, where no checked cell is: {what}")
}
