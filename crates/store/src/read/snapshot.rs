//! The store as it was at one moment.

use std::sync::OnceLock;

use sstable::{Cell, ReadTrace};

use crate::error::Result;
use crate::files::catalog::Catalog;
use crate::read::get::ReadView;
use crate::read::query::{Get, Scan};
use crate::read::scan::Cells;

impl ReadView {
    /// The store as it is now.
    pub(crate) fn of(catalog: &Catalog) -> Self {
        // In this order: a version has all that was visible before it, never less.
        let version = catalog.version();
        let visible = catalog.visible();
        Self { version, visible, seed: catalog.seed, now: OnceLock::new() }
    }
}

/// The store as it was at one moment. It keeps the memstores and files of that moment, so do not
/// keep it for long.
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

    /// Reads cells of one row, and tells what that took.
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
