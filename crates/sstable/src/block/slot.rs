//! A weak pointer to a data block, beside the index entry that leads to it.

use std::sync::{Arc, OnceLock, Weak};

use filter::{KeyHash, PrefetchHint};

use super::decoded::DecodedBlock;
use super::row_table::TableAddress;

/// Where in memory a decoded block is, so that the cache need not be asked. It does not keep the block's
/// cells there: when they go, an empty [`DecodedBlock`] stays.
#[derive(Debug, Default)]
pub(crate) struct BlockSlot(OnceLock<WeakBlock>);

#[derive(Debug)]
struct WeakBlock {
    block: Weak<DecodedBlock>,
    /// That it takes in memory.
    bytes: usize,
    /// Of its rows.
    table: Option<TableAddress>,
}

impl BlockSlot {
    /// The block, and the bytes it takes in memory, if it was remembered and is still in memory.
    #[inline]
    pub(crate) fn block(&self) -> Option<(Arc<DecodedBlock>, usize)> {
        self.0.get().and_then(|it| Some((it.block.upgrade()?, it.bytes)))
    }

    /// Prefetches what a lookup of the row of this hash reads first in the block. Does not read the block
    /// to find out where that is.
    #[inline]
    pub(crate) fn prefetch(&self, hash: KeyHash) {
        let Some(WeakBlock { block, table, .. }) = self.0.get() else { return };
        // The block may be gone.
        PrefetchHint::of_weak(block).prefetch();
        if let Some(table) = table {
            table.prefetch(hash);
        }
    }

    /// Remembers a block, unless another was before. An encoded block is not remembered: a decoded one may
    /// take its place in the cache.
    pub(crate) fn remember(&self, block: &Arc<DecodedBlock>) {
        let (bytes, table) = (block.bytes(), block.table_address());
        self.0.get_or_init(|| WeakBlock { block: Arc::downgrade(block), bytes, table });
    }
}
