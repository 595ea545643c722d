//! The interface that every compared store implements, and its settings.
//!
//! Errors of a store are panics, because they invalidate the comparison.

use std::ops::Range;
use std::path::Path;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use workload::Rows;

/// An open store.
pub(crate) trait Engine: Send + Sync {
    /// Writes rows in the given order with one put each.
    ///
    /// Each put is in the log when it returns; none waits for the disk.
    fn load(&self, rows: Rows, indexes: Range<u64>);

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

    /// Returns the memory of filters, and of what replaces them, in bytes.
    ///
    /// Engines whose filters are pinned have them all in memory.
    fn memory_bytes(&self) -> Option<u64> {
        self.filter_bytes()
    }

    /// Returns how many files a family map covers; `None` without maps.
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

/// The arrangement of a store's files; its name is the same in options, figures, tables and charts.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ValueEnum)]
pub(crate) enum Shape {
    /// Overlapping files that are never merged
    #[default]
    #[serde(rename = "many files")]
    ManyFiles,
    /// As the engine's own compaction leaves them
    #[serde(rename = "levelled")]
    Levelled,
    /// One sorted run
    #[serde(rename = "one run")]
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

/// Bits of filter per key.
pub(crate) const BITS_PER_KEY: f64 = 10.0;

/// A kind of filter, with [`BITS_PER_KEY`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum FilterChoice {
    /// A Bloom filter with one cache line per key (fjall: its only filter, a plain Bloom filter).
    Bloom,
    Ribbon,
}

/// An engine with its best or best-known settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contender {
    /// The engine, then after a comma its filter and cache in a few words.
    pub(crate) name: &'static str,
    pub(crate) open: Open,
    /// Not asked by engines without filters.
    pub(crate) filter: FilterChoice,
    /// Whether our store keeps a family map, which is its default.
    pub(crate) has_map: bool,
    /// Whether RocksDB has its `HyperClock` cache in place of the default.
    #[cfg_attr(not(feature = "peers"), expect(dead_code, reason = "only RocksDB has a choice"))]
    pub(crate) is_clock: bool,
}

impl Contender {
    pub(crate) fn engine(&self) -> &'static str {
        self.name.split(',').next().unwrap_or(self.name)
    }

    /// Whether both have the same files, and differ only in memory.
    pub(crate) fn has_files_of(&self, other: &Self) -> bool {
        let key = |one: &Self| (one.engine(), one.filter, one.has_map);
        key(self) == key(other)
    }
}

/// The settings with which a store is opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) contender: Contender,
    pub(crate) shape: Shape,
    pub(crate) cache_bytes: u64,
}

impl Settings {
    /// Returns the size at which a memtable is flushed.
    pub(crate) fn memtable_bytes(&self) -> usize {
        // Files of other shapes are only written by `flush`.
        if self.shape == Shape::Levelled { 16 << 20 } else { 1 << 30 }
    }

    /// Returns the size of the cache for engines that take a `usize`.
    #[cfg(feature = "store-peers")]
    pub(crate) fn cache_size(&self) -> usize {
        usize::try_from(self.cache_bytes).expect("fits into usize")
    }
}

/// Opens or creates the store in a directory.
pub(crate) type Open = fn(&Path, Settings) -> Box<dyn Engine>;
