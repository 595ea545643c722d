//! HBase's compound Bloom filter: many chunks, and a meta block that lists them.
//!
//! The version in the [meta block](BloomMeta) says whether the chunks are [bits](BloomBits) of HBase's
//! Bloom filter or parts of its [ribbon filter](ribbon).

#[allow(clippy::arithmetic_side_effects, reason = "bytes in memory")]
mod bits;
mod bloom_type;
mod meta;
mod read;
pub(crate) mod ribbon;

pub(crate) use bits::BloomBits;
pub use bloom_type::BloomType;
pub(crate) use meta::{BloomChunk, BloomMeta};
