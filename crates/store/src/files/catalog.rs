//! The catalog of an open store: its manifest, its current version and its visible sequence id.
//!
//! A version is the set of families, files and memstores that a read uses. A change of the files is
//! published in this order, while the manifest is locked:
//!
//! ```text
//! manifest on disk ─▶ manifest in memory ─▶ version
//! ```

use std::collections::BTreeSet;
use std::sync::Arc;

use cells::Clock;
use filter::{ErrorRate, Seed};
use sstable::SequenceId;
use sstable::tools::FileInCache;

use super::manifest::{FileEntry, Manifest};
use crate::error::{Error, Result};
use crate::files::names::segment_number::SegmentNumber;
use crate::files::version::file_opener::FileOpener;
use crate::files::version::held::HeldByReaders;
use crate::files::version::store_file::StoreFile;
use crate::files::version::store_version::{Family, FamilyVersion, StoreVersion};
use crate::health::Health;
use crate::options::StoreOptions;
use crate::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard, RwLock, lock, read, try_read, write};

/// The state that readers and writers of a store share.
#[derive(Debug)]
pub(crate) struct Catalog {
    pub(crate) opener: FileOpener,
    /// The id of the store, with which the names of its files begin.
    pub(crate) store_id: u64,
    /// The seed of all row filters. One hash of a row serves every file.
    pub(crate) seed: Seed,
    pub(crate) clock: Clock,
    /// The error rate of HBase's Bloom filters in new files.
    pub(super) bloom_error_rate: ErrorRate,
    /// The maximum bytes of an index block in new files.
    pub(super) index_block_size: u32,
    version: RwLock<Arc<StoreVersion>>,
    /// The greatest sequence id whose write is visible.
    visible: AtomicU64,
    /// The manifest as it is on disk. Its lock serialises changes of the set of files.
    manifest: Mutex<Manifest>,
    /// The number of log segments that the manifest requires.
    log_segments: AtomicU64,
    /// Greater than the ids of all families since the store was opened. The manifest's lock guards it.
    next_family_id: AtomicU32,
    health: Arc<Health>,
    pub(crate) held: HeldByReaders,
}

impl Catalog {
    /// Creates the catalog of a store in which writes up to `newest` are visible.
    pub(crate) fn new(
        opener: FileOpener,
        options: &StoreOptions,
        manifest: Manifest,
        version: StoreVersion,
        newest: SequenceId,
        health: Arc<Health>,
    ) -> Self {
        Self {
            opener,
            store_id: manifest.store,
            seed: manifest.seed,
            clock: options.clock.for_store(),
            bloom_error_rate: options.bloom_error_rate,
            index_block_size: options.index_block_size.clamp(512, 64 << 20),
            version: RwLock::new(Arc::new(version)),
            visible: AtomicU64::new(newest.get()),
            log_segments: AtomicU64::new(manifest.log_segments()),
            manifest: Mutex::new(manifest),
            next_family_id: AtomicU32::new(0),
            held: HeldByReaders::default(),
            health,
        }
    }

    pub(crate) fn health(&self) -> &Health {
        &self.health
    }

    /// Returns the current version.
    pub(crate) fn version(&self) -> Arc<StoreVersion> {
        match try_read(&self.version) {
            Some(version) => Arc::clone(&version),
            None => self.version_after_a_change(),
        }
    }

    /// Waits until a change of the version is done. In a fork the thread that makes the change is gone.
    #[cold]
    fn version_after_a_change(&self) -> Arc<StoreVersion> {
        if self.health.process().is_current() {
            return Arc::clone(&read(&self.version));
        }
        // Each read checks the process before it looks for a family.
        Arc::new(StoreVersion::new(Vec::new(), self.clock.clone()))
    }

    /// Returns the current version; `None` if a panic while the version was replaced made it unusable.
    pub(crate) fn version_if_usable(&self) -> Option<Arc<StoreVersion>> {
        self.version.read().ok().map(|version| Arc::clone(&version))
    }

    /// Replaces the current version.
    pub(crate) fn publish_version(&self, change: impl FnOnce(&StoreVersion) -> StoreVersion) {
        let (old, new) = {
            let mut version = write(&self.version);
            let new = Arc::new(change(&version));
            (std::mem::replace(&mut *version, Arc::clone(&new)), new)
        };
        self.held.note_replaced(&old, &new);
    }

    /// Calls `change` if no snapshot, read or flush holds a version with the active memstores.
    ///
    /// No read begins meanwhile. Returns whether it was called.
    pub(crate) fn with_unread(&self, change: impl FnOnce(&StoreVersion)) -> bool {
        let mut version = write(&self.version);
        let Some(version) = Arc::get_mut(&mut version) else { return false };
        // An older version may share the family, and a scan holds the memstore alone.
        let is_unread = version.families.iter_mut().all(|family| {
            Arc::get_mut(family).is_some_and(|family| Arc::get_mut(&mut family.active).is_some())
        });
        if is_unread {
            change(version);
        }
        is_unread
    }

