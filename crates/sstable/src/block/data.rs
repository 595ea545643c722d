//! A data block as it is kept in memory: plain cells, and beside them where each row starts.
//!
//! ```text
//! heads    ▪▪▪▪▪▪▪▪▪▪▪▪       8 bytes a row, see `row_heads`
//! offsets  ▪▪▪▪▪▪▪▪▪▪▪▪       where the row's first cell stands
//! cells    [k|v|row1…][k|v|row1…][k|v|row2…] …
//! ```
//!
//! The cells are checked one by one when the block is loaded, and never again: from then on they
//! are only taken apart.
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

use std::cmp::Ordering;
use std::mem::replace;

use bytes::Bytes;

use super::header::Header;
use super::index::BlockPlace;
use crate::encoding::plain::Cells;
use crate::encoding::{CellLayout, Decoded, What};
use crate::input::Input;
use crate::row_heads::RowHeads;
use crate::{BlockOffset, CellRef, CellType, KeyRef, SequenceId};

/// The cells of a data block.
#[derive(Debug)]
pub(crate) struct DataBlock {
    place: BlockPlace,
    previous: Option<BlockOffset>,
    /// The header of the block behind this one, if it came with the same read and is sound.
    next: Option<Header>,
    cells: Bytes,
    layout: CellLayout,
    row_offsets: Box<[u32]>,
    heads: RowHeads,
    last_cell_at: usize,
    cell_count: u64,
}

/// Where a row is in a block, or would be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum RowPlace {
    /// Its first cell stands here.
    Here(usize),
    /// It is not in the block; the next greater row starts here.
    Before(usize),
    /// All rows of the block are less.
    Behind,
}

impl DataBlock {
    /// Takes the plain cells of a block, all of which it checks.
    pub(crate) fn new(
        place: BlockPlace,
        header: &Header,
        next: Option<Header>,
        decoded: Decoded,
        layout: CellLayout,
    ) -> Result<Self, What> {
        let cells = &decoded.cells;
        let mut row_offsets = Vec::new();
        let mut row: Option<&[u8]> = None;
        let (mut last_cell_at, mut cell_count) = (0, 0_u64);
        for located in Cells::new(cells, layout) {
            let (at, cell) = located?;
            match row.map(|row| row.cmp(cell.row)) {
                Some(Ordering::Equal) => {}
                Some(Ordering::Greater) => {
                    return Err(
                        format!("cell at {at} in the block: its row is out of order").into()
                    );
                }
                Some(Ordering::Less) | None => {
                    row_offsets.push(u32::try_from(at).map_err(|_| "more than 4 GiB of cells")?);
                    row = Some(cell.row);
                }
            }
            last_cell_at = at;
            cell_count = cell_count.saturating_add(1);
        }
        if row.is_none() {
            return Err("no cells".into());
        }
        decoded.check_rows(&row_offsets)?;
        let rows = row_offsets.iter().map(|at| row_at(cells, offset(*at)).unwrap_or_default());
        let heads = RowHeads::new(rows);
        let row_offsets = row_offsets.into_boxed_slice();
        let previous = header.previous_block;
        Ok(Self {
            place,
            previous,
            next,
            cells: decoded.cells,
            layout,
            row_offsets,
            heads,
            last_cell_at,
            cell_count,
        })
    }

    pub(crate) const fn place(&self) -> BlockPlace {
        self.place
    }

    /// The data block before this one, as its header has it.
    pub(crate) const fn previous(&self) -> Option<BlockOffset> {
        self.previous
    }

    pub(crate) const fn next(&self) -> Option<Header> {
        self.next
    }

    /// How many cells there are; at least one.
    pub(crate) const fn cell_count(&self) -> u64 {
        self.cell_count
    }

