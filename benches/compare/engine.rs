//! The interface that every compared store implements, and its settings.

use std::fmt;
use std::path::Path;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use workload::Rows;

/// An open store; its errors are panics, because they invalidate the comparison.
pub(crate) trait Engine: Send + Sync {
    /// Writes rows in the given order with one put each.
    ///
    /// Each put is in the log when it returns; none waits for the disk.
    fn load(&self, rows: Rows, indexes: std::ops::Range<u64>);

    /// Flushes all writes to files.
    fn flush(&self);

    /// Waits until the background work is done.
    fn settle(&self);

    /// Merges all files into one run.
    fn compact(&self);

    /// Gets a key, and passes its value to `found` if the key is present.
    fn get(&self, key: &[u8], found: &mut dyn FnMut(&[u8]));

    /// Passes the first `count` rows in key order to `visit`.
    fn scan(&self, count: u64, visit: &mut dyn FnMut(&[u8], &[u8]));

    /// Turns counting of this thread's reads on or off, where counting costs time.
    fn count_reads(&self, _count: bool) {}

    /// Returns the engine's counters of all reads so far; `None` if it has none.
    fn counters(&self) -> Option<Counters> {
        None
    }

    /// Returns the number of files of rows; `None` if the engine does not tell.
    fn files(&self) -> Option<u64>;

    /// Returns the size of all filters in the files in bytes; `None` if the engine does not tell.
    fn filter_bytes(&self) -> Option<u64> {
        None
    }

    /// Returns the memory of filters, and of what replaces them, in bytes; `None` if the engine does
    /// not tell.
    ///
    /// Engines whose filters are pinned have them all in memory.
    fn memory_bytes(&self) -> Option<u64> {
        self.filter_bytes()
    }

    /// Returns how many files gets find without asking the filter of each, by a family map; `None`
    /// without maps.
    fn mapped_files(&self) -> Option<u64> {
        None
    }

    /// Builds the maps that a store builds in the background after it was opened.
    fn build_maps(&self) {}
}

/// Read counters that every engine with filters has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    /// Filters that were asked.
    pub(crate) filter_checks: u64,
    /// Filters that answered no.
    pub(crate) filter_negatives: u64,
    /// Files that a family map named, but that lack the row.
    pub(crate) map_false_files: u64,
    /// Data blocks searched, from the cache or a file.
    pub(crate) data_blocks: u64,
}

impl Counters {
    /// Returns the increase since `earlier`.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            filter_checks: self.filter_checks - earlier.filter_checks,
            filter_negatives: self.filter_negatives - earlier.filter_negatives,
            map_false_files: self.map_false_files - earlier.map_false_files,
            data_blocks: self.data_blocks - earlier.data_blocks,
        }
    }
}

/// The arrangement of a store's files; its name is the same in options, figures, tables and charts.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize, ValueEnum,
)]
pub(crate) enum Shape {
    /// Overlapping files that are never merged
    #[serde(rename = "many files", alias = "many")]
    ManyFiles,
    /// As the engine's own compaction leaves them
    #[serde(rename = "levelled")]
    Levelled,
    /// One sorted run
    #[serde(rename = "one run", alias = "compacted")]
    OneRun,
}

impl Shape {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ManyFiles => "many files",
            Self::Levelled => "levelled",
            Self::OneRun => "one run",
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Bits of filter per key.
pub(crate) const BITS_PER_KEY: f64 = 10.0;

/// A kind of filter, with [`BITS_PER_KEY`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum FilterChoice {
    /// A Bloom filter with one cache line per key (fjall: its only filter, a plain Bloom filter).
    Bloom,
    /// A ribbon filter.
    Ribbon,
    /// No filter: redb has none.
    #[cfg_attr(not(feature = "store-peers"), expect(dead_code, reason = "only redb has none"))]
    None,
}

/// RocksDB's kind of cache; the other engines have one kind each.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum CacheKind {
    /// The default of the engine: RocksDB's LRU cache.
    Lru,
    /// RocksDB's `HyperClock` cache.
    #[cfg_attr(not(feature = "peers"), expect(dead_code, reason = "only RocksDB has a choice"))]
    HyperClock,
}

/// Whether our store keeps a family map; the other engines have none.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum MapChoice {
    /// Our default.
    Default,
    /// No map: gets ask the filter of each file.
    Off,
}

/// The settings with which a store is opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) shape: Shape,
    pub(crate) filter: FilterChoice,
    pub(crate) map: MapChoice,
    pub(crate) cache_bytes: u64,
    #[cfg_attr(not(feature = "peers"), expect(dead_code, reason = "only RocksDB has a choice"))]
    pub(crate) cache: CacheKind,
}

/// Opens or creates the store in a directory.
pub(crate) type Open = fn(&Path, Settings) -> Box<dyn Engine>;

/// The memtable size where flushes are automatic.
pub(crate) const MEMSTORE_BYTES: usize = 16 << 20;
/// The memtable size where files are only written by `flush`.
pub(crate) const MEMSTORE_BYTES_UNBOUNDED: usize = 1 << 30;
