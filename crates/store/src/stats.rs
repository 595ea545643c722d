//! What a store holds and what its reads did, as plain numbers.

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
    /// Writers that had to wait for a flush since the store was opened.
    pub write_stalls: u64,
    /// The block cache.
    pub cache: CacheStats,
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
