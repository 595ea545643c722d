//! RocksDB through the crate `rocksdb`: blocks of 4 KiB, LZ4, a Bloom or ribbon filter, an LRU or
//! `HyperClock` cache.
//!
//! Filters and indexes are on the heap outside the cache, as by default: they are never evicted and
//! do not count towards its size.

use std::fs;
use std::path::Path;

use ::rocksdb::perf::{PerfContext, PerfMetric, PerfStatsLevel, set_perf_stats};
use ::rocksdb::{
    BlockBasedOptions, Cache, DB, DBCompressionType, Options, ReadOptions, WaitForCompactOptions,
};

use crate::engine::{BITS_PER_KEY, Counters, Engine, NewRows, Settings, Shape};

struct RocksDb {
    database: DB,
    /// Made once, because the crate would make one per get.
    read: ReadOptions,
}

pub(crate) fn open(directory: &Path, settings: Settings) -> Box<dyn Engine> {
    let database = DB::open(&options(settings), directory).expect("a writable directory");
    Box::new(RocksDb { database, read: ReadOptions::default() })
}

/// Returns the version of the library, which can differ from the version of the crate.
///
/// A database names the version in its file of options.
pub(crate) fn version() -> String {
    let directory = tempfile::tempdir().expect("a directory for temporary files");
    drop(DB::open_default(directory.path()).expect("a writable directory"));
    let mut files = fs::read_dir(directory.path()).expect("the directory exists").flatten();
    let version = files.find_map(|file| {
        let text = fs::read(file.path()).ok()?;
        let text = String::from_utf8_lossy(&text);
        let (_, version) = text.split_once("\n  rocksdb_version=")?;
        Some(version.lines().next()?.to_owned())
    });
    version.expect("the file of options")
}

fn options(settings: Settings) -> Options {
    let cache_bytes = settings.cache_bytes as usize;
    let cache = if settings.has("HyperClock") {
        // Zero makes RocksDB estimate the entry size, as its documentation recommends.
        Cache::new_hyper_clock_cache(cache_bytes, 0)
    } else {
        Cache::new_lru_cache(cache_bytes)
    };
    let mut blocks = BlockBasedOptions::default();
    blocks.set_block_cache(&cache);
    if settings.has("ribbon") {
        blocks.set_ribbon_filter(BITS_OF_RIBBON);
    } else {
        blocks.set_bloom_filter(BITS_PER_KEY, false);
    }
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_block_based_table_factory(&blocks);
    options.set_compression_type(DBCompressionType::Lz4);
    options.set_write_buffer_size(settings.memtable_bytes());
    options.set_max_background_jobs(2);
    options.set_stats_dump_period_sec(0);
    options.set_stats_persist_period_sec(0);
    if !settings.is_levelled {
        options.set_disable_auto_compactions(true);
        options.set_level_zero_slowdown_writes_trigger(i32::MAX);
        options.set_level_zero_stop_writes_trigger(i32::MAX);
    }
    options
}

/// RocksDB's parameter of a ribbon filter of [`BITS_PER_KEY`], from measured sizes.
///
/// RocksDB takes the bits per key of the Bloom filter with the same error rate; the ribbon filter
/// needs 30 % less.
const BITS_OF_RIBBON: f64 = BITS_PER_KEY * 10.0 / 7.04;

impl Engine for RocksDb {
    fn load(&self, rows: NewRows<'_>) {
        for (key, value) in rows {
            self.database.put(key, value).expect("the disk has room");
        }
    }

    fn arrange(&self, shape: Shape) {
        self.database.flush().expect("the disk has room");
        let wait = WaitForCompactOptions::default();
        match shape {
            Shape::ManyFiles => {}
            Shape::Levelled => self.database.wait_for_compact(&wait).expect("sound"),
            Shape::OneRun => self.database.compact_range::<&[u8], &[u8]>(None, None),
        }
    }

    fn get(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) {
        if let Some(value) = self.database.get_pinned_opt(key, &self.read).expect("sound") {
            found(&value);
        }
    }

    fn scan(&self, count: usize, visit: &mut dyn FnMut(&[u8], &[u8])) {
        let mut rows = self.database.raw_iterator();
        rows.seek_to_first();
        for _ in 0..count {
            let Some((key, value)) = rows.item() else { break };
            visit(key, value);
            rows.next();
        }
        rows.status().expect("sound");
    }

    fn count_reads(&self, count: bool) {
        set_perf_stats(if count { PerfStatsLevel::EnableCount } else { PerfStatsLevel::Disable });
    }

    fn counters(&self) -> Option<Counters> {
        let counters = PerfContext::default();
        let denied = counters.metric(PerfMetric::BloomSstMissCount);
        let passed = counters.metric(PerfMetric::BloomSstHitCount);
        // Filters and indexes are not in the cache, so these are data blocks.
        let cached = counters.metric(PerfMetric::BlockCacheHitCount);
        let read = counters.metric(PerfMetric::BlockReadCount);
        Some(Counters {
            filter_checks: denied + passed,
            filter_negatives: denied,
            map_false_files: 0,
            data_blocks: cached + read,
        })
    }

    fn files(&self) -> Option<u64> {
        self.database.live_files().ok().map(|files| files.len() as u64)
    }

    fn filter_bytes(&self) -> Option<u64> {
        let properties = self.database.property_value("rocksdb.aggregated-table-properties");
        let properties = properties.ok()??;
        let bytes = properties.split("filter block size=").nth(1)?;
        bytes.split(';').next()?.trim().parse().ok()
    }
}
