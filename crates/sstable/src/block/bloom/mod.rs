//! HBase's compound Bloom filter: many chunks, and a meta block that lists them.
//!
//! A chunk is a block of [bits](BloomBits). The [meta block](BloomMeta) is that of a Bloom filter
//! or of a [ribbon](ribbon); its version tells which.

mod bits;
mod bloom_type;
mod meta;
mod read;
pub(crate) mod ribbon;

pub(crate) use bits::BloomBits;
pub use bloom_type::BloomType;
pub(crate) use meta::{BloomChunk, BloomMeta};
