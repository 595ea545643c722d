//! A data block that was checked from end to end, with where each row starts: what can be searched.
//!
//! ```text
//! table    ▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪    4 bytes a row and some air, see `row_table`: for gets
//! heads    ▪▪▪▪▪▪▪▪▪▪▪▪       8 bytes a row, see `row_heads`: for seeks
//! offsets  ▪▪▪▪▪▪▪▪▪▪▪▪       where the row's first cell stands
//! cells    [k|v|row1…][k|v|row1…][k|v|row2…] …
//! ```
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

use super::row_table::RowTable;
use super::walk::{PlainWalk, Step};
use crate::encoding::{CellLayout, Decoded, What};
use crate::input::Input;
use crate::row_heads::RowHeads;
use crate::{Comparator, KeyRef};

/// Where the rows of a block start. That there is one says that all cells were checked.
#[derive(Debug)]
pub(super) struct RowIndex {
    offsets: Box<[u32]>,
    /// `None` where rows are not in the order of their bytes.
    heads: Option<RowHeads>,
    /// `None` where there can be none.
    table: Option<RowTable>,
    last_cell_at: usize,
    cell_count: u64,
}

impl RowIndex {
    /// Walks all cells of a block.
    pub(super) fn new(decoded: &Decoded, layout: CellLayout) -> Result<Self, What> {
        let mut walk = PlainWalk::begin(decoded, layout)?;
        let (mut offsets, mut cell_count) = (vec![0], 1_u64);
        loop {
            match walk.step(decoded, layout)? {
                Step::SameRow => {}
                Step::NextRow => {
                    let at = u32::try_from(walk.position());
                    offsets.push(at.map_err(|_| "more than 4 GiB of cells")?);
                }
                Step::End => break,
            }
            cell_count = cell_count.saturating_add(1);
        }
        let cells = decoded.cells();
        let rows = offsets.iter().map(|at| row_at(cells, offset(*at)).unwrap_or_default());
        let by_bytes = layout.order == Comparator::Bytes;
        let heads = by_bytes.then(|| RowHeads::new(rows.clone()));
        let places = rows.zip(offsets.iter().copied());
        let table = by_bytes.then(|| RowTable::new(cells.len(), offsets.len(), places)).flatten();
        let last_cell_at = walk.position();
        Ok(Self { offsets: offsets.into(), heads, table, last_cell_at, cell_count })
    }

    /// Bytes it takes in memory.
    pub(super) fn bytes(&self) -> usize {
        let heads = self.heads.as_ref().map_or(0, RowHeads::bytes);
        let table = self.table.as_ref().map_or(0, RowTable::bytes);
        size_of_val(&*self.offsets).saturating_add(heads).saturating_add(table)
    }
}

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

    /// Where the first cell of a row stands, if the row is in the block.
    pub(crate) fn row_start(&self, row: &[u8]) -> Option<usize> {
        let Some(table) = &self.index.table else {
            return match self.find_row(row) {
                RowPlace::Here(at) => Some(at),
                RowPlace::Before(_) | RowPlace::Behind => None,
            };
        };
        let cells = self.decoded.cells();
        table.find(row, |at| row_at(cells, at) == Some(row))
    }

    /// Finds a row, or where it would be.
    pub(super) fn find_row(&self, row: &[u8]) -> RowPlace {
        let all = 0..self.index.offsets.len();
        let candidates = self.index.heads.as_ref().map_or(all, |heads| heads.candidates(row));
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
            if !matches!(walk.step(self.decoded, self.layout), Ok(Step::SameRow | Step::NextRow)) {
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

/// The row of the cell that starts at `at`, without taking the rest of it apart.
#[inline]
fn row_at(cells: &[u8], at: usize) -> Option<&[u8]> {
    let mut input = Input::new(cells.get(at..)?);
    input.take(8)?;
    let len = input.u16()?;
    input.take(len.into())
}
