//! Filter blocks that a reader keeps once it has read them, as long as the cache grants the room for
//! them, or for good if they are pinned.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::block::cached::TypedBlock;
use crate::block::header::Header;
use crate::block::index::BlockHandle;
use crate::cache::Reservation;
use crate::file::block_reader::BlockReader;
use crate::file::options::Caching;
use crate::{BlockOffset, BlockSource, BlockType, Damage, Error, ReadTrace, Result};

/// One block of a filter: where it is, and what is known of it so far.
#[derive(Debug)]
pub(crate) struct FilterPart<T> {
    place: BlockHandle,
    /// The offset that the block's header must give as `previous`.
    previous: Option<BlockOffset>,
    kept: OnceLock<KeptBlock<T>>,
    /// What is wrong with the block; set once, so that it is not read again.
    damage: OnceLock<Damage>,
}

impl<T: TypedBlock> FilterPart<T> {
    pub(crate) const fn new(place: BlockHandle, previous: Option<BlockOffset>) -> Self {
        Self { place, previous, kept: OnceLock::new(), damage: OnceLock::new() }
    }

    pub(crate) const fn place(&self) -> BlockHandle {
        self.place
    }

    /// The block, if the reader keeps it.
    #[inline]
    pub(crate) fn kept(&self) -> Option<&KeptBlock<T>> {
        self.kept.get()
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
        if let Some(kept) = self.kept.get() {
            trace.touch(T::KIND, BlockSource::Cache, kept.block.bytes());
            return Ok(FilterBlockRef::KeptBlock(&kept.block));
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
            let _ = self.kept.set(KeptBlock { block: Arc::clone(&block), _room: room });
            if let Some(cache) = cache {
                cache.remove(blocks.key(self.place));
            }
        }
        FilterBlockRef::Loaded(block)
    }
}

/// A filter block that the reader keeps, and the room for it in the cache's budget.
#[derive(Debug)]
pub(crate) struct KeptBlock<T> {
    block: Arc<T>,
    /// A block that is pinned is kept even where there is none.
    _room: Option<Reservation>,
}

impl<T> KeptBlock<T> {
    /// The block.
    #[inline]
    pub(crate) fn block(&self) -> &T {
        &self.block
    }
}

/// A block without a count of references where the reader keeps it anyway.
pub(crate) enum FilterBlockRef<'a, T> {
    KeptBlock(&'a T),
    Loaded(Arc<T>),
}

impl<T> Deref for FilterBlockRef<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match self {
            Self::KeptBlock(block) => block,
            Self::Loaded(block) => block,
        }
    }
}

/// The offset before `at` in a chain of ascending offsets.
pub(crate) fn offset_before(chain: &[BlockOffset], at: BlockOffset) -> Option<BlockOffset> {
    let before = chain.partition_point(|offset| *offset < at).checked_sub(1)?;
    Some(chain[before])
}
