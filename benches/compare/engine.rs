//! The interface that every compared store implements, and its settings.
//!
//! Errors of a store are panics, because they invalidate the comparison.

use std::path::Path;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use workload::{RowKey, VALUE_LEN};

/// Rows to be written.
pub(crate) type NewRows<'a> = &'a mut dyn Iterator<Item = (RowKey, [u8; VALUE_LEN])>;

/// An open store.
pub(crate) trait Engine: Send + Sync {
    /// Writes rows in the given order with one put each.
    ///
    /// Each put is in the log when it returns; none waits for the disk. An engine that has nothing
    /// but transactions of many rows writes all in one.
    fn load(&self, rows: NewRows<'_>);

    /// Flushes all writes to files, and brings the files into a shape: waits until the background
    /// work is done, or merges all files.
    fn arrange(&self, shape: Shape);

    /// Gets a key, and passes its value to `found` if the key is present.
    fn get(&self, key: &[u8], found: &mut dyn FnMut(&[u8]));

    /// Passes the first `count` rows in key order to `visit`.
    fn scan(&self, count: usize, visit: &mut dyn FnMut(&[u8], &[u8]));

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

/// The arrangement of a store's files.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Shape {
    /// Overlapping files that are never merged
    #[default]
    ManyFiles,
    /// As the engine's own compaction leaves them
    Levelled,
    /// One sorted run
    OneRun,
}

impl Shape {
    /// Returns the name in tables and charts, which the option has with a hyphen.
    pub(crate) fn name(self) -> String {
        let value = self.to_possible_value().expect("no value is skipped");
        value.get_name().replace('-', " ")
    }
}

/// Ours with a family map: where the map covers a file, the file's filter is not asked.
pub(crate) const OURS_DEFAULT: &str = "ours, default";
/// Bits of filter per key.
pub(crate) const BITS_PER_KEY: f64 = 10.0;

/// An engine with its best or best-known settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contender {
    /// The engine, then after a comma its filter and cache in a few words, which the engine obeys.
    pub(crate) name: &'static str,
    /// Opens or creates the store in a directory.
    pub(crate) open: fn(&Path, Settings) -> Box<dyn Engine>,
}

/// Returns the engine in the name of a contender.
pub(crate) fn engine_of(contender: &str) -> &str {
    contender.split(',').next().unwrap_or(contender)
}

/// The settings with which a store is opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// The name of the contender.
    pub(crate) name: &'static str,
    pub(crate) is_levelled: bool,
    pub(crate) cache_bytes: u64,
}

impl Settings {
    /// Whether the name of the contender has a word.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.name.contains(word)
    }

    /// Returns the size at which a memtable is flushed.
    pub(crate) const fn memtable_bytes(&self) -> usize {
        // Files of other shapes are only written by `arrange`.
        if self.is_levelled { 16 << 20 } else { 1 << 30 }
    }
}
