//! HBase's compound Bloom filter as it stands in a file: many chunks, and a meta block about them.
//!
//! A chunk is a block of [bits](BloomBits) and nothing else. The [meta block](BloomMeta) lists the
//! chunks; it is [read](read) as that of a Bloom filter or of a [ribbon](ribbon).

mod bits;
mod bloom_type;
mod meta;
mod read;
pub(crate) mod ribbon;

pub(crate) use bits::BloomBits;
pub use bloom_type::BloomType;
pub(crate) use meta::{BloomChunk, BloomMeta};