    /// Returns the greatest sequence id whose write is visible.
    pub(crate) fn visible(&self) -> SequenceId {
        SequenceId::new(self.visible.load(Ordering::Acquire))
    }

    /// Makes the writes with sequence ids up to and including `newest` visible.
    ///
    /// The caller must hold the lock of the log's writer, so that no other thread calls this.
    pub(crate) fn publish_writes(&self, newest: SequenceId) {
        let before = self.visible.load(Ordering::Relaxed);
        assert!(before <= newest.get(), "the visible sequence id never decreases");
        self.visible.store(newest.get(), Ordering::Release);
    }

    /// Locks the manifest, which equals the one on disk until the lock is released.
    pub(crate) fn lock_manifest(&self) -> MutexGuard<'_, Manifest> {
        lock(&self.manifest)
    }

    /// Applies `change` to the manifest, on disk and then in memory, and `replace` to the version.
    ///
    /// If the write fails, it can be unknown which manifest is on disk; the store then accepts no
    /// further writes. Without space for the new manifest, nothing changes.
    pub(crate) fn publish_change(
        &self,
        change: impl FnOnce(&mut Manifest),
        replace: impl FnOnce(&StoreVersion) -> StoreVersion,
    ) -> Result<()> {
        self.publish_change_in(&mut self.lock_manifest(), change, replace)
    }

    /// Does the same under a lock that the caller holds.
    pub(super) fn publish_change_in(
        &self,
        manifest: &mut Manifest,
        change: impl FnOnce(&mut Manifest),
        replace: impl FnOnce(&StoreVersion) -> StoreVersion,
    ) -> Result<()> {
        self.write_manifest(manifest, change)?;
        self.publish_version(|version| {
            let version = replace(version);
            assert!(
                lists_files_of(manifest, &version),
                "the version has the files that the manifest lists"
            );
            version
        });
        Ok(())
    }

    /// Writes the changed manifest to disk, then replaces the one in memory.
    fn write_manifest(
        &self,
        manifest: &mut Manifest,
        change: impl FnOnce(&mut Manifest),
    ) -> Result<()> {
        let mut changed = manifest.clone();
        change(&mut changed);
        manifest.assert_may_become(&changed);
        let (vfs, directory) = (&**self.opener.vfs(), self.opener.directory());
        let written = changed.write_unfinished(vfs, directory);
        written.map_err(|error| self.health.poison_unless_shortage(error))?;
        let installed = Manifest::install_unfinished(vfs, directory);
        installed.map_err(|error| self.health.poison(error))?;
        self.log_segments.store(changed.log_segments(), Ordering::Relaxed);
        *manifest = changed;
        Ok(())
    }

    /// Returns the number of log segments that the manifest requires.
    pub(crate) fn log_segments(&self) -> u64 {
        self.log_segments.load(Ordering::Relaxed)
    }

    /// Records in the manifest that the log's segments before `end` exist.
    ///
    /// The caller must not write records to a segment before the manifest covers it: otherwise
    /// recovery would not notice that the segment is missing.
    pub(crate) fn record_log_end(&self, end: SegmentNumber) -> Result<()> {
        let mut manifest = self.lock_manifest();
        self.write_manifest(&mut manifest, |manifest| manifest.log_end = manifest.log_end.max(end))
    }

    /// Replaces files of a family by one new file, or by none.
    ///
    /// An old file is unlinked when its last reader drops it.
    pub(crate) fn replace_files(
        &self,
        family: &Family,
        old: &[Arc<StoreFile>],
        new: Option<&Arc<StoreFile>>,
    ) -> Result<()> {
        let update_manifest = |manifest: &mut Manifest| {
            let files = &mut manifest.family_mut(family.id).files;
            let before = files.len();
            files.retain(|entry| !old.iter().any(|file| file.entry.name == entry.name));
            assert_eq!(before - files.len(), old.len(), "the manifest lists every open file once");
            files.extend(new.map(|file| file.entry.clone()));
            // Without this, the newest id of a bulk load would be given out again after the next
            // open if a compaction dropped all of its cells.
            let newest = old.iter().map(|file| file.entry.sequence_max).max();
            manifest.flushed = manifest.flushed.max(newest.unwrap_or_default());
        };
        let published = self.publish_change(update_manifest, |version| {
            version.with(family, |changed| changed.files = changed.files.replace(old, new))
        });
        discard_unless_listed(&published, new);
        published?;
        for file in old {
            file.retire();
        }
        Ok(())
    }

    /// Opens a file that was just written, and removes it if that fails: no manifest lists it.
    ///
    /// `cached` is the place in the cache that already has its blocks.
    pub(crate) fn open_new(
        &self,
        family: &Family,
        entry: &FileEntry,
        cached: Option<&FileInCache>,
    ) -> Result<Arc<StoreFile>> {
        let opened = self.opener.open_written(family, entry, cached);
        if opened.is_err() {
            // If this fails, the next open removes the file.
            let path = self.opener.family_directory(family).join(&entry.name);
            let _ = self.opener.vfs().unlink(&path);
        }
        opened
    }

    /// Returns an id for a new family that no other family has had since the store was opened.
    ///
    /// So a late change for a dropped family never reaches another family. An id may return after
    /// the store was opened again: the log then has no record of the dropped family.
    pub(super) fn take_family_id(&self, manifest: &Manifest) -> Result<u16> {
        let listed = manifest.families.iter().map(|family| u32::from(family.id) + 1).max();
        let next = listed.unwrap_or(0).max(self.next_family_id.load(Ordering::Relaxed));
        let id = u16::try_from(next).map_err(|_| {
            Error::invalid(
                "all 65,536 family ids were given out; open the store again to reuse those of \
                 dropped families",
            )
        })?;
        self.next_family_id.store(next + 1, Ordering::Relaxed);
        Ok(id)
    }
}

