//! A data block that was checked from end to end, with where each row starts: what can be searched.
//!
//! ```text
//! table    ▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪    4 bytes a row and some air, see `row_table`: for gets
//! heads    ▪▪▪▪▪▪▪▪▪▪▪▪       8 bytes a row, see `row_heads`: for seeks
//! offsets  ▪▪▪▪▪▪▪▪▪▪▪▪       where the row's first cell stands
//! cells    [k|v|row1…][k|v|row1…][k|v|row2…] …
//! ```
//!
//! The heads are made at the second seek. In a cache that is much smaller than what is read, most
//! blocks are searched once, and mostly by gets: a search by halving costs less than it takes to
//! make the heads. Their room is counted from the beginning.
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use filter::KeyHash;

pub(crate) use super::row_table::{ROW_HASH_SEED, row_hash};
use super::row_table::{RowTable, TableAddress};
use super::walk::{PlainWalk, Step};
use crate::encoding::{CellLayout, Decoded, What};
use crate::input::Input;
use crate::row_heads::{RowHeads, common_prefix_len};
use crate::{Comparator, KeyRef};

/// Where the rows of a block start. That there is one says that all cells were checked.
#[derive(Debug)]
pub(super) struct RowIndex {
    offsets: Box<[u32]>,
    /// `None` where there can be none.
    table: Option<RowTable>,
    was_sought: AtomicBool,
    /// None in it where rows are not in the order of their bytes.
    heads: OnceLock<Option<RowHeads>>,
    last_cell_at: usize,
    cell_count: u64,
    /// How many bytes a cell takes on average.
    usual_cell_len: usize,
    /// What it takes in memory, the heads with it.
    bytes: usize,
}

/// Where the rows start of a block all of whose cells are passed and checked, one after the other.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct RowStarts {
    offsets: Vec<u32>,
    last_cell_at: usize,
    cell_count: u64,
}

impl RowStarts {
    /// Takes the first cell of a block of so many bytes of plain cells.
    pub(crate) fn begin(cells_len: usize) -> Self {
        let mut offsets = Vec::with_capacity(cells_len.div_ceil(SHORT_ROW_LEN));
        offsets.push(0);
        Self { offsets, last_cell_at: 0, cell_count: 1 }
    }

    /// Takes the next cell, which begins a row or goes on with it.
    #[inline]
    pub(crate) fn pass(&mut self, begins_row: bool, at: usize) -> Result<(), What> {
        if begins_row {
            self.offsets.push(u32::try_from(at).map_err(|_| "more than 4 GiB of cells")?);
        }
        self.last_cell_at = at;
        self.cell_count = self.cell_count.saturating_add(1);
        Ok(())
    }

    /// Walks all cells of a block.
    pub(crate) fn walk(decoded: &Decoded, layout: CellLayout) -> Result<Self, What> {
        let mut walk = PlainWalk::begin(decoded, layout)?;
        let mut starts = Self::begin(decoded.cells().len());
        loop {
            match walk.step(decoded, layout)? {
                Step::End => return Ok(starts),
                step => starts.pass(step == Step::NextRow, walk.position())?,
            }
        }
    }
}

impl RowIndex {
    /// Walks all cells of a block.
    pub(super) fn new(decoded: &Decoded, layout: CellLayout) -> Result<Self, What> {
        RowStarts::walk(decoded, layout).map(|starts| Self::of(decoded, layout, starts))
    }

    /// Takes what a walk has found that checked all cells.
    pub(super) fn of(decoded: &Decoded, layout: CellLayout, starts: RowStarts) -> Self {
        let cells = decoded.cells();
        let mut index = Self::without_table(decoded, starts);
        if layout.order == Comparator::Bytes {
            let rows = rows_at(cells, &index.offsets);
            let places = rows.clone().zip(index.offsets.iter().copied());
            let table = RowTable::new(cells.len(), index.offsets.len(), places);
            let (first, last) = (rows.clone().next(), rows.clone().next_back());
            let prefix_len = common_prefix_len(first.unwrap_or_default(), last.unwrap_or_default());
            let heads_bytes = RowHeads::bytes_of(prefix_len, index.offsets.len());
            index.bytes = index.bytes.saturating_add(table.as_ref().map_or(0, RowTable::bytes));
            index.bytes = index.bytes.saturating_add(heads_bytes);
            index.table = table;
        }
        index
    }

