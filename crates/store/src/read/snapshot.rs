//! A snapshot of a store, for any number of reads.

use sstable::{Cell, ReadTrace};

use crate::error::Result;
use crate::read::get::ReadView;
use crate::read::query::{Get, Scan};
use crate::read::scan::Cells;

/// The store as it was at one moment.
///
/// A snapshot keeps the memstores and files of that moment alive, so do not hold one for long.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(crate) view: ReadView,
}

impl Snapshot {
    /// Reads cells of one row, in order.
    ///
    /// # Errors
    ///
    /// As for [`Store::get`](crate::Store::get).
    pub fn get(&self, get: &Get) -> Result<Vec<Cell>> {
        self.view.get(get)
    }

    /// Reads cells of one row, in order, and returns the read's trace.
    ///
    /// # Errors
    ///
    /// As for [`Store::get`](crate::Store::get).
    pub fn get_traced(&self, get: &Get) -> Result<(Vec<Cell>, ReadTrace)> {
        self.view.get_traced(get)
    }

    /// Reads rows in order.
    ///
    /// # Errors
    ///
    /// As for [`Store::get`](crate::Store::get).
    pub fn scan(&self, scan: Scan) -> Result<Cells> {
        Cells::new(&self.view, scan)
    }
}
