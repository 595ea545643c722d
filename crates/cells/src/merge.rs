//! A cursor that merges several sources of cells, such as store files, in cell order.
//!
//! A heap orders the sources by their current cells. Of equal cells, the cell of the newer source comes first, and
//! the [rules](crate::rules) skip the others.

use crate::cell::CellRef;
use crate::key::KeyRef;
use crate::order::Comparator;
use crate::row_head::{RowHead, row_head};

use crate::rules::{Rules, Verdict};

/// A cursor over cells in ascending order: a source of a [`MergeCursor`].
pub trait CellCursor {
    /// Why the next cell cannot be read.
    type Error;

    /// Returns the current cell; `None` before the first seek and after the last cell.
    fn cell(&self) -> Option<CellRef<'_>>;

    /// Returns the row of the current cell; `None` without one.
    ///
    /// A merge asks for the row of each cell. A cursor that knows it without the rest of the cell
    /// should override this.
    fn row(&self) -> Option<&[u8]> {
        self.cell().map(|cell| cell.row)
    }

    /// Returns whether the source may have markers that delete in all columns of a family.
    ///
    /// A cursor that knows that there are none should override this: then [`MergeCursor::seek_past`] seeks past the
    /// cells with the empty qualifier, too.
    fn may_delete_families(&self) -> bool {
        true
    }

    /// Returns whether the next step takes as long as a seek.
    ///
    /// Then [`MergeCursor::seek_past`] seeks past cells that do not matter without passing some of them first.
    fn steps_by_seek(&self) -> bool {
        false
    }

    /// Returns whether the current cell is known to be the last one of its row.
    fn is_at_row_end(&self) -> bool {
        false
    }

    /// Moves to the next cell.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    fn advance(&mut self) -> Result<(), Self::Error>;

    /// Moves to the first cell at or after `key`, forwards or backwards.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    fn seek(&mut self, key: KeyRef<'_>) -> Result<(), Self::Error>;
}

/// A cursor that also goes backwards, from row to row.
pub trait RowCursor: CellCursor {
    /// Moves to the first cell of the greatest row below `row`, or of all rows if `row` is `None`.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    fn seek_row_before(&mut self, row: Option<&[u8]>) -> Result<(), Self::Error>;

    /// Moves to the first cell of the row before `row`, the row that the last call of either method found.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    fn retreat_row(&mut self, row: &[u8]) -> Result<(), Self::Error>;
}

/// A cursor over the merged cells of several sources.
///
/// It returns all cells of all sources in order ([`CellRef::compare`]). Of cells with equal keys
/// and sequence ids, the cell of the source that is first in the list comes first. After an error
/// the cursor has no cell.
///
/// ```
/// use std::convert::Infallible;
///
/// use cells::{Cell, CellRef, KeyRef, Timestamp};
/// use cells::merge::{CellCursor, MergeCursor};
///
/// /// A source of cells in memory.
/// struct Sorted(Vec<Cell>, usize);
///
/// impl CellCursor for Sorted {
///     type Error = Infallible;
///
///     fn cell(&self) -> Option<CellRef<'_>> {
///         self.0.get(self.1).map(Cell::as_ref)
///     }
///
///     fn advance(&mut self) -> Result<(), Infallible> {
///         self.1 += 1;
///         Ok(())
///     }
///
///     fn seek(&mut self, key: KeyRef<'_>) -> Result<(), Infallible> {
///         self.1 = self.0.partition_point(|cell| cell.as_ref().key() < key);
///         Ok(())
///     }
/// }
///
/// let put = |row: &[u8]| CellRef::put(row, b"f", b"q", Timestamp::new(5), b"").to_cell();
/// let sources = vec![Sorted(vec![put(b"b")], 0), Sorted(vec![put(b"a"), put(b"c")], 0)];
/// let mut merged = MergeCursor::new(sources, KeyRef::before_row(b""))?;
/// let mut rows = Vec::new();
/// while let Some(cell) = merged.cell() {
///     rows.push(cell.row.to_vec());
///     merged.advance()?;
/// }
/// assert_eq!(rows, [b"a", b"b", b"c"]);
/// # Ok::<(), Infallible>(())
/// ```
#[derive(Debug)]
pub struct MergeCursor<S> {
    /// Newest first.
    sources: Vec<S>,
    order: Comparator,
    /// A binary heap of the sources that have a cell.
    heap: Vec<HeapEntry>,
}