    /// The same without a way to look rows up by a hash.
    pub(super) fn without_table(decoded: &Decoded, starts: RowStarts) -> Self {
        let RowStarts { offsets, last_cell_at, cell_count } = starts;
        let cells = usize::try_from(cell_count).unwrap_or(usize::MAX);
        Self {
            bytes: size_of_val(&*offsets),
            offsets: offsets.into(),
            table: None,
            was_sought: AtomicBool::new(false),
            heads: OnceLock::new(),
            last_cell_at,
            cell_count,
            usual_cell_len: decoded.cells().len().checked_div(cells).unwrap_or_default(),
        }
    }

    /// Bytes it takes in memory, or will.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// The heads, from the second call on.
    fn heads(&self, cells: &[u8], order: Comparator) -> Option<&RowHeads> {
        if let Some(heads) = self.heads.get() {
            return heads.as_ref();
        }
        // Nobody minds if two threads both take theirs for the first.
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

/// A row with its cells is hardly shorter in bytes: so much room saves the list of rows from moving.
const SHORT_ROW_LEN: usize = 64;

/// Where a row is in a block, or would be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum RowPlace {
    /// Its first cell stands here.
    Here(usize),
    /// It is not in the block; the next greater row starts here.
    Before(usize),
    /// All rows of the block are less.
    Behind,
}

/// A block and where its rows start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Searchable<'a> {
    pub(super) decoded: &'a Decoded,
    pub(super) layout: CellLayout,
    pub(super) index: &'a RowIndex,
}

impl<'a> Searchable<'a> {
    /// How many cells there are; at least one.
    pub(crate) const fn cell_count(&self) -> u64 {
        self.index.cell_count
    }

