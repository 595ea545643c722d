//! A weak pointer to a decoded data block, stored beside the index entry of that block.

use std::sync::{Arc, OnceLock, Weak};

use filter::engine::KeyHash;
use filter::engine::PrefetchHint;

use super::decoded::DecodedBlock;
use super::row_table::TableAddress;

/// A weak pointer to a decoded block, which saves a cache lookup.
///
/// Does not keep the cells in memory. The allocation of the [`DecodedBlock`] itself, without its
/// cells, stays until the slot is dropped.
#[derive(Debug, Default)]
pub(crate) struct BlockSlot(OnceLock<WeakBlock>);

#[derive(Debug)]
struct WeakBlock {
    block: Weak<DecodedBlock>,
    /// The block's size in memory.
    bytes: usize,
    /// The address of the block's row table.
    table: Option<TableAddress>,
}

impl BlockSlot {
    /// Returns the block and its size in memory, if the block was remembered and is still in
    /// memory.
    #[inline]
    pub(crate) fn block(&self) -> Option<(Arc<DecodedBlock>, usize)> {
        self.0.get().and_then(|weak| Some((weak.block.upgrade()?, weak.bytes)))
    }

    /// Prefetches the first cache lines that a lookup of a row with this hash reads in the block.
    ///
    /// Does not read the block to compute their addresses.
    #[inline]
    pub(crate) fn prefetch(&self, hash: KeyHash) {
        let Some(WeakBlock { block, table, .. }) = self.0.get() else { return };
        // The block may have been dropped; prefetching a stale address is harmless.
        PrefetchHint::of_weak(block).prefetch();
        if let Some(table) = table {
            table.prefetch(hash);
        }
    }

    /// Remembers a block, unless the slot has one already.
    ///
    /// Takes decoded blocks only: the cache may replace an encoded block by a decoded one.
    pub(crate) fn remember(&self, block: &Arc<DecodedBlock>) {
        let (bytes, table) = (block.bytes(), block.table_address());
        self.0.get_or_init(|| WeakBlock { block: Arc::downgrade(block), bytes, table });
    }
}
