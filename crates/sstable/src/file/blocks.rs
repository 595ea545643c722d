//! Blocks of an open file: from the cache, or read, taken apart and kept there.
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

use std::sync::Arc;

use bytes::Bytes;
use filter::StoredFilter;

use super::options::Caching;
use super::raw_blocks::{RawBlock, RawData};
use crate::block::body::{Body, Buffers};
use crate::block::branch::IndexBlock;
use crate::block::data::DataBlock;
use crate::block::header::Header;
use crate::block::index::{BlockPlace, Branch};
use crate::block::loaded::Block;
use crate::block::meta::MetaBlock;
use crate::cache::{BlockCache, BlockKey};
use crate::encoding::{self, CellLayout, Cells};
use crate::{
    BlockKind, BlockSource, BlockType, ChecksumType, Comparator, Compression, Damage,
    DataBlockEncoding, Error, FileName, Limits, ReadAt, ReadTrace, Result,
};

/// The blocks of one open file.
pub(crate) struct Blocks {
    pub(crate) name: FileName,
    pub(crate) source: Arc<dyn ReadAt>,
    /// Which file this is in the cache.
    pub(crate) file_id: u64,
    pub(crate) cache: Option<Arc<BlockCache>>,
    pub(crate) limits: Limits,
    /// Whether filter blocks are kept whether or not the cache has room for them.
    pub(crate) pin_filters: bool,
    /// Whether the cache prefers its blocks.
    pub(crate) in_memory: bool,
    pub(crate) compression: Compression,
    /// The checksum of every block; a block that claims another one has been tampered with.
    pub(crate) checksum_type: Option<ChecksumType>,
    pub(crate) encoding: DataBlockEncoding,
    pub(crate) layout: CellLayout,
    /// Where the blocks end that are read one by one: what follows was loaded at the start.
    pub(crate) blocks_end: u64,
}

/// What a block that holds no cells is wanted as.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Wanted {
    LeafIndex,
    IntermediateIndex,
    BloomChunk,
    Meta,
    /// A META block that holds a filter.
    Filter,
}

impl Wanted {
    pub(crate) const fn kind(self) -> BlockKind {
        match self {
            Self::LeafIndex | Self::IntermediateIndex => BlockKind::Index,
            Self::BloomChunk => BlockKind::Bloom,
            Self::Meta | Self::Filter => BlockKind::Meta,
        }
    }

    const fn block_type(self) -> BlockType {
        match self {
            Self::LeafIndex => BlockType::LeafIndex,
            Self::IntermediateIndex => BlockType::IntermediateIndex,
            Self::BloomChunk => BlockType::BloomChunk,
            Self::Meta | Self::Filter => BlockType::Meta,
        }
    }

    /// Whether a block from the cache is what it is wanted as. A META block that was read as bytes
    /// is read again when it is wanted as a filter.
    const fn is(self, block: &Block) -> bool {
        match self {
            Self::LeafIndex | Self::IntermediateIndex => matches!(block, Block::Index(_)),
            Self::BloomChunk => matches!(block, Block::Chunk(_)),
            Self::Meta => matches!(block, Block::Meta(_)),
            Self::Filter => matches!(block, Block::Meta(MetaBlock { filter: Some(_), .. })),
        }
    }
}

/// What a data block is wanted for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DataUse {
    /// A walk from its first cell on, as far as a get needs it. That alone does not pay for making all
    /// its cells plain and listing its rows: the block may leave the cache before it is used again.
    Walk,
    /// Any: its cells are plain and checked.
    Search,
}

