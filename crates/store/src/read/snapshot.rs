//! A read-only view of a store as of one moment.

use std::sync::Arc;
use std::time::Instant;

use sstable::{Cell, CellRef, ReadTrace};

use crate::error::Result;
use crate::read::explain::Explanation;
use crate::read::query::{Get, Scan};
use crate::read::scan::ScanCells;
use crate::read::view::ReadView;

/// A read-only view of a store as of one moment, with all reads of a [`Store`](crate::Store).
///
/// A snapshot keeps the memstores in memory and the files on disk that were current at that moment,
/// also after a flush or compaction has replaced them: [`SnapshotStats`](crate::SnapshotStats) says how much
/// that is. Drop it as soon as the reads are done.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(crate) view: ReadView,
    /// Stands for the snapshot and its clones in the statistics.
    pub(crate) _mark: Arc<Instant>,
}

impl Snapshot {
    /// Returns the visible cells of one row in HBase's order.
    ///
    /// # Errors
    ///
    /// As for [`Store::get`](crate::Store::get).
    pub fn get(&self, get: &Get) -> Result<Vec<Cell>> {
        self.view.get(get)
    }

    /// Calls `visit` for the visible cells of one row, in HBase's order.
    ///
    /// # Errors
    ///
    /// As for [`Store::get_with`](crate::Store::get_with).
    pub fn get_with(&self, get: &Get, visit: impl FnMut(CellRef<'_>)) -> Result<()> {
        self.view.get_with(get, visit)
    }

    /// Returns the visible cells of one row in HBase's order, and the counters of the read.
    ///
    /// # Errors
    ///
    /// As for [`Store::get`](crate::Store::get).
    pub fn get_traced(&self, get: &Get) -> Result<(Vec<Cell>, ReadTrace)> {
        self.view.get_traced(get)
    }

    /// Returns the visible cells of many rows, in the order of `gets`.
    ///
    /// # Errors
    ///
    /// As for [`Store::multi_get`](crate::Store::multi_get).
    pub fn multi_get(&self, gets: &[Get]) -> Result<Vec<Vec<Cell>>> {
        self.view.multi_get(gets)
    }

    /// Returns the visible cells of one row, and explains for each file whether it was read or why it
    /// was skipped.
    ///
    /// # Errors
    ///
    /// As for [`Store::get`](crate::Store::get).
    pub fn explain(&self, get: &Get) -> Result<Explanation> {
        self.view.explain(get)
    }

    /// Returns an iterator over the visible cells of a row range of one family.
    ///
    /// # Errors
    ///
    /// As for [`Store::get`](crate::Store::get).
    pub fn scan(&self, scan: Scan) -> Result<ScanCells> {
        ScanCells::new(&self.view, scan)
    }
}
