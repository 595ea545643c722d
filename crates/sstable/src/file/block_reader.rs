//! Blocks of an open file: from the cache, or read, parsed and kept there.
//!
//! ```text
//! cache ──typed block──→ matched once ──→ caller
//!   └ miss → file → verify, decompress → parse → check against what led there → cache, caller
//! ```
//!
//! In which state a data block is returned:
//!
//! | loaded for       | with a cache                                                       | without a cache      |
//! |------------------|--------------------------------------------------------------------|----------------------|
//! | a search         | decoded                                                            | decoded              |
//! | the row of a get | decoded; encoded if it was just read and the cache is full         | encoded if delta-encoded |
//! | a scan           | decoded                                                            | encoded              |
//!
//! A block that the cache holds encoded is decoded at its next use, and replaced there.

use std::sync::Arc;

use super::options::Caching;
use super::raw_blocks::RawData;
use super::read_context::ReadContext;
use crate::block::cached::{CacheLookup, CachedBlock, TypedBlock};
use crate::block::data::{DataBlock, DataRef};
use crate::block::decoded::DecodedBlock;
use crate::block::encoded::EncodedBlock;
use crate::block::header::Header;
use crate::block::index::{BlockHandle, TypedHandle};
use crate::block::origin::BlockOrigin;
use crate::block::row_index::RowIndexKind;
use crate::buffers::{Body, Buffers};
use crate::cache::{BlockCache, BlockKey};
use crate::encoding::{CellLayout, Cells, DamageReason};
use crate::{
    BlockKind, BlockSource, BlockType, ChecksumType, Compression, Damage, DataBlockEncoding, Error,
    FileName, Limits, ReadAt, ReadTrace, Result,
};

/// The blocks of one open file.
pub(crate) struct BlockReader {
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
    /// End of the section that is read block by block; the rest was loaded when the file was opened.
    pub(crate) blocks_end: u64,
}

impl BlockReader {
    /// Returns the block that an entry leads to, from the cache or from the file. `check` compares a block
    /// just read with what else is known of it.
    pub(crate) fn load<T: TypedBlock>(
        &self,
        TypedHandle { handle: place, block_type }: TypedHandle,
        caching: Caching,
        trace: &mut ReadTrace,
        check: impl FnOnce(&T, &Header) -> Result<(), &'static str>,
    ) -> Result<Arc<T>> {
        let cache = self.cache_for(caching);
        let mut other_type = None;
        if let Some(found) = cache.and_then(|cache| cache.block(self.key(place))) {
            match T::from_cached(found) {
                CacheLookup::Block(block) => {
                    trace.touch(T::KIND, BlockSource::Cache, block.bytes());
                    return Ok(block);
                }
                CacheLookup::OtherForm => {}
                CacheLookup::OtherType(found) => other_type = Some(found),
            }
        }
        let raw = self.read(place)?;
        trace.touch(T::KIND, BlockSource::File, place.byte_len());
        self.check_type(place, &raw.header, block_type)?;
        if let Some(found) = other_type {
            return Err(self.wrong_type(place, block_type, &found));
        }
        let damaged = |what| self.damaged(place, block_type, what);
        let block = T::parse(&raw.body, self.layout.order).map_err(damaged)?;
        check(&block, &raw.header).map_err(|what| damaged(what.into()))?;
        let block = Arc::new(block);
        if let Some(cache) = cache {
            cache.insert(self.key(place), T::into_cached(Arc::clone(&block)));
        }
        Ok(block)
    }

    /// Returns the data block at `place` decoded, through `buffers`. `check` compares a block just decoded
    /// with what else is known of it.
    pub(crate) fn load_decoded(
        &self,
        place: BlockHandle,
        context: &mut ReadContext<'_>,
        mut check: impl FnMut(&DecodedBlock) -> Result<(), DamageReason>,
    ) -> Result<Arc<DecodedBlock>> {
        let cache = self.cache_for(context.caching);
        if let Some(cache) = cache
            && let Some(block) = self.cached_decoded(cache, place, context, &mut check)?
        {
            return Ok(block);
        }
        let block = self.read_encoded(place, context)?;
        let block = self.decode(block, context.buffers)?;
        check(&block).map_err(|what| self.damaged_at(block.origin(), what))?;
        let block = Arc::new(block);
        if let Some(cache) = cache {
            cache.insert(self.key(place), CachedBlock::Decoded(Arc::clone(&block)));
        }
        Ok(block)
    }

