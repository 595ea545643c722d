//! The writes of a store.

use sstable::Cell;

use super::handle::Store;
use super::inner::StoreInner;
use crate::error::Result;
use crate::options::Durability;
use crate::read::query::Get;
use crate::read::view::ReadView;
use crate::write::accepted_batch::{check_cells, check_families, put_without_columns};
use crate::write::mutation::{Delete, Put, WriteBatch};
use crate::write::read_modify_write::{Append, CheckAndMutate, Increment};
use crate::write::row_times::RowTimes;

/// # Writes
///
/// Each write is atomic, and readable when the call returns. [`Durability`] says what it then survives.
impl Store {
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
}