    /// The first cell's key.
    pub(crate) fn first_key(&self) -> Option<KeyRef<'a>> {
        let walk = PlainWalk::at(self.decoded, self.layout, 0)?;
        walk.cell(self.decoded).map(|cell| cell.key())
    }

    /// The last cell's key.
    pub(crate) fn last_key(&self) -> Option<KeyRef<'a>> {
        let walk = PlainWalk::at(self.decoded, self.layout, self.index.last_cell_at)?;
        walk.cell(self.decoded).map(|cell| cell.key())
    }

    /// Where the last cell starts.
    pub(crate) const fn last_cell_at(&self) -> usize {
        self.index.last_cell_at
    }

    /// Where in memory that is which tells where rows stand.
    pub(crate) fn table_address(&self) -> Option<TableAddress> {
        self.index.table.as_ref().map(RowTable::address)
    }

    /// Sends for what tells where the row of this hash stands.
    pub(crate) fn prefetch_place(&self, hash: KeyHash) {
        if let Some(table) = &self.index.table {
            table.prefetch(hash);
        }
    }

    /// Where the row of this hash most likely starts, if anywhere; the cell there is sent for.
    pub(crate) fn prefetch_cell(&self, hash: KeyHash) -> Option<u32> {
        let at = self.index.table.as_ref()?.candidate(hash)?;
        let cells = self.decoded.cells();
        cells.get(offset(at)).into_iter().for_each(filter::prefetch_line);
        self.prefetch_cell_end(cells, offset(at));
        Some(at)
    }

    /// Sends for the end of the cell at `at`, or what is it mostly. A cell's lengths stand at its front, its
    /// sequence id at its end, on another cache line, which would wait for the lengths.
    #[inline]
    fn prefetch_cell_end(&self, cells: &[u8], at: usize) {
        let end = at.saturating_add(self.index.usual_cell_len).saturating_sub(1);
        cells.get(end).into_iter().for_each(filter::prefetch_line);
    }

    /// The place of a row, if it starts there.
    pub(crate) fn row_at(&self, at: u32, row: &[u8]) -> Option<usize> {
        let at = offset(at);
        (row_at(self.decoded.cells(), at) == Some(row)).then_some(at)
    }

    /// Where the first cell of a row of this hash stands, if the row is in the block.
    pub(crate) fn row_start(&self, row: &[u8], hash: KeyHash) -> Option<usize> {
        let Some(table) = &self.index.table else {
            return match self.find_row(row) {
                RowPlace::Here(at) => Some(at),
                RowPlace::Before(_) | RowPlace::Behind => None,
            };
        };
        let cells = self.decoded.cells();
        table.find(hash, |at| {
            self.prefetch_cell_end(cells, at);
            row_at(cells, at) == Some(row)
        })
    }

    /// Finds a row, or where it would be.
    pub(super) fn find_row(&self, row: &[u8]) -> RowPlace {
        let all = 0..self.index.offsets.len();
        let heads = self.index.heads(self.decoded.cells(), self.layout.order);
        let candidates = heads.map_or(all, |heads| heads.candidates(row));
        let start = candidates.start;
        let undecided = self.index.offsets.get(candidates).unwrap_or_default();
        let cells = self.decoded.cells();
        let order = self.layout.order;
        let found = undecided.binary_search_by(|at| {
            order.compare_rows(row_at(cells, offset(*at)).unwrap_or_default(), row)
        });
        match found {
            Ok(index) => self.row_offset(start.saturating_add(index)).map(RowPlace::Here),
            Err(index) => self.row_offset(start.saturating_add(index)).map(RowPlace::Before),
        }
        .unwrap_or(RowPlace::Behind)
    }

    /// Where the first cell stands whose key is not less than `key`; `None` if all are less.
    pub(crate) fn seek(&self, key: &KeyRef<'_>) -> Option<usize> {
        let at = match self.find_row(key.row) {
            RowPlace::Here(at) => at,
            RowPlace::Before(at) => return Some(at),
            RowPlace::Behind => return None,
        };
        let order = self.layout.order;
        let mut walk = PlainWalk::at(self.decoded, self.layout, at)?;
        while order.compare(&walk.cell(self.decoded)?.key(), key).is_lt() {
            if walk.step(self.decoded, self.layout).ok()? == Step::End {
                return None;
            }
        }
        Some(walk.position())
    }

    /// Where the last cell stands whose key is less than `key`; `None` if none is.
    pub(crate) fn last_before(&self, key: &KeyRef<'_>) -> Option<usize> {
        let mut before = Vec::new();
        self.row_cells_before(self.seek(key).unwrap_or(usize::MAX), &mut before);
        before.pop()
    }

    /// Fills `before` with the places of the cells before the one at `at` that are of the same row
    /// as the last of them. None if there is no cell before it.
    pub(crate) fn row_cells_before(&self, at: usize, before: &mut Vec<usize>) {
        before.clear();
        let row = self.index.offsets.partition_point(|start| offset(*start) < at).checked_sub(1);
        let start = row.and_then(|row| self.row_offset(row));
        let walk = start.and_then(|start| PlainWalk::at(self.decoded, self.layout, start));
        let Some(mut walk) = walk else { return };
        while walk.position() < at {
            before.push(walk.position());
            if !matches!(walk.step(self.decoded, self.layout), Ok(Step::Cell)) {
                break;
            }
        }
    }

    fn row_offset(&self, index: usize) -> Option<usize> {
        self.index.offsets.get(index).map(|at| offset(*at))
    }
}

fn offset(at: u32) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

/// The rows of the cells that start at these places.
fn rows_at<'a>(
    cells: &'a [u8],
    offsets: &'a [u32],
) -> impl DoubleEndedIterator<Item = &'a [u8]> + Clone {
    offsets.iter().map(|at| row_at(cells, offset(*at)).unwrap_or_default())
}

/// The row of the cell that starts at `at`, without taking the rest of it apart.
#[inline]
fn row_at(cells: &[u8], at: usize) -> Option<&[u8]> {
    let mut input = Input::new(cells.get(at..)?);
    input.take(8)?;
    let len = input.u16()?;
    input.take(len.into())
}
