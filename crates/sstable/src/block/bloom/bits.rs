//! The bits of one chunk of a Bloom filter.
#![allow(clippy::arithmetic_side_effects, reason = "bytes in memory")]

use bytes::Bytes;

use crate::block::aligned::aligned;

/// The body of a chunk as it is kept in memory, at the start of a cache line.
#[derive(Debug)]
pub(crate) struct BloomBits(Bytes);

impl BloomBits {
    /// Copies the body of a block.
    pub(crate) fn new(body: &[u8]) -> Self {
        Self(aligned(body))
    }

    /// The bits.
    #[inline]
    pub(crate) fn bits(&self) -> &[u8] {
        &self.0
    }

    /// Bytes it takes in memory.
    #[inline]
    pub(crate) const fn bytes(&self) -> usize {
        size_of::<Self>() + self.0.len()
    }
}
