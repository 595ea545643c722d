//! Sizes and counters of a store.

use std::sync::Arc;
use std::time::Duration;

use sstable::{CacheStats, ReadTrace};

use crate::family_map::mode::MapStats;

/// The sizes and counters of a store at one moment.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Stats {
    /// The families, sorted by name.
    pub families: Vec<FamilyStats>,
    /// The sequence id up to which writes are visible.
    pub sequence_id: u64,
    /// Flushed memstores since the store was opened.
    pub flushes: u64,
    /// Compactions since the store was opened.
    pub compactions: u64,
    /// Bytes of the files that compactions read since the store was opened.
    pub compaction_read_bytes: u64,
    /// Bytes of the files that compactions wrote since the store was opened.
    pub compaction_written_bytes: u64,
    /// Bytes of the records written to the log since the store was opened.
    pub log_bytes: u64,
    /// Files that were removed since the store was opened because all of their cells had expired.
    pub files_expired: u64,
    /// Failed compactions since the store was opened. A failed compaction changes no file.
    pub compactions_failed: u64,
    /// The error of the last failed compaction.
    pub compaction_failure: Option<Arc<str>>,
    /// Writes that waited for flushes since the store was opened.
    ///
    /// Writes wait while the memstores take at least four times
    /// [`memstore_flush_bytes`](crate::StoreOptions::memstore_flush_bytes).
    pub write_stalls: u64,
    /// The total time of these waits.
    pub write_stall_time: Duration,
    /// Family maps that were built from the rows of files since the store was opened.
    pub map_builds: u64,
    /// Family maps that replaced another one since the store was opened.
    ///
    /// They were built from the rows of files, or copied without the entries of replaced files.
    pub map_rebuilds: u64,
    /// The total time of these builds and copies, and of reading further files into maps.
    pub map_build_time: Duration,
    /// Attempts to build a family map, or to read a file into one, that failed since the store was
    /// opened, for lack of memory or because of damage.
    ///
    /// Gets then query the filters of the files. The store tries again to cover a file, unless it is
    /// damaged: [`MapStats::covered_files`] counts what is covered now.
    pub map_failures: u64,
    /// Unusable filters of the current store files, as found when files were opened and read.
    ///
    /// Reads ignore such a filter: they are slower, but correct.
    pub filter_problems: Vec<FilterProblem>,
    /// The open snapshots, and what is kept for reads only.
    pub snapshots: SnapshotStats,
    /// The counters of the block cache.
    pub cache: CacheStats,
}

impl Stats {
    /// Returns the sizes and read counters of a family; `None` if the store has no such family.
    ///
    /// ```
    /// use store::{FamilyOptions, Get, Put, Store, StoreOptions};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path();
    /// let store = Store::open(directory, StoreOptions::default())?;
    /// store.create_family("f", FamilyOptions::default())?;
    /// store.put(Put::new("row1").column("f", "q", "value"))?;
    /// store.put(Put::new("row9").column("f", "q", "value"))?;
    /// store.flush()?;
    /// store.get(&Get::row("row5"))?;
    ///
    /// let stats = store.stats();
    /// let family = stats.family("f").expect("created above");
    /// assert_eq!((family.files, family.file_cells), (1, 2));
    /// assert_eq!((family.reads.filter_checks, family.reads.files_skipped_by_filter), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn family(&self, name: &str) -> Option<&FamilyStats> {
        self.families.iter().find(|family| family.name == name)
    }

    /// Returns the read counters of all families, summed.
    pub fn reads(&self) -> ReadTrace {
        let mut sum = ReadTrace::default();
        for family in &self.families {
            sum.add(&family.reads);
        }
        sum
    }
}

/// The open snapshots at one moment, and the replaced files and memory that are still in use.
///
/// Flushes, compactions and dropped families replace files and memstores. A replaced file is removed, and the
/// memory of a replaced memstore is given back, once no snapshot, scan, other read or work in the background uses
/// it any more.
///
/// ```
/// use store::{FamilyOptions, Put, Store, StoreOptions};
///
/// # let directory = tempfile::tempdir()?;
/// let store = Store::open(directory.path(), StoreOptions::default().background(false))?;
/// store.create_family("f", FamilyOptions::default())?;
/// store.put(Put::new("row").column("f", "q", "value"))?;
/// let snapshot = store.snapshot();
/// store.flush()?;
/// assert_eq!(store.stats().snapshots.open, 1);
/// assert!(store.stats().snapshots.memstore_bytes > 0, "the snapshot still has the memstore");
/// drop(snapshot);
/// assert_eq!(store.stats().snapshots, store::SnapshotStats::default());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct SnapshotStats {
    /// Number of open snapshots. The clones of a snapshot count as one.
    pub open: u64,
    /// For how long the oldest of them has been open.
    pub oldest: Option<Duration>,
    /// Number of replaced files that a read still uses.
    pub files: u64,
    /// Bytes of these files on disk.
    pub file_bytes: u64,
    /// Approximate memory in bytes of the replaced memstores that a read still uses.
    pub memstore_bytes: u64,
}

/// An unusable filter of a store file.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct FilterProblem {
    /// The file's family.
    pub family: String,
    /// The file's name in the directory of the family.
    pub file: String,
    /// The damage and its offset.
    pub what: String,
}

/// The sizes and read counters of a family at one moment.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FamilyStats {
    /// The name of the family.
    pub name: String,
    /// Number of store files.
    pub files: u64,
    /// Bytes of the store files.
    pub file_bytes: u64,
    /// Cells in the store files, including hidden and expired cells.
    pub file_cells: u64,
    /// Approximate memory of the memstores in bytes.
    pub memstore_bytes: u64,
    /// Cells in the memstores.
    pub memstore_cells: u64,
    /// Gets of rows of the family since the store was opened, also those that failed.
    pub gets: u64,
    /// The counters of all gets and scans since the store was opened.
    pub reads: ReadTrace,
    /// The family map; `None` if the family has none.
    pub map: Option<MapStats>,
    /// The error of the last flush, if it could not write this family's file.
    ///
    /// The cells stay in memory and in the log. The other families are flushed; writes to this one
    /// return [`Error::FlushFailed`](crate::Error::FlushFailed) once its memstore is full.
    pub flush_failure: Option<Arc<str>>,
    /// Files that were written without a row filter since the store was opened, although the options
    /// ask for one: no filter of the requested size is possible for their rows, or for any.
    pub filters_omitted: u64,
    /// Why the last of these files has no filter.
    pub filter_omission: Option<Arc<str>>,
}
