//! The bits of one Bloom chunk.

use bytes::Bytes;

use crate::block::aligned::aligned;

/// The body of a Bloom chunk in memory, aligned to a cache line.
#[derive(Debug)]
pub(crate) struct BloomBits(Bytes);

impl BloomBits {
    /// Copies the body of a block.
    pub(crate) fn new(body: &[u8]) -> Self {
        Self(aligned(body))
    }

    pub(crate) fn bits(&self) -> &[u8] {
        &self.0
    }

    /// The size in memory, in bytes.
    pub(crate) const fn bytes(&self) -> usize {
        size_of::<Self>() + self.0.len()
    }
}
