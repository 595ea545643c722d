//! The contenders: which engines take part, with which settings.

use crate::engine::{Contender, OURS_DEFAULT};
use crate::engines;

/// The engine that the others are compared with.
pub(crate) const OURS: &str = "ours";

/// Contenders with equal bits of filter per key.
pub(crate) const WITH_FILES: &[Contender] = &[
    Contender { name: OURS_DEFAULT, open: engines::ours::open },
    Contender { name: "ours, blocked Bloom, map off", open: engines::ours::open },
    Contender { name: "ours, ribbon, map off", open: engines::ours::open },
    #[cfg(feature = "store-peers")]
    Contender { name: "fjall, Bloom", open: engines::fjall::open },
    #[cfg(feature = "store-peers")]
    Contender { name: "coordinode, Bloom", open: engines::coordinode::open },
    #[cfg(feature = "peers")]
    Contender { name: "RocksDB, Bloom, LRU", open: engines::rocksdb::open },
    #[cfg(feature = "peers")]
    Contender { name: "RocksDB, Bloom, HyperClock", open: engines::rocksdb::open },
    #[cfg(feature = "peers")]
    Contender { name: "RocksDB, ribbon, LRU", open: engines::rocksdb::open },
    #[cfg(feature = "peers")]
    Contender { name: "RocksDB, ribbon, HyperClock", open: engines::rocksdb::open },
];

/// The engines that have no files that they would not merge: two B-trees and `SurrealKV`.
pub(crate) const WITHOUT_FILES: &[Contender] = &[
    #[cfg(feature = "store-peers")]
    Contender { name: "redb", open: engines::redb::open },
    #[cfg(feature = "store-peers")]
    Contender { name: "LMDB", open: engines::lmdb::open },
    #[cfg(feature = "store-peers")]
    Contender { name: "SurrealKV, Bloom", open: engines::surrealkv::open },
];
