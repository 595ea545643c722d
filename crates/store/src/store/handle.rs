//! The store as its users hold it.

use std::path::Path;
use std::sync::Arc;

use sstable::{Cell, ReadTrace};

use super::inner::StoreInner;

use crate::error::Result;
use crate::files::unfinished::check_finished;
use crate::options::{Durability, FamilyOptions, StoreOptions};
use crate::read::explain::Explanation;
use crate::read::get::ReadView;
use crate::read::query::{Get, Scan};
use crate::read::scan::Cells;
use crate::read::snapshot::Snapshot;
use crate::stats::Stats;
use crate::write::log::DefaultTimestamp;
use crate::write::mutation::{Delete, Put, WriteBatch};
use crate::write::prepare::prepare;
use crate::write::read_modify_write::{Append, CheckAndMutate, Increment};

/// A store that is open. Cloning it is cheap; all clones are the same store.
#[derive(Clone, Debug)]
pub struct Store {
    pub(super) inner: Arc<StoreInner>,
}

impl Store {
    /// Opens the store in `directory`, or makes one.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`](crate::Error::Missing) if there is none and none is to be made,
    /// [`Error::Locked`](crate::Error::Locked) if it is open already,
    /// [`Error::Unfinished`](crate::Error::Unfinished) if a salvage into the directory has not come to
    /// its end, [`Error::Corrupt`](crate::Error::Corrupt) if the log or the manifest is damaged, and
    /// what the operating system or the store files say.
    pub fn open(directory: impl AsRef<Path>, options: StoreOptions) -> Result<Self> {
        check_finished(&*options.vfs, directory.as_ref())?;
        let mut inner = StoreInner::open(directory.as_ref(), options)?;
        inner.start_threads()?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Opens the store in `directory` for reading only: takes no lock and changes no file.
    ///
    /// That works on a read-only file system, on a full disk, without the permission to write, and
    /// beside a process that writes to the store. The store is shown as it was when it was opened,
    /// with all that had been acknowledged and had reached the operating system by then; open it
    /// again to see later writes. A write at the end of the log that was under way is left out, as
    /// after a crash, and its bytes stay.
    ///
    /// It is the same type as of a store that takes writes, so that snapshots, scans and whatever
    /// else reads do not care; each method that would change the store returns
    /// [`Error::ReadOnly`](crate::Error::ReadOnly). [`export`](Self::export) writes elsewhere, and
    /// works.
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
    /// [`Error::Missing`](crate::Error::Missing) if there is no store; else as for
    /// [`open`](Self::open), but never [`Error::Locked`](crate::Error::Locked).
    pub fn open_read_only(directory: impl AsRef<Path>, options: StoreOptions) -> Result<Self> {
        check_finished(&*options.vfs, directory.as_ref())?;
        Ok(Self { inner: Arc::new(StoreInner::open_read_only(directory.as_ref(), options)?) })
    }

    /// Whether the store was opened for reading only.
    pub fn is_read_only(&self) -> bool {
        self.inner.catalog.health().is_read_only()
    }

    /// Adds a family.
    ///
    /// # Errors
    ///
    /// If there is one of this name, if no family can have it, or if the manifest cannot be
    /// written.
    pub fn create_family(&self, name: &str, options: FamilyOptions) -> Result<()> {
        self.inner.catalog.create_family(name, options)
    }

    /// The families with their options, by name.
    pub fn families(&self) -> Vec<(String, FamilyOptions)> {
        let version = self.inner.catalog.version();
        version
            .families
            .iter()
            .map(|version| (version.family.name.clone(), version.family.options.clone()))
            .collect()
    }

    /// Writes a put, as safely as the store's options say.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    pub fn put(&self, put: Put) -> Result<()> {
        self.write_batch(put.into(), self.inner.durability, DefaultTimestamp::Now)
    }