/// A source on a cell, by its index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeapEntry {
    /// The first bytes of the current row, which decide most comparisons without a look at the
    /// cells.
    pub(crate) head: RowHead,
    pub(crate) source: usize,
}

impl<S: CellCursor> MergeCursor<S> {
    /// Merges sources, newest first, without a position: the cursor is on no cell until a seek.
    pub const fn unpositioned(sources: Vec<S>) -> Self {
        Self { sources, order: Comparator::Bytes, heap: Vec::new() }
    }

    /// Merges `sources`, newest first, from where they are.
    pub fn at_positions(sources: Vec<S>, order: Comparator) -> Self {
        let mut merge = Self { sources, order, heap: Vec::new() };
        merge.merge_all();
        merge
    }

    /// Merges `sources`, newest first, beginning at `start`.
    ///
    /// # Errors
    ///
    /// If the first cell of a source cannot be read.
    pub fn new(sources: Vec<S>, start: KeyRef<'_>) -> Result<Self, S::Error> {
        Self::with_order(sources, start, Comparator::Bytes)
    }

    /// Merges `sources`, newest first, whose rows are in the order of `order`.
    ///
    /// # Errors
    ///
    /// If the first cell of a source cannot be read.
    pub fn with_order(
        sources: Vec<S>,
        start: KeyRef<'_>,
        order: Comparator,
    ) -> Result<Self, S::Error> {
        let mut merge = Self { sources, order, heap: Vec::new() };
        merge.seek(start)?;
        Ok(merge)
    }

