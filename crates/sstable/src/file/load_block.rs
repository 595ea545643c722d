//! Loads blocks of an open file from the cache or the file, and caches them.
//!
//! ```text
//! cache ──hit──→ block of the wanted type ──→ caller
//!   └ miss → file → verify, decompress → parse → check against the index → cache, caller
//! ```
//!
//! Data blocks are loaded by [`OpenFile::load`](super::open_file::OpenFile::load), which calls the
//! parts of this path.

use std::sync::Arc;

use cells::FileName;

use super::options::Caching;
use super::raw_block::RawDataBlock;
use super::read_context::ReadContext;
use crate::block::cached::{CacheLookup, CachedBlock, TypedBlock};
use crate::block::data::DataBlock;
use crate::block::decoded::BlockSlot;
use crate::block::encoded::EncodedBlock;
use crate::block::header::BlockHeader;
use crate::block::index_entry::{BlockHandle, TypedHandle};
use crate::block::origin::BlockIdentity;
use crate::buffers::Body;
use crate::cache::{BlockCache, CacheKey};
use crate::checksum::ChecksumType;
use crate::compression::Compression;
use crate::encoding::{CellLayout, Cells, DamageReason, DataBlockEncoding};
use crate::error::{BlockType, Damage, Error, Result};
use crate::limits::Limits;
use crate::source::ReadAt;
use crate::trace::{BlockKind, BlockSource, ReadTrace};

/// Reads the blocks of one open file.
pub(crate) struct BlockReader {
    pub(crate) name: FileName,
    pub(crate) source: Arc<dyn ReadAt>,
    /// Identifies the file in the cache.
    pub(crate) file_id: u64,
    pub(crate) cache: Option<Arc<BlockCache>>,
    pub(crate) limits: Limits,
    /// Whether filter blocks stay in memory even if the cache has no room for them.
    pub(crate) pin_filters: bool,
    /// Whether the cache prefers the blocks of this file.
    pub(crate) in_memory: bool,
    pub(crate) compression: Compression,
    /// The checksum type of every block. A block with another one is damaged.
    pub(crate) checksum_type: Option<ChecksumType>,
    pub(crate) encoding: DataBlockEncoding,
    pub(crate) layout: CellLayout,
    /// Whether Hudi may have written the file; see `hudi`.
    pub(crate) has_hudi_comparator: bool,
    /// The start of the load-on-open section, where blocks that are read one by one end.
    pub(crate) blocks_end: u64,
}

impl BlockReader {
    /// Returns the block that an entry points to, from the cache or from the file.
    ///
    /// `check` compares a block just read with the entry.
    pub(crate) fn load<T: TypedBlock>(
        &self,
        TypedHandle { handle, block_type }: TypedHandle,
        caching: Caching,
        trace: &mut ReadTrace,
        check: impl FnOnce(&T, &BlockHeader) -> Result<(), &'static str>,
    ) -> Result<Arc<T>> {
        let cache = self.cache_for(caching);
        let mut other_type = None;
        if let Some(found) = cache.and_then(|cache| cache.block(self.cache_key(handle))) {
            match T::from_cached(found) {
                CacheLookup::Block(block) => {
                    trace.touch(T::KIND, BlockSource::Cache, block.bytes());
                    return Ok(block);
                }
                CacheLookup::OtherForm => {}
                CacheLookup::OtherType(found) => other_type = Some(found),
            }
        }
        let raw = self.read(handle)?;
        trace.touch(T::KIND, BlockSource::File, handle.byte_len());
        self.check_type(handle, &raw.header, block_type)?;
        if let Some(found) = other_type {
            return Err(self.type_conflict(handle, block_type, &found));
        }
        let damaged = |what| self.damaged(handle, block_type, what);
        let block = T::parse(&raw.body, self.layout.order).map_err(damaged)?;
        check(&block, &raw.header).map_err(|what| damaged(what.into()))?;
        let block = Arc::new(block);
        if let Some(cache) = cache {
            cache.insert(self.cache_key(handle), T::into_cached(Arc::clone(&block)));
        }
        Ok(block)
    }

    /// Converts a cached block to a data block, and counts it.
    ///
    /// If the cache has a block of another type, reads the block: in a damaged file, two index entries
    /// can point to one block.
    pub(crate) fn cached_data_block(
        &self,
        found: CachedBlock,
        handle: BlockHandle,
        context: &mut ReadContext<'_>,
    ) -> Result<DataBlock> {
        let block = match found {
            CachedBlock::Decoded(block) => DataBlock::Decoded(block),
            CachedBlock::Encoded(block) => DataBlock::Encoded(block),
            other => {
                self.read_encoded(handle, context)?;
                return Err(self.type_conflict(handle, self.data_block_type(), &other));
            }
        };
        context.trace.touch(BlockKind::Data, BlockSource::Cache, block.as_ref().bytes());
        Ok(block)
    }

