//! Where the rows of a decoded block start: the table for gets, the heads for seeks.
//!
//! ```text
//! table    ▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪    4 bytes a row and some free slots, see `row_table`: for gets
//! heads    ▪▪▪▪▪▪▪▪▪▪▪▪       8 bytes a row, see `row_heads`: for seeks
//! offsets  ▪▪▪▪▪▪▪▪▪▪▪▪       where each row's first cell starts
//! ```
//!
//! The second seek makes the heads. In a cache that is much smaller than what is read, most blocks are
//! searched once, and mostly by gets: a binary search costs less than making the heads. Their bytes count
//! from the beginning, because a block in the cache must not change its size.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "offsets of rows within the block, and bytes in memory"
)]

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::row_table::{RowTable, offset};
use crate::Comparator;
use crate::encoding::{CellLayout, PlainCells, RowStarts};
use crate::row_heads::{RowHeads, common_prefix_len};

/// How rows are to be looked up in a decoded block.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum RowIndexKind {
    /// By their hash, where the rows have one: for gets.
    ByHash,
    /// By their order alone: for a scan, which asks for one row after the other.
    ByOrder,
}

/// Where the rows of a block start.
#[derive(Debug)]
pub(super) struct RowIndex {
    /// Of each row's first cell, ascending; at least one.
    offsets: Box<[u32]>,
    /// `None` if rows are looked up by their order.
    pub(super) table: Option<RowTable>,
    was_sought: AtomicBool,
    /// None in it where rows are not in the order of their bytes.
    heads: OnceLock<Option<RowHeads>>,
    pub(super) last_cell_at: usize,
    /// At least 1.
    pub(super) cell_count: u64,
    /// Bytes that a cell takes on average.
    pub(super) usual_cell_len: usize,
    /// Bytes that it takes in memory, with those of the heads.
    bytes: usize,
}

impl RowIndex {
    /// Takes the row starts of a block whose cells were all checked.
    pub(super) fn new(
        cells: &PlainCells,
        layout: CellLayout,
        starts: RowStarts,
        lookup: RowIndexKind,
    ) -> Self {
        let RowStarts { offsets, last_cell_at, cell_count } = starts;
        let cells = &**cells.body();
        assert!(
            offsets.first() == Some(&0) && last_cell_at < cells.len() && cell_count > 0,
            "a checked block has a cell: {cell_count} cells, the last at {last_cell_at}"
        );
        debug_assert!(offsets.is_sorted(), "rows follow each other");
        let mut bytes = size_of_val(&*offsets);
        let mut table = None;
        if layout.order == Comparator::Bytes && lookup == RowIndexKind::ByHash {
            let rows = rows_at(cells, &offsets);
            table = RowTable::new(
                cells.len(),
                offsets.len(),
                rows.clone().zip(offsets.iter().copied()),
            );
            let (first, last) = (rows.clone().next(), rows.clone().next_back());
            let (first, last) = first.zip(last).expect("a block has a row");
            bytes += table.as_ref().map_or(0, RowTable::bytes);
            bytes += RowHeads::bytes_of(common_prefix_len(first, last), offsets.len());
        }
        let count = usize::try_from(cell_count).expect("fewer cells than bytes in memory");
        Self {
            offsets: offsets.into(),
            table,
            was_sought: AtomicBool::new(false),
            heads: OnceLock::new(),
            last_cell_at,
            cell_count,
            usual_cell_len: cells.len() / count,
            bytes,
        }
    }

    /// Bytes that it takes in memory, or will.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Finds a row, or where it would be.
    pub(super) fn find(&self, cells: &[u8], order: Comparator, row: &[u8]) -> RowPlace {
        let heads = self.heads(cells, order);
        let candidates = heads.map_or(0..self.offsets.len(), |heads| heads.candidates(row));
        let start = candidates.start;
        let found = self.offsets[candidates]
            .binary_search_by(|at| order.compare_rows(row_at(cells, offset(*at)), row));
        match found {
            Ok(index) => RowPlace::Here(offset(self.offsets[start + index])),
            Err(index) => match self.offsets.get(start + index) {
                Some(at) => RowPlace::Before(offset(*at)),
                None => RowPlace::Behind,
            },
        }
    }

    /// Where the last row starts that starts before `at`; `None` for 0.
    pub(super) fn row_start_before(&self, at: usize) -> Option<usize> {
        let count = self.offsets.partition_point(|start| offset(*start) < at);
        Some(offset(self.offsets[count.checked_sub(1)?]))
    }

    /// The heads, from the second call on.
    fn heads(&self, cells: &[u8], order: Comparator) -> Option<&RowHeads> {
        if let Some(heads) = self.heads.get() {
            return heads.as_ref();
        }
        // Two threads may both take theirs for the first call: the heads are then made at the third.
        if !self.was_sought.swap(true, Ordering::Relaxed) {
            return None;
        }
        let make =
            || (order == Comparator::Bytes).then(|| RowHeads::new(rows_at(cells, &self.offsets)));
        self.heads.get_or_init(make).as_ref()
    }

    #[cfg(test)]
    pub(super) fn has_heads(&self) -> bool {
        self.heads.get().is_some()
    }
}

/// Where a row is in a block, or would be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum RowPlace {
    /// Its first cell starts here.
    Here(usize),
    /// It is not in the block; the next greater row starts here.
    Before(usize),
    /// All rows of the block are less.
    Behind,
}

/// The rows of the cells that start at these places.
fn rows_at<'a>(
    cells: &'a [u8],
    offsets: &'a [u32],
) -> impl DoubleEndedIterator<Item = &'a [u8]> + Clone {
    offsets.iter().map(|at| row_at(cells, offset(*at)))
}

/// The row of the cell that starts at `at`, read without the rest of the cell.
///
/// # Panics
///
/// If no cell starts there.
#[inline]
pub(super) fn row_at(cells: &[u8], at: usize) -> &[u8] {
    /// The two lengths of the cell, in front of the row's.
    const LENGTHS_LEN: usize = 8;
    let row = cells.get(at + LENGTHS_LEN..).and_then(|key| {
        let (len, rest) = key.split_first_chunk()?;
        rest.get(..u16::from_be_bytes(*len).into())
    });
    match row {
        Some(row) => row,
        None => no_cell(at, cells.len()),
    }
}

#[cold]
fn no_cell(at: usize, len: usize) -> ! {
    panic!("a row index has a row at {at}, where {len} bytes of cells have none")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffers::Body;
    use crate::encoding::{BlockEncoder, Cells};
    use crate::{CellRef, DataBlockEncoding, Timestamp};

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
    #[should_panic(expected = "a row index has a row at 1000")]
    fn a_row_beyond_the_cells_is_a_broken_invariant() {
        let starts = RowStarts { offsets: vec![0, 1000], last_cell_at: 27, cell_count: 2 };
        let cells = cells();
        let _ = index(starts).find(cells.body(), Comparator::Bytes, b"b");
    }

    #[test]
    #[should_panic(expected = "a checked block has a cell")]
    fn a_block_without_cells_is_a_broken_invariant() {
        let _ = index(RowStarts { offsets: Vec::new(), last_cell_at: 0, cell_count: 0 });
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "rows follow each other")]
    fn rows_out_of_order_are_a_broken_invariant() {
        let _ = index(RowStarts { offsets: vec![0, 27, 5], last_cell_at: 27, cell_count: 3 });
    }
}
