//! How a store is opened: manifest, log, families; and what a crash left behind goes.
//!
//! ```text
//! LOCK ─ MANIFEST, on disk for certain ─ log read back ─ families, their orphans removed
//!      ─ memstores filled from the log ─ segments removed that are flushed or empty
//! ```

use std::io;
use std::path::Path;
use std::sync::Arc;

use sstable::{BlockCache, ReaderOptions, SequenceId};

use super::{Inner, LOCK_NAME, WAL_DIRECTORY};
use crate::error::{Error, Result};
use crate::files::family_name::check_family_name;
use crate::files::file_list::Files;
use crate::files::identity::is_store_file_name;
use crate::files::manifest::{FamilyEntry, Manifest};
use crate::files::new_file::NewPlace;
use crate::files::store_file::StoreFile;
use crate::files::version::{Family, FamilyVersion, StoreVersion};
use crate::maintenance::background::Background;
use crate::memstore::Memstore;
use crate::options::{FamilyOptions, StoreOptions};
use crate::sync::{Mutex, RwLock};
use crate::vfs::{EntryKind, Lock, Vfs};
use crate::watch::{Watch, Work};
use crate::write::commit::{Commit, apply};
use crate::write::log::{self, LogPlace, Recovered, SegmentNumber};

/// What was read of a store, and its parts made of that.
pub(super) struct Read {
    pub(super) version: StoreVersion,
    pub(super) cache: Arc<BlockCache>,
    /// The greatest sequence id that a write has.
    pub(super) newest: SequenceId,
}

impl Read {
    /// Opens the store files that the manifest names, and fills the memstores from the log.
    pub(super) fn new(
        options: &StoreOptions,
        directory: &Path,
        manifest: &Manifest,
        log: Recovered,
    ) -> Result<Self> {
        let cache = Arc::new(BlockCache::new(options.cache_bytes));
        let reader = reader_options(options, &cache);
        let mut version = StoreVersion { clock: options.clock.clone(), ..Default::default() };
        let mut newest = log.newest.max(manifest.flushed);
        for entry in &manifest.families {
            check_is_own(&*options.vfs, directory, &entry.name)?;
            let place = directory.join(&entry.name);
            version.families.push(open_family(&options.vfs, &place, entry, &reader)?);
            let files = entry.files.iter().map(|file| file.sequence_max);
            newest = files.fold(newest, SequenceId::max);
        }
        version.families.sort_by(|left, right| left.family.name.cmp(&right.family.name));
        for cells in log.batches {
            apply(&version, cells);
        }
        Ok(Self { version, cache, newest })
    }
}

impl Inner {
    /// Opens the store in `directory`, or makes one where the options allow it.
    pub(crate) fn open(directory: &Path, options: StoreOptions) -> Result<Self> {
        let vfs = Arc::clone(&options.vfs);
        let manifest = Manifest::load(&*vfs, directory);
        if !options.create && matches!(manifest, Ok(None)) {
            return Err(Error::Missing { path: directory.to_path_buf() });
        }
        let wal_directory = directory.join(WAL_DIRECTORY);
        check_is_own_or_missing(&*vfs, directory, WAL_DIRECTORY)?;
        vfs.create_directory(&wal_directory).map_err(Error::io(&wal_directory, "create"))?;
        let lock = take_lock(&*vfs, directory)?;
        check_is_own(&*vfs, directory, WAL_DIRECTORY)?;
        // Only now nobody else changes it.
        let mut manifest = match Manifest::load(&*vfs, directory)? {
            Some(manifest) => manifest,
            None => create(&*vfs, directory)?,
        };
        Manifest::remove_unfinished(&*vfs, directory)?;
        // A process that was killed may have left its last manifest with the operating system
        // only. Before anything goes that an older one names, this one must be on disk.
        vfs.sync_directory(directory).map_err(Error::io(directory, "sync"))?;
        let watch = Watch::begin(Work::Recover);
        let recovered = read_log(&options, &wal_directory, &manifest)?;
        recovered.settle(&*vfs, &wal_directory)?;
        for entry in &manifest.families {
            check_is_own(&*vfs, directory, &entry.name)?;
            remove_orphans(&*vfs, &directory.join(&entry.name), entry)?;
        }
        let (log_end, empty) = (recovered.log_end(manifest.store), recovered.empty.clone());
        let read = Read::new(&options, directory, &manifest, recovered)?;
        drop(watch);
        remove_segments_before(&*vfs, &wal_directory, manifest.first_segment)?;
        forget_segments(&*vfs, directory, &mut manifest, log_end.next(), &empty)?;
        let commit = Commit::new(log_end, read.newest);
        Ok(Self::with_parts(directory, options, manifest, read, commit, Some(lock)))
    }

