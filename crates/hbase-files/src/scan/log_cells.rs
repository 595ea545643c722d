//! The cells of a store that are only in logs, sorted: those in memory, and those in runs on disk.
//!
//! HBase's memstore holds one cell of a key and sequence id, the one that was written last. So do the
//! cells in memory and a run, and [`LogMerge`] of several of them.

use std::sync::Arc;

use cells::merge::{CellCursor, MergeCursor};
use sstable::{Caching, Cell, CellRef, Comparator, KeyRef, Reader, Scanner, SequenceId};

use crate::wal::region_events::WrittenBy;

/// The unflushed cells of a store, with open runs.
#[derive(Debug)]
pub(super) struct OpenStoreLogCells {
    pub(super) cells: Arc<Vec<Cell>>,
    /// Older than the cells in memory; the oldest first.
    pub(super) runs: Vec<Reader>,
}

/// Sorts cells that come in the order of their writes; of equal cells, keeps the last.
pub(super) fn sorted(mut cells: Vec<(WrittenBy, Cell)>, order: Comparator) -> Vec<Cell> {
    // The sort is stable, so the last one of equal cells comes first.
    cells.reverse();
    cells.sort_by(|(_, one), (_, other)| {
        let (left, right) = (one.as_ref(), other.as_ref());
        let by_key = order.compare(&left.key(), &right.key());
        by_key.then(right.sequence_id.cmp(&left.sequence_id))
    });
    cells.dedup_by(|(_, duplicate), (_, kept)| {
        let (left, right) = (duplicate.as_ref(), kept.as_ref());
        left.sequence_id == right.sequence_id && left.key() == right.key()
    });
    cells.into_iter().map(|(_, cell)| cell).collect()
}

impl OpenStoreLogCells {
    /// Returns a cursor over the cells in memory, if there are no runs.
    pub(super) fn in_memory(&self, order: Comparator) -> Option<MemoryCursor> {
        self.runs.is_empty().then(|| MemoryCursor::new(Arc::clone(&self.cells), order))
    }

    /// Returns a cursor over all cells from `start` on.
    pub(super) fn merge(&self, start: KeyRef<'_>, order: Comparator) -> sstable::Result<LogMerge> {
        let memory = LogCursor::Memory(MemoryCursor::new(Arc::clone(&self.cells), order));
        let runs = self.runs.iter().rev().map(LogCursor::of_run);
        LogMerge::new(std::iter::once(memory).chain(runs).collect(), start, order)
    }
}

/// A cursor over sorted cells of a store: cells in memory, or the cells of a run.
#[derive(Debug)]
pub(super) enum LogCursor {
    Memory(MemoryCursor),
    Run(Box<Scanner>),
}

/// A cursor over sorted cells in memory.
#[derive(Debug)]
pub(super) struct MemoryCursor {
    cells: Arc<Vec<Cell>>,
    at: usize,
    order: Comparator,
}

/// A cursor over the merged cells of a store; of equal cells it has only the one written last.
#[derive(Debug)]
pub(super) struct LogMerge {
    merge: MergeCursor<LogCursor>,
    /// The flat key of the current cell, and its sequence id.
    key: Vec<u8>,
    sequence: SequenceId,
}

impl LogCursor {
    /// Returns a cursor without a position over the cells of a run.
    pub(super) fn of_run(run: &Reader) -> Self {
        Self::Run(Box::new(run.scanner(Caching::Bypass)))
    }
}

impl MemoryCursor {
    /// Begins at the first cell.
    pub(super) const fn new(cells: Arc<Vec<Cell>>, order: Comparator) -> Self {
        Self { cells, at: 0, order }
    }

    /// Returns the current cell.
    pub(super) fn cell(&self) -> Option<&Cell> {
        self.cells.get(self.at)
    }

    /// Moves to the next cell.
    pub(super) const fn advance(&mut self) {
        self.at = self.at.saturating_add(1);
    }

    /// Moves to the first cell at or after `key`.
    pub(super) fn seek(&mut self, key: KeyRef<'_>) {
        self.at = self
            .cells
            .partition_point(|cell| self.order.compare(&cell.as_ref().key(), &key).is_lt());
    }
}

impl LogMerge {
    /// Merges cursors, newest first, beginning at `start`.
    pub(super) fn new(
        cursors: Vec<LogCursor>,
        start: KeyRef<'_>,
        order: Comparator,
    ) -> sstable::Result<Self> {
        let merge = MergeCursor::with_order(cursors, start, order)?;
        Ok(Self { merge, key: Vec::new(), sequence: SequenceId::default() })
    }
}

impl CellCursor for LogMerge {
    type Error = sstable::Error;

    fn cell(&self) -> Option<CellRef<'_>> {
        self.merge.cell()
    }

    fn advance(&mut self) -> sstable::Result<()> {
        let Some(cell) = self.merge.cell() else { return Ok(()) };
        self.key.clear();
        cell.key().write_flat(&mut self.key);
        self.sequence = cell.sequence_id;
        let current = KeyRef::parse(&self.key);
        loop {
            self.merge.advance()?;
            let is_equal = self.merge.cell().is_some_and(|cell| {
                cell.sequence_id == self.sequence && Some(cell.key()) == current
            });
            if !is_equal {
                return Ok(());
            }
        }
    }

    fn seek(&mut self, key: KeyRef<'_>) -> sstable::Result<()> {
        self.merge.seek(key)
    }
}

impl CellCursor for LogCursor {
    type Error = sstable::Error;

    fn cell(&self) -> Option<CellRef<'_>> {
        match self {
            Self::Memory(cursor) => cursor.cell().map(Cell::as_ref),
            Self::Run(scanner) => scanner.cell(),
        }
    }

    fn advance(&mut self) -> sstable::Result<()> {
        match self {
            Self::Memory(cursor) => {
                cursor.advance();
                Ok(())
            }
            Self::Run(scanner) => scanner.advance(),
        }
    }

    fn seek(&mut self, key: KeyRef<'_>) -> sstable::Result<()> {
        match self {
            Self::Memory(cursor) => {
                cursor.seek(key);
                Ok(())
            }
            Self::Run(scanner) => scanner.seek(key),
        }
    }
}
