//! Block compression: one codec per file, applied to the body of every block.
//!
//! `GZ` stores a block as one gzip member. `LZ4` and `SNAPPY` use the framing of Hadoop's
//! `BlockCompressorStream`, a sequence of groups:
//!
//! | bytes | field             | meaning                                                         |
//! |------:|-------------------|-----------------------------------------------------------------|
//! |     4 | raw length        | u32 BE; decompressed bytes of the group, may be 0               |
//! |     4 | chunk length      | u32 BE; repeated with a chunk until the group is complete       |
//! |       | chunk             | an independent raw LZ4 or Snappy block                          |
//!
//! `ZSTD` has two layouts, depending on the codec class that a cluster uses: see [`ZstdFraming`].
//!
//! All blocks of a compressed file are compressed: the format has no flag for uncompressed blocks.

mod codec;
mod compress;
mod decompress;
mod output_buffer;
#[cfg(test)]
mod tests;
#[cfg(feature = "zstd")]
mod zstd;

pub(crate) use self::codec::zstd_framing;
pub use self::codec::{Compression, ZstdFraming};
pub(crate) use self::compress::compress;
pub(crate) use self::decompress::{check_can_hold, decompress};