impl Blocks {
    /// The block at `place`, from the cache or from the file. `check` checks a block just read against
    /// what else is known of it.
    pub(crate) fn load(
        &self,
        place: BlockPlace,
        wanted: Wanted,
        caching: Caching,
        trace: &mut ReadTrace,
        check: impl FnOnce(&Block, &Header) -> Result<(), &'static str>,
    ) -> Result<Arc<Block>> {
        let cache = self.cache.as_ref().filter(|_| caching == Caching::Use);
        let is_wanted = |block: &Block| wanted.is(block);
        if let Some(block) = self.cached(place, wanted.kind(), cache, is_wanted, trace) {
            return Ok(block);
        }
        let raw = self.read(place)?;
        trace.touch(wanted.kind(), BlockSource::File, usize::try_from(place.len).unwrap_or(0));
        self.check_type(place, &raw.header, wanted.block_type())?;
        let header = raw.header;
        let damaged = |what| self.damaged(place, header.block_type, what);
        let block = take_apart(raw, wanted, self.layout.order).map_err(damaged)?;
        check(&block, &header).map_err(|what| damaged(what.into()))?;
        let block = Arc::new(block);
        if let Some(cache) = cache {
            cache.insert(self.key(place), Arc::clone(&block));
        }
        Ok(block)
    }

    /// The data block at `place`, from the cache or from the file, through `buffers`. `check` holds a
    /// block just read or made searchable against what else is known of it.
    ///
    /// A block of differences goes into a full cache as it was read if it is wanted for a walk; when it
    /// is found there it is made searchable. What is wanted for more is so at once. What does not go
    /// into the cache stays as it was read, and the caller may check it.
    pub(crate) fn load_data(
        &self,
        place: BlockPlace,
        wanted: DataUse,
        caching: Caching,
        buffers: &mut Buffers,
        trace: &mut ReadTrace,
        check: impl FnOnce(&DataBlock) -> Result<(), encoding::What>,
    ) -> Result<Arc<Block>> {
        let cache = self.cache.as_ref().filter(|_| caching == Caching::Use);
        let is_data = |block: &Block| matches!(block, Block::Data(_));
        if let Some(block) = self.cached(place, BlockKind::Data, cache, is_data, trace) {
            return self.searchable(block, caching, buffers, check);
        }
        let raw = self.read_data(place, buffers)?;
        trace.touch(BlockKind::Data, BlockSource::File, usize::try_from(place.len).unwrap_or(0));
        let mut data = self.open_data(raw)?;
        let block_type = data.block_type();
        let damaged = |what| self.damaged(place, block_type, what);
        if let Some(cache) = cache {
            // Where there is room it will be used again: the sooner it is searchable, the better.
            // Whether there is, is asked last, for it takes the locks of the cache.
            let is_to_walk = wanted == DataUse::Walk && data.as_read().is_some();
            if !(is_to_walk && cache.is_full(self.key(place))) {
                data = data.into_searchable(buffers).map_err(damaged)?;
            }
        }
        check(&data).map_err(damaged)?;
        let block = Arc::new(Block::Data(data));
        if let Some(cache) = cache {
            cache.insert(self.key(place), Arc::clone(&block));
        }
        Ok(block)
    }

    /// Whether there is a cache, and it has room.
    #[inline]
    pub(crate) fn cache_has_room(&self) -> bool {
        self.cache.as_ref().is_some_and(|cache| cache.has_room())
    }

    /// A data block that was read, whose cells are still to be checked.
    pub(crate) fn open_data(&self, raw: RawData) -> Result<DataBlock> {
        let RawData { place, header, body } = raw;
        let expected = match self.encoding {
            DataBlockEncoding::None => BlockType::Data,
            _ => BlockType::EncodedData,
        };
        self.check_type(place, &header, expected)?;
        let cells = self.open_cells(body);
        let data = cells.and_then(|cells| self.data_block(place, &header, cells));
        data.map_err(|what| self.damaged(place, header.block_type, what))
    }

    /// The error for a block at `place` of which that is wrong.
    pub(crate) fn damaged(
        &self,
        place: BlockPlace,
        block: BlockType,
        what: encoding::What,
    ) -> Error {
        Damage::in_block(block, place.offset, what).in_file(&self.name)
    }

