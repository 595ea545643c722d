//! What snapshots and scans hold of what the store has replaced.

use std::collections::HashSet;
use std::sync::{Arc, Weak};
use std::time::Instant;

use super::store_file::StoreFile;
use super::store_version::StoreVersion;
use crate::memstore::Memstore;
use crate::stats::SnapshotStats;
use crate::sync::{Mutex, lock};

/// Objects of others, which are listed as long as somebody holds them.
#[derive(Debug)]
struct Held<T>(Mutex<Vec<Weak<T>>>);

impl<T> Default for Held<T> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<T> Held<T> {
    fn add(&self, object: &Arc<T>) {
        let mut list = lock(&self.0);
        if list.len() == list.capacity() {
            list.retain(|object| object.strong_count() > 0);
            // Half of the list is free afterwards, so that an addition takes constant time on average.
            let len = list.len();
            list.reserve(len.max(4));
        }
        list.push(Arc::downgrade(object));
    }

    fn list(&self) -> Vec<Arc<T>> {
        lock(&self.0).iter().filter_map(Weak::upgrade).collect()
    }
}

/// The open snapshots, and the files and memstores that no current version has.
#[derive(Debug, Default)]
pub(crate) struct HeldByReaders {
    snapshots: Held<Instant>,
    files: Held<StoreFile>,
    memstores: Held<Memstore>,
}

impl HeldByReaders {
    /// Returns a mark that stands for a snapshot until its last clone is dropped.
    pub(crate) fn mark_snapshot(&self) -> Arc<Instant> {
        let opened = Arc::new(Instant::now());
        self.snapshots.add(&opened);
        opened
    }

    /// Notes the files and memstores of `old` that `new` does not have.
    pub(crate) fn note_replaced(&self, old: &StoreVersion, new: &StoreVersion) {
        let (files, memstores): (HashSet<_>, HashSet<_>) =
            (new.files().map(Arc::as_ptr).collect(), new.memstores().map(Arc::as_ptr).collect());
        let is_replaced = |file: &&Arc<StoreFile>| !files.contains(&Arc::as_ptr(file));
        old.files().filter(is_replaced).for_each(|file| self.files.add(file));
        let is_replaced = |memstore: &&Arc<Memstore>| !memstores.contains(&Arc::as_ptr(memstore));
        old.memstores().filter(is_replaced).for_each(|memstore| self.memstores.add(memstore));
    }

    pub(crate) fn stats(&self) -> SnapshotStats {
        let (snapshots, files) = (self.snapshots.list(), self.files.list());
        let memstores = self.memstores.list();
        SnapshotStats {
            open: snapshots.len() as u64,
            oldest: snapshots.iter().map(|opened| opened.elapsed()).max(),
            files: files.len() as u64,
            file_bytes: files.iter().map(|file| file.entry.length).sum(),
            memstore_bytes: memstores.iter().map(|memstore| memstore.bytes() as u64).sum(),
        }
    }
}
