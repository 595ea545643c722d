//! The names of the contenders of a quick run: engine, filter, and what else differs.

/// Ours with a family map, which is the default. The files have blocked Bloom filters of 10 bits a
/// key, which are asked where the map does not cover a file.
pub(crate) const OURS_DEFAULT: &str = "ours, default";
/// Ours with the same filters and no map.
pub(crate) const OURS_BLOOM: &str = "ours, blocked Bloom, map off";
/// Ours with ribbon filters and no map.
pub(crate) const OURS_RIBBON: &str = "ours, ribbon, map off";
pub(crate) const FJALL: &str = "fjall, Bloom";
pub(crate) const ROCKSDB_BLOOM_LRU: &str = "RocksDB, Bloom, LRU";
pub(crate) const ROCKSDB_BLOOM_CLOCK: &str = "RocksDB, Bloom, HyperClock";
pub(crate) const ROCKSDB_RIBBON_LRU: &str = "RocksDB, ribbon, LRU";
pub(crate) const ROCKSDB_RIBBON_CLOCK: &str = "RocksDB, ribbon, HyperClock";
pub(crate) const REDB: &str = "redb";
pub(crate) const HBASE: &str = "HBase, ROW_INDEX_V1, Bloom at 1 %";

/// All of them. A run has those that are built in.
pub(crate) const CONTENDERS: [&str; 10] = [
    OURS_DEFAULT,
    OURS_BLOOM,
    OURS_RIBBON,
    FJALL,
    ROCKSDB_BLOOM_LRU,
    ROCKSDB_BLOOM_CLOCK,
    ROCKSDB_RIBBON_LRU,
    ROCKSDB_RIBBON_CLOCK,
    REDB,
    HBASE,
];

// Features decide which contenders are built in; their names are known without.
const _: () = assert!(CONTENDERS.len() == 10);
