//! The public handle of a store: open, read, write.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use sstable::{Cell, CellRef, ReadTrace};

use super::inner::StoreInner;

use crate::error::{Error, Result};
use crate::files::new_files::salvage_marker::check_finished;
use crate::options::{Durability, StoreOptions};
use crate::read::explain::Explanation;
use crate::read::query::{Get, Scan};
use crate::read::scan::ScanCells;
use crate::read::snapshot::Snapshot;
use crate::read::view::ReadView;
use crate::stats::Stats;
use crate::write::accepted_batch::{check_cells, check_families, put_without_columns};
use crate::write::mutation::{Delete, Put, WriteBatch};
use crate::write::read_modify_write::{Append, CheckAndMutate, Increment};
use crate::write::row_times::RowTimes;

/// An open store. Clones are cheap and share the same store; the last one [closes](Self::close) it.
#[derive(Clone, Debug)]
pub struct Store {
    pub(super) inner: Arc<StoreInner>,
}

impl Store {
    /// Opens the store in `directory`, or creates one if the options allow it.
    ///
    /// If the log has 32 segments or more, the open flushes, so that the log becomes short, and
    /// merges small files if the store compacts automatically.
    ///
    /// The path is made absolute. If the directory is moved or replaced while the store is open, changes
    /// of its files are errors. A fork of the process gets [`Error::Forked`](crate::Error::Forked).
    ///
    /// # Errors
    ///
    /// * [`Error::Missing`](crate::Error::Missing) if no store exists and none may be created,
    /// * [`Error::Locked`](crate::Error::Locked) if the store is open already,
    /// * [`Error::Unfinished`](crate::Error::Unfinished) if a salvage into the directory is not
    ///   complete,
    /// * [`Error::Corrupt`](crate::Error::Corrupt) if the log or the manifest is damaged,
    /// * [`Error::Invalid`](crate::Error::Invalid) if no file can be written with the options, or if
    ///   a store would be created in a directory that has other files,
    /// * errors of the operating system and of the store files.
    pub fn open(directory: impl AsRef<Path>, options: StoreOptions) -> Result<Self> {
        options.check()?;
        check_finished(&*options.vfs, directory.as_ref())?;
        let mut inner = StoreInner::open(directory.as_ref(), options)?;
        inner.start()?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Opens the store in `directory` for reading only: takes no lock and changes no file.
    ///
    /// This works on a read-only file system, on a full disk, without write permission, and while
    /// another process writes to the store. Reads show the store as it was when it was opened: all
    /// acknowledged writes that had reached the operating system. Open the store again to see later
    /// writes. As after a crash, an incomplete write at the end of the log is ignored; its bytes
    /// stay.
    ///
    /// Each method that would change the store returns [`Error::ReadOnly`](crate::Error::ReadOnly).
    /// [`export`](Self::export) writes elsewhere, so it works.
    ///
    /// ```
    /// use store::{Error, FamilyOptions, Get, Put, Store, StoreOptions};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path();
    /// let writer = Store::open(directory, StoreOptions::default())?;
    /// writer.create_family("f", FamilyOptions::default())?;
    /// writer.put(Put::new("row1").column("f", "name", "Ada"))?;
    ///
    /// let reader = Store::open_read_only(directory, StoreOptions::default())?;
    /// assert_eq!(reader.get(&Get::row("row1"))?[0].value(), b"Ada");
    /// let refused = reader.put(Put::new("row2").column("f", "name", "Charles"));
    /// assert!(matches!(refused, Err(Error::ReadOnly { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Missing`](crate::Error::Missing) if no store exists,
    /// [`Error::Changing`](crate::Error::Changing) if a writer changes the store faster than it can
    /// be opened; else as for [`open`](Self::open), but never
    /// [`Error::Locked`](crate::Error::Locked).
    pub fn open_read_only(directory: impl AsRef<Path>, options: StoreOptions) -> Result<Self> {
        check_finished(&*options.vfs, directory.as_ref())?;
        Ok(Self { inner: Arc::new(StoreInner::open_read_only(directory.as_ref(), options)?) })
    }

    /// Closes the store: ends its background work, writes pending log records, and flushes unlogged cells.
    ///
    /// A drop of the last handle does the same, but ignores errors. An error of a close means that writes
    /// with [`Durability::Async`] or [`Durability::Skip`] may be lost, or that the store had stopped.
    /// Writes with another durability have it since they were acknowledged.
    ///
    /// ```
    /// use store::{Durability, FamilyOptions, Put, Store, StoreOptions};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path();
    /// let store = Store::open(directory, StoreOptions::default())?;
    /// store.create_family("f", FamilyOptions::default())?;
    /// store.write(Put::new("row1").column("f", "name", "Ada"), Durability::Skip)?;
    /// store.close()?; // The row is in a file.
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) if the store has another handle, a clone or a
    /// [`KeyValueMap`](crate::KeyValueMap): the store stays open until the last handle is closed or dropped.
    /// [`Error::Poisoned`](crate::Error::Poisoned) if the store had stopped; else as for [`flush`](Self::flush).
    pub fn close(self) -> Result<()> {
        let Some(mut inner) = Arc::into_inner(self.inner) else {
            let what = "the store has another handle, a clone or a map, and stays open; close the last handle";
            return Err(Error::invalid(what));
        };
        inner.close()
    }

