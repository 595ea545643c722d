//! A data block as it is kept in memory: cells, and once they were checked, where each row starts.
//!
//! No cell is used that was not checked after it was read. A block that is to be searched is
//! [checked](DataBlock::check) from end to end, and then [`Searchable`]; its cells are plain ones then.
//! A scan that passes the cache by, and the first get that reads a block of differences, need neither
//! a row index nor all plain cells at once: they decode and check each cell when they come to it, in
//! their [walk](DataBlock::walk).
//!
//! A block in the cache does not change, because the cache counts its bytes when it comes and when it
//! goes. One that was put there as it was read is [replaced](DataBlock::to_searchable) once it is to
//! be searched.
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

use std::sync::OnceLock;

use super::body::Buffers;
use super::header::Header;
use super::index::BlockPlace;
use super::searchable::{RowIndex, RowStarts, Searchable};
use super::walk::{PlainWalk, Step, Walk};
use crate::encoding::{CellLayout, Cells, Decoded, Deltas, What};
use crate::{BlockOffset, BlockType, CellRef};

/// The cells of a data block.
#[derive(Debug)]
pub(crate) struct DataBlock {
    place: BlockPlace,
    block_type: BlockType,
    previous: Option<BlockOffset>,
    /// The header of the block behind this one, if it came with the same read and is sound.
    next: Option<Header>,
    cells: Cells,
    /// Of differences, once all cells were wanted.
    plain: OnceLock<Decoded>,
    layout: CellLayout,
    index: OnceLock<RowIndex>,
}

impl DataBlock {
    /// Takes the cells of a block, which are still to be checked.
    pub(crate) const fn new(
        place: BlockPlace,
        header: &Header,
        next: Option<Header>,
        cells: Cells,
        layout: CellLayout,
    ) -> Self {
        Self {
            place,
            block_type: header.block_type,
            previous: header.previous_block,
            next,
            cells,
            plain: OnceLock::new(),
            layout,
            index: OnceLock::new(),
        }
    }

    pub(crate) const fn place(&self) -> BlockPlace {
        self.place
    }

    pub(crate) const fn block_type(&self) -> BlockType {
        self.block_type
    }

    /// The data block before this one, as its header has it.
    pub(crate) const fn previous(&self) -> Option<BlockOffset> {
        self.previous
    }

    pub(crate) const fn next(&self) -> Option<Header> {
        self.next
    }

