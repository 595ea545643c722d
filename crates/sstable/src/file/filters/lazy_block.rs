//! Filter blocks that are loaded at their first use.
//!
//! A loaded block can become resident: the open file then holds it, and lookups do not search the
//! block cache for it. Its bytes are reserved in the budget of the cache. Blocks become resident if
//! the reader pins its filters, or if the cache grants the reservation. Other blocks go to the
//! cache, which may evict them.

use std::sync::{Arc, OnceLock};

use cells::BlockOffset;

use crate::block::cached::TypedBlock;
use crate::block::header::BlockHeader;
use crate::block::index_entry::BlockHandle;
use crate::cache::Reservation;
use crate::error::{BlockType, Damage, Error, Result};
use crate::file::load_block::BlockReader;
use crate::file::options::Caching;
use crate::trace::{BlockSource, ReadTrace};

/// A block of a filter, loaded at its first use.
#[derive(Debug)]
pub(crate) struct LazyFilterBlock<T> {
    handle: BlockHandle,
    /// The offset of the previous block of the same type, which the block's header must state.
    previous: Option<BlockOffset>,
    resident: OnceLock<ResidentBlock<T>>,
    /// The damage that a read has found. Once it is set, the block is not read again.
    damage: OnceLock<Damage>,
}

impl<T: TypedBlock> LazyFilterBlock<T> {
    pub(crate) const fn new(handle: BlockHandle, previous: Option<BlockOffset>) -> Self {
        Self { handle, previous, resident: OnceLock::new(), damage: OnceLock::new() }
    }

    /// Returns the same block, not in memory. Keeps the damage that a read has found.
    pub(crate) fn unloaded(&self) -> Self {
        Self { damage: self.damage.clone(), ..Self::new(self.handle, self.previous) }
    }

    pub(crate) const fn handle(&self) -> BlockHandle {
        self.handle
    }

    /// Returns the block, if it is resident. Does not count it.
    #[inline]
    pub(crate) fn resident(&self) -> Option<&T> {
        self.resident.get().map(|resident| &*resident.block)
    }

    /// Returns the damage to the block, if a read has found any.
    pub(crate) fn damage(&self) -> Option<&Damage> {
        self.damage.get()
    }

    /// Returns the block: the resident block, or else from the cache or the file.
    ///
    /// A block from the file must have the expected `previous` offset and pass `check`.
    ///
    /// # Errors
    ///
    /// If the block cannot be read, or is damaged. Later calls return the same damage without a
    /// read.
    #[inline(never)]
    pub(crate) fn load(
        &self,
        blocks: &BlockReader,
        block_type: BlockType,
        trace: &mut ReadTrace,
        check: impl FnOnce(&T) -> Result<(), &'static str>,
    ) -> Result<Arc<T>> {
        if let Some(ResidentBlock { block, .. }) = self.resident.get() {
            trace.touch(T::KIND, BlockSource::Cache, block.bytes());
            return Ok(Arc::clone(block));
        }
        if let Some(damage) = self.damage.get() {
            return Err(damage.clone().in_file(&blocks.name));
        }
        let check = |block: &T, header: &BlockHeader| {
            if header.previous_block != self.previous {
                return Err(
                    "is not the block that the file has here: its `previous` offset is another one",
                );
            }
            check(block)
        };
        let loaded = blocks.load(self.handle.of_type(block_type), Caching::Use, trace, check);
        if let Err(Error::Corrupt { damage, .. }) = &loaded {
            // Fails only if another thread has already set it. Both read the same damaged block.
            let _ = self.damage.set(damage.clone());
        }
        let block = loaded?;
        self.keep(blocks, &block);
        Ok(block)
    }

    /// Makes a block resident if filters are pinned or the cache grants a reservation.
    fn keep(&self, blocks: &BlockReader, block: &Arc<T>) {
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
            // Fails if another thread has already set it. Then this reservation is dropped, which
            // gives its bytes back to the budget.
            let _ = self.resident.set(ResidentBlock { block: Arc::clone(block), _room: room });
            if let Some(cache) = cache {
                cache.remove(blocks.cache_key(self.handle));
            }
        }
    }
}

/// A resident filter block, and the reservation of its bytes in the budget of the cache.
#[derive(Debug)]
struct ResidentBlock<T> {
    block: Arc<T>,
    /// `None` for a pinned block of a reader without a cache.
    _room: Option<Reservation>,
}

/// Returns the last offset less than `at` in `chain`, which ascends; `None` if there is none.
///
/// The chain lists the blocks of one type. The header of each states the offset before its own.
pub(crate) fn offset_before(chain: &[BlockOffset], at: BlockOffset) -> Option<BlockOffset> {
    let before = chain.partition_point(|offset| *offset < at).checked_sub(1)?;
    Some(chain[before])
}
