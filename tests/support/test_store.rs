//! A store in a temporary directory.

use std::ops::Deref;

use store::{FamilyOptions, Store, StoreOptions};
use tempfile::TempDir;

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

impl Deref for TestStore {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}
