//! A decoded data block: its cells are checked, in plain form, and indexed by row.
//!
//! ```text
//! row index  table, digits, offsets: see `row_index`
//! cells      [k|v|row1…][k|v|row1…][k|v|row2…] …
//! ```
//!
//! Each cell starts with the lengths of its key (`k`) and value (`v`); see `encoding::plain`. An
//! offset of a cell counts from the start of the first cell.

use std::sync::{Arc, OnceLock, Weak};

use cells::{CellRef, KeyRef};
use filter::engine::{KeyHash, prefetch};

use super::origin::BlockIdentity;
use super::row_index::{RowIndex, RowIndexKind, RowPosition};
use super::row_table::{RowTable, TableAddress};
use crate::buffers::Buffers;
use crate::encoding::{CellLayout, PlainCells, PlainCursor, RowStarts, plain};

/// A searchable data block. The cells and the size in memory never change after decoding.
#[derive(Debug)]
pub(crate) struct DecodedBlock {
    origin: BlockIdentity,
    cells: PlainCells,
    layout: CellLayout,
    index: RowIndex,
    /// The size in memory, in bytes, including the row digits even if they are not yet built.
    bytes: usize,
}

impl DecodedBlock {
    /// Builds the row index of cells that have all been checked.
    ///
    /// `starts` is the result of that check.
    pub(super) fn new(
        origin: BlockIdentity,
        cells: PlainCells,
        layout: CellLayout,
        starts: RowStarts,
        kind: RowIndexKind,
    ) -> Self {
        let index = RowIndex::new(&cells, layout, starts, kind);
        let bytes = size_of::<Self>() + cells.bytes() + index.bytes();
        Self { origin, cells, layout, index, bytes }
    }

    pub(crate) const fn origin(&self) -> &BlockIdentity {
        &self.origin
    }

    /// The size in memory, in bytes.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the block's buffer to `buffers`.
    pub(crate) fn recycle(self, buffers: &mut Buffers) {
        buffers.recycle(self.cells.into_buffer());
    }

    /// Returns a cursor on the first cell.
    pub(crate) fn cursor(&self) -> PlainCursor {
        self.cursor_at(0)
    }

    /// Returns a cursor on the cell that starts at `at`.
    pub(crate) fn cursor_at(&self, at: usize) -> PlainCursor {
        PlainCursor::at(&self.cells, self.layout, at)
    }

    /// Moves a cursor to the next cell and returns `true`.
    ///
    /// At the last cell, returns `false` and does not move the cursor.
    #[inline]
    pub(crate) fn advance(&self, cursor: &mut PlainCursor) -> bool {
        cursor.advance(&self.cells, self.layout)
    }

