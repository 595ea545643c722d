//! Blocks as they are kept in memory, whatever they hold.

use std::sync::{Arc, OnceLock, Weak};

use bytes::Bytes;

use super::branch::IndexBlock;
use super::data::DataBlock;
use super::meta::MetaBlock;

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
pub(crate) struct BlockSlot(OnceLock<Weak<Block>>);

impl BlockSlot {
    /// The block, if it was remembered and is still somewhere in memory.
    #[inline]
    pub(crate) fn block(&self) -> Option<Arc<Block>> {
        self.0.get()?.upgrade()
    }

    /// Remembers a block, unless another was before; not one that is still as it was read, whose place
    /// in the cache another may take.
    pub(crate) fn remember(&self, block: &Arc<Block>) {
        if let Block::Data(data) = &**block
            && data.searchable().is_some()
        {
            self.0.get_or_init(|| Arc::downgrade(block));
        }
    }
}