    /// Returns the data block at `place` for the row of a get, as the table above says. `check` compares a
    /// block just read or decoded with what else is known of it; of an encoded one no cell is checked yet.
    ///
    /// A get reads one row. That alone does not pay for decoding all cells and listing all rows, since the
    /// block may leave a full cache before it is used again.
    pub(crate) fn load_for_row(
        &self,
        place: BlockHandle,
        context: &mut ReadContext<'_>,
        mut check: impl FnMut(DataRef<'_>) -> Result<(), DamageReason>,
    ) -> Result<DataBlock> {
        let cache = self.cache_for(context.caching);
        let mut check_decoded = |block: &_| check(DataRef::Decoded(block));
        if let Some(cache) = cache
            && let Some(block) = self.cached_decoded(cache, place, context, &mut check_decoded)?
        {
            return Ok(DataBlock::Decoded(block));
        }
        let block = self.read_encoded(place, context)?;
        // `is_full` comes last because it takes the locks of the cache.
        let stays_encoded =
            block.is_delta_encoded() && cache.is_none_or(|cache| cache.is_full(self.key(place)));
        let block = if stays_encoded {
            DataBlock::Encoded(Arc::new(block))
        } else {
            DataBlock::Decoded(Arc::new(self.decode(block, context.buffers)?))
        };
        let found = block.as_ref();
        check(found).map_err(|what| self.damaged_at(found.origin(), what))?;
        if let Some(cache) = cache {
            cache.insert(self.key(place), block.clone().into());
        }
        Ok(block)
    }

    /// Returns the data block at `place` for a scan, as the table above says. `check` is that of
    /// [`load_for_row`](Self::load_for_row).
    pub(crate) fn load_for_scan(
        &self,
        place: BlockHandle,
        context: &mut ReadContext<'_>,
        mut check: impl FnMut(DataRef<'_>) -> Result<(), DamageReason>,
    ) -> Result<DataBlock> {
        if self.cache_for(context.caching).is_some() {
            let check = |block: &_| check(DataRef::Decoded(block));
            return self.load_decoded(place, context, check).map(DataBlock::Decoded);
        }
        let block = self.read_encoded(place, context)?;
        let found = DataRef::Encoded(&block);
        check(found).map_err(|what| self.damaged_at(found.origin(), what))?;
        Ok(DataBlock::Encoded(Arc::new(block)))
    }

    /// Returns a data block that the cache has, decoded. An encoded one is decoded and checked, and the
    /// decoded one takes its place in the cache.
    fn cached_decoded(
        &self,
        cache: &BlockCache,
        place: BlockHandle,
        context: &mut ReadContext<'_>,
        check: &mut impl FnMut(&DecodedBlock) -> Result<(), DamageReason>,
    ) -> Result<Option<Arc<DecodedBlock>>> {
        let Some(found) = cache.block(self.key(place)) else { return Ok(None) };
        match found {
            CachedBlock::Decoded(block) => {
                context.trace.touch(BlockKind::Data, BlockSource::Cache, block.bytes());
                Ok(Some(block))
            }
            CachedBlock::Encoded(block) => {
                context.trace.touch(BlockKind::Data, BlockSource::Cache, block.bytes());
                self.replace_by_decoded(cache, &block, context.buffers, check).map(Some)
            }
            other => {
                let raw = self.read_data(place, context.buffers)?;
                context.trace.touch(BlockKind::Data, BlockSource::File, place.byte_len());
                self.check_type(place, &raw.header, self.data_type())?;
                Err(self.wrong_type(place, self.data_type(), &other))
            }
        }
    }

    /// Decodes and checks an encoded block of the cache; the decoded one takes its place there.
    fn replace_by_decoded(
        &self,
        cache: &BlockCache,
        block: &EncodedBlock,
        buffers: &mut Buffers,
        check: &mut impl FnMut(&DecodedBlock) -> Result<(), DamageReason>,
    ) -> Result<Arc<DecodedBlock>> {
        let damaged = |what| self.damaged_at(block.origin(), what);
        let decoded = block.decode_copy(RowIndexKind::ByHash, buffers).map_err(damaged)?;
        check(&decoded).map_err(damaged)?;
        let decoded = Arc::new(decoded);
        let key = self.key(block.origin().handle);
        cache.replace(key, CachedBlock::Decoded(Arc::clone(&decoded)));
        Ok(decoded)
    }

    /// Returns a block that a scanner holds decoded and checked.
    ///
    /// A block outside the cache is checked whole, because the scan has compared only its first key with the
    /// index. An encoded block of the cache is replaced there.
    pub(crate) fn held_decoded(
        &self,
        held: DataBlock,
        context: &mut ReadContext<'_>,
        mut check: impl FnMut(&DecodedBlock) -> Result<(), DamageReason>,
    ) -> Result<Arc<DecodedBlock>> {
        match (self.cache_for(context.caching), held) {
            (Some(_), DataBlock::Decoded(block)) => Ok(block),
            (Some(cache), DataBlock::Encoded(block)) => {
                self.replace_by_decoded(cache, &block, context.buffers, &mut check)
            }
            (None, held) => {
                let origin = *held.as_ref().origin();
                let damaged = |what| self.damaged_at(&origin, what);
                let block = held.into_decoded(context.buffers).map_err(damaged)?;
                check(&block).map_err(damaged)?;
                Ok(block)
            }
        }
    }

    /// Whether there is a cache, and it has room.
    #[inline]
    pub(crate) fn cache_has_room(&self) -> bool {
        self.cache.as_ref().is_some_and(|cache| cache.has_room())
    }

    /// The cache, if there is one and it is to be used.
    fn cache_for(&self, caching: Caching) -> Option<&BlockCache> {
        self.cache.as_deref().filter(|_| caching == Caching::Use)
    }

    /// Reads the data block at `place`, and checks none of its cells.
    fn read_encoded(
        &self,
        place: BlockHandle,
        context: &mut ReadContext<'_>,
    ) -> Result<EncodedBlock> {
        let raw = self.read_data(place, context.buffers)?;
        context.trace.touch(BlockKind::Data, BlockSource::File, place.byte_len());
        self.open_data(raw)
    }

    fn decode(&self, block: EncodedBlock, buffers: &mut Buffers) -> Result<DecodedBlock> {
        let origin = *block.origin();
        let decoded = block.decode(RowIndexKind::ByHash, buffers);
        decoded.map_err(|what| self.damaged_at(&origin, what))
    }

    /// Returns a data block that was read, whose cells are still to be checked.
    pub(crate) fn open_data(&self, raw: RawData) -> Result<EncodedBlock> {
        let RawData { place, header, body } = raw;
        self.check_type(place, &header, self.data_type())?;
        let origin = BlockOrigin::new(place, &header);
        self.encoded_block(origin, body).map_err(|what| self.damaged_at(&origin, what))
    }

    /// Returns the block with this body, whose cells are still to be checked.
    pub(crate) fn encoded_block(
        &self,
        origin: BlockOrigin,
        body: Body,
    ) -> Result<EncodedBlock, DamageReason> {
        let size_max = self.limits.plain_len_max(body.len(), self.source.len());
        let cells = Cells::open(self.encoding, body, size_max)?;
        let block = EncodedBlock::new(origin, cells, self.layout);
        // Where an address has 32 bits, no block is as long as a greater limit.
        let cell_len_max = usize::try_from(self.limits.cell_len_max).unwrap_or(usize::MAX);
        if block.longest_cell_len(cell_len_max)? > cell_len_max {
            return Err(format!("a cell of more than the {cell_len_max} bytes allowed").into());
        }
        Ok(block)
    }

    /// The type of the file's data blocks.
    const fn data_type(&self) -> BlockType {
        match self.encoding {
            DataBlockEncoding::None => BlockType::Data,
            _ => BlockType::EncodedData,
        }
    }

    /// The error for a block of which `what` is wrong.
    #[cold]
    pub(crate) fn damaged_at(&self, origin: &BlockOrigin, what: DamageReason) -> Error {
        self.damaged(origin.handle, origin.block_type, what)
    }

    /// The error for a block at `place` of which `what` is wrong.
    #[cold]
    pub(crate) fn damaged(
        &self,
        place: BlockHandle,
        block: BlockType,
        what: DamageReason,
    ) -> Error {
        Damage::in_block(block, place.offset, what).in_file(&self.name)
    }

    /// Returns the internal error for a cache and a file that disagree about the type of the block at `place`.
    #[cold]
    fn wrong_type(&self, place: BlockHandle, expected: BlockType, found: &CachedBlock) -> Error {
        let found = found.kind().name();
        let what = format!("the cache has a block of kind {found} where the file has {expected}");
        Error::Internal { file: self.name.clone(), at: place.offset, what }
    }

    fn check_type(&self, place: BlockHandle, header: &Header, expected: BlockType) -> Result<()> {
        if header.block_type == expected {
            return Ok(());
        }
        let what = format!("where the index has {expected}");
        Err(Damage::in_block(header.block_type, place.offset, what).in_file(&self.name))
    }

    pub(crate) const fn key(&self, place: BlockHandle) -> BlockKey {
        let (file, is_preferred) = (self.file_id, self.in_memory);
        BlockKey { file, offset: place.offset.get(), is_preferred }
    }
}