/// Removes new files that no manifest lists, because a lack of space or descriptors kept them from it.
///
/// After any other failure, the manifest on disk may list them.
pub(crate) fn discard_unless_listed<'f, T>(
    published: &Result<T>,
    files: impl IntoIterator<Item = &'f Arc<StoreFile>>,
) {
    if published.as_ref().is_err_and(Error::is_shortage) {
        files.into_iter().for_each(|file| file.retire());
    }
}

/// Returns whether a manifest lists exactly the families and files of a version.
fn lists_files_of(manifest: &Manifest, version: &StoreVersion) -> bool {
    let lists_files_of_family = |family: &Arc<FamilyVersion>| {
        let listed = manifest.families.iter().find(|listed| listed.id == family.family.id);
        listed.is_some_and(|listed| {
            let names: BTreeSet<_> = listed.files.iter().map(|file| &file.name).collect();
            let files = family.files.by_time();
            names.len() == files.len()
                && files.iter().all(|open| names.contains(&open.file.entry.name))
        })
    };
    manifest.families.len() == version.families.len()
        && version.families.iter().all(lists_files_of_family)
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::path::Path;

    use super::*;
    use crate::files::version::file_list::Files;
    use crate::options::FamilyOptions;
    use crate::store::{Store, StoreInner};
    use crate::write::mutation::Put;

    /// Opens a store with one file.
    fn with_a_file(directory: &Path) -> StoreInner {
        let options = StoreOptions::default().background(false);
        let store = Store::open(directory, options.clone()).unwrap();
        store.create_family("f", FamilyOptions::default()).unwrap();
        store.put(Put::new("row").column("f", "q", "value")).unwrap();
        store.flush().unwrap();
        drop(store);
        StoreInner::open(directory, options).unwrap()
    }

    fn panics(work: impl FnOnce()) -> bool {
        catch_unwind(AssertUnwindSafe(work)).is_err()
    }

    #[test]
    fn visible_writes_stay_visible() {
        let directory = tempfile::tempdir().unwrap();
        let inner = with_a_file(directory.path());
        let visible = inner.catalog.visible();
        inner.catalog.publish_writes(visible);
        let before = SequenceId::new(visible.get() - 1);
        assert!(panics(|| inner.catalog.publish_writes(before)));
        assert_eq!(inner.catalog.visible(), visible);
    }

    /// The rows of the missing file would be absent without an error.
    #[test]
    fn a_version_without_a_listed_file_is_never_read() {
        let directory = tempfile::tempdir().unwrap();
        let inner = with_a_file(directory.path());
        let without_files = |version: &StoreVersion| {
            version.map(|family| {
                let changed = FamilyVersion { files: Files::default(), ..(**family).clone() };
                Arc::new(changed)
            })
        };
        assert!(panics(|| drop(inner.catalog.publish_change(|_| {}, without_files))));
        assert!(
            panics(|| drop(inner.catalog.version())),
            "a read panics instead of reporting rows as absent"
        );
    }

    #[test]
    fn replacing_the_same_file_twice_panics() {
        let directory = tempfile::tempdir().unwrap();
        let inner = with_a_file(directory.path());
        let version = inner.catalog.version();
        let family = &version.families[0];
        let file = &family.files.by_time()[0].file;
        let twice = [Arc::clone(file), Arc::clone(file)];
        assert!(panics(|| drop(inner.catalog.replace_files(&family.family, &twice, None))));
        assert_eq!(inner.catalog.version().families[0].files.by_time().len(), 1);
    }
}
