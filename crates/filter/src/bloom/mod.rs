//! Bloom filters: bits that keys set, and that a stranger would have to find set.
//!
//! ```text
//! hbase     a key's bits lie anywhere in a chunk     HBase's bytes, HBase's hashes
//! Blocked   a key's bits lie in one cache line       one memory access a lookup; the default
//! ```

mod blocked;
pub mod hbase;

pub use blocked::Blocked;
pub(crate) use blocked::BlockedView;
