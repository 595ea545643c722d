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
    /// The largest number of overlapping files with which it still accepts writes.
    pub(crate) files_max: u64,
}

/// The engine that the others are compared with.
pub(crate) const OURS: &str = "ours";

/// Bits of filter per key, where all contenders have the same.
const BITS_PER_KEY: f64 = 10.0;
const BLOOM: FilterChoice = FilterChoice::Bloom { bits_per_key: BITS_PER_KEY };
const RIBBON: FilterChoice = FilterChoice::Ribbon { bits_per_key: BITS_PER_KEY };

/// Returns contenders with equal bits of filter per key.
pub(crate) fn with_equal_bits() -> Vec<Contender> {
    let mut all = ours_at_ten_bits();
    all.push(ours(names::OURS_RIBBON, RIBBON, MapChoice::Off));
    #[cfg(feature = "store-peers")]
    all.push(fjall());
    #[cfg(feature = "peers")]
    all.extend([
        rocksdb(names::ROCKSDB_BLOOM_LRU, BLOOM, CacheKind::Lru),
        rocksdb(names::ROCKSDB_BLOOM_CLOCK, BLOOM, CacheKind::HyperClock),
        rocksdb(names::ROCKSDB_RIBBON_LRU, RIBBON, CacheKind::Lru),
        rocksdb(names::ROCKSDB_RIBBON_CLOCK, RIBBON, CacheKind::HyperClock),
    ]);
    all
}

/// Returns ours with a family map and, with the same files, without.
pub(crate) fn ours_at_ten_bits() -> Vec<Contender> {
    vec![
        ours(names::OURS_DEFAULT, BLOOM, MapChoice::Default),
        ours(names::OURS_BLOOM, BLOOM, MapChoice::Off),
    ]
}

/// Returns contenders for growth: for each engine and filter the settings with the fastest gets.
pub(crate) fn for_growth() -> Vec<Contender> {
    let mut all = with_equal_bits();
    all.retain(|it| it.engine != "RocksDB" || it.cache == CacheKind::HyperClock);
    all
}

/// Returns contenders whose filters have an error rate of 1 %.
pub(crate) fn with_equal_error_rate() -> Vec<Contender> {
    #[cfg_attr(not(feature = "store-peers"), expect(unused_mut, reason = "there are no peers"))]
    let mut all = vec![
        ours(
            "ours, ribbon at 1 %, map off",
            FilterChoice::Ribbon { bits_per_key: 6.74 },
            MapChoice::Off,
        ),
        ours(
            "ours, blocked Bloom at 1 %, map off",
            FilterChoice::Bloom { bits_per_key: 9.92 },
            MapChoice::Off,
        ),
    ];
    #[cfg(feature = "store-peers")]
    all.push(fjall());
    #[cfg(feature = "peers")]
    all.extend([
        rocksdb("RocksDB, Bloom at 1 %, HyperClock", BLOOM, CacheKind::HyperClock),
        rocksdb(
            "RocksDB, ribbon at 1 %, HyperClock",
            FilterChoice::Ribbon { bits_per_key: 7.04 },
            CacheKind::HyperClock,
        ),
    ]);
    all
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
        files_max: 1,
    }]
}

const fn ours(name: &'static str, filter: FilterChoice, map: MapChoice) -> Contender {
    Contender {
        name,
        engine: OURS,
        open: engines::ours::open,
        filter,
        map,
        cache: CacheKind::Lru,
        files_max: u64::MAX,
    }
}

#[cfg(feature = "store-peers")]
fn fjall() -> Contender {
    Contender {
        name: names::FJALL,
        engine: "fjall",
        open: engines::fjall::open,
        filter: BLOOM,
        map: MapChoice::Off,
        cache: CacheKind::Lru,
        // At 30 files each write waits for a compaction, which never comes if compaction is off.
        files_max: 29,
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
        files_max: u64::MAX,
    }
}
