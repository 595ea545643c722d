//! Blocks as they are kept in memory, whatever they hold.

use std::sync::{Arc, OnceLock, Weak};

use bytes::Bytes;
use filter::KeyHash;

use super::branch::IndexBlock;
use super::data::DataBlock;
use super::meta::MetaBlock;
use super::row_table::TableAddress;

/// A block once it has been read, verified and, as far as needed, taken apart.
#[derive(Debug)]
pub(crate) enum Block {
    /// Cells: plain ones and where their rows start, or differences as they were read.
    Data(DataBlock),
    /// A leaf or an intermediate block of the data index.
    Index(IndexBlock),
    /// The bits of a Bloom chunk, at the start of a cache line.
    Chunk(Bytes),
    /// A META block, at the start of a cache line.
    Meta(MetaBlock),
}

impl Block {
    /// Bytes it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Data(data) => data.bytes(),
            Self::Index(index) => index.bytes(),
            Self::Chunk(body) | Self::Meta(MetaBlock { body, .. }) => {
                size_of::<Self>() + body.len()
            }
        }
    }
}

/// Where in memory a data block is, beside the index entry that leads to it, so that the cache need not
/// be asked. It does not keep the block's cells there, only the [`Block`] itself, empty, when they go.
#[derive(Debug, Default)]
pub(crate) struct BlockSlot(OnceLock<Remembered>);

#[derive(Debug)]
struct Remembered {
    block: Weak<Block>,
    /// That it takes in memory.
    bytes: usize,
    /// Of its rows.
    table: Option<TableAddress>,
}

impl BlockSlot {
    /// The block, and the bytes it takes in memory, if it was remembered and is still somewhere there.
    #[inline]
    pub(crate) fn block(&self) -> Option<(Arc<Block>, usize)> {
        let Remembered { block, bytes, .. } = self.0.get()?;
        Some((block.upgrade()?, *bytes))
    }

    /// Sends for what a lookup of the row of this hash looks at first in the block, and does not wait for
    /// the block to know where that is.
    #[inline]
    pub(crate) fn prefetch(&self, hash: KeyHash) {
        /// Of the counts that an `Arc` has in front of what it holds.
        const COUNTS_LEN: usize = 2 * size_of::<usize>();
        let Some(Remembered { block, table, .. }) = self.0.get() else { return };
        let start = block.as_ptr().addr().wrapping_sub(COUNTS_LEN);
        filter::prefetch_address(start, COUNTS_LEN.wrapping_add(size_of::<Block>()));
        if let Some(table) = table {
            table.prefetch(hash);
        }
    }

    /// Remembers a block, unless another was before; not one that is still as it was read, whose place
    /// in the cache another may take.
    pub(crate) fn remember(&self, block: &Arc<Block>) {
        if let Block::Data(data) = &**block
            && let Some(all) = data.searchable()
        {
            let (bytes, table) = (data.bytes(), all.table_address());
            self.0.get_or_init(|| Remembered { block: Arc::downgrade(block), bytes, table });
        }
    }
}
