//! The contenders: engines with their best or best-known settings.

use crate::engine::{CacheKind, FilterChoice, MapChoice, Open};
use crate::engines;
use crate::names;

/// An engine with its settings.
#[derive(Clone, Debug)]
pub(crate) struct Contender {
    /// Engine, filter and cache in a few words.
    pub(crate) name: &'static str,
    /// The engine alone.
    pub(crate) engine: &'static str,
    pub(crate) open: Open,
    pub(crate) filter: FilterChoice,
    pub(crate) map: MapChoice,
    pub(crate) cache: CacheKind,
}

/// The engine that the others are compared with.
pub(crate) const OURS: &str = "ours";

/// Returns contenders with equal bits of filter per key.
pub(crate) fn with_equal_bits() -> Vec<Contender> {
    let mut all = ours_at_ten_bits();
    all.push(ours(names::OURS_RIBBON, FilterChoice::Ribbon, MapChoice::Off));
    #[cfg(feature = "store-peers")]
    all.push(fjall());
    #[cfg(feature = "peers")]
    all.extend([
        rocksdb(names::ROCKSDB_BLOOM_LRU, FilterChoice::Bloom, CacheKind::Lru),
        rocksdb(names::ROCKSDB_BLOOM_CLOCK, FilterChoice::Bloom, CacheKind::HyperClock),
        rocksdb(names::ROCKSDB_RIBBON_LRU, FilterChoice::Ribbon, CacheKind::Lru),
        rocksdb(names::ROCKSDB_RIBBON_CLOCK, FilterChoice::Ribbon, CacheKind::HyperClock),
    ]);
    all
}

/// Returns ours with a family map and, with the same files, without.
pub(crate) fn ours_at_ten_bits() -> Vec<Contender> {
    vec![
        ours(names::OURS_DEFAULT, FilterChoice::Bloom, MapChoice::Default),
        ours(names::OURS_BLOOM, FilterChoice::Bloom, MapChoice::Off),
    ]
}

/// Returns redb, which has neither filters nor several files.
pub(crate) fn without_filters() -> Vec<Contender> {
    #[cfg(not(feature = "store-peers"))]
    return Vec::new();
    #[cfg(feature = "store-peers")]
    vec![Contender {
        name: names::REDB,
        engine: "redb",
        open: engines::redb::open,
        filter: FilterChoice::None,
        map: MapChoice::Off,
        cache: CacheKind::Lru,
    }]
}

const fn ours(name: &'static str, filter: FilterChoice, map: MapChoice) -> Contender {
    Contender { name, engine: OURS, open: engines::ours::open, filter, map, cache: CacheKind::Lru }
}

#[cfg(feature = "store-peers")]
fn fjall() -> Contender {
    Contender {
        name: names::FJALL,
        engine: "fjall",
        open: engines::fjall::open,
        filter: FilterChoice::Bloom,
        map: MapChoice::Off,
        cache: CacheKind::Lru,
    }
}

#[cfg(feature = "peers")]
const fn rocksdb(name: &'static str, filter: FilterChoice, cache: CacheKind) -> Contender {
    Contender {
        name,
        engine: "RocksDB",
        open: engines::rocksdb::open,
        filter,
        map: MapChoice::Off,
        cache,
    }
}
