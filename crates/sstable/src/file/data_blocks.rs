//! Data blocks as scanners ask for them: the one for a key, the next, the one before, the last.

use std::sync::Arc;

use super::blocks::DataUse;
use super::index::{
    BlockBefore, DataIndex, DataPlace, check_data_keys, check_first_key, check_later_key,
    check_previous, first_key_is_unambiguous,
};
use super::index_cursor::{IndexCursor, IndexRead};
use super::open_file::OpenFile;
use super::options::Caching;
use crate::block::body::Buffers;
use crate::block::data::DataBlock;
use crate::block::index::BlockPlace;
use crate::block::loaded::{Block, BlockSlot};
use crate::block::searchable::Searchable;
use crate::block::walk::{Step, Walk};
use crate::encoding::{Deltas, What};
use crate::{
    BlockKind, BlockOffset, BlockSource, BlockType, Damage, Error, FileInfo, KeyRef, ReadTrace,
    Result,
};

impl OpenFile {
    /// The first data block.
    pub(crate) fn first_data_block(
        &self,
        caching: Caching,
        buffers: &mut Buffers,
        trace: &mut ReadTrace,
    ) -> Result<Option<Arc<Block>>> {
        let before_all = KeyRef::before_row(b"");
        self.data_block_for(&before_all, None, caching, buffers, trace)
    }

    /// The block in which the first cell stands that is not less than `key`, unless that is the
    /// first cell of the block behind it. `held` is returned again if it is that block. What comes from
    /// the cache or goes there can be searched.
    pub(crate) fn data_block_for(
        &self,
        key: &KeyRef<'_>,
        held: Option<&Arc<Block>>,
        caching: Caching,
        buffers: &mut Buffers,
        trace: &mut ReadTrace,
    ) -> Result<Option<Arc<Block>>> {
        let Some(index) = &self.index else { return Ok(None) };
        let block = index.find(&self.blocks, key, caching, trace, |place, trace| match held {
            Some(block) if is_at(block, place.block.offset) => {
                let check = |data: &_| self.check_data(data, place);
                self.blocks.searchable(Arc::clone(block), caching, buffers, check)
            }
            _ => self.load_data(place, DataUse::Search, caching, buffers, trace),
        })?;
        Ok(Some(block))
    }

    /// A cursor over the index on the entry of `data`, a block that was loaded through the index.
    pub(crate) fn cursor_on(
        &self,
        data: &DataBlock,
        caching: Caching,
        trace: &mut ReadTrace,
    ) -> Result<IndexCursor> {
        self.index_cursor_on(data, &self.index_read(caching), trace)
    }

    /// Moves a cursor to the next data block; `None` behind the last one.
    pub(crate) fn next_cursor(
        &self,
        cursor: IndexCursor,
        caching: Caching,
        trace: &mut ReadTrace,
    ) -> Result<Option<IndexCursor>> {
        cursor.into_next(&self.index_read(caching), trace)
    }

    /// Moves a cursor to the data block before; `None` in front of the first one.
    pub(crate) fn previous_cursor(
        &self,
        cursor: IndexCursor,
        caching: Caching,
        trace: &mut ReadTrace,
    ) -> Result<Option<IndexCursor>> {
        cursor.into_previous(&self.index_read(caching), trace)
    }

    /// The data block that a cursor stands on. All cells of a block from the cache, or for it, were
    /// checked; of any other block, the `previous` offset and the first key.
    pub(crate) fn data_block_at(
        &self,
        cursor: &IndexCursor,
        caching: Caching,
        buffers: &mut Buffers,
        trace: &mut ReadTrace,
    ) -> Result<Arc<Block>> {
        let place = cursor.entry(self.data_index());
        let check = |data: &DataBlock| match data.searchable() {
            Some(_) => {
                check_previous(data.previous(), place.before)?;
                self.check_data(data, place)
            }
            None => self.check_first(data, place),
        };
        self.blocks.load_data(place.block, DataUse::Search, caching, buffers, trace, check)
    }

    /// The same with all cells checked, whether or not it goes into the cache.
    pub(crate) fn whole_data_block_at(
        &self,
        cursor: &IndexCursor,
        caching: Caching,
        buffers: &mut Buffers,
        trace: &mut ReadTrace,
    ) -> Result<Arc<Block>> {
        let place = cursor.entry(self.data_index());
        self.load_data(place, DataUse::Search, caching, buffers, trace)
    }

    /// The block that a cursor stands on, which was read ahead. Runs the same checks as a read past the
    /// cache, so that both report damage at the same cell.
    pub(crate) fn check_read_ahead(
        &self,
        data: DataBlock,
        cursor: &IndexCursor,
    ) -> Result<Arc<Block>> {
        let place = cursor.entry(self.data_index());
        self.check_first(&data, place).map_err(|what| self.damage_in(&data, what))?;
        Ok(Arc::new(Block::Data(data)))
    }