    /// The parts of a store together.
    pub(super) fn with_parts(
        directory: &Path,
        options: StoreOptions,
        manifest: Manifest,
        read: Read,
        commit: Commit,
        lock: Option<Box<dyn Lock>>,
    ) -> Self {
        Self {
            directory: directory.to_path_buf(),
            vfs: Arc::clone(&options.vfs),
            options,
            seed: manifest.seed,
            cache: read.cache,
            version: RwLock::new(Arc::new(read.version)),
            commit,
            manifest: Mutex::new(manifest),
            flush_turn: Mutex::default(),
            compaction_turn: Mutex::default(),
            background: Background::default(),
            counts: Mutex::default(),
            _lock: lock,
        }
    }

    pub(super) fn create_family(&self, name: &str, options: FamilyOptions) -> Result<()> {
        self.commit.check()?;
        check_family_name(name)?;
        let mut manifest = self.manifest();
        if manifest.families.iter().any(|family| family.name == name) {
            return Err(Error::invalid(format!("there is a family \"{name}\" already")));
        }
        let newest = manifest.families.iter().map(|family| family.id).max();
        let id = newest.map_or(Some(0), |newest| newest.checked_add(1));
        let id = id.ok_or_else(|| Error::invalid("a store gives out 65,536 family ids"))?;
        let directory = self.directory.join(name);
        self.vfs.create_directory(&directory).map_err(Error::io(&directory, "create"))?;
        self.vfs.sync_directory(&self.directory).map_err(Error::io(&self.directory, "sync"))?;
        check_is_own(&*self.vfs, &self.directory, name)?;
        let entry = FamilyEntry { id, name: name.to_owned(), options, files: Vec::new() };
        let reader = reader_options(&self.options, &self.cache);
        let family = open_family(&self.vfs, &directory, &entry, &reader)?;
        self.change(&mut manifest, |manifest| manifest.families.push(entry))?;
        self.replace_version(|version| {
            let mut families = version.families.clone();
            families.push(family);
            families.sort_by(|left, right| left.family.name.cmp(&right.family.name));
            StoreVersion { families, clock: version.clock.clone() }
        });
        Ok(())
    }
}

/// Reads the log that goes with a manifest, and changes nothing.
pub(super) fn read_log(
    options: &StoreOptions,
    directory: &Path,
    manifest: &Manifest,
) -> Result<Recovered> {
    let log = LogPlace {
        directory,
        store: Some(manifest.store),
        first: manifest.first_segment,
        end: manifest.log_end,
        segment_len_max: log::segment_len_max(options.wal_segment_bytes),
    };
    log::recover(&*options.vfs, &log, |id| manifest.family_name(id).map(str::as_bytes))
}

/// Removes the segments at the end of the log that hold no record: a crash left them, or an older
/// build, which began one with every open.
fn forget_segments(
    vfs: &dyn Vfs,
    directory: &Path,
    manifest: &mut Manifest,
    log_end: SegmentNumber,
    empty: &[SegmentNumber],
) -> Result<()> {
    if empty.is_empty() {
        // The manifest of an older build does not know where the log ends.
        manifest.log_end = manifest.log_end.max(log_end);
        return Ok(());
    }
    if manifest.log_end != log_end {
        // First, for what it says is there must be there.
        manifest.log_end = log_end;
        manifest.store(vfs, directory)?;
    }
    log::remove_empty(vfs, &directory.join(WAL_DIRECTORY), empty)
}

/// Keeps everybody else from opening the store in `directory`.
pub(crate) fn take_lock(vfs: &dyn Vfs, directory: &Path) -> Result<Box<dyn Lock>> {
    let path = directory.join(LOCK_NAME);
    let lock = vfs.lock(&path).map_err(Error::io(&path, "lock"))?;
    lock.ok_or_else(|| Error::Locked { path: directory.to_path_buf(), process: holder(vfs, &path) })
}

/// The id of the process that holds the lock, if it wrote that into the file.
fn holder(vfs: &dyn Vfs, path: &Path) -> Option<u32> {
    let file = vfs.open(path).ok()?;
    let mut digits = [0; 10];
    let len = usize::try_from(file.len()).ok()?.min(digits.len());
    let digits = digits.get_mut(..len)?;
    file.read_exact_at(digits, 0).ok()?;
    std::str::from_utf8(digits).ok()?.trim().parse().ok()
}

