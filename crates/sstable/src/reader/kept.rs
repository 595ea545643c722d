//! Filter blocks that a reader keeps once it has read them, as long as the cache grants the room for
//! them, or for good if they are pinned.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use filter::StoredFilter;

use super::Caching;
use super::blocks::{Blocks, Wanted};
use crate::block::index::BlockPlace;
use crate::block::loaded::Block;
use crate::block::meta::MetaBlock;
use crate::cache::Reservation;
use crate::{BlockSource, ReadTrace, Result};

/// A filter block that the reader keeps, and the room for it in the cache's budget.
#[derive(Debug)]
pub(super) struct Kept {
    block: Arc<Block>,
    /// A block that is pinned is kept even where there is none.
    _room: Option<Reservation>,
}

impl Kept {
    pub(super) fn filter(&self) -> Option<&StoredFilter<Bytes>> {
        filter_in(&self.block)
    }

    /// The bits of a Bloom chunk.
    #[inline]
    pub(super) fn chunk(&self) -> Option<&[u8]> {
        match &*self.block {
            Block::Chunk(bits) => Some(bits),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn bytes(&self) -> usize {
        self.block.bytes()
    }
}

/// A filter block, from the reader's own keeping, the cache, or the file.
#[inline]
pub(super) fn load_and_keep<'a>(
    blocks: &Blocks,
    place: BlockPlace,
    wanted: Wanted,
    kept: &'a OnceLock<Kept>,
    trace: &mut ReadTrace,
) -> Result<Held<'a>> {
    if let Some(kept) = kept.get() {
        trace.touch(wanted.kind(), BlockSource::Cache, kept.block.bytes());
        return Ok(Held::Kept(&kept.block));
    }
    keep_loaded(blocks, place, wanted, kept, trace)
}

/// Loads a filter block that is not kept, and keeps it if there is room.
#[inline(never)]
fn keep_loaded<'a>(
    blocks: &Blocks,
    place: BlockPlace,
    wanted: Wanted,
    kept: &OnceLock<Kept>,
    trace: &mut ReadTrace,
) -> Result<Held<'a>> {
    let block = blocks.load(place, wanted, Caching::Use, trace, |_| Ok(()))?;
    let cache = blocks.cache.as_ref();
    let room = cache.and_then(|cache| {
        let bytes = block.bytes() as u64;
        if blocks.pin_filters { Some(cache.reserve_pinned(bytes)) } else { cache.reserve(bytes) }
    });
    if room.is_some() || blocks.pin_filters {
        // Another thread may have kept it at the same time; its room is then given back.
        let _ = kept.set(Kept { block: Arc::clone(&block), _room: room });
        if let Some(cache) = cache {
            cache.forget(blocks.key(place));
        }
    }
    Ok(Held::Loaded(block))
}

/// A block without a count of references where the reader keeps it anyway.
pub(super) enum Held<'a> {
    Kept(&'a Block),
    Loaded(Arc<Block>),
}

impl Held<'_> {
    pub(super) fn as_ref(&self) -> &Block {
        match self {
            Self::Kept(block) => block,
            Self::Loaded(block) => block,
        }
    }

    pub(super) fn filter(&self) -> Option<&StoredFilter<Bytes>> {
        filter_in(self.as_ref())
    }
}

/// The filter of ours that a block holds.
fn filter_in(block: &Block) -> Option<&StoredFilter<Bytes>> {
    match block {
        Block::Meta(MetaBlock { filter, .. }) => filter.as_ref(),
        _ => None,
    }
}
