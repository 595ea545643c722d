//! Filter blocks that are loaded at their first use.
//!
//! A block then stays resident if it is pinned or the cache has room to reserve for it.
#![allow(
    clippy::indexing_slicing,
    clippy::as_conversions,
    reason = "indexes below the number of parts"
)]

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::block::cached::TypedBlock;
use crate::block::header::Header;
use crate::block::index::BlockHandle;
use crate::cache::Reservation;
use crate::file::block_reader::BlockReader;
use crate::file::options::Caching;
use crate::{BlockOffset, BlockSource, BlockType, Damage, Error, ReadTrace, Result};

/// One block of a filter, loaded at its first use.
#[derive(Debug)]
pub(crate) struct LazyFilterBlock<T> {
    handle: BlockHandle,
    /// The offset that the block's header must give as `previous`.
    previous: Option<BlockOffset>,
    resident: OnceLock<ResidentBlock<T>>,
    /// The damage that a read found. Set once, so that the block is not read again.
    damage: OnceLock<Damage>,
}

impl<T: TypedBlock> LazyFilterBlock<T> {
    pub(crate) const fn new(handle: BlockHandle, previous: Option<BlockOffset>) -> Self {
        Self { handle, previous, resident: OnceLock::new(), damage: OnceLock::new() }
    }

    pub(crate) const fn handle(&self) -> BlockHandle {
        self.handle
    }

    /// Returns the block, if it is resident.
    #[inline]
    pub(crate) fn resident(&self) -> Option<&ResidentBlock<T>> {
        self.resident.get()
    }

    /// Returns the damage to the block, if a read has found any.
    pub(crate) fn damage(&self) -> Option<&Damage> {
        self.damage.get()
    }

    /// Returns the block from memory, the cache or the file.
    ///
    /// A block that is read must have the expected `previous` offset and pass `check`.
    ///
    /// # Errors
    ///
    /// If the block cannot be read or is damaged. Later calls return the damage without a read.
    #[inline]
    pub(crate) fn load(
        &self,
        blocks: &BlockReader,
        block_type: BlockType,
        trace: &mut ReadTrace,
        check: impl FnOnce(&T) -> Result<(), &'static str>,
    ) -> Result<FilterBlockRef<'_, T>> {
        if let Some(resident) = self.resident.get() {
            trace.touch(T::KIND, BlockSource::Cache, resident.block.bytes());
            return Ok(FilterBlockRef::Resident(&resident.block));
        }
        self.load_block(blocks, block_type, trace, check)
    }

    #[inline(never)]
    fn load_block(
        &self,
        blocks: &BlockReader,
        block_type: BlockType,
        trace: &mut ReadTrace,
        check: impl FnOnce(&T) -> Result<(), &'static str>,
    ) -> Result<FilterBlockRef<'_, T>> {
        if let Some(damage) = self.damage.get() {
            return Err(damage.clone().in_file(&blocks.name));
        }
        let check = |block: &T, header: &Header| {
            if header.previous_block != self.previous {
                return Err(
                    "is not the block that the file has here: its `previous` offset is another one",
                );
            }
            check(block)
        };
        let loaded = blocks.load(self.handle.of_type(block_type), Caching::Use, trace, check);
        if let Err(Error::Corrupt { damage, .. }) = &loaded {
            // Fails only if another thread was first, which then found the same damage.
            let _ = self.damage.set(damage.clone());
        }
        loaded.map(|block| self.keep(blocks, block))
    }

    /// Makes a block resident if it is pinned or the cache has room.
    fn keep(&self, blocks: &BlockReader, block: Arc<T>) -> FilterBlockRef<'_, T> {
        let cache = blocks.cache.as_ref();
        let room = cache.and_then(|cache| {
            let bytes = block.bytes() as u64;
            if blocks.pin_filters {
                Some(cache.reserve_pinned(bytes))
            } else {
                cache.reserve(bytes)
            }
        });
        if room.is_some() || blocks.pin_filters {
            // Fails if another thread was first. Dropping this reservation then returns its room.
            let _ = self.resident.set(ResidentBlock { block: Arc::clone(&block), _room: room });
            if let Some(cache) = cache {
                cache.remove(blocks.cache_key(self.handle));
            }
        }
        FilterBlockRef::Loaded(block)
    }
}

/// A resident filter block, with its reservation in the cache's budget.
#[derive(Debug)]
pub(crate) struct ResidentBlock<T> {
    block: Arc<T>,
    /// `None` for a pinned block of a reader without a cache.
    _room: Option<Reservation>,
}

impl<T> ResidentBlock<T> {
    /// Returns the block.
    #[inline]
    pub(crate) fn block(&self) -> &T {
        &self.block
    }
}

/// A reference to a filter block: borrowed if the block is resident, else counted.
pub(crate) enum FilterBlockRef<'a, T> {
    Resident(&'a T),
    Loaded(Arc<T>),
}

impl<T> Deref for FilterBlockRef<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match self {
            Self::Resident(block) => block,
            Self::Loaded(block) => block,
        }
    }
}

/// Returns the offset before `at` in a chain of ascending offsets.
pub(crate) fn offset_before(chain: &[BlockOffset], at: BlockOffset) -> Option<BlockOffset> {
    let before = chain.partition_point(|offset| *offset < at).checked_sub(1)?;
    Some(chain[before])
}
