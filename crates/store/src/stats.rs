//! What a store holds and what its reads did, as plain numbers.

use std::sync::Arc;
use std::time::Duration;

use sstable::{CacheStats, ReadTrace};

/// A store at one moment.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Stats {
    /// The families, by name.
    pub families: Vec<FamilyStats>,
    /// The sequence id up to which writes are visible.
    pub sequence_id: u64,
    /// Memstores that were written to files since the store was opened.
    pub flushes: u64,
    /// Compactions since the store was opened.
    pub compactions: u64,
    /// Compactions that failed since the store was opened; their files stayed as they were.
    pub compactions_failed: u64,
    /// Why the last of those failed.
    pub compaction_failure: Option<Arc<str>>,
    /// Writes that had to wait since the store was opened, because the memstores took four times
    /// the memory that they are flushed at.
    pub write_stalls: u64,
    /// How long they waited together.
    pub write_stall_time: Duration,
    /// The filters of the present store files that cannot be used, as far as opening and reading
    /// them has found out. Reads do without them: they lose time, and no cell.
    pub filter_problems: Vec<FilterProblem>,
    /// The block cache.
    pub cache: CacheStats,
}

/// A filter of a store file that cannot be used.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct FilterProblem {
    /// The file's family.
    pub family: String,
    /// The file's name in the directory of the family.
    pub file: String,
    /// What is wrong, and at which offset.
    pub what: String,
}

/// A family at one moment.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FamilyStats {
    /// Its name.
    pub name: String,
    /// Store files.
    pub files: u64,
    /// Their bytes.
    pub file_bytes: u64,
    /// Cells in them, the hidden and expired ones too.
    pub file_cells: u64,
    /// Memory of the memstores.
    pub memstore_bytes: u64,
    /// Cells in the memstores.
    pub memstore_cells: u64,
    /// What all gets did since the store was opened.
    pub reads: ReadTrace,
}
