//! Blocks as they are kept in memory, whatever they hold.

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