    /// Checks a key in the block that a cursor stands on against the next index key or, in the last block,
    /// against the last key of the file.
    pub(crate) fn check_upper_bound(
        &self,
        data: &DataBlock,
        key: Option<KeyRef<'_>>,
        cursor: &IndexCursor,
    ) -> Result<()> {
        let checked = self.check_upper_bound_at(key, cursor.entry(self.data_index()));
        checked.map_err(|what| self.damage_in(data, what.into()))
    }

    /// Checks the last key of the last data block.
    pub(crate) fn check_last(&self, data: &DataBlock, last_key: Option<KeyRef<'_>>) -> Result<()> {
        let checked = self.check_last_key(data.place(), last_key);
        checked.map_err(|what| self.damage_in(data, what.into()))
    }

    fn index_read(&self, caching: Caching) -> IndexRead<'_> {
        IndexRead { index: self.data_index(), blocks: &self.blocks, caching }
    }

    /// The last data block.
    pub(crate) fn last_data_block(
        &self,
        caching: Caching,
        buffers: &mut Buffers,
        trace: &mut ReadTrace,
    ) -> Result<Option<Arc<Block>>> {
        let Some(index) = &self.index else { return Ok(None) };
        let visit = |place: DataPlace<'_>, trace: &mut _| {
            self.load_data(place, DataUse::Search, caching, buffers, trace)
        };
        index.find_last(&self.blocks, caching, trace, visit).map(Some)
    }

    /// A block that a scanner holds, so that it can be searched. One that is as it was read stays so in
    /// the cache, and what is returned is the scanner's own: whoever searches the cached one next has to
    /// hold it against the index, which the scanner has left.
    pub(crate) fn searchable(&self, held: Arc<Block>, buffers: &mut Buffers) -> Result<Arc<Block>> {
        let Block::Data(data) = &*held else { return Ok(held) };
        let searchable = data.to_searchable(buffers).map_err(|what| self.damage_in(data, what))?;
        Ok(searchable.map_or(held, |own| Arc::new(Block::Data(own))))
    }

    /// Checks all cells of a block, unless that was done before; then it can be searched.
    #[inline]
    pub(crate) fn check<'b>(&self, data: &'b DataBlock) -> Result<Searchable<'b>> {
        data.check().map_err(|what| self.damage_in(data, what))
    }

    /// The error for a file whose cells are not as many as it says.
    pub(crate) fn check_cell_count(&self, found: u64) -> Result<()> {
        let stated = self.trailer.entry_count;
        if found == stated {
            return Ok(());
        }
        let at = BlockOffset::new(self.blocks.source.len());
        let what = format!("{found} cells, not {stated} as the trailer says");
        Err(Damage { at, block: Some(BlockType::Trailer), what: what.into() }
            .in_file(&self.blocks.name))
    }
}

impl OpenFile {
    /// Returns the data index of a file that has data blocks.
    pub(crate) fn data_index(&self) -> &DataIndex {
        self.index.as_ref().expect("data blocks are loaded through the index")
    }

    /// The data block that the index has at `place`, with all its cells checked unless it is wanted for
    /// a walk: that checks them as far as it goes.
    pub(crate) fn load_data(
        &self,
        place: DataPlace<'_>,
        wanted: DataUse,
        caching: Caching,
        buffers: &mut Buffers,
        trace: &mut ReadTrace,
    ) -> Result<Arc<Block>> {
        // Only while the cache has room for more, and so has no need to know what is used.
        let has_room = caching == Caching::Use && self.blocks.cache_has_room();
        let slot = place.slot.filter(|_| has_room);
        if let Some((block, bytes)) = slot.and_then(BlockSlot::block) {
            trace.touch(BlockKind::Data, BlockSource::Cache, bytes);
            return Ok(block);
        }
        let mut before_read: Option<(ReadTrace, Option<Error>)> = None;
        let check = |data: &DataBlock| {
            let mut before = place.before;
            if before == BlockBefore::InOtherLeaf {
                let (read, failure) = before_read.insert((ReadTrace::default(), None));
                match self.block_before(data, caching, read) {
                    Ok(found) => before = found,
                    // A damaged leaf is no reason to lose the first block of the next one, whose keys
                    // show that it is in its place.
                    Err(Error::Corrupt { .. }) => {}
                    Err(error) => {
                        *failure = Some(error);
                        return Err("the index block in front of its own cannot be read".into());
                    }
                }
            }
            check_previous(data.previous(), before)?;
            if wanted == DataUse::Walk && data.as_read().is_some() {
                return Ok(());
            }
            self.check_data(data, place)
        };
        let block = self.blocks.load_data(place.block, wanted, caching, buffers, trace, check);
        if let Some((read, failure)) = before_read {
            trace.add(&read);
            if let Some(error) = failure {
                return Err(error);
            }
        }
        let block = block?;
        if let Some(slot) = slot {
            slot.remember(&block);
        }
        Ok(block)
    }

