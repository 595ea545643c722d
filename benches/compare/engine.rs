//! What every store under comparison is asked to do, and how it is set up.

use std::path::Path;

use serde::{Deserialize, Serialize};
use workload::Rows;

/// A store that is open. What goes wrong in it is a failure of the comparison, and a panic.
pub(crate) trait Engine: Send + Sync {
    /// Writes rows in the order given, one put each; each put is in the log when it returns, and
    /// none waits for the disk.
    fn load(&self, rows: Rows, indexes: std::ops::Range<u64>);

    /// Brings what was written to files.
    fn flush(&self);

    /// Waits until nothing is left to do in the background.
    fn settle(&self);

    /// Merges all files to one run.
    fn compact(&self);

    /// Looks a key up, and hands over its value if there is one.
    fn get(&self, key: &[u8], found: &mut dyn FnMut(&[u8]));

    /// Shows the first so many rows in the order of their keys.
    fn scan(&self, count: u64, visit: &mut dyn FnMut(&[u8], &[u8]));

    /// Whether this thread's reads are to be counted from now on, where counting costs time.
    fn count_reads(&self, _count: bool) {}

    /// What all reads did so far by the engine's own account; `None` if it keeps none.
    fn counters(&self) -> Option<Counters> {
        None
    }

    /// Files that hold rows; `None` if the engine does not say.
    fn files(&self) -> Option<u64>;

    /// Bytes of filters in all files; `None` if the engine does not say.
    fn filter_bytes(&self) -> Option<u64> {
        None
    }
}

/// What reads did, in numbers that every engine of this kind has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    /// Filters that were asked.
    pub(crate) filter_checks: u64,
    /// Those that said no.
    pub(crate) filter_negatives: u64,
    /// Data blocks that were searched, from the cache or a file.
    pub(crate) data_blocks: u64,
}

impl Counters {
    /// What was added since `earlier`.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            filter_checks: self.filter_checks - earlier.filter_checks,
            filter_negatives: self.filter_negatives - earlier.filter_negatives,
            data_blocks: self.data_blocks - earlier.data_blocks,
        }
    }
}

/// How the files of a store come to lie.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Shape {
    /// Many files that overlap, never merged.
    Many,
    /// As the engine leaves them with its own compaction.
    Levelled,
    /// One run.
    Compacted,
}

impl Shape {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Many => "many",
            Self::Levelled => "levelled",
            Self::Compacted => "compacted",
        }
    }
}

/// A kind of filter, and how large it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FilterChoice {
    /// A Bloom filter in one cache line a key (fjall: its only one, a plain Bloom filter).
    Bloom { bits_per_key: f64 },
    /// A ribbon filter.
    Ribbon { bits_per_key: f64 },
    /// None: the engine has no filters.
    #[cfg_attr(not(feature = "store-peers"), expect(dead_code, reason = "only redb has none"))]
    None,
}

/// How RocksDB's cache works; the others have one kind each.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum CacheKind {
    /// The engine's own, RocksDB's LRU cache.
    Lru,
    /// RocksDB's `HyperClock` cache.
    HyperClock,
}

/// How a store is opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) shape: Shape,
    pub(crate) filter: FilterChoice,
    pub(crate) cache_bytes: u64,
    #[cfg_attr(not(feature = "peers"), expect(dead_code, reason = "only RocksDB has a choice"))]
    pub(crate) cache: CacheKind,
}

/// Opens the store in a directory, or makes one.
pub(crate) type Open = fn(&Path, Settings) -> Box<dyn Engine>;

/// Memory for what is not yet in files, where files are made as it fills up.
pub(crate) const MEMSTORE_BYTES: usize = 16 << 20;
/// The same where files are only made when they are asked for.
pub(crate) const MEMSTORE_BYTES_UNBOUNDED: usize = 1 << 30;
