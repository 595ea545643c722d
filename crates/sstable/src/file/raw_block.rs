//! A block that was read, verified and decompressed, and whose body is not parsed.

use bytes::Bytes;

use crate::block::header::BlockHeader;
use crate::block::index_entry::BlockHandle;
use crate::buffers::Body;

/// A verified and decompressed block.
pub(crate) struct RawBlock {
    pub(crate) header: BlockHeader,
    pub(crate) body: Bytes,
}

/// A verified and decompressed data block, whose body is in a buffer that can be reused.
#[derive(Debug)]
pub(crate) struct RawDataBlock {
    pub(crate) handle: BlockHandle,
    pub(crate) header: BlockHeader,
    pub(crate) body: Body,
}