    /// Writes a delete, as safely as the store's options say.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    pub fn delete(&self, delete: Delete) -> Result<()> {
        self.write_batch(delete.into(), self.inner.durability, DefaultTimestamp::Now)
    }

    /// Writes a batch: all of it or nothing. When it returns, the batch can be read and is as safe
    /// as `durability` says.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) if a cell cannot be stored, and nothing is written
    /// then. If the log cannot be written, the store stops: [`Error::Poisoned`](crate::Error::Poisoned)
    /// from then on.
    pub fn write(&self, batch: impl Into<WriteBatch>, durability: Durability) -> Result<()> {
        self.write_batch(batch.into(), durability, DefaultTimestamp::Now)
    }

    /// Writes a batch whose cells get this stamp where they have no time.
    pub(super) fn write_batch(
        &self,
        batch: WriteBatch,
        durability: Durability,
        default_timestamp: DefaultTimestamp,
    ) -> Result<()> {
        let StoreInner { catalog, log, maintenance, .. } = &*self.inner;
        catalog.health().check_writable()?;
        let cells = prepare(&catalog.version(), batch.cells)?;
        if cells.is_empty() {
            return Ok(());
        }
        maintenance.wait_for_room(catalog)?;
        log.commit(catalog, cells, durability, default_timestamp)?;
        maintenance.after_write(catalog, log, durability)
    }

    /// Writes what `compute` makes of the cells that `get` asks for, while nobody else writes; returns it.
    /// Without a get there is nothing to write.
    fn read_modify_write(
        &self,
        get: Option<Get>,
        compute: impl FnOnce(&ReadView) -> Result<Vec<Cell>>,
    ) -> Result<Vec<Cell>> {
        let StoreInner { catalog, log, maintenance, durability, .. } = &*self.inner;
        catalog.health().check_writable()?;
        let Some(get) = get else { return Ok(Vec::new()) };
        // The read under the log's lock finds the blocks that this one leaves in the cache.
        self.view().get(&get)?;
        maintenance.wait_for_room(catalog)?;
        let written = log.commit_computed(catalog, *durability, compute)?;
        maintenance.after_write(catalog, log, *durability)?;
        Ok(written)
    }

    /// Adds to the numbers in columns of a row, as safely as the store's options say; returns the
    /// new cells. Increments at the same time lose nothing.
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
    /// [`Error::Invalid`](crate::Error::Invalid) if a column holds no number of 8 bytes; else as for
    /// [`get`](Self::get) and [`write`](Self::write).
    pub fn increment(&self, increment: &Increment) -> Result<Vec<Cell>> {
        self.read_modify_write(increment.get(), |view| increment.cells(view))
    }

    /// Puts bytes behind the values of columns of a row, as safely as the store's options say;
    /// returns the new cells.
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
        self.read_modify_write(append.get(), |view| append.cells(view))
    }

    /// Writes to a row if one of its columns is as expected, as safely as the store's options say;
    /// returns whether it was. Nothing is written to the row in between.
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
    /// [`Error::Invalid`](crate::Error::Invalid) if it names no condition, nothing to write, or another
    /// row; else as for [`get`](Self::get) and [`write`](Self::write).
    pub fn check_and_mutate(&self, check: &CheckAndMutate) -> Result<bool> {
        self.inner.catalog.health().check_writable()?;
        let written = self.read_modify_write(Some(check.get()?), |view| check.cells(view))?;
        Ok(!written.is_empty())
    }

    /// Reads cells of one row, in order.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) if a family is asked for that there is not, and what
    /// the store files say.
    pub fn get(&self, get: &Get) -> Result<Vec<Cell>> {
        self.view().get(get)
    }

    /// Reads cells of one row, and tells what that took.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    pub fn get_traced(&self, get: &Get) -> Result<(Vec<Cell>, ReadTrace)> {
        self.view().get_traced(get)
    }

    /// Reads cells of many rows, all as they are at this moment: for each get, in its place, what
    /// [`get`](Self::get) would return. The reads share what they wait for, so this is faster than one
    /// get after the other.
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
    /// As for [`get`](Self::get); nothing is returned then.
    pub fn multi_get(&self, gets: &[Get]) -> Result<Vec<Vec<Cell>>> {
        let answers = self.multi_get_traced(gets)?;
        Ok(answers.into_iter().map(|(cells, _)| cells).collect())
    }

    /// Reads cells of many rows, and tells what each get took.
    ///
    /// # Errors
    ///
    /// As for [`multi_get`](Self::multi_get).
    pub fn multi_get_traced(&self, gets: &[Get]) -> Result<Vec<(Vec<Cell>, ReadTrace)>> {
        self.view().multi_get(gets)
    }

    /// Reads cells of one row, and tells the way file by file: which were passed over and why, and
    /// what was read of the others.
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
    /// let way = store.explain(&Get::row("b"))?;
    /// assert_eq!(way.families[0].files[0].fate, FileFate::OutOfRange);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    pub fn explain(&self, get: &Get) -> Result<Explanation> {
        self.view().explain(get)
    }

    /// The store as it is at this moment, for as many reads as are wanted.
    pub fn snapshot(&self) -> Snapshot {
        let view = self.view();
        let _ = view.now(); // A snapshot's time is that of its making.
        Snapshot { view }
    }

    /// Reads rows in order, as they are at this moment.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    pub fn scan(&self, scan: Scan) -> Result<Cells> {
        Cells::new(&self.view(), scan)
    }

    /// What the store holds and what its reads did.
    pub fn stats(&self) -> Stats {
        self.inner.stats()
    }

    pub(super) fn view(&self) -> ReadView {
        ReadView::current(&self.inner.catalog)
    }
}