    /// Checks all cells of a data block, and holds it against the index and the file info.
    fn check_data(&self, data: &DataBlock, place: DataPlace<'_>) -> Result<(), What> {
        check_data_keys(data, place.key, place.next_key, self.trailer.comparator)?;
        if place.next_key.is_none() {
            self.check_last_key(data.place(), data.check()?.last_key())?;
        }
        Ok(())
    }

    /// A cursor on the entry of `data`, a block that was loaded through the index.
    fn index_cursor_on(
        &self,
        data: &DataBlock,
        read: &IndexRead<'_>,
        trace: &mut ReadTrace,
    ) -> Result<IndexCursor> {
        let first = data.walk().map_err(|what| self.damage_in(data, what))?;
        let first_key = data.cell(&first).map_or(KeyRef::before_row(b""), |cell| cell.key());
        IndexCursor::on_block(data, &first_key, read, trace)
    }

    /// Finds the data block in front of `data`, whose entry is the first of its index block.
    fn block_before(
        &self,
        data: &DataBlock,
        caching: Caching,
        trace: &mut ReadTrace,
    ) -> Result<BlockBefore> {
        let read = IndexRead { index: self.data_index(), blocks: &self.blocks, caching };
        let cursor = self.index_cursor_on(data, &read, trace)?;
        let before = cursor.into_previous(&read, trace)?;
        Ok(before.map_or(BlockBefore::First, |before| BlockBefore::At(before.block_place().offset)))
    }

    /// What is wrong with the cells of a block, as an error.
    #[cold]
    pub(crate) fn damage_in(&self, data: &DataBlock, what: What) -> Error {
        self.blocks.damaged(data.place(), data.block_type(), what)
    }

    /// Checks that a data block is the one that the index has at `place`, by its first key; all cells are
    /// checked only where that is not enough.
    fn check_first(&self, data: &DataBlock, place: DataPlace<'_>) -> Result<(), What> {
        check_previous(data.previous(), place.before)?;
        let order = self.trailer.comparator;
        let walk = data.walk()?;
        let first = data.cell(&walk).map(|cell| cell.key());
        check_first_key(first, place.key, order)?;
        self.check_upper_bound_at(first, place)?;
        if first_key_is_unambiguous(first, place.next_key, order) {
            return Ok(());
        }
        self.check_data(data, place)
    }

    /// Checks a key of the data block at `place` against the next index key or, in the last block, against
    /// the last key of the file.
    fn check_upper_bound_at(
        &self,
        found: Option<KeyRef<'_>>,
        place: DataPlace<'_>,
    ) -> Result<(), &'static str> {
        let end = place.next_key.or_else(|| self.file_info.value(FileInfo::LAST_KEY));
        check_later_key(found, end, self.trailer.comparator)
    }

    /// Walks a block as it was read to a row, if the row is there. What it comes to is checked as in a
    /// block that is checked whole; what stands behind the row is not looked at.
    pub(crate) fn walk_to_row(
        &self,
        deltas: &Deltas,
        place: DataPlace<'_>,
        row: &[u8],
    ) -> Result<Option<Walk>, What> {
        let order = self.trailer.comparator;
        let mut walk = deltas.walk(self.blocks.layout)?;
        let first = walk.cell(deltas).map(|cell| cell.key());
        check_first_key(first, place.key, order)?;
        if !first_key_is_unambiguous(first, place.next_key, order) {
            let mut to_end = walk.clone();
            while to_end.step(deltas)? != Step::End {}
            self.check_upper_bound_at(to_end.cell(deltas).map(|cell| cell.key()), place)?;
        }
        let found = walk.go_to_row(deltas, row)?;
        let reached = walk.cell(deltas).map(|cell| cell.key());
        self.check_upper_bound_at(reached, place)?;
        if found.is_lt() && place.next_key.is_none() {
            self.check_last_key(place.block, reached)?;
        }
        Ok(found.is_eq().then(|| Walk::Deltas(Box::new(walk))))
    }

    /// Checks the last data block against the trailer and the file info. The last key in the file info
    /// decides which rows are out of range, so it must be right.
    fn check_last_key(
        &self,
        place: BlockPlace,
        found: Option<KeyRef<'_>>,
    ) -> Result<(), &'static str> {
        if self.trailer.last_data_block_offset != Some(place.offset) {
            return Err("is the last data block of the index, and not that of the trailer");
        }
        if found == self.file_info.value(FileInfo::LAST_KEY).and_then(KeyRef::parse) {
            Ok(())
        } else {
            Err("its last key is not the last key of the file info")
        }
    }
}

fn is_at(block: &Block, offset: BlockOffset) -> bool {
    matches!(block, Block::Data(data) if data.place().offset == offset)
}