    /// Returns whether the store was opened for reading only.
    pub fn is_read_only(&self) -> bool {
        self.inner.catalog.health().is_read_only()
    }

    /// Writes a put, with the store's default durability.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    pub fn put(&self, put: Put) -> Result<()> {
        self.write(put, self.inner.durability)
    }

    /// Writes a delete, with the store's default durability.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    pub fn delete(&self, delete: Delete) -> Result<()> {
        self.write(delete, self.inner.durability)
    }

    /// Writes a batch atomically. When it returns, the batch is readable and has the given
    /// durability.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) if a cell cannot be stored; nothing is written
    /// then. [`Error::Busy`](crate::Error::Busy) if flushes do not keep up.
    /// [`Error::FlushFailed`](crate::Error::FlushFailed) if the file of a family cannot be written
    /// and its memstore is full. If there is no space, quota or descriptor for the log record,
    /// nothing is written, and a later attempt may succeed. If the log cannot be written for another
    /// reason or synced, the store stops, and every later
    /// write returns [`Error::Poisoned`](crate::Error::Poisoned).
    pub fn write(&self, batch: impl Into<WriteBatch>, durability: Durability) -> Result<()> {
        let StoreInner { catalog, log, maintenance, .. } = &*self.inner;
        catalog.health().check_writable()?;
        let batch = batch.into();
        if let Some(row) = &batch.empty_put {
            return Err(put_without_columns(row));
        }
        check_cells(&batch.cells)?;
        if batch.cells.is_empty() {
            return Ok(());
        }
        let check = || check_families(&catalog.version(), &batch);
        maintenance.wait_for_room(catalog, log, check)?;
        log.commit(catalog, batch, durability)?;
        maintenance.after_write(catalog, log, durability)
    }

    /// Writes the cells that `compute` makes from the cells of `get`, while no other thread writes.
    ///
    /// Returns the written cells; none if `get` is `None`. If `replaces`, the cells replace the ones
    /// that they were computed from, which then need not stay in the memstore.
    pub(super) fn read_modify_write(
        &self,
        get: Option<Get>,
        replaces: bool,
        durability: Option<Durability>,
        compute: impl FnOnce(&ReadView, &mut RowTimes) -> Result<Vec<Cell>>,
    ) -> Result<Vec<Cell>> {
        let StoreInner { catalog, log, maintenance, .. } = &*self.inner;
        let durability = durability.unwrap_or(self.inner.durability);
        catalog.health().check_writable()?;
        let Some(get) = get else { return Ok(Vec::new()) };
        // Loads the blocks into the cache, so that the second read, under the writer's lock, is
        // fast.
        self.view().get(&get)?;
        maintenance.wait_for_room(catalog, log, || Ok(()))?;
        let written = log.commit_computed(catalog, durability, replaces, compute)?;
        maintenance.after_write(catalog, log, durability)?;
        Ok(written)
    }

    /// Adds to the numbers in columns of a row, and returns the new cells. Concurrent increments are atomic.
    ///
    /// ```
    /// use store::{FamilyOptions, Increment, Store, StoreOptions};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path();
    /// let store = Store::open(directory, StoreOptions::default())?;
    /// store.create_family("f", FamilyOptions::default())?;
    /// for _ in 0..2 {
    ///     store.increment(&Increment::new("page").column("f", "visits", 5))?;
    /// }
    /// let now = store.increment(&Increment::new("page").column("f", "visits", 1))?;
    /// assert_eq!(now[0].value(), 11_i64.to_be_bytes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) if a value is not 8 bytes long; else as for
    /// [`get`](Self::get) and [`write`](Self::write).
    pub fn increment(&self, increment: &Increment) -> Result<Vec<Cell>> {
        let compute = |view: &ReadView, times: &mut RowTimes| increment.compute_cells(view, times);
        self.read_modify_write(increment.read_query(), true, increment.durability, compute)
    }

    /// Appends bytes to the values of columns of a row, and returns the new cells.
    ///
    /// ```
    /// use store::{Append, FamilyOptions, Store, StoreOptions};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path();
    /// let store = Store::open(directory, StoreOptions::default())?;
    /// store.create_family("f", FamilyOptions::default())?;
    /// store.append(&Append::new("row").column("f", "text", "Ada"))?;
    /// let now = store.append(&Append::new("row").column("f", "text", " Lovelace"))?;
    /// assert_eq!(now[0].value(), b"Ada Lovelace");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get) and [`write`](Self::write).
    pub fn append(&self, append: &Append) -> Result<Vec<Cell>> {
        let compute = |view: &ReadView, times: &mut RowTimes| append.compute_cells(view, times);
        self.read_modify_write(append.read_query(), true, append.durability, compute)
    }

    /// Atomically checks a column of a row and, if the condition holds, writes to the row.
    ///
    /// Returns whether it wrote.
    ///
    /// ```
    /// use store::{CheckAndMutate, FamilyOptions, Put, Store, StoreOptions};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path();
    /// let store = Store::open(directory, StoreOptions::default())?;
    /// store.create_family("f", FamilyOptions::default())?;
    /// let claim = |name| {
    ///     let put = Put::new("seat").column("f", "taken by", name);
    ///     CheckAndMutate::new("seat").if_not_exists("f", "taken by").put(put)
    /// };
    /// assert!(store.check_and_mutate(&claim("Ada"))?);
    /// assert!(!store.check_and_mutate(&claim("Charles"))?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) if there is no condition or no mutation, or a
    /// mutation of another row; else as for [`get`](Self::get) and [`write`](Self::write).
    pub fn check_and_mutate(&self, check: &CheckAndMutate) -> Result<bool> {
        self.inner.catalog.health().check_writable()?;
        let compute = |view: &ReadView, times: &mut RowTimes| check.compute_cells(view, times);
        let get = Some(check.read_query()?);
        let written = self.read_modify_write(get, false, check.durability, compute)?;
        Ok(!written.is_empty())
    }

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
        let answers = self.multi_get_traced(gets)?;
        Ok(answers.into_iter().map(|(cells, _)| cells).collect())
    }

    /// Reads cells of many rows as [`multi_get`](Self::multi_get) does, and returns the trace of
    /// each get.
    ///
    /// # Errors
    ///
    /// As for [`multi_get`](Self::multi_get).
    pub fn multi_get_traced(&self, gets: &[Get]) -> Result<Vec<(Vec<Cell>, ReadTrace)>> {
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

    /// Reads rows in order, as of this moment.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    pub fn scan(&self, scan: Scan) -> Result<ScanCells> {
        ScanCells::new(&self.view(), scan)
    }

    /// Returns the sizes of the store and the counters of its reads and background work.
    ///
    /// # Panics
    ///
    /// In a fork of the process that opened the store.
    pub fn stats(&self) -> Stats {
        self.inner.assert_is_no_fork();
        self.inner.stats()
    }

    pub(super) fn view(&self) -> ReadView {
        ReadView::current(&self.inner.catalog)
    }
}
