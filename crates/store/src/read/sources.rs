//! The sources of a store's merged cells: memstores and files.

use std::sync::Arc;

use cells::merge::{CellCursor, MergeCursor, RowCursor};
use sstable::{Cell, CellRef, KeyRef, ReadTrace, SequenceId};

use crate::error::{Error, Result};
use crate::files::version::store_file::FileCursor;
use crate::memstore::{Memstore, SeekPosition};

/// A cursor over the merged cells of memstores and files.
pub(crate) type StoreMerge = MergeCursor<CellSource>;

/// Returns the counters of the files since the last call, and resets them.
pub(crate) fn take_trace(sources: &mut [CellSource]) -> ReadTrace {
    let mut sum = ReadTrace::default();
    for source in sources {
        if let CellSource::File(cursor) = source {
            sum.add(&cursor.take_trace());
        }
    }
    sum
}

/// A source of cells: a memstore or a file.
#[derive(Debug)]
pub(crate) enum CellSource {
    Memory(MemstoreCursor),
    File(Box<FileCursor>),
}

impl CellCursor for CellSource {
    type Error = Error;

    fn cell(&self) -> Option<CellRef<'_>> {
        match self {
            Self::Memory(cursor) => cursor.cell(),
            Self::File(cursor) => cursor.cell(),
        }
    }

    fn row(&self) -> Option<&[u8]> {
        match self {
            Self::Memory(cursor) => cursor.cells.get(cursor.at).map(Cell::row),
            Self::File(cursor) => cursor.row(),
        }
    }

    fn may_delete_families(&self) -> bool {
        match self {
            Self::Memory(cursor) => cursor.memstore.deletes_families(),
            Self::File(cursor) => cursor.may_delete_families(),
        }
    }

    fn steps_by_seek(&self) -> bool {
        match self {
            Self::Memory(cursor) => cursor.has_more && cursor.at + 1 == cursor.cells.len(),
            Self::File(_) => false,
        }
    }

    fn is_at_row_end(&self) -> bool {
        match self {
            Self::Memory(cursor) => cursor.is_at_row_end(),
            Self::File(cursor) => cursor.is_at_row_end(),
        }
    }

    fn advance(&mut self) -> Result<()> {
        match self {
            Self::Memory(cursor) => {
                cursor.advance();
                Ok(())
            }
            Self::File(cursor) => cursor.advance(),
        }
    }

    fn seek(&mut self, key: KeyRef<'_>) -> Result<()> {
        match self {
            Self::Memory(cursor) => {
                cursor.seek(key);
                Ok(())
            }
            Self::File(cursor) => cursor.seek(key),
        }
    }
}

impl RowCursor for CellSource {
    fn seek_row_before(&mut self, row: Option<&[u8]>) -> Result<()> {
        match self {
            Self::Memory(cursor) => {
                cursor.seek_row_before(row);
                Ok(())
            }
            Self::File(cursor) => cursor.seek_row_before(row),
        }
    }

    fn retreat_row(&mut self, row: &[u8]) -> Result<()> {
        match self {
            Self::Memory(cursor) => {
                cursor.seek_row_before(Some(row));
                Ok(())
            }
            Self::File(cursor) => cursor.retreat_row(),
        }
    }
}

/// A cursor over a memstore. It copies cells in batches, so that writers wait only for one batch.
#[derive(Debug)]
pub(crate) struct MemstoreCursor {
    memstore: Arc<Memstore>,
    visible: SequenceId,
    /// The only row whose cells the cursor has; `None` for all rows.
    row: Option<Box<[u8]>>,
    cells: Vec<Cell>,
    at: usize,
    /// Whether the memstore may have cells after this batch to which [`advance`](Self::advance) goes on.
    has_more: bool,
    /// Whether the memstore may have cells after this batch, of rows that a reverse scan has passed.
    ends_early: bool,
    /// The maximum number of cells in the next batch.
    batch: usize,
    /// The number of cells copied so far.
    copied: usize,
}

impl MemstoreCursor {
    /// Creates a cursor over all rows, without a position.
    pub(crate) const fn new(memstore: Arc<Memstore>, visible: SequenceId) -> Self {
        Self {
            memstore,
            visible,
            row: None,
            cells: Vec::new(),
            at: 0,
            has_more: false,
            ends_early: false,
            batch: Memstore::BATCH_MAX,
            copied: 0,
        }
    }

    /// Creates a cursor over one row, at the first cell at or after `key`.
    ///
    /// The first batch has at most `batch` cells, the next ones have more. Returns `None` if there is
    /// no cell.
    pub(crate) fn of_row(
        memstore: &Arc<Memstore>,
        visible: SequenceId,
        key: KeyRef<'_>,
        batch: usize,
    ) -> Option<Self> {
        let (mut cells, position) = (Vec::new(), SeekPosition::at_or_after(key));
        let has_more = memstore.copy_cells(&position, visible, batch, &mut cells, Some(key.row));
        if cells.is_empty() {
            return None;
        }
        let (memstore, row, copied) = (Arc::clone(memstore), Some(key.row.into()), cells.len());
        Some(Self {
            memstore,
            visible,
            row,
            cells,
            at: 0,
            has_more,
            ends_early: false,
            batch,
            copied,
        })
    }

