//! The public handle of a store: open, close, statistics.

use std::path::Path;
use std::sync::Arc;

use super::inner::StoreInner;
use crate::error::{Error, Result};
use crate::files::new_files::salvage_marker::check_finished;
#[cfg(doc)]
use crate::options::Durability;
use crate::options::StoreOptions;
use crate::read::view::ReadView;
use crate::stats::Stats;

/// An open store. Clones are cheap and share the same store; the last one [closes](Self::close) it.
#[derive(Clone, Debug)]
pub struct Store {
    pub(super) inner: Arc<StoreInner>,
}

/// # Opening and closing
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