    /// Bytes it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        let cells = match &self.cells {
            Cells::Plain(plain) => plain.bytes(),
            Cells::Deltas(deltas) => deltas.bytes(),
        };
        let plain = self.plain.get().map_or(0, Decoded::bytes);
        let index = self.index.get().map_or(0, RowIndex::bytes);
        [cells, plain, index].into_iter().fold(size_of::<Self>(), usize::saturating_add)
    }

    /// The bytes of the longest cell, or of the block where that is not longer than `enough`.
    pub(crate) fn longest_cell_len(&self, enough: usize) -> Result<usize, What> {
        let len = match &self.cells {
            Cells::Plain(plain) => plain.cells().len(),
            Cells::Deltas(deltas) => deltas.plain_len(),
        };
        if len <= enough {
            return Ok(len);
        }
        let mut walk = self.walk()?;
        let mut longest = walk.cell_len();
        while self.step(&mut walk)? != Step::End {
            longest = longest.max(walk.cell_len());
        }
        Ok(longest)
    }

    /// Gives its buffers to other blocks.
    pub(crate) fn give_back(self, buffers: &mut Buffers) {
        buffers.give_back(match self.cells {
            Cells::Plain(plain) => plain.into_buffer(),
            Cells::Deltas(deltas) => deltas.into_buffer(),
        });
        if let Some(plain) = self.plain.into_inner() {
            buffers.give_back(plain.into_buffer());
        }
    }

    /// What can be searched, if all cells were checked before.
    #[inline]
    pub(crate) fn searchable(&self) -> Option<Searchable<'_>> {
        let index = self.index.get()?;
        let decoded = match &self.cells {
            Cells::Plain(plain) => plain,
            Cells::Deltas(_) => self.plain.get()?,
        };
        Some(Searchable { decoded, layout: self.layout, index })
    }

    /// Checks all cells, unless that was done before; then the block can be searched. Not for a block
    /// of differences in the cache: it would grow.
    pub(crate) fn check(&self) -> Result<Searchable<'_>, What> {
        if let Some(searchable) = self.searchable() {
            return Ok(searchable);
        }
        // Another thread may have been as far at the same time, with the same outcome.
        let layout = self.layout;
        let (decoded, index) = match &self.cells {
            Cells::Plain(plain) => (plain, RowIndex::new(plain, layout)?),
            Cells::Deltas(deltas) => {
                let (plain, starts) = deltas.to_plain(layout, &mut Buffers::default())?;
                let plain = self.plain.get_or_init(|| plain);
                (plain, RowIndex::of(plain, layout, starts))
            }
        };
        let index = self.index.get_or_init(|| index);
        Ok(Searchable { decoded, layout, index })
    }

    /// The differences of a block that is still as it was read: each who walks it has to check what
    /// it comes to.
    #[inline]
    pub(crate) fn as_read(&self) -> Option<&Deltas> {
        match &self.cells {
            Cells::Deltas(deltas) if self.index.get().is_none() => Some(deltas),
            _ => None,
        }
    }

    /// Of a block as it was read the same with all cells plain and checked, in memory of its own.
    pub(crate) fn to_searchable(&self, buffers: &mut Buffers) -> Result<Option<Self>, What> {
        self.to_plain(buffers, |plain, starts| RowIndex::of(plain, self.layout, starts))
    }

    /// The same for a scan, which asks for its rows one after the other: there is nothing to look them
    /// up by but their order.
    pub(crate) fn to_walkable(&self, buffers: &mut Buffers) -> Result<Option<Self>, What> {
        self.to_plain(buffers, |_, starts| RowIndex::without_table(starts))
    }

    fn to_plain(
        &self,
        buffers: &mut Buffers,
        index: impl FnOnce(&Decoded, RowStarts) -> RowIndex,
    ) -> Result<Option<Self>, What> {
        let Some(deltas) = self.as_read() else { return Ok(None) };
        let (plain, starts) = deltas.to_plain(self.layout, buffers)?;
        let index = index(&plain, starts);
        Ok(Some(Self {
            cells: Cells::Plain(plain),
            plain: OnceLock::new(),
            index: OnceLock::from(index),
            ..*self
        }))
    }

    /// The block with all cells plain and checked; `buffers` get what it needs no more.
    pub(crate) fn into_searchable(self, buffers: &mut Buffers) -> Result<Self, What> {
        if let Some(searchable) = self.to_searchable(buffers)? {
            self.give_back(buffers);
            return Ok(searchable);
        }
        self.check()?;
        Ok(self)
    }

    /// A walk from the first cell on, which checks the cells it comes to unless all were checked.
    pub(crate) fn walk(&self) -> Result<Walk, What> {
        match (self.walk_from(0), &self.cells) {
            (Some(walk), _) => Ok(walk),
            (None, Cells::Plain(plain)) => PlainWalk::begin(plain, self.layout).map(Walk::Plain),
            (None, Cells::Deltas(deltas)) => {
                deltas.walk(self.layout).map(|walk| Walk::Deltas(Box::new(walk)))
            }
        }
    }

    /// A walk from the cell on that starts at `at`; `None` if the block was not checked.
    pub(crate) fn walk_from(&self, at: usize) -> Option<Walk> {
        let decoded = self.searchable()?.decoded;
        PlainWalk::at(decoded, self.layout, at).map(Walk::Plain)
    }

    /// Goes to the next cell of a walk.
    #[inline]
    pub(crate) fn step(&self, walk: &mut Walk) -> Result<Step, What> {
        match (walk, &self.cells) {
            (Walk::Plain(walk), Cells::Plain(plain)) => walk.step(plain, self.layout),
            (walk, _) => self.step_encoded(walk),
        }
    }

    /// The cell that a walk has come to.
    #[inline]
    pub(crate) fn cell<'a>(&'a self, walk: &'a Walk) -> Option<CellRef<'a>> {
        match (walk, &self.cells) {
            (Walk::Plain(walk), Cells::Plain(plain)) => walk.cell(plain),
            (walk, _) => self.encoded_cell(walk),
        }
    }

    /// Goes to the next cell, whose block is encoded; apart, so that plain cells are walked in a
    /// loop without calls.
    fn step_encoded(&self, walk: &mut Walk) -> Result<Step, What> {
        match (walk, &self.cells) {
            (Walk::Deltas(walk), Cells::Deltas(deltas)) => walk.step(deltas),
            (Walk::Plain(walk), _) => match self.plain.get() {
                Some(plain) => walk.step(plain, self.layout),
                None => Ok(Step::End),
            },
            (Walk::Deltas(_), Cells::Plain(_)) => Ok(Step::End),
        }
    }

    fn encoded_cell<'a>(&'a self, walk: &'a Walk) -> Option<CellRef<'a>> {
        match (walk, &self.cells) {
            (Walk::Deltas(walk), Cells::Deltas(deltas)) => walk.cell(deltas),
            (Walk::Plain(walk), _) => walk.cell(self.plain.get()?),
            (Walk::Deltas(_), Cells::Plain(_)) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::body::Body;
    use crate::block::searchable::RowPlace;
    use crate::encoding::{BlockEncoder, open};
    use crate::{
        CellType, ChecksumType, Comparator, DataBlockEncoding, KeyRef, SequenceId, Timestamp,
    };

    const LAYOUT: CellLayout =
        CellLayout { tags: true, mvcc: true, compressed_tags: false, order: Comparator::Bytes };

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

    fn unchecked(encoding: DataBlockEncoding, cells: &[CellRef<'_>]) -> DataBlock {
        let mut encoder = BlockEncoder::new(encoding, LAYOUT);
        for cell in cells {
            encoder.append(cell);
        }
        let body = encoder.finish().to_vec();
        let header =
            Header::new(BlockType::Data, body.len(), body.len(), None, ChecksumType::Null, 16_384);
        let place = BlockPlace { offset: BlockOffset::new(0), len: 0 };
        let cells = open(encoding, Body::from(body), usize::MAX).unwrap();
        DataBlock::new(place, &header, None, cells, LAYOUT)
    }

    fn block(cells: &[CellRef<'_>]) -> DataBlock {
        let block = unchecked(DataBlockEncoding::None, cells);
        block.check().unwrap();
        block
    }

    /// Where the cell behind the first one starts.
    fn second(block: &DataBlock) -> usize {
        let mut walk = block.walk().unwrap();
        block.step(&mut walk).unwrap();
        walk.position()
    }

    #[test]
    fn cells_come_back_one_after_the_other_whether_they_were_checked_or_are() {
        let cells = [cell(b"a", b"1"), cell(b"a", b"2"), cell(b"b", b"1")];
        for encoding in DataBlockEncoding::ALL {
            let block = unchecked(encoding, &cells);
            let unchecked = [Step::SameRow, Step::NextRow];
            for steps in [unchecked, [Step::Cell, Step::Cell]] {
                let mut walk = block.walk().unwrap();
                assert_eq!(block.cell(&walk), Some(cells[0]));
                assert_eq!(block.step(&mut walk), Ok(steps[0]));
                assert_eq!(block.cell(&walk), Some(cells[1]));
                assert_eq!(block.step(&mut walk), Ok(steps[1]));
                assert_eq!(block.step(&mut walk), Ok(Step::End));
                assert_eq!(block.cell(&walk), Some(cells[2]));
                let searchable = block.check().unwrap();
                assert_eq!(searchable.cell_count(), 3);
                assert_eq!(searchable.first_key(), Some(cells[0].key()));
                assert_eq!(searchable.last_key(), Some(cells[2].key()));
                assert_eq!(searchable.last_cell_at(), walk.position());
            }
        }
    }

    #[test]
    fn rows_are_found_or_their_place_is() {
        let block = block(&[cell(b"b", b"1"), cell(b"b", b"2"), cell(b"d", b"1")]);
        let block = block.check().unwrap();
        let second_row = block.last_cell_at();
        assert_eq!(block.find_row(b"a"), RowPlace::Before(0));
        assert_eq!(block.find_row(b"b"), RowPlace::Here(0));
        assert_eq!(block.find_row(b"c"), RowPlace::Before(second_row));
        assert_eq!(block.find_row(b"d"), RowPlace::Here(second_row));
        assert_eq!(block.find_row(b"e"), RowPlace::Behind);
        let starts = [b"a", b"b", b"c", b"d", b"e"].map(|row| block.row_start(row));
        assert_eq!(starts, [None, Some(0), None, Some(second_row), None]);
    }

    /// Their room counts from the beginning, so that a cache's budget holds.
    #[test]
    fn the_second_seek_makes_the_heads_and_finds_the_same() {
        let rows: Vec<_> = (0..40).map(|row| format!("row{row:02}").into_bytes()).collect();
        let cells: Vec<_> = rows.iter().map(|row| cell(row, b"q")).collect();
        for row in &rows {
            let block = block(&cells);
            let bytes = block.bytes();
            let (searchable, index) = (block.check().unwrap(), block.index.get().unwrap());
            let start = searchable.row_start(row).unwrap();
            for has_heads in [false, true] {
                assert_eq!(searchable.find_row(row), RowPlace::Here(start));
                assert_eq!(index.has_heads(), has_heads);
            }
            assert_eq!(block.bytes(), bytes);
        }
    }

    #[test]
    fn a_seek_ends_at_the_first_cell_that_is_not_less() {
        let block = block(&[cell(b"b", b"1"), cell(b"b", b"3"), cell(b"d", b"1")]);
        let (second, block) = (second(&block), block.check().unwrap());
        let seek = |row, qualifier| block.seek(&KeyRef::before_column(row, b"f", qualifier));
        assert_eq!(seek(b"a", b"9"), Some(0));
        assert_eq!(seek(b"b", b"1"), Some(0));
        assert_eq!(seek(b"b", b"2"), Some(second));
        assert_eq!(seek(b"b", b"4"), Some(block.last_cell_at()));
        assert_eq!(block.seek(&KeyRef::after_row(b"d")), None);
    }

    #[test]
    fn the_last_cell_before_a_place_is_found() {
        let block = block(&[cell(b"b", b"1"), cell(b"b", b"3"), cell(b"d", b"1")]);
        let (second, block) = (second(&block), block.check().unwrap());
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
    fn rows_out_of_order_and_empty_blocks_are_damage_to_a_check_and_to_a_walk() {
        for encoding in DataBlockEncoding::ALL {
            // Rows of one length share bytes with each other, those of different lengths do not.
            for (first, second) in [(b"b", &b"a"[..]), (b"b", b"aa"), (b"b", b"")] {
                let cells = [cell(first, b"1"), cell(second, b"1")];
                let disordered = unchecked(encoding, &cells);
                let mut walk = disordered.walk().unwrap();
                let what = disordered.step(&mut walk).unwrap_err();
                assert!(what.contains("its row is out of order"), "{what}");
                assert_eq!(disordered.check().map(|_| ()), Err(what));
            }
            let empty = unchecked(encoding, &[]);
            assert!(empty.check().is_err());
            assert!(empty.walk().is_err());
        }
    }

    #[test]
    fn a_stored_row_index_is_held_against_the_rows_by_a_check_and_by_a_walk() {
        let cells = [cell(b"a", b"1"), cell(b"a", b"2"), cell(b"b", b"1")];
        let mut encoder = BlockEncoder::new(DataBlockEncoding::RowIndexV1, LAYOUT);
        for cell in &cells {
            encoder.append(cell);
        }
        let sound = encoder.finish().to_vec();
        let rows_at = sound.len() - 16;
        let header = Header::new(BlockType::Data, sound.len(), 0, None, ChecksumType::Null, 16_384);
        let place = BlockPlace { offset: BlockOffset::new(0), len: 0 };
        // The first row's offset, the second's, and a row too many.
        for (at, bytes) in [(rows_at + 7, &[1][..]), (rows_at + 11, &[1]), (rows_at, &[0, 0, 0, 3])]
        {
            let mut body = sound.clone();
            body[at..at + bytes.len()].copy_from_slice(bytes);
            if bytes.len() == 4 {
                body.splice(rows_at + 12..rows_at + 12, [0, 0, 0, 200]);
            }
            let encoding = DataBlockEncoding::RowIndexV1;
            let cells = open(encoding, Body::from(body), usize::MAX).unwrap();
            let block = DataBlock::new(place, &header, None, cells, LAYOUT);
            let walked = block.walk().and_then(|mut walk| {
                while block.step(&mut walk)? != Step::End {}
                Ok(())
            });
            let expected = Err("the row index contradicts the rows".into());
            assert_eq!((walked, block.check().map(|_| ())), (expected.clone(), expected));
        }
    }
}