    /// Returns the current cell; `None` after the last one.
    #[expect(
        clippy::inline_always,
        reason = "avoids a call and copies of the cell for each cell of a scan"
    )]
    #[inline(always)]
    pub fn cell(&self) -> Option<CellRef<'_>> {
        let source = &self.sources[self.heap.first()?.source];
        debug_assert!(source.cell().is_some(), "{IN_HEAP}");
        // Without a variable for the cell, which would copy it.
        source.cell()
    }

    /// Returns the row of the current cell.
    pub fn row(&self) -> Option<&[u8]> {
        self.sources[self.heap.first()?.source].row()
    }

    /// Advances to the next cell.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    ///
    /// # Panics
    ///
    /// If the cursor is on no cell.
    pub fn advance(&mut self) -> Result<(), S::Error> {
        let [first, others @ ..] = &mut self.heap[..] else { panic!("the cursor is on no cell") };
        let source = &mut self.sources[first.source];
        if let Err(error) = source.advance() {
            self.heap.clear();
            return Err(error);
        }
        match source.row() {
            // A single source keeps its place in the heap.
            Some(_) if others.is_empty() => return Ok(()),
            Some(row) => first.head = head(self.order, row),
            None => {
                self.heap.swap_remove(0);
            }
        }
        self.sift_down(0);
        Ok(())
    }

    /// Seeks the next cell that can matter after the current one, for which the rules have returned `verdict`, if
    /// the cells between would be many. Otherwise returns `false`, and stays.
    ///
    /// # Errors
    ///
    /// If the cell cannot be read.
    ///
    /// # Panics
    ///
    /// If the cursor is on no cell.
    pub fn seek_past(&mut self, rules: &mut Rules<'_>, verdict: Verdict) -> Result<bool, S::Error> {
        if verdict == Verdict::Include {
            return Ok(false);
        }
        if self.heap.first().is_some_and(|first| self.sources[first.source].steps_by_seek()) {
            rules.seek_at_once();
        }
        let cell = self.cell().expect("the cursor is on the cell that was judged");
        let position =
            rules.seek_after(&cell, verdict, || self.sources.iter().any(S::may_delete_families));
        match position {
            Some(position) => self.seek_forward(position).map(|()| true),
            None => Ok(false),
        }
    }

    /// Moves to the first cell at or after `key`, forwards or backwards.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn seek(&mut self, key: KeyRef<'_>) -> Result<(), S::Error> {
        self.heap.clear();
        for source in &mut self.sources {
            source.seek(key)?;
        }
        self.merge_all();
        Ok(())
    }

    /// Moves forwards to the first cell at or after `key`. Sources that are there already stay.
    fn seek_forward(&mut self, key: KeyRef<'_>) -> Result<(), S::Error> {
        let Self { sources, order, heap } = self;
        let sought = heap.iter().try_for_each(|entry| {
            let source = &mut sources[entry.source];
            match source.cell() {
                Some(cell) if order.compare(&cell.key(), &key).is_lt() => source.seek(key),
                _ => Ok(()),
            }
        });
        if sought.is_err() {
            heap.clear();
        }
        self.restore_heap();
        sought
    }

    /// Adds a source at `index` of the list; its current cell must not be before the cursor.
    pub fn insert(&mut self, index: usize, source: S) {
        self.sources.insert(index, source);
        self.merge_all();
    }

    /// Moves past the current cell within its row. A source at the end of its row is dropped from the merge
    /// until the next seek.
    ///
    /// # Errors
    ///
    /// If the next cell cannot be read.
    ///
    /// # Panics
    ///
    /// If the cursor is on no cell.
    pub fn advance_in_row(&mut self) -> Result<(), S::Error> {
        let first = self.heap.first().expect("the cursor is on a cell").source;
        if !self.sources[first].is_at_row_end() {
            return self.advance();
        }
        self.heap.swap_remove(0);
        self.sift_down(0);
        Ok(())
    }

    /// Removes the position: the cursor is on no cell until the next seek.
    pub(crate) fn clear_position(&mut self) {
        self.heap.clear();
    }

    /// Returns the sources, newest first.
    ///
    /// To move one of them breaks the order of the merged cells until the next seek.
    pub fn sources_mut(&mut self) -> &mut [S] {
        &mut self.sources
    }

    /// Merges only these sources, each of which is on a cell, until the next seek.
    pub(crate) fn merge_only(&mut self, sources: &[usize]) {
        self.fill_heap(sources.iter().copied());
        // Of a single source, nothing compares the head.
        if sources.len() > 1 {
            self.restore_heap();
        }
    }

    /// Merges all sources, from where they are.
    fn merge_all(&mut self) {
        self.fill_heap(0..self.sources.len());
        self.restore_heap();
    }

    /// Replaces the heap by entries whose heads [`restore_heap`](Self::restore_heap) sets.
    fn fill_heap(&mut self, sources: impl Iterator<Item = usize>) {
        self.heap.clear();
        self.heap.extend(sources.map(|source| HeapEntry { head: [0; 2], source }));
    }

    /// Restores the heap after seeks of its sources.
    fn restore_heap(&mut self) {
        let Self { sources, order, heap } = self;
        heap.retain_mut(|entry| match sources[entry.source].row() {
            Some(row) => {
                entry.head = head(*order, row);
                true
            }
            None => false,
        });
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

    fn is_before(&self, left: HeapEntry, right: HeapEntry) -> bool {
        if left.head != right.head {
            return left.head < right.head;
        }
        self.is_cell_before(left.source, right.source)
    }

    /// Not inlined: rows with equal heads are rare.
    #[inline(never)]
    fn is_cell_before(&self, left: usize, right: usize) -> bool {
        let left_cell = self.sources[left].cell().expect(IN_HEAP);
        let right_cell = self.sources[right].cell().expect(IN_HEAP);
        let by_cell = match self.order {
            Comparator::Bytes => left_cell.compare(&right_cell),
            Comparator::Meta => {
                let by_rows = self.order.compare_rows(left_cell.row, right_cell.row);
                by_rows.then_with(|| left_cell.compare(&right_cell))
            }
        };
        by_cell.then(left.cmp(&right)).is_lt()
    }
}

/// Returns the head of a row, by which the heap compares it first.
fn head(order: Comparator, row: &[u8]) -> RowHead {
    match order {
        Comparator::Bytes => row_head(row),
        // The first bytes of a row of hbase:meta do not decide.
        Comparator::Meta => row_head(b""),
    }
}

const IN_HEAP: &str = "each source in the heap has a current cell";

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    struct Empty;

    impl CellCursor for Empty {
        type Error = Infallible;

        fn cell(&self) -> Option<CellRef<'_>> {
            None
        }

        fn advance(&mut self) -> Result<(), Infallible> {
            Ok(())
        }

        fn seek(&mut self, _: KeyRef<'_>) -> Result<(), Infallible> {
            Ok(())
        }
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "each source in the heap has a current cell")]
    fn an_exhausted_source_in_the_heap_is_a_broken_invariant() {
        let heap = vec![HeapEntry { head: row_head(b"row"), source: 0 }];
        let _ = MergeCursor { sources: vec![Empty], order: Comparator::Bytes, heap }.cell();
    }
}