/// Refuses what stands in place of one of the store's own directories: a link would lead what is
/// written and removed there out of the store.
pub(super) fn check_is_own(vfs: &dyn Vfs, store: &Path, name: &str) -> Result<()> {
    match kind_of(vfs, store, name)? {
        Some(EntryKind::Directory) => Ok(()),
        Some(kind) => Err(no_directory(&store.join(name), kind)),
        None => Err(Error::corrupt(&store.join(name), 0, "this directory of the store is missing")),
    }
}

/// As [`check_is_own`], for a directory that may be missing, as may the store.
fn check_is_own_or_missing(vfs: &dyn Vfs, store: &Path, name: &str) -> Result<()> {
    match kind_of(vfs, store, name) {
        Ok(None | Some(EntryKind::Directory)) => Ok(()),
        Ok(Some(kind)) => Err(no_directory(&store.join(name), kind)),
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn kind_of(vfs: &dyn Vfs, store: &Path, name: &str) -> Result<Option<EntryKind>> {
    let entries = vfs.list(store).map_err(Error::io(store, "list"))?;
    Ok(entries.iter().find(|entry| entry.name == name).map(|entry| entry.kind))
}

fn no_directory(path: &Path, kind: EntryKind) -> Error {
    Error::corrupt(path, 0, format!("is {kind}, not a directory of the store's own"))
}

/// Makes the manifest of a new store.
fn create(vfs: &dyn Vfs, directory: &Path) -> Result<Manifest> {
    let wal = directory.join(WAL_DIRECTORY);
    if !vfs.list(&wal).map_err(Error::io(&wal, "list"))?.is_empty() {
        let path = directory.join(Manifest::NAME);
        return Err(Error::corrupt(&path, 0, "missing, although there is a log"));
    }
    let manifest = Manifest::new()?;
    manifest.store(vfs, directory)?;
    if let Some(parent) = directory.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        vfs.sync_directory(parent).map_err(Error::io(parent, "sync"))?;
    }
    Ok(manifest)
}

pub(super) fn reader_options(options: &StoreOptions, cache: &Arc<BlockCache>) -> ReaderOptions {
    ReaderOptions::default()
        .cache(Arc::clone(cache))
        .filter_use(options.filter_use)
        .pin_filters(options.pin_filters)
}

fn open_family(
    vfs: &Arc<dyn Vfs>,
    directory: &Path,
    entry: &FamilyEntry,
    options: &ReaderOptions,
) -> Result<Arc<FamilyVersion>> {
    let options = options.clone().in_memory(entry.options.in_memory);
    let files = entry.files.iter();
    let files = files
        .map(|file| StoreFile::open(vfs, directory, &entry.name, file, options.clone()))
        .collect::<Result<_>>()?;
    let family = Family {
        id: entry.id,
        name: entry.name.clone(),
        options: entry.options.clone(),
        reads: sstable::ReadCounters::default(),
    };
    Ok(Arc::new(FamilyVersion {
        family: Arc::new(family),
        active: Arc::new(Memstore::new()),
        flushing: Vec::new(),
        files: Files::new(files),
    }))
}

/// Removes the files of a family that the manifest does not name: a crash left them behind.
fn remove_orphans(vfs: &dyn Vfs, directory: &Path, family: &FamilyEntry) -> Result<()> {
    for entry in vfs.list(directory).map_err(Error::io(directory, "list"))? {
        let name = entry.name.strip_suffix(NewPlace::TEMPORARY_SUFFIX).unwrap_or(&entry.name);
        let is_listed = family.files.iter().any(|file| file.name == entry.name);
        if is_store_file_name(name) && !entry.is_directory() && !is_listed {
            let path = directory.join(&entry.name);
            vfs.unlink(&path).map_err(Error::io(&path, "unlink"))?;
        }
    }
    Ok(())
}

/// Removes log segments whose writes are in files: a crash came between.
fn remove_segments_before(vfs: &dyn Vfs, directory: &Path, first: SegmentNumber) -> Result<()> {
    for entry in vfs.list(directory).map_err(Error::io(directory, "list"))? {
        if SegmentNumber::from_name(&entry.name).is_some_and(|number| number < first) {
            let path = directory.join(&entry.name);
            vfs.unlink(&path).map_err(Error::io(&path, "unlink"))?;
        }
    }
    Ok(())
}
