//! A data block whose cells are all plain and checked, with an index of its rows: it can be searched.
//!
//! ```text
//! row index  table, heads, offsets: see `row_index`
//! cells      [k|v|row1…][k|v|row1…][k|v|row2…] …
//! ```
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "offsets within the block, and bytes in memory"
)]

use filter::KeyHash;

use super::origin::BlockOrigin;
use super::row_index::{RowIndex, RowIndexKind, RowPlace, row_at};
use super::row_table::{RowTable, TableAddress, offset};
use crate::buffers::Buffers;
use crate::encoding::{CellLayout, PlainCells, PlainCursor, RowStarts};
use crate::{CellRef, KeyRef};

/// A data block that can be searched. It does not change: neither its cells nor its size.
#[derive(Debug)]
pub(crate) struct DecodedBlock {
    origin: BlockOrigin,
    cells: PlainCells,
    layout: CellLayout,
    index: RowIndex,
}

impl DecodedBlock {
    /// Takes cells that were all checked; `starts` comes from that check.
    pub(super) fn new(
        origin: BlockOrigin,
        cells: PlainCells,
        layout: CellLayout,
        starts: RowStarts,
        lookup: RowIndexKind,
    ) -> Self {
        let index = RowIndex::new(&cells, layout, starts, lookup);
        Self { origin, cells, layout, index }
    }

    /// Where it is in its file.
    pub(crate) const fn origin(&self) -> &BlockOrigin {
        &self.origin
    }

    /// Bytes it takes in memory, with those of parts that are built later.
    pub(crate) const fn bytes(&self) -> usize {
        size_of::<Self>() + self.cells.bytes() + self.index.bytes()
    }

    /// Recycles its buffer.
    pub(crate) fn give_back(self, buffers: &mut Buffers) {
        buffers.give_back(self.cells.into_buffer());
    }

    /// Returns a cursor on the first cell.
    pub(crate) fn cursor(&self) -> PlainCursor {
        self.cursor_at(0)
    }

    /// Returns a cursor on the cell that starts at `at`.
    #[inline]
    pub(crate) fn cursor_at(&self, at: usize) -> PlainCursor {
        PlainCursor::at(&self.cells, self.layout, at)
    }

    /// Moves a cursor to the next cell. Returns `false` if there is none; the cursor then stays.
    #[inline]
    pub(crate) fn advance(&self, cursor: &mut PlainCursor) -> bool {
        cursor.advance(&self.cells, self.layout)
    }

    /// The cell that a cursor stands on.
    #[inline]
    pub(crate) fn cell<'a>(&'a self, cursor: &PlainCursor) -> CellRef<'a> {
        cursor.cell(&self.cells)
    }

    /// How many cells there are; at least one.
    pub(crate) const fn cell_count(&self) -> u64 {
        self.index.cell_count
    }

    /// The first cell's key.
    pub(crate) fn first_key(&self) -> KeyRef<'_> {
        self.cell(&self.cursor()).key()
    }

    /// The last cell's key.
    pub(crate) fn last_key(&self) -> KeyRef<'_> {
        self.cell(&self.cursor_at(self.index.last_cell_at)).key()
    }

    /// Where the last cell starts.
    pub(crate) const fn last_cell_at(&self) -> usize {
        self.index.last_cell_at
    }

    /// Where in memory the table of rows is.
    pub(super) fn table_address(&self) -> Option<TableAddress> {
        self.index.table.as_ref().map(RowTable::address)
    }

    /// Prefetches the table's line for a row of this hash.
    pub(crate) fn prefetch_row_start(&self, hash: KeyHash) {
        if let Some(table) = &self.index.table {
            table.prefetch(hash);
        }
    }

    /// Returns where the row of this hash most likely starts, if anywhere, and prefetches the cell there.
    pub(crate) fn prefetch_cell(&self, hash: KeyHash) -> Option<u32> {
        let at = self.index.table.as_ref()?.candidate(hash)?;
        let cells = &**self.cells.body();
        filter::prefetch_line(&cells[offset(at)]);
        self.prefetch_cell_end(offset(at));
        Some(at)
    }

    /// Prefetches where the cell at `at` most likely ends. A cell's lengths are at its front, its sequence
    /// id is at its end: often on another cache line, whose load would wait for the lengths.
    #[inline]
    fn prefetch_cell_end(&self, at: usize) {
        // The last cells of a block may be shorter than the average; then there is no such byte.
        let end = self.cells.body().get(at + self.index.usual_cell_len - 1);
        end.into_iter().for_each(filter::prefetch_line);
    }

    /// Returns `at`, a candidate from [`prefetch_cell`](Self::prefetch_cell), if the cell there is of `row`.
    pub(crate) fn row_at(&self, at: u32, row: &[u8]) -> Option<usize> {
        let at = offset(at);
        (row_at(self.cells.body(), at) == row).then_some(at)
    }

    /// Returns where the first cell of a row of this hash starts, if the row is in the block.
    pub(crate) fn row_start(&self, row: &[u8], hash: KeyHash) -> Option<usize> {
        let Some(table) = &self.index.table else {
            return match self.find_row(row) {
                RowPlace::Here(at) => Some(at),
                RowPlace::Before(_) | RowPlace::Behind => None,
            };
        };
        let cells = &**self.cells.body();
        table.find(hash, |at| {
            self.prefetch_cell_end(at);
            row_at(cells, at) == row
        })
    }

    /// Finds a row, or where it would be.
    pub(super) fn find_row(&self, row: &[u8]) -> RowPlace {
        self.index.find(self.cells.body(), self.layout.order, row)
    }

    /// Where the first cell starts whose key is not less than `key`; `None` if all are less.
    pub(crate) fn seek(&self, key: &KeyRef<'_>) -> Option<usize> {
        let at = match self.find_row(key.row) {
            RowPlace::Here(at) => at,
            RowPlace::Before(at) => return Some(at),
            RowPlace::Behind => return None,
        };
        let mut cursor = self.cursor_at(at);
        while self.layout.order.compare(&self.cell(&cursor).key(), key).is_lt() {
            if !self.advance(&mut cursor) {
                return None;
            }
        }
        Some(cursor.position())
    }

    /// Where the last cell starts whose key is less than `key`; `None` if none is.
    pub(crate) fn last_before(&self, key: &KeyRef<'_>) -> Option<usize> {
        let mut before = Vec::new();
        self.row_cells_before(self.seek(key).unwrap_or(self.cells.body().len()), &mut before);
        before.pop()
    }

    /// Fills `before` with the places of the cells before the one at `at` that are of the same row
    /// as the last of them. None if there is no cell before it.
    pub(crate) fn row_cells_before(&self, at: usize, before: &mut Vec<usize>) {
        before.clear();
        let Some(start) = self.index.row_start_before(at) else { return };
        let mut cursor = self.cursor_at(start);
        while cursor.position() < at {
            before.push(cursor.position());
            if !self.advance(&mut cursor) {
                break;
            }
        }
    }

    #[cfg(test)]
    pub(super) fn has_heads(&self) -> bool {
        self.index.has_heads()
    }
}