    /// Returns the cell at the cursor.
    pub(crate) fn cell<'a>(&'a self, cursor: &PlainCursor) -> CellRef<'a> {
        cursor.cell(&self.cells)
    }

    /// Returns the row of the cell at the cursor.
    pub(crate) fn row_at<'a>(&'a self, cursor: &PlainCursor) -> &'a [u8] {
        cursor.row(&self.cells)
    }

    /// The number of cells, at least 1.
    pub(crate) const fn cell_count(&self) -> u64 {
        self.index.cell_count
    }

    /// Returns the cell that starts at `at`.
    ///
    /// # Panics
    ///
    /// If no cell starts at `at`.
    pub(crate) fn cell_at(&self, at: usize) -> CellRef<'_> {
        plain::cell_at(self.cells.body(), at, self.layout).expect("a checked cell starts here")
    }

    pub(crate) fn first_key(&self) -> KeyRef<'_> {
        self.cell_at(0).key()
    }

    pub(crate) fn last_key(&self) -> KeyRef<'_> {
        self.cell_at(self.index.last_cell_at).key()
    }

    /// The offset of the last cell.
    pub(crate) const fn last_cell_at(&self) -> usize {
        self.index.last_cell_at
    }

    /// Prefetches the first line of the row table that a lookup of this hash probes.
    pub(crate) fn prefetch_row_start(&self, hash: KeyHash) {
        if let Some(table) = &self.index.table {
            prefetch(table.address().first_line(hash));
        }
    }

    /// Prefetches the cell that probably is the first of a row with this hash.
    pub(crate) fn prefetch_cell(&self, hash: KeyHash) {
        let Some(table) = &self.index.table else { return };
        if let Some(at) = table.candidate(hash) {
            prefetch(self.cells.body().as_ptr().addr() + at);
            self.prefetch_cell_end(at);
        }
    }

    /// Prefetches the likely end of the cell at `at`.
    ///
    /// Reading a cell needs the lengths at its start and the sequence id at its end, which is often
    /// on another cache line. The exact end is known only when the lengths are loaded, so the
    /// average length of a cell serves as an estimate, and both lines are loaded in parallel.
    fn prefetch_cell_end(&self, at: usize) {
        prefetch(self.cells.body().as_ptr().addr() + at + self.index.average_cell_len - 1);
    }

    /// Returns the offset of the first cell of a row with this hash, if the block has the row.
    pub(crate) fn row_start(&self, row: &[u8], hash: KeyHash) -> Option<usize> {
        let Some(table) = &self.index.table else {
            return match self.find_row(row) {
                RowPosition::At(at) => Some(at),
                RowPosition::Next(_) | RowPosition::AfterAll => None,
            };
        };
        let cells = &**self.cells.body();
        table.find(hash, |at| {
            self.prefetch_cell_end(at);
            plain::row_at(cells, at) == row
        })
    }

    /// Returns the position of a row, or of the next greater row if the block lacks it.
    pub(super) fn find_row(&self, row: &[u8]) -> RowPosition {
        self.index.seek(self.cells.body(), self.layout.order, row)
    }

    /// Returns the offset of the first cell whose key is at least `key`; `None` if all are less.
    pub(crate) fn seek(&self, key: &KeyRef<'_>) -> Option<usize> {
        let at = match self.find_row(key.row) {
            RowPosition::At(at) => at,
            RowPosition::Next(at) => return Some(at),
            RowPosition::AfterAll => return None,
        };
        let mut cursor = self.cursor_at(at);
        while self.layout.order.compare(&self.cell(&cursor).key(), key).is_lt() {
            if !self.advance(&mut cursor) {
                return None;
            }
        }
        Some(cursor.position())
    }

    /// Returns the offset of the last cell whose key is less than `key`; `None` if there is none.
    pub(crate) fn last_before(&self, key: &KeyRef<'_>) -> Option<usize> {
        let mut before = Vec::new();
        self.row_cells_before(self.seek(key).unwrap_or(self.cells.body().len()), &mut before);
        before.pop()
    }

    /// Replaces the contents of `before` with the offsets of the last row's cells before `at`.
    ///
    /// That row is the row of the last cell before `at`; it may continue at `at`. `before` becomes
    /// empty if no cell precedes `at`.
    pub(crate) fn row_cells_before(&self, at: usize, before: &mut Vec<usize>) {
        before.clear();
        let Some(number) = self.rows_before(at).checked_sub(1) else { return };
        let mut cursor = self.cursor_at(self.start_of_row(number));
        while cursor.position() < at {
            before.push(cursor.position());
            if !self.advance(&mut cursor) {
                break;
            }
        }
    }

    /// Returns the number of rows that start before `at`.
    pub(crate) fn rows_before(&self, at: usize) -> usize {
        self.index.rows_before(at)
    }

    /// Returns the number of rows, of which the first may begin in a block before.
    pub(crate) fn row_count(&self) -> usize {
        self.index.row_count()
    }

    /// Returns the offset of the first cell of the row with this number, counted from 0.
    pub(crate) fn start_of_row(&self, number: usize) -> usize {
        self.index.row_start(number)
    }

    /// Returns the offset of the first cell of the row after the row with this number, if the block has it.
    pub(crate) fn start_of_row_after(&self, number: usize) -> Option<usize> {
        (number + 1 < self.row_count()).then(|| self.start_of_row(number + 1))
    }

    /// Returns the row with this number, counted from 0.
    pub(crate) fn row(&self, number: usize) -> &[u8] {
        plain::row_at(self.cells.body(), self.start_of_row(number))
    }

    #[cfg(test)]
    pub(super) fn has_digits(&self) -> bool {
        self.index.has_digits()
    }
}

/// A weak pointer to a decoded block, stored beside the index entry of that block.
///
/// It saves a lookup in the cache, and does not keep the cells in memory. The allocation of the
/// [`DecodedBlock`] itself, without its cells, stays until the slot is dropped.
#[derive(Debug, Default)]
pub(crate) struct BlockSlot(OnceLock<SlottedBlock>);

#[derive(Debug)]
struct SlottedBlock {
    block: Weak<DecodedBlock>,
    /// `None` for a block without a row table.
    table: Option<TableAddress>,
}

impl BlockSlot {
    /// Returns the block, if the slot remembers one that is still in memory.
    #[inline]
    pub(crate) fn block(&self) -> Option<Arc<DecodedBlock>> {
        self.0.get()?.block.upgrade()
    }

    /// Prefetches the first cache lines that a lookup of a row with this hash reads in the block.
    ///
    /// Does not read the block, which may have been dropped: a prefetch of a stale address is
    /// harmless.
    #[inline]
    pub(crate) fn prefetch(&self, hash: KeyHash) {
        const LINE_LEN: usize = 64;
        /// Bytes of the two counts that an `Arc` has before its value.
        const COUNTS_LEN: usize = 2 * size_of::<usize>();
        let Some(SlottedBlock { block, table }) = self.0.get() else { return };
        let start = block.as_ptr().addr().wrapping_sub(COUNTS_LEN);
        for offset in (0..COUNTS_LEN + size_of::<DecodedBlock>()).step_by(LINE_LEN) {
            prefetch(start.wrapping_add(offset));
        }
        if let Some(table) = table {
            prefetch(table.first_line(hash));
        }
    }

    /// Remembers a block, unless the slot has one already.
    ///
    /// Takes decoded blocks only: the cache may replace an encoded block by a decoded one.
    pub(crate) fn remember(&self, block: &Arc<DecodedBlock>) {
        let table = block.index.table.as_ref().map(RowTable::address);
        self.0.get_or_init(|| SlottedBlock { block: Arc::downgrade(block), table });
    }
}