    /// Bytes it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        let index = self.row_offsets.len().saturating_mul(4).saturating_add(self.heads.bytes());
        size_of::<Self>().saturating_add(self.cells.len()).saturating_add(index)
    }

    /// The bytes of the longest cell, or of the block where that is not longer than `enough`.
    pub(crate) fn longest_cell_len(&self, enough: usize) -> usize {
        if self.cells.len() <= enough {
            return self.cells.len();
        }
        let nexts = std::iter::successors(self.next_at(0), |at| self.next_at(*at));
        let lens = nexts.scan(0, |start, end| Some(end.saturating_sub(replace(start, end))));
        lens.max().unwrap_or(0)
    }

    /// The first cell's key.
    pub(crate) fn first_key(&self) -> Option<KeyRef<'_>> {
        self.cell_at(0).map(|(cell, _)| cell.key())
    }

    /// The last cell's key.
    pub(crate) fn last_key(&self) -> Option<KeyRef<'_>> {
        self.cell_at(self.last_cell_at).map(|(cell, _)| cell.key())
    }

    /// Where the last cell starts.
    pub(crate) const fn last_cell_at(&self) -> usize {
        self.last_cell_at
    }

    /// The cell that starts at `at`, and where the next one starts; `None` past the last.
    #[inline]
    pub(crate) fn cell_at(&self, at: usize) -> Option<(CellRef<'_>, usize)> {
        let mut input = Input::new(self.cells.get(at..)?);
        let key_len = input.len_i32()?;
        let value_len = input.len_i32()?;
        let key = KeyRef::parse(input.take(key_len)?)?;
        let value = input.take(value_len)?;
        let mut tags = &[][..];
        if self.layout.tags {
            let len = input.u16()?;
            tags = input.take(len.into())?;
        }
        let mut sequence_id = SequenceId::default();
        if self.layout.mvcc {
            sequence_id = SequenceId::new(input.hvlong()?.cast_unsigned());
        }
        let cell = CellRef {
            row: key.row,
            family: key.family,
            qualifier: key.qualifier,
            timestamp: key.timestamp,
            cell_type: CellType::from_code(key.type_code)?,
            value,
            tags,
            sequence_id,
        };
        Some((cell, self.cells.len().saturating_sub(input.len())))
    }

    /// Where the cell behind the one at `at` starts: only the lengths are looked at.
    #[inline]
    pub(crate) fn next_at(&self, at: usize) -> Option<usize> {
        let mut input = Input::new(self.cells.get(at..)?);
        let key_len = input.len_i32()?;
        let value_len = input.len_i32()?;
        input.take(key_len.checked_add(value_len)?)?;
        if self.layout.tags {
            let len = input.u16()?;
            input.take(len.into())?;
        }
        if self.layout.mvcc {
            input.hvlong()?;
        }
        Some(self.cells.len().saturating_sub(input.len()))
    }

    /// Finds a row.
    pub(crate) fn find_row(&self, row: &[u8]) -> RowPlace {
        let candidates = self.heads.candidates(row);
        let start = candidates.start;
        let undecided = self.row_offsets.get(candidates).unwrap_or_default();
        let found = undecided
            .binary_search_by(|at| row_at(&self.cells, offset(*at)).unwrap_or_default().cmp(row));
        match found {
            Ok(index) => self.row_offset(start.saturating_add(index)).map(RowPlace::Here),
            Err(index) => self.row_offset(start.saturating_add(index)).map(RowPlace::Before),
        }
        .unwrap_or(RowPlace::Behind)
    }

    /// Where the first cell stands whose key is not less than `key`; `None` if all are less.
    pub(crate) fn seek(&self, key: &KeyRef<'_>) -> Option<usize> {
        let mut at = match self.find_row(key.row) {
            RowPlace::Here(at) => at,
            RowPlace::Before(at) => return Some(at),
            RowPlace::Behind => return None,
        };
        while let Some((cell, next)) = self.cell_at(at) {
            if cell.key() >= *key {
                return Some(at);
            }
            at = next;
        }
        None
    }

    /// Where the last cell stands whose key is less than `key`; `None` if none is.
    pub(crate) fn last_before(&self, key: &KeyRef<'_>) -> Option<usize> {
        let mut before = Vec::new();
        self.row_cells_before(self.seek(key).unwrap_or(self.cells.len()), &mut before);
        before.pop()
    }

    /// Fills `before` with the places of the cells before the one at `at` that are of the same row
    /// as the last of them. None if there is no cell before it.
    pub(crate) fn row_cells_before(&self, at: usize, before: &mut Vec<usize>) {
        before.clear();
        let row = self.row_offsets.partition_point(|start| offset(*start) < at).checked_sub(1);
        let mut next = row.and_then(|row| self.row_offset(row));
        while let Some(cell) = next.filter(|next| *next < at) {
            before.push(cell);
            next = self.next_at(cell);
        }
    }

    fn row_offset(&self, index: usize) -> Option<usize> {
        self.row_offsets.get(index).map(|at| offset(*at))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::{BlockEncoder, decode};
    use crate::{BlockType, ChecksumType, DataBlockEncoding, Timestamp};

    const LAYOUT: CellLayout = CellLayout { tags: true, mvcc: true, compressed_tags: false };

    fn cell<'a>(row: &'a [u8], qualifier: &'a [u8]) -> CellRef<'a> {
        CellRef {
            row,
            family: b"f",
            qualifier,
            timestamp: Timestamp::new(5),
            cell_type: CellType::Put,
            value: b"value",
            tags: b"\0\x02\x40t",
            sequence_id: SequenceId::new(300),
        }
    }

    fn block(cells: &[CellRef<'_>]) -> Result<DataBlock, What> {
        let mut encoder = BlockEncoder::new(DataBlockEncoding::None, LAYOUT);
        for cell in cells {
            encoder.append(cell);
        }
        let body = Bytes::copy_from_slice(encoder.finish());
        let header =
            Header::new(BlockType::Data, body.len(), body.len(), None, ChecksumType::Null, 16_384);
        let place = BlockPlace { offset: BlockOffset::new(0), len: 0 };
        let decoded = decode(DataBlockEncoding::None, &body, LAYOUT, usize::MAX)?;
        DataBlock::new(place, &header, None, decoded, LAYOUT)
    }

    #[test]
    fn cells_come_back_one_after_the_other() {
        let cells = [cell(b"a", b"1"), cell(b"a", b"2"), cell(b"b", b"1")];
        let block = block(&cells).unwrap();
        let mut at = 0;
        for expected in cells {
            let (found, next) = block.cell_at(at).unwrap();
            assert_eq!(found, expected);
            assert_eq!(block.next_at(at), Some(next));
            at = next;
        }
        assert!(block.cell_at(at).is_none());
        assert_eq!(block.cell_count(), 3);
        assert_eq!(block.first_key(), Some(cells[0].key()));
        assert_eq!(block.last_key(), Some(cells[2].key()));
    }

    #[test]
    fn rows_are_found_or_their_place_is() {
        let block = block(&[cell(b"b", b"1"), cell(b"b", b"2"), cell(b"d", b"1")]).unwrap();
        let second_row = block.last_cell_at();
        assert_eq!(block.find_row(b"a"), RowPlace::Before(0));
        assert_eq!(block.find_row(b"b"), RowPlace::Here(0));
        assert_eq!(block.find_row(b"c"), RowPlace::Before(second_row));
        assert_eq!(block.find_row(b"d"), RowPlace::Here(second_row));
        assert_eq!(block.find_row(b"e"), RowPlace::Behind);
    }

    #[test]
    fn a_seek_ends_at_the_first_cell_that_is_not_less() {
        let block = block(&[cell(b"b", b"1"), cell(b"b", b"3"), cell(b"d", b"1")]).unwrap();
        let (_, second) = block.cell_at(0).unwrap();
        let seek = |row, qualifier| block.seek(&KeyRef::before_column(row, b"f", qualifier));
        assert_eq!(seek(b"a", b"9"), Some(0));
        assert_eq!(seek(b"b", b"1"), Some(0));
        assert_eq!(seek(b"b", b"2"), Some(second));
        assert_eq!(seek(b"b", b"4"), Some(block.last_cell_at()));
        assert_eq!(block.seek(&KeyRef::after_row(b"d")), None);
    }

    #[test]
    fn the_last_cell_before_a_place_is_found() {
        let block = block(&[cell(b"b", b"1"), cell(b"b", b"3"), cell(b"d", b"1")]).unwrap();
        let (_, second) = block.cell_at(0).unwrap();
        let before =
            |row, qualifier| block.last_before(&KeyRef::before_column(row, b"f", qualifier));
        assert_eq!(before(b"a", b"9"), None);
        assert_eq!(before(b"b", b"1"), None);
        assert_eq!(before(b"b", b"2"), Some(0));
        assert_eq!(before(b"b", b"4"), Some(second));
        assert_eq!(before(b"d", b"1"), Some(second));
        assert_eq!(before(b"e", b""), Some(block.last_cell_at()));
    }

    #[test]
    fn rows_out_of_order_and_empty_blocks_are_damage() {
        assert!(block(&[cell(b"b", b"1"), cell(b"a", b"1")]).is_err());
        assert!(block(&[]).is_err());
    }
}
