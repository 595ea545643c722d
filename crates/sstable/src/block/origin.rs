//! The handle, type and predecessor of a block in memory.

use cells::BlockOffset;

use super::header::BlockHeader;
use super::index_entry::BlockHandle;
use crate::error::BlockType;

/// Identifies a block in memory: its handle in the file, its type and its predecessor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockIdentity {
    pub(crate) handle: BlockHandle,
    pub(crate) block_type: BlockType,
    /// The previous block of this type, from the block's header.
    pub(crate) previous: Option<BlockOffset>,
}

impl BlockIdentity {
    /// Combines a block's handle with type and predecessor from its header.
    pub(crate) const fn new(handle: BlockHandle, header: &BlockHeader) -> Self {
        Self { handle, block_type: header.block_type, previous: header.previous_block }
    }
}
