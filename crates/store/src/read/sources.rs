//! The sources of a store's merged cells: memstores and files.

use std::sync::Arc;

use sstable::{Cell, CellRef, KeyRef, ReadTrace, SequenceId};

use crate::error::{Error, Result};
use crate::files::store_file::FileCursor;
use crate::memstore::{Memstore, SeekPosition};
use crate::read::merge::{CellCursor, MergeCursor};

/// A cursor over the merged cells of memstores and files.
pub(crate) type StoreMerge = MergeCursor<CellSource>;

impl StoreMerge {
    /// Returns the greatest row below `row`, or the greatest of all rows if `row` is `None`.
    ///
    /// Afterwards the cursor is on no cell.
    pub(crate) fn row_before(&mut self, row: Option<&[u8]>) -> Result<Option<Box<[u8]>>> {
        self.clear_position();
        let mut greatest = None;
        for source in self.sources_mut() {
            greatest = greatest.max(source.row_before(row)?);
        }
        Ok(greatest)
    }

    /// Returns the counters of the files since the last call, and resets them.
    pub(crate) fn take_trace(&mut self) -> ReadTrace {
        let mut sum = ReadTrace::default();
        for source in self.sources_mut() {
            if let CellSource::File(cursor) = source {
                sum.add(&cursor.take_trace());
            }
        }
        sum
    }
}

/// A source of cells: a memstore or a file.
#[derive(Debug)]
pub(crate) enum CellSource {
    Memory(MemstoreCursor),
    File(Box<FileCursor>),
}

impl CellCursor for CellSource {
    type Error = Error;

    #[inline]
    fn cell(&self) -> Option<CellRef<'_>> {
        match self {
            Self::Memory(cursor) => cursor.cell(),
            Self::File(cursor) => cursor.cell(),
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
                cursor.fill(&SeekPosition::at_or_after(key));
                Ok(())
            }
            Self::File(cursor) => cursor.seek(key),
        }
    }
}

impl CellSource {
    fn row_before(&mut self, row: Option<&[u8]>) -> Result<Option<Box<[u8]>>> {
        match self {
            Self::Memory(cursor) => Ok(cursor.memstore.row_before(row, cursor.visible)),
            Self::File(cursor) => cursor.row_before(row),
        }
    }
}

/// A cursor over a memstore. It copies cells in batches, so that writers wait only for one batch.
#[derive(Debug)]
pub(crate) struct MemstoreCursor {
    memstore: Arc<Memstore>,
    visible: SequenceId,
    cells: Vec<Cell>,
    at: usize,
}

impl MemstoreCursor {
    /// Cells that are copied under one lock.
    const BATCH: usize = 64;

    pub(crate) const fn new(memstore: Arc<Memstore>, visible: SequenceId) -> Self {
        Self { memstore, visible, cells: Vec::new(), at: 0 }
    }

    fn cell(&self) -> Option<CellRef<'_>> {
        self.cells.get(self.at).map(Cell::as_ref)
    }

    fn advance(&mut self) {
        self.at += 1;
        if self.at == self.cells.len()
            && let Some(last) = self.cells.pop()
        {
            self.fill(&SeekPosition::after(last.as_ref()));
        }
    }

    fn fill(&mut self, position: &SeekPosition<'_>) {
        self.cells.clear();
        self.at = 0;
        self.memstore.copy_cells(position, self.visible, Self::BATCH, &mut self.cells, |_| true);
    }
}
