//! The row index of a decoded block: a hash table for gets, row digits for seeks.
//!
//! ```text
//! table    ▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪    4 bytes per row and some free slots, see `row_table`: for gets
//! digits   ▪▪▪▪▪▪▪▪▪▪▪▪       8 bytes per row, see `row_digits`: for seeks
//! offsets  ▪▪▪▪▪▪▪▪▪▪▪▪       the offset of each row's first cell
//! ```
//!
//! The digits are built by the second seek: a block in a cache much smaller than the working set is
//! rarely sought twice, and one binary search is cheaper than building the digits. Their bytes are
//! counted from the start, because a cached block must not change its size.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use cells::Comparator;

use super::row_table::{RowTable, to_usize};
use crate::encoding::plain::row_at;
use crate::encoding::{CellLayout, PlainCells, RowStarts};
use crate::row_digits::{RowDigits, common_prefix_len};

/// How rows are looked up in a decoded block.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum RowIndexKind {
    /// By hash, if rows are ordered bytewise: for gets.
    ByHash,
    /// By order, without a hash table: for scans and checks, whose blocks are not cached.
    ByOrder,
}

/// The row index of a block.
#[derive(Debug)]
pub(super) struct RowIndex {
    /// The offset of each row's first cell, ascending; at least one.
    offsets: Box<[u32]>,
    /// `None` if rows are looked up by binary search.
    pub(super) table: Option<RowTable>,
    was_searched: AtomicBool,
    /// Holds `None` if rows are not ordered bytewise.
    digits: OnceLock<Option<RowDigits>>,
    pub(super) last_cell_at: usize,
    /// At least 1.
    pub(super) cell_count: u64,
    /// The average length of a cell.
    pub(super) average_cell_len: usize,
    /// The size in memory, including the digits of a [`ByHash`](RowIndexKind::ByHash) block.
    bytes: usize,
}

impl RowIndex {
    /// Builds the index from the row starts of a block whose cells have all been checked.
    pub(super) fn new(
        cells: &PlainCells,
        layout: CellLayout,
        starts: RowStarts,
        kind: RowIndexKind,
    ) -> Self {
        let RowStarts { offsets, last_cell_at, cell_count } = starts;
        let cells = &**cells.body();
        assert!(
            offsets.first() == Some(&0) && last_cell_at < cells.len() && cell_count > 0,
            "a checked block has a cell: {cell_count} cells, the last at {last_cell_at}"
        );
        debug_assert!(offsets.is_sorted(), "row offsets ascend");
        let mut bytes = size_of_val(&*offsets);
        let mut table = None;
        if layout.order == Comparator::Bytes && kind == RowIndexKind::ByHash {
            let rows = rows_of_cells(cells, &offsets);
            table = RowTable::new(
                cells.len(),
                offsets.len(),
                rows.clone().zip(offsets.iter().copied()),
            );
            let last_row_at = *offsets.last().expect("a block has a row");
            let (first, last) = (row_at(cells, 0), row_at(cells, to_usize(last_row_at)));
            bytes += table.as_ref().map_or(0, RowTable::bytes);
            bytes += RowDigits::bytes_of(common_prefix_len(first, last), offsets.len());
        }
        let count = usize::try_from(cell_count).expect("fewer cells than bytes in memory");
        Self {
            offsets: offsets.into(),
            table,
            was_searched: AtomicBool::new(false),
            digits: OnceLock::new(),
            last_cell_at,
            cell_count,
            average_cell_len: cells.len() / count,
            bytes,
        }
    }

