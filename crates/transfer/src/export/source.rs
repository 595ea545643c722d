//! What is exported: cells in parts. Each part gets files of its own.

use hbase_files::{MissingCells, OldLogCells, TableScan};
use sstable::{CellRef, ReadTrace, WriterOptions};

use super::manifest::Source;
use crate::error::Result;
use crate::progress::Observer;

/// A source of cells in parts that are exported one by one, perhaps on several threads.
pub(super) trait ExportSource: Sync {
    /// Describes the source for the manifest, with the logs if they are read.
    fn describe(&self, with_logs: bool) -> Source;

    /// Returns the parts, in the order of their rows if they have one.
    fn parts(&self) -> &[Part];

    /// Checks that the source has what a scan selects, before the export writes anything.
    ///
    /// Returns what is missing of the source as a whole, perhaps in no part of it.
    fn check(&self, scan: &TableScan) -> Result<Vec<MissingCells>>;

    /// Opens the cells of a part that a scan selects.
    fn open(
        &self,
        part: usize,
        scan: &TableScan,
        observer: &dyn Observer,
    ) -> Result<Box<dyn PartCells + '_>>;

    /// Returns the settings of HFiles with cells of a family of a part.
    fn writer_options(&self, part: usize, family: &[u8]) -> WriterOptions;
}

/// The cells of a part, in HBase's order.
pub(super) trait PartCells {
    /// Returns the next cell; `None` at the end.
    fn next_cell(&mut self) -> Result<Option<CellRef<'_>>>;

    /// Returns the counters of the reads so far.
    fn trace(&mut self) -> ReadTrace;

    /// Returns what was left out because it is damaged or missing.
    fn missing(&self) -> Vec<MissingCells> {
        Vec::new()
    }

    /// Returns what was left out because it is in logs older than the files.
    fn old_log_cells(&self) -> Vec<OldLogCells> {
        Vec::new()
    }
}

/// A part of a source.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// The unique name in the manifest: a region's name, or the path of a file.
    pub(super) name: String,
    /// The name in the names of files.
    pub(super) file_stem: String,
    /// The first row of the part's range; empty without a bound.
    pub(super) start_row: Vec<u8>,
    /// The row before which the range ends; empty without a bound.
    pub(super) end_row: Vec<u8>,
    /// The bytes of the files that have the cells, about.
    pub(super) bytes: u64,
}
