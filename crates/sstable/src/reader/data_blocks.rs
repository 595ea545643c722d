//! Data blocks as scanners ask for them: the one for a key, the next, the one before, the last.

use std::borrow::Cow;
use std::sync::Arc;

use super::blocks::DataUse;
use super::index::{DataPlace, check_data_keys, check_first_key, check_later_key};
use super::{Caching, Inner, Reader};
use crate::block::body::Buffers;
use crate::block::data::DataBlock;
use crate::block::header::Header;
use crate::block::index::BlockPlace;
use crate::block::loaded::{Block, BlockSlot};
use crate::block::searchable::Searchable;
use crate::block::walk::Walk;
use crate::encoding::{Deltas, What};
use crate::{
    BlockKind, BlockOffset, BlockSource, BlockType, Damage, Error, FileInfo, KeyRef, ReadTrace,
    Result,
};

impl Reader {
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
        let Some(index) = &self.0.index else { return Ok(None) };
        let block = index.find(&self.0.blocks, key, caching, trace, |place, trace| match held {
            Some(block) if is_at(block, place.block.offset) => {
                let check = |data: &_| self.0.check_data(data, place);
                self.0.blocks.searchable(Arc::clone(block), caching, buffers, check)
            }
            _ => self.0.load_data(place, DataUse::Search, caching, buffers, trace),
        })?;
        Ok(Some(block))
    }

    /// The data block behind `data`, whose last key is `last_key`. If it is wanted for a walk, or neither
    /// comes from the cache nor goes there, its cells may still have to be checked.
    pub(crate) fn next_data_block(
        &self,
        data: &DataBlock,
        last_key: Option<KeyRef<'_>>,
        wanted: DataUse,
        caching: Caching,
        buffers: &mut Buffers,
        trace: &mut ReadTrace,
    ) -> Result<Option<Arc<Block>>> {
        let Some(place) = self.next_place(data, last_key)? else { return Ok(None) };
        self.data_block_at(place, last_key, wanted, caching, buffers, trace).map(Some)
    }

    /// Where the data block behind `data` is, whose last key is `last_key`; `None` behind the last one.
    pub(crate) fn next_place(
        &self,
        data: &DataBlock,
        last_key: Option<KeyRef<'_>>,
    ) -> Result<Option<BlockPlace>> {
        let next = self.0.place_behind(data.place(), data.next())?;
        if next.is_none() {
            self.0.check_last(last_key).map_err(|what| self.damage_in(data, what.into()))?;
        }
        Ok(next.map(|(place, _)| place))
    }

    /// The data block at `place`, behind the one whose last key is `last_key`.
    pub(crate) fn data_block_at(
        &self,
        place: BlockPlace,
        last_key: Option<KeyRef<'_>>,
        wanted: DataUse,
        caching: Caching,
        buffers: &mut Buffers,
        trace: &mut ReadTrace,
    ) -> Result<Arc<Block>> {
        let check = |next: &DataBlock| self.check_follows(next, last_key);
        self.0.blocks.load_data(place, wanted, caching, buffers, trace, check)
    }

    /// The same for a data block that was read ahead.
    pub(crate) fn follow(
        &self,
        next: DataBlock,
        last_key: Option<KeyRef<'_>>,
    ) -> Result<Arc<Block>> {
        self.check_follows(&next, last_key).map_err(|what| self.damage_in(&next, what))?;
        Ok(Arc::new(Block::Data(next)))
    }

    /// Holds the first key of a data block against the last one of the block in front of it.
    fn check_follows(&self, next: &DataBlock, last_key: Option<KeyRef<'_>>) -> Result<(), What> {
        let first = next.walk()?;
        let first_key = next.cell(&first).map(|cell| cell.key());
        if self.comparator().in_order(last_key, first_key) {
            return Ok(());
        }
        Err("begins before the data block in front of it ends".into())
    }

    /// The data block in front of `data`, as its header has it.
    pub(crate) fn previous_data_block(
        &self,
        data: &DataBlock,
        caching: Caching,
        buffers: &mut Buffers,
        trace: &mut ReadTrace,
    ) -> Result<Option<Arc<Block>>> {
        let blocks = &self.0.blocks;
        let at = data.place().offset;
        let damaged =
            |what| Damage { at, block: None, what: Cow::Borrowed(what) }.in_file(&blocks.name);
        let Some(previous) = data.previous() else {
            let is_first = at == BlockOffset::default();
            return if is_first {
                Ok(None)
            } else {
                Err(damaged("has no data block in front of it"))
            };
        };
        let len = blocks.block_len(previous, caching)?;
        let place = BlockPlace { offset: previous, len };
        let check = |previous: &DataBlock| {
            let first_key = data.check()?.first_key();
            if self.comparator().in_order(previous.check()?.last_key(), first_key) {
                return Ok(());
            }
            Err("ends behind the data block that follows it begins".into())
        };
        blocks.load_data(place, DataUse::Search, caching, buffers, trace, check).map(Some)
    }

    /// The last data block.
    pub(crate) fn last_data_block(
        &self,
        caching: Caching,
        buffers: &mut Buffers,
        trace: &mut ReadTrace,
    ) -> Result<Option<Arc<Block>>> {
        let Some(index) = &self.0.index else { return Ok(None) };
        let visit = |place: DataPlace<'_>, trace: &mut _| {
            self.0.load_data(place, DataUse::Search, caching, buffers, trace)
        };
        index.find_last(&self.0.blocks, caching, trace, visit).map(Some)
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

    /// What is wrong with the cells of a block, as an error.
    #[cold]
    pub(crate) fn damage_in(&self, data: &DataBlock, what: What) -> Error {
        self.0.blocks.damaged(data.place(), data.block_type(), what)
    }

    /// The error for a file whose cells are not as many as it says.
    pub(crate) fn check_cell_count(&self, found: u64) -> Result<()> {
        let stated = self.cell_count();
        if found == stated {
            return Ok(());
        }
        let at = BlockOffset::new(self.len());
        let what = format!("{found} cells, not {stated} as the trailer says");
        Err(Damage { at, block: Some(BlockType::Trailer), what: what.into() }.in_file(self.name()))
    }
}

