//! A cursor that merges memstores and files in cell order.
//!
//! A heap orders the sources by their current cells. Of equal cells the one of the newer source
//! comes first, and the rules skip the others.

use std::sync::Arc;

use sstable::{Cell, CellRef, KeyRef, ReadTrace, RowHead, SequenceId, row_head};

use crate::error::Result;
use crate::files::store_file::FileCursor;
use crate::memstore::{Memstore, SeekPosition};

/// A cursor over the merged cells of several sources. After an error it has no cell.
#[derive(Debug)]
pub(crate) struct MergeCursor {
    /// Newest first.
    sources: Vec<CellSource>,
    /// A binary heap of the sources that have a cell.
    heap: Vec<HeapEntry>,
}

/// A source in the heap, by its index.
#[derive(Clone, Copy, Debug)]
struct HeapEntry {
    /// The first bytes of the current row, which decide most comparisons without a look at the
    /// cells.
    head: RowHead,
    source: usize,
}

impl MergeCursor {
    /// Merges `sources`, newest first, beginning at `start`.
    pub(crate) fn new(sources: Vec<CellSource>, start: KeyRef<'_>) -> Result<Self> {
        let mut merge = Self { sources, heap: Vec::new() };
        merge.seek(start)?;
        Ok(merge)
    }

    /// Returns the current cell.
    #[inline]
    pub(crate) fn cell(&self) -> Option<CellRef<'_>> {
        let cell = self.heap.first().and_then(|first| self.sources[first.source].cell());
        debug_assert_eq!(cell.is_some(), !self.heap.is_empty(), "{IN_HEAP}");
        cell
    }

    /// Advances to the next cell.
    ///
    /// # Panics
    ///
    /// If the cursor is on no cell.
    pub(crate) fn advance(&mut self) -> Result<()> {
        let [first, others @ ..] = &mut self.heap[..] else { panic!("the cursor is on no cell") };
        let source = &mut self.sources[first.source];
        if let Err(error) = source.advance() {
            self.heap.clear();
            return Err(error);
        }
        match source.cell() {
            // A single source keeps its place in the heap.
            Some(_) if others.is_empty() => return Ok(()),
            Some(cell) => first.head = row_head(cell.row),
            None => {
                self.heap.swap_remove(0);
            }
        }
        self.sift_down(0);
        Ok(())
    }

    /// Moves to the first cell at or after `key`, forwards or backwards.
    pub(crate) fn seek(&mut self, key: KeyRef<'_>) -> Result<()> {
        self.heap.clear();
        for source in &mut self.sources {
            source.seek(key)?;
        }
        self.rebuild();
        Ok(())
    }

    /// Returns the greatest row below `row`, or the greatest of all rows if `row` is `None`.
    ///
    /// Afterwards the cursor is on no cell.
    pub(crate) fn row_before(&mut self, row: Option<&[u8]>) -> Result<Option<Box<[u8]>>> {
        self.heap.clear();
        let mut greatest = None;
        for source in &mut self.sources {
            greatest = greatest.max(source.row_before(row)?);
        }
        Ok(greatest)
    }

    /// Returns the counters of the files since the last call, and resets them.
    pub(crate) fn take_trace(&mut self) -> ReadTrace {
        let mut sum = ReadTrace::default();
        for source in &mut self.sources {
            if let CellSource::File(cursor) = source {
                sum.add(&cursor.take_trace());
            }
        }
        sum
    }

    fn rebuild(&mut self) {
        let heap_entry = |(index, source): (usize, &CellSource)| {
            source.cell().map(|cell| HeapEntry { head: row_head(cell.row), source: index })
        };
        debug_assert!(self.heap.is_empty(), "the heap is cleared before a rebuild");
        self.heap.extend(self.sources.iter().enumerate().filter_map(heap_entry));
        for index in (0..self.heap.len() / 2).rev() {
            self.sift_down(index);
        }
    }

    fn sift_down(&mut self, mut index: usize) {
        let Some(&sinking) = self.heap.get(index) else { return };
        loop {
            let children = self.heap.get(2 * index + 1..).unwrap_or_default();
            let Some((&left, others)) = children.split_first() else { break };
            let (child_index, child) = match others.first() {
                Some(&right) if self.is_before(right, left) => (2 * index + 2, right),
                _ => (2 * index + 1, left),
            };
            if !self.is_before(child, sinking) {
                break;
            }
            self.heap[index] = child;
            index = child_index;
        }
        self.heap[index] = sinking;
    }

    #[inline]
    fn is_before(&self, left: HeapEntry, right: HeapEntry) -> bool {
        if left.head != right.head {
            return left.head < right.head;
        }
        self.is_cell_before(left.source, right.source)
    }

    /// Not inlined: rows with equal heads are rare.
    #[inline(never)]
    fn is_cell_before(&self, left: usize, right: usize) -> bool {
        let cell = |source: usize| self.sources[source].cell().expect(IN_HEAP);
        cell(left).compare(&cell(right)).then(left.cmp(&right)).is_lt()
    }
}

const IN_HEAP: &str = "each source in the heap has a current cell";

/// A source of cells: a memstore or a file.
#[derive(Debug)]
pub(crate) enum CellSource {
    Memory(MemstoreCursor),
    File(Box<FileCursor>),
}

impl CellSource {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "each source in the heap has a current cell")]
    fn an_exhausted_source_in_the_heap_is_a_broken_invariant() {
        let cursor = MemstoreCursor::new(Arc::new(Memstore::new()), SequenceId::MAX);
        let heap = vec![HeapEntry { head: row_head(b"row"), source: 0 }];
        let _ = MergeCursor { sources: vec![CellSource::Memory(cursor)], heap }.cell();
    }
}
