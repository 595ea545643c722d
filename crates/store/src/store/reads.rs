//! The reads of a store. Each is as of the moment of its call; a [`Snapshot`] has the same reads as of its moment.

use std::sync::Arc;
use std::time::Instant;

use sstable::{Cell, CellRef, ReadTrace};

use super::handle::Store;
use super::key_value_map::KeyValueMap;
use crate::error::Result;
#[cfg(doc)]
use crate::options::FamilyOptions;
use crate::read::explain::Explanation;
use crate::read::query::{Get, Scan};
use crate::read::scan::ScanCells;
use crate::read::snapshot::Snapshot;

/// # Reads
///
/// Each read is as of the moment of its call. A [`Snapshot`] has the same reads as of its moment.
impl Store {
    /// Reads cells of one row, in order.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) if a family does not exist; errors of the store
    /// files.
    pub fn get(&self, get: &Get) -> Result<Vec<Cell>> {
        self.view().get(get)
    }

    /// Reads cells of one row, in order, and calls `visit` for each.
    ///
    /// As [`get`](Self::get), but a cell is not copied if it is the whole answer: `visit` then reads it
    /// in its block. That is the common case of a get of one column.
    ///
    /// ```
    /// # use store::{FamilyOptions, Get, Put, Store, StoreOptions};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = Store::open(directory.path(), StoreOptions::default())?;
    /// # store.create_family("f", FamilyOptions::default())?;
    /// store.put(Put::new("row1").column("f", "name", "Ada"))?;
    /// let mut value_len = 0;
    /// store.get_with(&Get::row("row1").column("f", "name"), |cell| value_len = cell.value.len())?;
    /// assert_eq!(value_len, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get). Cells of families that were read before the error have been visited.
    pub fn get_with(&self, get: &Get, visit: impl FnMut(CellRef<'_>)) -> Result<()> {
        self.view().get_with(get, visit)
    }

    /// Reads cells of one row, in order, and returns the read's trace.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    pub fn get_traced(&self, get: &Get) -> Result<(Vec<Cell>, ReadTrace)> {
        self.view().get_traced(get)
    }

    /// Reads cells of many rows, all as of this moment.
    ///
    /// Returns the answers in the order of `gets`. The gets run in batches whose cache misses
    /// overlap, so this is faster than single gets.
    ///
    /// ```
    /// # use store::{FamilyOptions, Get, Put, Store, StoreOptions};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = Store::open(directory.path(), StoreOptions::default())?;
    /// # store.create_family("f", FamilyOptions::default())?;
    /// # store.put(Put::new("row1").column("f", "name", "Ada"))?;
    /// let found = store.multi_get(&[Get::row("row2"), Get::row("row1")])?;
    /// assert!(found[0].is_empty());
    /// assert_eq!(found[1][0].value(), b"Ada");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get); one failed get fails the call.
    pub fn multi_get(&self, gets: &[Get]) -> Result<Vec<Vec<Cell>>> {
        self.view().multi_get(gets)
    }

    /// Reads cells of one row, and explains for each file whether it was read or why it was
    /// skipped.
    ///
    /// ```
    /// use store::{FamilyOptions, FileFate, Get, Put, Store, StoreOptions};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path();
    /// let store = Store::open(directory, StoreOptions::default())?;
    /// store.create_family("f", FamilyOptions::default())?;
    /// store.put(Put::new("a").column("f", "q", "1"))?;
    /// store.flush()?;
    /// let explanation = store.explain(&Get::row("b"))?;
    /// assert_eq!(explanation.families[0].files[0].fate, FileFate::OutOfRange);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    pub fn explain(&self, get: &Get) -> Result<Explanation> {
        self.view().explain(get)
    }

    /// Reads rows in order, as of this moment.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    pub fn scan(&self, scan: Scan) -> Result<ScanCells> {
        ScanCells::new(&self.view(), scan)
    }

    /// Returns a key-value family as a sorted map.
    ///
    /// ```
    /// use store::{FamilyOptions, Store, StoreOptions};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path();
    /// let store = Store::open(directory, StoreOptions::default())?;
    /// store.create_map("names")?.insert("Ada", "1815")?;
    /// store.create_family("cells", FamilyOptions::default())?;
    ///
    /// assert_eq!(store.map("names")?.get("Ada")?.as_deref(), Some(&b"1815"[..]));
    /// let refused = store.map("cells").expect_err("a family of cells");
    /// assert!(refused.to_string().contains("is no key-value family"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) if the family does not exist, or if it is no key-value
    /// family ([`FamilyOptions::key_value`]).
    pub fn map(&self, family: &str) -> Result<KeyValueMap> {
        KeyValueMap::new(self.clone(), &self.view().family(family.as_bytes())?.family)
    }

    /// Returns a snapshot of the store at this moment, for any number of reads.
    pub fn snapshot(&self) -> Snapshot {
        let view = self.view();
        let _ = view.now(); // Fixes the time, which expires cells, at the snapshot's creation.
        let catalog = &self.inner.catalog;
        // In a fork, a thread of the parent may hold the lock of the list.
        let is_own = catalog.health().process().is_current();
        let mark = if is_own { catalog.held.mark_snapshot() } else { Arc::new(Instant::now()) };
        Snapshot { view, _mark: mark }
    }
}

impl Snapshot {
    /// Returns a key-value family of the snapshot as a sorted map.
    ///
    /// ```
    /// use store::{Store, StoreOptions};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path();
    /// let store = Store::open(directory, StoreOptions::default())?;
    /// let map = store.create_map("f")?;
    /// map.insert("a", "1")?;
    /// let snapshot = store.snapshot();
    /// map.clear()?;
    /// assert_eq!(snapshot.map("f")?.get("a")?.as_deref(), Some(&b"1"[..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) if the snapshot has no such family, or if the family is no
    /// key-value family.
    pub fn map(&self, family: &str) -> Result<KeyValueMap<Self>> {
        KeyValueMap::new(self.clone(), &self.view.family(family.as_bytes())?.family)
    }
}
