//! Bloom filters: bits that keys set, and that an absent key would have to find set.
//!
//! ```text
//! hbase        a key's bits lie anywhere in a chunk     HBase's bytes, HBase's hashes
//! hbase_ribbon in the place of the former          HBase's trunk, which is not released
//! Classic      a key's bits lie anywhere                the fewest bits, the most memory accesses
//! Blocked      a key's bits lie in one cache line       one memory access a lookup; the default
//! SplitBlock   a key's bits lie in half a cache line    Parquet's bytes; faster, less exact
//! Guava…       Guava's `BloomFilter`                    its bytes, read and written
//! Simple…      Java's `SimpleBloomFilter`               its bits, as a `BitSet`
//! hadoop       Hadoop's three `org.apache.hadoop.util.bloom` classes   their Writable bytes
//! ```

mod blocked;
mod classic;
#[cfg(feature = "std")]
mod guava;
pub mod hadoop;
pub mod hbase;
pub mod hbase_ribbon;
mod lines;
mod simple;
mod split_block;

pub use blocked::Blocked;
pub(crate) use blocked::BlockedView;
pub use classic::Classic;
pub(crate) use classic::ClassicView;
#[cfg(feature = "std")]
pub use guava::{GuavaBloom, GuavaStrategy, Incompatible, NotGuava, TooLarge};
pub(crate) use lines::{LineFilter, LineView, Shape};
pub use simple::{BitSetTooLong, SEEDS, SimpleBloom};
pub use split_block::SplitBlock;
pub(crate) use split_block::SplitBlockView;
