//! Block compression: one codec a file, applied to the body of every block.
//!
//! `GZ` makes one gzip member a block. `LZ4` and `SNAPPY` stand in the framing of Hadoop's
//! `BlockCompressorStream`, which is repeated until the block is whole:
//!
//! | bytes | field             | meaning                                                         |
//! |------:|-------------------|-----------------------------------------------------------------|
//! |     4 | raw length        | u32 BE; bytes of this group once decompressed, may be 0         |
//! |     4 | chunk length      | u32 BE; repeats with its chunk until the group is whole         |
//! |       | chunk             | a raw LZ4 or Snappy block of its own                            |
//!
//! `ZSTD` is laid out in one of two ways, by the codec class that a cluster uses: see
//! [`ZstdFraming`].
//!
//! A compressed file has no block that is stored as it is: there is no mark for it.

mod codec;
mod compress;
mod decompress;
#[cfg(test)]
mod tests;
#[cfg(feature = "zstd")]
mod zstd;

pub(crate) use self::codec::zstd_framing;
pub use self::codec::{Compression, ZstdFraming};
pub(crate) use self::compress::compress;
pub(crate) use self::decompress::decompress;