    /// A data block that can be searched, for one that was to be walked; it takes that one's place in
    /// the cache. `check` checks it against what else is known of it. A block past the cache is checked,
    /// and returned as it is.
    pub(crate) fn searchable(
        &self,
        block: Arc<Block>,
        caching: Caching,
        buffers: &mut Buffers,
        check: impl FnOnce(&DataBlock) -> Result<(), encoding::What>,
    ) -> Result<Arc<Block>> {
        let cache = self.cache.as_ref().filter(|_| caching == Caching::Use);
        let Block::Data(data) = &*block else { return Ok(block) };
        let Some(cache) = cache else {
            let damaged = |what| self.damaged(data.place(), data.block_type(), what);
            check(data).map_err(damaged)?;
            return Ok(block);
        };
        let make = || match data.to_searchable(buffers)? {
            Some(searchable) => check(&searchable).map(|()| Some(searchable)),
            None => Ok(None),
        };
        let damaged = |what| self.damaged(data.place(), data.block_type(), what);
        let Some(searchable) = make().map_err(damaged)? else { return Ok(block) };
        let searchable = Arc::new(Block::Data(searchable));
        cache.replace(self.key(data.place()), Arc::clone(&searchable));
        Ok(searchable)
    }

    fn cached(
        &self,
        place: BlockPlace,
        kind: BlockKind,
        cache: Option<&Arc<BlockCache>>,
        is_wanted: impl Fn(&Block) -> bool,
        trace: &mut ReadTrace,
    ) -> Option<Arc<Block>> {
        let block = cache?.block(self.key(place)).filter(|block| is_wanted(block))?;
        trace.touch(kind, BlockSource::Cache, block.bytes());
        Some(block)
    }

    fn check_type(&self, place: BlockPlace, header: &Header, expected: BlockType) -> Result<()> {
        if header.block_type == expected {
            return Ok(());
        }
        let what = format!("where the index has {expected}");
        Err(Damage::in_block(header.block_type, place.offset, what).in_file(&self.name))
    }

    pub(crate) const fn key(&self, place: BlockPlace) -> BlockKey {
        let (file, is_preferred) = (self.file_id, self.in_memory);
        BlockKey { file, offset: place.offset.get(), is_preferred }
    }

    /// The cells in the body of a data block.
    pub(crate) fn open_cells(&self, body: Body) -> Result<Cells, encoding::What> {
        let size_max = self.limits.plain_len_max(body.len(), self.source.len());
        encoding::open(self.encoding, body, size_max)
    }

    /// A data block, whose cells are still to be checked.
    pub(crate) fn data_block(
        &self,
        place: BlockPlace,
        header: &Header,
        cells: Cells,
    ) -> Result<DataBlock, encoding::What> {
        let data = DataBlock::new(place, header, cells, self.layout);
        let cell_len_max = usize::try_from(self.limits.cell_len_max).unwrap_or(usize::MAX);
        if data.longest_cell_len(cell_len_max)? > cell_len_max {
            return Err(format!("a cell of more than the {cell_len_max} bytes allowed").into());
        }
        Ok(data)
    }
}

/// The block that is wanted, from its body.
fn take_apart(raw: RawBlock, wanted: Wanted, order: Comparator) -> Result<Block, encoding::What> {
    Ok(match wanted {
        Wanted::LeafIndex | Wanted::IntermediateIndex => {
            Block::Index(IndexBlock::new(Branch::new(raw.body)?, order)?)
        }
        Wanted::BloomChunk => Block::Chunk(aligned(&raw.body)),
        Wanted::Meta => Block::Meta(MetaBlock { body: aligned(&raw.body), filter: None }),
        Wanted::Filter => {
            let body = aligned(&raw.body);
            let filter = StoredFilter::parse(body.clone()).map_err(|error| error.to_string())?;
            Block::Meta(MetaBlock { body, filter: Some(filter) })
        }
    })
}

/// A copy that starts where a cache line does, so that what a filter puts into one line is in one.
fn aligned(body: &[u8]) -> Bytes {
    const LINE: usize = 64;
    let mut bytes = vec![0; body.len().saturating_add(LINE)];
    let start = bytes.as_ptr().align_offset(LINE);
    let end = start.saturating_add(body.len());
    match bytes.get_mut(start..end) {
        Some(place) => {
            place.copy_from_slice(body);
            Bytes::from(bytes).slice(start..end)
        }
        None => Bytes::copy_from_slice(body),
    }
}