    /// The size in memory, in bytes. Of a block that may be cached it includes the digits, built or not.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the position of a row, or of its successor, by digits and offsets. Gets use `table`.
    pub(super) fn seek(&self, cells: &[u8], order: Comparator, row: &[u8]) -> RowPosition {
        let digits = self.digits(cells, order);
        let candidates = digits.map_or(0..self.offsets.len(), |digits| digits.candidates(row));
        let start = candidates.start;
        let found = self.offsets[candidates]
            .binary_search_by(|at| order.compare_rows(row_at(cells, to_usize(*at)), row));
        match found {
            Ok(index) => RowPosition::At(to_usize(self.offsets[start + index])),
            Err(index) => match self.offsets.get(start + index) {
                Some(at) => RowPosition::Next(to_usize(*at)),
                None => RowPosition::AfterAll,
            },
        }
    }

    pub(super) const fn row_count(&self) -> usize {
        self.offsets.len()
    }

    /// Returns the number of rows that start before `at`.
    pub(super) fn rows_before(&self, at: usize) -> usize {
        self.offsets.partition_point(|start| to_usize(*start) < at)
    }

    /// Returns the offset of the first cell of the row with this number, counted from 0.
    pub(super) fn row_start(&self, number: usize) -> usize {
        to_usize(self.offsets[number])
    }

    /// Returns the digits; builds them in the second call.
    fn digits(&self, cells: &[u8], order: Comparator) -> Option<&RowDigits> {
        if let Some(digits) = self.digits.get() {
            return digits.as_ref();
        }
        if !self.was_searched.swap(true, Ordering::Relaxed) {
            return None;
        }
        let make = || {
            (order == Comparator::Bytes)
                .then(|| RowDigits::new(rows_of_cells(cells, &self.offsets)))
        };
        self.digits.get_or_init(make).as_ref()
    }

    #[cfg(test)]
    pub(super) fn has_digits(&self) -> bool {
        self.digits.get().is_some()
    }
}

/// The position of a row in a block, or of its successor.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum RowPosition {
    /// The row's first cell starts at this offset.
    At(usize),
    /// The row is absent; the next greater row starts at this offset.
    Next(usize),
    /// The row is absent; all rows of the block are less.
    AfterAll,
}

/// The rows of the cells at these offsets.
fn rows_of_cells<'a>(
    cells: &'a [u8],
    offsets: &'a [u32],
) -> impl DoubleEndedIterator<Item = &'a [u8]> + Clone {
    offsets.iter().map(|at| row_at(cells, to_usize(*at)))
}

#[cfg(test)]
mod tests {
    use cells::{CellRef, Timestamp};

    use super::*;
    use crate::buffers::Body;
    use crate::encoding::{BlockEncoder, Cells, DataBlockEncoding};

    fn cells() -> PlainCells {
        let mut encoder = BlockEncoder::new(DataBlockEncoding::None, CellLayout::default());
        for row in [b"a", b"b"] {
            encoder.append(&CellRef::put(row, b"f", b"q", Timestamp::new(1), b"value"));
        }
        let body = Body::from(encoder.finish().to_vec());
        match Cells::open(DataBlockEncoding::None, body, usize::MAX) {
            Ok(Cells::Plain(cells)) => cells,
            _ => panic!("plain cells"),
        }
    }

    fn index(starts: RowStarts) -> RowIndex {
        RowIndex::new(&cells(), CellLayout::default(), starts, RowIndexKind::ByOrder)
    }

    #[test]
    #[should_panic(expected = "no cell starts at offset 1000")]
    fn a_row_beyond_the_cells_is_a_broken_invariant() {
        let starts = RowStarts { offsets: vec![0, 1000], last_cell_at: 27, cell_count: 2 };
        let cells = cells();
        let _ = index(starts).seek(cells.body(), Comparator::Bytes, b"b");
    }

    #[test]
    #[should_panic(expected = "a checked block has a cell")]
    fn a_block_without_cells_is_a_broken_invariant() {
        let _ = index(RowStarts { offsets: Vec::new(), last_cell_at: 0, cell_count: 0 });
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "row offsets ascend")]
    fn rows_out_of_order_are_a_broken_invariant() {
        let _ = index(RowStarts { offsets: vec![0, 27, 5], last_cell_at: 27, cell_count: 3 });
    }
}
