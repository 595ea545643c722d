//! Where a block in memory came from.

use super::header::Header;
use super::index::BlockHandle;
use crate::{BlockOffset, BlockType};

/// Where a block in memory came from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockOrigin {
    pub(crate) handle: BlockHandle,
    pub(crate) block_type: BlockType,
    /// The block of its type before it, as its header has it.
    pub(crate) previous: Option<BlockOffset>,
}

impl BlockOrigin {
    /// Takes what the header says of a block at `handle`.
    pub(crate) const fn new(handle: BlockHandle, header: &Header) -> Self {
        Self { handle, block_type: header.block_type, previous: header.previous_block }
    }
}
