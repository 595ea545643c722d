//! Cells from many places in one order.
//!
//! A heap of sources: the one whose cell comes first is on top. Of equal cells that of the newer
//! source comes first; the rules pass over the others.

use std::sync::Arc;

use sstable::{Cell, CellRef, KeyRef, ReadTrace, RowHead, SequenceId, row_head};

use crate::error::Result;
use crate::files::store_file::FileCursor;
use crate::memstore::{Memstore, SeekPosition};

/// Cells in order, merged. After an error there are none.
#[derive(Debug)]
pub(crate) struct MergeCursor {
    /// The newest first.
    sources: Vec<CellSource>,
    /// Those sources that have a cell, as a heap.
    heap: Vec<HeapEntry>,
}

/// Where a source stands.
#[derive(Clone, Copy, Debug)]
struct HeapEntry {
    /// Of its cell's row: mostly that alone decides which of two cells comes first, and no source
    /// has to be asked.
    head: RowHead,
    source: usize,
}

impl MergeCursor {
    /// Merges `sources`, of which the newest comes first, from `start` on.
    pub(crate) fn new(sources: Vec<CellSource>, start: KeyRef<'_>) -> Result<Self> {
        let mut merge = Self { sources, heap: Vec::new() };
        merge.seek(start)?;
        Ok(merge)
    }

    /// The cell that comes next.
    #[inline]
    pub(crate) fn cell(&self) -> Option<CellRef<'_>> {
        let cell = self.heap.first().and_then(|first| self.sources[first.source].cell());
        debug_assert_eq!(cell.is_some(), !self.heap.is_empty(), "{IN_HEAP}");
        cell
    }

    /// Goes on from a cell to the next.
    pub(crate) fn advance(&mut self) -> Result<()> {
        let [first, others @ ..] = &mut self.heap[..] else { panic!("goes on from a cell") };
        let source = &mut self.sources[first.source];
        if let Err(error) = source.advance() {
            self.heap.clear();
            return Err(error);
        }
        match source.cell() {
            // With nobody else nothing is compared.
            Some(_) if others.is_empty() => return Ok(()),
            Some(cell) => first.head = row_head(cell.row),
            None => {
                self.heap.swap_remove(0);
            }
        }
        self.sift_down(0);
        Ok(())
    }

    /// Goes to the first cell that is not before `key`, forwards or back.
    pub(crate) fn seek(&mut self, key: KeyRef<'_>) -> Result<()> {
        self.heap.clear();
        for source in &mut self.sources {
            source.seek(key)?;
        }
        self.rebuild();
        Ok(())
    }

    /// The greatest row below `row`, or of all rows if there is none. Afterwards the merge stands on no
    /// cell.
    pub(crate) fn row_before(&mut self, row: Option<&[u8]>) -> Result<Option<Box<[u8]>>> {
        self.heap.clear();
        let mut greatest = None;
        for source in &mut self.sources {
            greatest = greatest.max(source.row_before(row)?);
        }
        Ok(greatest)
    }

    /// What reading the files took since this was asked last.
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
        let standing = |(source, it): (usize, &CellSource)| {
            it.cell().map(|cell| HeapEntry { head: row_head(cell.row), source })
        };
        debug_assert!(self.heap.is_empty(), "the old heap is of other cells");
        self.heap.extend(self.sources.iter().enumerate().filter_map(standing));
        for place in (0..self.heap.len() / 2).rev() {
            self.sift_down(place);
        }
    }

    fn sift_down(&mut self, mut place: usize) {
        let Some(&sinking) = self.heap.get(place) else { return };
        loop {
            let children = self.heap.get(2 * place + 1..).unwrap_or_default();
            let Some((&left, others)) = children.split_first() else { break };
            let (child_place, child) = match others.first() {
                Some(&right) if self.is_before(right, left) => (2 * place + 2, right),
                _ => (2 * place + 1, left),
            };
            if !self.is_before(child, sinking) {
                break;
            }
            self.heap[place] = child;
            place = child_place;
        }
        self.heap[place] = sinking;
    }

    #[inline]
    fn is_before(&self, left: HeapEntry, right: HeapEntry) -> bool {
        if left.head != right.head {
            return left.head < right.head;
        }
        self.is_cell_before(left.source, right.source)
    }

    /// Apart, for rows that begin alike are rare.
    #[inline(never)]
    fn is_cell_before(&self, left: usize, right: usize) -> bool {
        let cell = |source: usize| self.sources[source].cell().expect(IN_HEAP);
        cell(left).compare(&cell(right)).then(left.cmp(&right)).is_lt()
    }
}

/// Of every source in a heap.
const IN_HEAP: &str = "a source in the heap stands on a cell";

/// One place that cells come from.
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

/// Reads a memstore some cells at a time, so that writers wait only for as long as those take.
#[derive(Debug)]
pub(crate) struct MemstoreCursor {
    memstore: Arc<Memstore>,
    visible: SequenceId,
    cells: Vec<Cell>,
    at: usize,
}

impl MemstoreCursor {
    /// As many cells as are copied at once.
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

    fn fill(&mut self, place: &SeekPosition<'_>) {
        self.cells.clear();
        self.at = 0;
        self.memstore.copy_cells(place, self.visible, Self::BATCH, &mut self.cells, |_| true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "a source in the heap stands on a cell")]
    fn a_source_at_its_end_in_the_heap_is_a_broken_invariant() {
        let cursor = MemstoreCursor::new(Arc::new(Memstore::new()), SequenceId::MAX);
        let heap = vec![HeapEntry { head: row_head(b"row"), source: 0 }];
        let _ = MergeCursor { sources: vec![CellSource::Memory(cursor)], heap }.cell();
    }
}