impl Inner {
    /// Where the data block behind the one at `place` is, and its header, which is not verified yet;
    /// `None` behind the last one. Blocks of other types between them are passed over. `known` is the
    /// header behind `place`, if it was read with it.
    pub(super) fn place_behind(
        &self,
        place: BlockPlace,
        mut known: Option<Header>,
    ) -> Result<Option<(BlockPlace, Header)>> {
        let Self { blocks, trailer, .. } = self;
        let last = trailer.last_data_block_offset.filter(|last| place.offset < *last);
        let Some(last) = last else { return Ok(None) };
        let mut at = place.offset + u64::from(place.len);
        while at <= last {
            let header = match known.take() {
                Some(header) => header,
                None => blocks.read_header(at, blocks.blocks_end)?,
            };
            if matches!(header.block_type, BlockType::Data | BlockType::EncodedData) {
                let damaged =
                    |what| Damage::in_block(header.block_type, at, what).in_file(&blocks.name);
                if header.previous_block != Some(place.offset) {
                    return Err(damaged("does not follow the data block in front of it"));
                }
                let len = u32::try_from(header.len()).map_err(|_| damaged("is too long"))?;
                return Ok(Some((BlockPlace { offset: at, len }, header)));
            }
            at = at + header.len();
        }
        let damage = Damage { at, block: None, what: "no data block where the last one is".into() };
        Err(damage.in_file(&blocks.name))
    }

    /// The data block that the index has at `place`, with all its cells checked unless it is wanted for
    /// a walk: that checks them as far as it goes.
    pub(super) fn load_data(
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
        let check = |data: &DataBlock| {
            if wanted == DataUse::Walk && data.as_read().is_some() {
                return Ok(());
            }
            self.check_data(data, place)
        };
        let block = self.blocks.load_data(place.block, wanted, caching, buffers, trace, check)?;
        if let Some(slot) = slot {
            slot.remember(&block);
        }
        Ok(block)
    }

    /// Checks all cells of a data block, and holds it against the index and the file info.
    fn check_data(&self, data: &DataBlock, place: DataPlace<'_>) -> Result<(), What> {
        check_data_keys(data, place.key, place.next_key, self.trailer.comparator)?;
        if place.next_key.is_none() {
            self.check_last(data.check()?.last_key())?;
        }
        Ok(())
    }

    /// Walks a block as it was read to a row, if the row is there. What it comes to is checked as in a
    /// block that is checked whole; what stands behind the row is not looked at.
    pub(super) fn walk_to_row(
        &self,
        deltas: &Deltas,
        place: DataPlace<'_>,
        row: &[u8],
    ) -> Result<Option<Walk>, What> {
        let order = self.trailer.comparator;
        let mut walk = deltas.walk(self.blocks.layout)?;
        check_first_key(walk.cell(deltas).map(|cell| cell.key()), place.key, order)?;
        let found = walk.go_to_row(deltas, row)?;
        let reached = walk.cell(deltas).map(|cell| cell.key());
        check_later_key(reached, place.next_key, order)?;
        if found.is_lt() && place.next_key.is_none() {
            self.check_last(reached)?;
        }
        Ok(found.is_eq().then(|| Walk::Deltas(Box::new(walk))))
    }

    /// Holds the last data block against the file info, by which rows are passed over.
    fn check_last(&self, found: Option<KeyRef<'_>>) -> Result<(), &'static str> {
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
