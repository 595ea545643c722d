//! The receiver of the cells that a get shows.

use sstable::{Cell, CellRef};

/// Receives the visible cells of a get, in order.
pub(crate) trait Answer {
    /// Receives a cell that its block holds.
    fn add_borrowed(&mut self, cell: CellRef<'_>);

    /// Receives a cell that was copied to be compared with others.
    fn add_owned(&mut self, cell: Cell);
}

impl Answer for Vec<Cell> {
    #[inline]
    fn add_borrowed(&mut self, cell: CellRef<'_>) {
        self.add_owned(cell.to_cell());
    }

    #[inline]
    fn add_owned(&mut self, cell: Cell) {
        if self.capacity() == 0 {
            // Most answers have one cell; `push` would allocate room for four.
            *self = Self::with_capacity(1);
        }
        self.push(cell);
    }
}

/// Calls a function for each cell.
pub(crate) struct Visitor<F>(pub(crate) F);

impl<F: FnMut(CellRef<'_>)> Answer for Visitor<F> {
    #[inline]
    fn add_borrowed(&mut self, cell: CellRef<'_>) {
        (self.0)(cell);
    }

    fn add_owned(&mut self, cell: Cell) {
        (self.0)(cell.as_ref());
    }
}
