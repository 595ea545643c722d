//! Stores that do only what a test asks for, and the clock that the test sets.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use store::vfs::Vfs;
use store::{Clock, FamilyOptions, Get, Put, Store, StoreOptions, Timestamp};
use tempfile::TempDir;

use crate::disk::Disk;

/// Returns the options of a store without threads, which compacts only by hand.
pub fn quiet() -> StoreOptions {
    StoreOptions::default().background(false).auto_compaction(false)
}

/// Returns the same options for a simulated disk.
pub fn quiet_on(disk: &Disk) -> StoreOptions {
    quiet().vfs(Arc::new(disk.clone()))
}

/// Opens a store with threads, which compacts only by hand.
///
/// # Errors
///
/// Those of the store.
pub fn open(directory: &Path) -> store::Result<Store> {
    Store::open(directory, StoreOptions::default().auto_compaction(false))
}

/// A clock that stands still until it is set.
#[derive(Clone, Debug)]
pub struct TestClock(Arc<AtomicI64>);

impl TestClock {
    /// Creates a clock that stands at this time.
    pub fn at(millis: i64) -> Self {
        Self(Arc::new(millis.into()))
    }

    /// Returns its time.
    pub fn now(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    /// Sets its time.
    pub fn set(&self, millis: i64) {
        self.0.store(millis, Ordering::SeqCst);
    }

    /// Returns the clock for a store.
    pub fn clock(&self) -> Clock {
        let time = Arc::clone(&self.0);
        Clock::new(move || Timestamp::new(time.load(Ordering::SeqCst)))
    }
}

/// A store in a directory that is removed with it.
pub struct TestStore {
    // Closed before its directory is removed.
    store: Store,
    _directory: TempDir,
}

impl TestStore {
    /// Creates a store without families.
    ///
    /// # Panics
    ///
    /// If the store cannot be created, or the options are refused.
    pub fn new(options: StoreOptions) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let store = Store::open(directory.path(), options).expect("a new store");
        Self { store, _directory: directory }
    }

    /// Creates a store with the family `f`.
    ///
    /// # Panics
    ///
    /// If the disk does not take it, or the options are refused.
    pub fn with_family(options: StoreOptions, family: FamilyOptions) -> Self {
        let store = Self::new(options);
        store.create_family("f", family).expect("a new family");
        store
    }
}

/// Writes a row with the value of its name.
///
/// # Panics
///
/// If the store refuses it.
pub fn put(store: &Store, row: &str) {
    store.put(Put::new(row).column("f", "q", row)).expect("a store without faults");
}

/// Whether a read finds the row.
///
/// # Panics
///
/// If the store cannot be read.
pub fn has(store: &Store, row: &str) -> bool {
    !store.get(&Get::row(row)).expect("a sound store").is_empty()
}

/// Returns a disk with the directory `/data`, which survives a power cut.
///
/// # Panics
///
/// Never.
pub fn disk_with_data() -> Disk {
    let disk = Disk::default();
    disk.create_directory(Path::new("/data")).expect("a disk without faults");
    disk.sync_directory(Path::new("/")).expect("a disk without faults");
    disk
}

impl Deref for TestStore {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}