    /// Returns a slot if reads use it: while the cache is less than 7/8 full.
    ///
    /// A block taken from its slot is not counted as an access of the cache, and a cache that may soon
    /// evict must see every access.
    #[inline]
    pub(crate) fn usable<'s>(&self, slot: &'s BlockSlot) -> Option<&'s BlockSlot> {
        self.cache.as_ref().filter(|cache| cache.has_room()).map(|_| slot)
    }

    /// Returns the cache, unless there is none or `caching` bypasses it.
    pub(crate) fn cache_for(&self, caching: Caching) -> Option<&BlockCache> {
        self.cache.as_deref().filter(|_| caching == Caching::Use)
    }

    /// Reads the data block at `handle` without checking its cells.
    pub(crate) fn read_encoded(
        &self,
        handle: BlockHandle,
        context: &mut ReadContext<'_>,
    ) -> Result<EncodedBlock> {
        let raw = self.read_data_block(handle, context.buffers)?;
        context.trace.touch(BlockKind::Data, BlockSource::File, handle.byte_len());
        self.open_encoded(raw)
    }

    /// Makes an encoded block of a data block that was read. Its cells are not checked yet.
    pub(crate) fn open_encoded(&self, raw: RawDataBlock) -> Result<EncodedBlock> {
        let RawDataBlock { handle, header, body } = raw;
        self.check_type(handle, &header, self.data_block_type())?;
        let origin = BlockIdentity::new(handle, &header);
        self.encoded_block(origin, body).map_err(|what| self.damaged_at(&origin, what))
    }

    /// Makes an encoded block of a body. Its cells are not checked yet.
    pub(crate) fn encoded_block(
        &self,
        origin: BlockIdentity,
        body: Body,
    ) -> Result<EncodedBlock, DamageReason> {
        self.encoded_block_as(self.encoding, self.layout, origin, body)
    }

    /// Makes an encoded block of a body that may contradict the file info.
    pub(crate) fn encoded_block_as(
        &self,
        encoding: DataBlockEncoding,
        layout: CellLayout,
        origin: BlockIdentity,
        body: Body,
    ) -> Result<EncodedBlock, DamageReason> {
        let size_max = self.limits.plain_len_max(body.len(), self.source.len());
        let cells = Cells::open(encoding, body, size_max)?;
        let block = EncodedBlock::new(origin, cells, layout);
        // On a 32-bit target no block can exceed `usize::MAX`.
        let cell_len_max = usize::try_from(self.limits.cell_len_max).unwrap_or(usize::MAX);
        if block.longest_cell_len(cell_len_max)? > cell_len_max {
            return Err(format!("a cell of more than the {cell_len_max} bytes allowed").into());
        }
        Ok(block)
    }

    /// Returns the type of the file's data blocks.
    const fn data_block_type(&self) -> BlockType {
        match self.encoding {
            DataBlockEncoding::None => BlockType::Data,
            _ => BlockType::EncodedData,
        }
    }

    /// Returns the error for damage in a block.
    #[cold]
    pub(crate) fn damaged_at(&self, origin: &BlockIdentity, what: DamageReason) -> Error {
        self.damaged(origin.handle, origin.block_type, what)
    }

    /// Returns the error for damage in the block at `handle`.
    #[cold]
    pub(crate) fn damaged(
        &self,
        handle: BlockHandle,
        block: BlockType,
        what: DamageReason,
    ) -> Error {
        Damage::in_block(block, handle.offset, what).in_file(&self.name)
    }

    /// Returns the internal error for a cached block whose type differs from the block in the file.
    #[cold]
    fn type_conflict(
        &self,
        handle: BlockHandle,
        expected: BlockType,
        found: &CachedBlock,
    ) -> Error {
        let found = found.kind().name();
        let what = format!("the cache has a block of kind {found} where the file has {expected}");
        Error::Internal { file: self.name.clone(), at: handle.offset, what }
    }

    fn check_type(
        &self,
        handle: BlockHandle,
        header: &BlockHeader,
        expected: BlockType,
    ) -> Result<()> {
        if header.block_type == expected {
            return Ok(());
        }
        let what = format!("where the index has {expected}");
        Err(Damage::in_block(header.block_type, handle.offset, what).in_file(&self.name))
    }

    pub(crate) const fn cache_key(&self, handle: BlockHandle) -> CacheKey {
        let (file, is_preferred) = (self.file_id, self.in_memory);
        CacheKey { file, offset: handle.offset.get(), is_preferred }
    }
}
