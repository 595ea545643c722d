//! The contenders: which engines take part, with which settings.

#[cfg(feature = "store-peers")]
use crate::engine::Open;
use crate::engine::{Contender, FilterChoice};
use crate::engines;

/// The engine that the others are compared with.
pub(crate) const OURS: &str = "ours";

/// Ours with a family map. The files have blocked Bloom filters, which are asked where the map does
/// not cover a file.
pub(crate) const OURS_DEFAULT: Contender = Contender {
    name: "ours, default",
    open: engines::ours::open,
    filter: FilterChoice::Bloom,
    has_map: true,
    is_clock: false,
};
/// Ours with the same filters and no map.
pub(crate) const OURS_BLOOM: Contender =
    Contender { name: "ours, blocked Bloom, map off", has_map: false, ..OURS_DEFAULT };
/// Ours with ribbon filters and no map.
pub(crate) const OURS_RIBBON: Contender =
    Contender { name: "ours, ribbon, map off", filter: FilterChoice::Ribbon, ..OURS_BLOOM };

/// Returns contenders with equal bits of filter per key.
pub(crate) fn with_equal_bits() -> Vec<Contender> {
    let ours = [OURS_DEFAULT, OURS_BLOOM, OURS_RIBBON];
    ours.into_iter().chain(with_filters()).collect()
}

#[cfg(not(feature = "store-peers"))]
fn with_filters() -> Vec<Contender> {
    Vec::new()
}

#[cfg(feature = "store-peers")]
fn with_filters() -> Vec<Contender> {
    let fjall = Contender { name: "fjall, Bloom", open: engines::fjall::open, ..OURS_BLOOM };
    let open = engines::coordinode::open;
    let coordinode = Contender { name: "coordinode, Bloom", open, ..OURS_BLOOM };
    [vec![fjall, coordinode], rocksdb()].concat()
}

#[cfg(all(feature = "store-peers", not(feature = "peers")))]
const fn rocksdb() -> Vec<Contender> {
    Vec::new()
}

#[cfg(feature = "peers")]
fn rocksdb() -> Vec<Contender> {
    let open = engines::rocksdb::open;
    [
        ("RocksDB, Bloom, LRU", FilterChoice::Bloom, false),
        ("RocksDB, Bloom, HyperClock", FilterChoice::Bloom, true),
        ("RocksDB, ribbon, LRU", FilterChoice::Ribbon, false),
        ("RocksDB, ribbon, HyperClock", FilterChoice::Ribbon, true),
    ]
    .map(|(name, filter, is_clock)| Contender { name, open, filter, is_clock, ..OURS_BLOOM })
    .to_vec()
}

/// Returns ours with a family map and, with the same files, without.
pub(crate) fn ours_at_ten_bits() -> Vec<Contender> {
    vec![OURS_DEFAULT, OURS_BLOOM]
}

/// Returns the engines that have no files that they would not merge: two B-trees and `SurrealKV`.
pub(crate) fn without_unmerged_files() -> Vec<Contender> {
    #[cfg(not(feature = "store-peers"))]
    return Vec::new();
    #[cfg(feature = "store-peers")]
    [
        ("redb", engines::redb::open as Open),
        ("LMDB", engines::lmdb::open),
        ("SurrealKV, Bloom", engines::surrealkv::open),
    ]
    .map(|(name, open)| Contender { name, open, ..OURS_BLOOM })
    .to_vec()
}