    pub(crate) const fn copied(&self) -> usize {
        self.copied
    }

    /// Returns the current cell, and gives up the cursor.
    pub(crate) fn into_cell(mut self) -> Cell {
        self.cells.swap_remove(self.at)
    }

    pub(crate) fn cell(&self) -> Option<CellRef<'_>> {
        self.cells.get(self.at).map(Cell::as_ref)
    }

    fn advance(&mut self) {
        self.at += 1;
        if self.at == self.cells.len()
            && self.has_more
            && let Some(last) = self.cells.pop()
        {
            self.batch = (4 * self.batch).min(Memstore::BATCH_MAX);
            self.fill(&SeekPosition::after(last.as_ref()));
        }
    }

    fn seek(&mut self, key: KeyRef<'_>) {
        let is_before = |cell: &Cell| cell.as_ref().key() < key;
        if self.cells.get(self.at).is_some_and(is_before)
            && ((!self.has_more && !self.ends_early) || !self.cells.last().is_some_and(is_before))
        {
            // Forwards within the batch.
            self.at += self.cells[self.at..].partition_point(is_before);
        } else {
            self.fill(&SeekPosition::at_or_after(key));
        }
    }

    /// Moves to the first cell of the greatest row below `row`, or of all rows if `row` is `None`.
    ///
    /// The cells of that row are followed by cells of greater rows, or by none.
    fn seek_row_before(&mut self, row: Option<&[u8]>) {
        let is_below = |cell: &Cell| row.is_none_or(|row| cell.row() < row);
        let mut count = match self.cells.get(self.at) {
            // Mostly the cursor is in `row`.
            Some(cell) if !is_below(cell) => {
                self.cells[..self.at].iter().rposition(is_below).map_or(0, |last| last + 1)
            }
            _ => self.cells.partition_point(is_below),
        };
        // The rows in the batch are complete, except perhaps the first.
        let has_complete_row = |cells: &[Cell]| match cells {
            [first, .., last] => first.row() != last.row(),
            _ => false,
        };
        if count == self.cells.len() || !has_complete_row(&self.cells[..count]) {
            self.cells.clear();
            let Self { memstore, visible, cells, batch, .. } = self;
            let has_more = memstore.copy_cells_before(row, *visible, *batch, cells);
            (self.has_more, self.ends_early, count) = (false, true, self.cells.len());
            self.copied += count;
            if has_more
                && !has_complete_row(&self.cells)
                && let Some(last) = self.cells.last()
            {
                let row = last.row().to_vec();
                self.fill(&SeekPosition::at_or_after(KeyRef::before_row(&row)));
                return;
            }
        }
        let Some(last) = self.cells[..count].last() else {
            self.at = 0;
            return;
        };
        self.at = self.cells[..count]
            .iter()
            .rposition(|cell| cell.row() != last.row())
            .map_or(0, |at| at + 1);
    }

    fn is_at_row_end(&self) -> bool {
        match &self.cells[self.at..] {
            [cell, next, ..] => cell.row() != next.row(),
            _ => !self.has_more,
        }
    }

    fn fill(&mut self, position: &SeekPosition<'_>) {
        self.cells.clear();
        (self.at, self.ends_early) = (0, false);
        let Self { memstore, visible, row, cells, batch, .. } = self;
        self.has_more = memstore.copy_cells(position, *visible, *batch, cells, row.as_deref());
        self.copied += self.cells.len();
    }
}

#[cfg(test)]
mod tests {
    use sstable::Timestamp;

    use super::*;

    #[test]
    fn a_cursor_seeks_forwards_from_where_it_has_gone_backwards() {
        let memstore = Arc::new(Memstore::new());
        let row = |number: usize| format!("{number:04}");
        for number in 0..500 {
            let row = row(number);
            let put = CellRef::put(row.as_bytes(), b"f", b"q", Timestamp::new(1), b"");
            memstore.insert([CellRef { sequence_id: SequenceId::new(1), ..put }.to_cell()]);
        }
        let mut cursor = MemstoreCursor::new(Arc::clone(&memstore), SequenceId::MAX);
        let found = |cursor: &MemstoreCursor| cursor.cell().map(|cell| cell.row.to_vec());
        for (before, to) in [(500, 499), (3, 3), (300, 299), (300, 300), (300, 400), (70, 0)] {
            cursor.seek_row_before(Some(row(before).as_bytes()));
            assert_eq!(found(&cursor), Some(row(before - 1).into_bytes()));
            cursor.seek(KeyRef::before_row(row(to).as_bytes()));
            assert_eq!(found(&cursor), Some(row(to).into_bytes()), "{before} {to}");
        }
    }
}
