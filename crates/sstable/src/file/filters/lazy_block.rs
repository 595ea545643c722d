//! Filter blocks that a reader keeps once it has read them, as long as the cache grants the room for
//! them, or for good if they are pinned.
#![allow(
    clippy::indexing_slicing,
    clippy::as_conversions,
    reason = "indexes below the number of parts"
)]

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::block::cached::TypedBlock;
use crate::block::header::Header;
use crate::block::index::BlockPlace;
use crate::cache::Reservation;
use crate::file::block_reader::BlockReader;
use crate::file::options::Caching;
use crate::{BlockOffset, BlockSource, BlockType, Damage, Error, ReadTrace, Result};

/// One block of a filter: where it is, and what is known of it so far.
#[derive(Debug)]
pub(crate) struct LazyFilterBlock<T> {
    place: BlockPlace,
    /// The offset that the block's header must give as `previous`.
    previous: Option<BlockOffset>,
    resident: OnceLock<ResidentBlock<T>>,
    /// What is wrong with the block; set once, so that it is not read again.
    damage: OnceLock<Damage>,
}

impl<T: TypedBlock> LazyFilterBlock<T> {
    pub(crate) const fn new(place: BlockPlace, previous: Option<BlockOffset>) -> Self {
        Self { place, previous, resident: OnceLock::new(), damage: OnceLock::new() }
    }

    pub(crate) const fn place(&self) -> BlockPlace {
        self.place
    }

    /// The block, if the reader keeps it.
    #[inline]
    pub(crate) fn resident(&self) -> Option<&ResidentBlock<T>> {
        self.resident.get()
    }

    /// What is wrong with the block, once a read has found it damaged.
    pub(crate) fn damage(&self) -> Option<&Damage> {
        self.damage.get()
    }

    /// Returns the block: kept by the reader, cached, or read. A block that is read must have the expected
    /// `previous` offset and pass `check`.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is damaged. Damage is remembered: later calls return the same error without
    /// reading.
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
                return Err("is not the block that the file has here: it follows another one");
            }
            check(block)
        };
        let loaded = blocks.load(self.place.of_type(block_type), Caching::Use, trace, check);
        if let Err(Error::Corrupt { damage, .. }) = &loaded {
            // If another thread was first, it found the same.
            let _ = self.damage.set(damage.clone());
        }
        loaded.map(|block| self.keep(blocks, block))
    }

    /// Keeps a block if there is room for it.
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
            // Another thread may have kept it at the same time; its room is then given back.
            let _ = self.resident.set(ResidentBlock { block: Arc::clone(&block), _room: room });
            if let Some(cache) = cache {
                cache.forget(blocks.cache_key(self.place));
            }
        }
        FilterBlockRef::Loaded(block)
    }
}

/// A filter block that the reader keeps, and the room for it in the cache's budget.
#[derive(Debug)]
pub(crate) struct ResidentBlock<T> {
    block: Arc<T>,
    /// A block that is pinned is kept even where there is none.
    _room: Option<Reservation>,
}

impl<T> ResidentBlock<T> {
    /// The block.
    #[inline]
    pub(crate) fn block(&self) -> &T {
        &self.block
    }
}

/// A block without a count of references where the reader keeps it anyway.
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

/// The offset before `at` in a chain of ascending offsets.
pub(crate) fn offset_before(chain: &[BlockOffset], at: BlockOffset) -> Option<BlockOffset> {
    let before = chain.partition_point(|offset| *offset < at).checked_sub(1)?;
    Some(chain[before])
}
