//! Bloom filters: a key sets bits, and may be present if all of its bits are set.
//!
//! | filter           | bits of a key                                    | use                             |
//! |------------------|--------------------------------------------------|---------------------------------|
//! | [`hbase`]        | anywhere in a chunk                              | HBase's format and hashes       |
//! | [`hbase_ribbon`] | none: a ribbon filter in the place of a chunk    | HBase's unreleased trunk        |
//! | [`Classic`]      | anywhere                                         | fewest bits, most cache misses  |
//! | [`Blocked`]      | in one cache line                                | the default: one cache miss     |
//! | [`SplitBlock`]   | in half a cache line                             | the fastest lookups             |
//! | [`ParquetBloom`] | as in [`SplitBlock`], of another hash            | Parquet's columns               |

mod blocked;
mod classic;
pub mod hbase;
pub(crate) mod hbase_ribbon;
mod lines;
mod parquet;
mod split_block;

pub use blocked::Blocked;
pub(crate) use blocked::BlockedView;
pub use classic::Classic;
pub(crate) use classic::ClassicView;
pub(crate) use lines::{LineFilter, LineView, Shape};
pub use parquet::ParquetBloom;
pub use split_block::SplitBlock;
pub(crate) use split_block::SplitBlockView;
