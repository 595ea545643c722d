//! A data block as it is kept in memory: plain cells, and once they were checked, where each row
//! starts.
//!
//! Every cell is checked once after it was read. A block that goes into the cache, or that is to be
//! searched, is [checked](DataBlock::check) from end to end, and then [`Searchable`]. A scan that
//! passes the cache by needs no row index: it checks each cell when it comes to it, in its
//! [walk](DataBlock::walk).
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

use std::sync::OnceLock;

use super::header::Header;
use super::index::BlockPlace;
use super::searchable::{RowIndex, Searchable};
use super::walk::{Step, Walk};
use crate::encoding::{CellLayout, Decoded, What};
use crate::input::Input;
use crate::{BlockOffset, BlockType, CellRef, KeyRef};

/// The cells of a data block.
#[derive(Debug)]
pub(crate) struct DataBlock {
    place: BlockPlace,
    block_type: BlockType,
    previous: Option<BlockOffset>,
    /// The header of the block behind this one, if it came with the same read and is sound.
    next: Option<Header>,
    decoded: Decoded,
    layout: CellLayout,
    index: OnceLock<RowIndex>,
}

impl DataBlock {
    /// Takes the plain cells of a block, which are still to be checked.
    pub(crate) const fn new(
        place: BlockPlace,
        header: &Header,
        next: Option<Header>,
        decoded: Decoded,
        layout: CellLayout,
    ) -> Self {
        let (block_type, previous) = (header.block_type, header.previous_block);
        Self { place, block_type, previous, next, decoded, layout, index: OnceLock::new() }
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
        let index = self.index.get().map_or(0, RowIndex::bytes);
        size_of::<Self>().saturating_add(self.decoded.bytes()).saturating_add(index)
    }

    /// The bytes of the longest cell, or of the block where that is not longer than `enough`.
    pub(crate) fn longest_cell_len(&self, enough: usize) -> Result<usize, What> {
        let len = self.decoded.cells().len();
        if len <= enough {
            return Ok(len);
        }
        let mut walk = Walk::begin(&self.decoded, self.layout)?;
        let mut longest = walk.cell_len();
        while walk.step(&self.decoded, self.layout)? != Step::End {
            longest = longest.max(walk.cell_len());
        }
        Ok(longest)
    }

    /// The buffer of its cells, for another block.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.decoded.into_buffer()
    }

    /// The first cell's key.
    pub(crate) fn first_key(&self) -> Option<KeyRef<'_>> {
        let mut input = Input::new(self.decoded.cells());
        let key_len = input.len_i32()?;
        input.take(4)?;
        KeyRef::parse(input.take(key_len)?)
    }

    /// Checks all cells, unless that was done before; then the block can be searched.
    pub(crate) fn check(&self) -> Result<Searchable<'_>, What> {
        let index = if let Some(index) = self.index.get() {
            index
        } else {
            let index = RowIndex::new(&self.decoded, self.layout)?;
            // Another thread may have been as far at the same time, with the same outcome.
            self.index.get_or_init(|| index)
        };
        Ok(Searchable { decoded: &self.decoded, layout: self.layout, index })
    }

    /// A walk from the first cell on, which checks the cells it comes to unless all were checked.
    pub(crate) fn walk(&self) -> Result<Walk, What> {
        match self.walk_from(0) {
            Some(walk) => Ok(walk),
            None => Walk::begin(&self.decoded, self.layout),
        }
    }

    /// A walk from the cell on that starts at `at`; `None` if the block was not checked.
    pub(crate) fn walk_from(&self, at: usize) -> Option<Walk> {
        self.index.get().and_then(|_| Walk::at(&self.decoded, self.layout, at))
    }

    /// Goes to the next cell of a walk.
    #[inline]
    pub(crate) fn step(&self, walk: &mut Walk) -> Result<Step, What> {
        walk.step(&self.decoded, self.layout)
    }

    /// The cell that a walk has come to.
    #[inline]
    pub(crate) fn cell(&self, walk: &Walk) -> Option<CellRef<'_>> {
        walk.cell(&self.decoded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::body::{Body, Buffers};
    use crate::block::searchable::RowPlace;
    use crate::encoding::{BlockEncoder, decode};
    use crate::{CellType, ChecksumType, Comparator, DataBlockEncoding, SequenceId, Timestamp};

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
        let buffers = &mut Buffers::default();
        let decoded = decode(encoding, Body::from(body), LAYOUT, usize::MAX, buffers).unwrap();
        DataBlock::new(place, &header, None, decoded, LAYOUT)
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
            for _ in ["unchecked", "checked"] {
                let mut walk = block.walk().unwrap();
                assert_eq!(block.cell(&walk), Some(cells[0]));
                assert_eq!(block.step(&mut walk), Ok(Step::SameRow));
                assert_eq!(block.cell(&walk), Some(cells[1]));
                assert_eq!(block.step(&mut walk), Ok(Step::NextRow));
                assert_eq!(block.step(&mut walk), Ok(Step::End));
                assert_eq!(block.cell(&walk), Some(cells[2]));
                let searchable = block.check().unwrap();
                assert_eq!(searchable.cell_count(), 3);
                assert_eq!(block.first_key(), Some(cells[0].key()));
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
        let disordered = unchecked(DataBlockEncoding::None, &[cell(b"b", b"1"), cell(b"a", b"1")]);
        let mut walk = disordered.walk().unwrap();
        let what = disordered.step(&mut walk).unwrap_err();
        assert!(what.contains("its row is out of order"), "{what}");
        assert_eq!(disordered.check().map(|_| ()), Err(what));
        let empty = unchecked(DataBlockEncoding::None, &[]);
        assert!(empty.check().is_err());
        assert!(empty.walk().is_err());
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
            let buffers = &mut Buffers::default();
            let encoding = DataBlockEncoding::RowIndexV1;
            let decoded = decode(encoding, Body::from(body), LAYOUT, usize::MAX, buffers).unwrap();
            let block = DataBlock::new(place, &header, None, decoded, LAYOUT);
            let walked = block.walk().and_then(|mut walk| {
                while block.step(&mut walk)? != Step::End {}
                Ok(())
            });
            let expected = Err("the row index contradicts the rows".into());
            assert_eq!((walked, block.check().map(|_| ())), (expected.clone(), expected));
        }
    }
}
