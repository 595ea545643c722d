//! Opens a store for writing, and removes the leftovers of a crash.
//!
//! ```text
//! lock LOCK ─ load and sync MANIFEST ─ finish dropped families ─ read the log
//!           ─ remove orphaned files ─ open the store files
//!           ─ fill the memstores from the log ─ remove flushed and empty segments
//! ```

use std::io;
use std::path::Path;
use std::sync::Arc;

use sstable::{Cell, SequenceId};

use super::inner::{LoadedState, StoreInner};
use crate::error::{Error, Result};
use crate::files::families::dropped;
use crate::files::file_access::path_checks::{absolute, check_is_own, check_is_own_or_missing};
use crate::files::file_access::reserve::ReservedFiles;
use crate::files::manifest::{FamilyEntry, Manifest};
use crate::files::names::identity::is_own_file_name;
use crate::files::names::segment_number::SegmentNumber;
use crate::files::names::{LOCK_NAME, WAL_DIRECTORY};
use crate::files::version::file_opener::FileOpener;
use crate::files::version::store_version::StoreVersion;
use crate::options::StoreOptions;
use crate::telemetry::{Work, WorkSpan};
use crate::vfs::{Lock, Vfs};
use crate::write::accepted_batch::AcceptedBatch;
use crate::write::log::{self, LogExtent, LoggedBatch, Recovered};
use crate::write::replace::remove_replaced;
use crate::write::row_times::RowTimes;

impl LoadedState {
    /// Opens the store files that the manifest names, and fills the memstores from the log.
    pub(super) fn new(
        options: &StoreOptions,
        directory: &Path,
        manifest: Manifest,
        log: Recovered,
    ) -> Result<Self> {
        let opener = FileOpener::new(directory, options);
        let log_tail = log.log_tail(manifest.store);
        let mut families = Vec::new();
        let mut newest = log.newest.max(manifest.flushed);
        for entry in &manifest.families {
            check_is_own(&*options.vfs, directory, &entry.name)?;
            families.push(opener.open_family(entry)?);
            let files = entry.files.iter().map(|file| file.sequence_max);
            newest = files.fold(newest, SequenceId::max);
        }
        let version = StoreVersion::new(families, options.clock.clone());
        let times = row_times(options, &manifest, &log);
        for LoggedBatch { replaces, mut cells, .. } in log.batches {
            cells.retain(|cell| !is_flushed(&manifest, cell));
            if replaces {
                remove_replaced(&version, &cells);
            }
            AcceptedBatch::of_log(&version, cells).move_to_memstores();
        }
        Ok(Self { opener, manifest, version, log_tail, newest, times })
    }
}

impl StoreInner {
    /// Opens the store in `directory`, or creates one if the options allow it. Starts no threads.
    pub(crate) fn open(directory: &Path, mut options: StoreOptions) -> Result<Self> {
        let directory = &absolute(directory)?;
        let reserved = ReservedFiles::new(Arc::clone(&options.vfs));
        options.vfs = reserved.clone();
        let vfs = Arc::clone(&options.vfs);
        let manifest = Manifest::load(&*vfs, directory);
        if matches!(manifest, Ok(None)) {
            if !options.create {
                return Err(Error::Missing { path: directory.clone() });
            }
            check_has_no_other_files(&*vfs, directory)?;
        }
        let wal_directory = directory.join(WAL_DIRECTORY);
        check_is_own_or_missing(&*vfs, directory, WAL_DIRECTORY)?;
        vfs.create_directory(&wal_directory).map_err(Error::io(&wal_directory, "create"))?;
        let lock: Arc<dyn Lock> = take_lock(&*vfs, directory)?.into();
        reserved.keep_to(&lock);
        reserved.keep_spare(directory.join(LOCK_NAME));
        check_is_own(&*vfs, directory, WAL_DIRECTORY)?;
        // Only under the lock is the manifest stable.
        let manifest = match Manifest::load(&*vfs, directory)? {
            Some(manifest) => manifest,
            None => create_manifest(&*vfs, directory)?,
        };
        Manifest::remove_unfinished(&*vfs, directory)?;
        // A killed process may have left its last manifest unsynced. The manifest must be on disk
        // before files of an older one are removed.
        vfs.sync_directory(directory).map_err(Error::io(directory, "sync"))?;
        let is_listed = |name: &str| manifest.families.iter().any(|family| family.name == name);
        dropped::finish_all(&*vfs, directory, manifest.store, is_listed)?;
        let watch = WorkSpan::begin(Work::Recover);
        let recovered = read_log(&options, &wal_directory, &manifest)?;
        recovered.truncate_and_sync(&*vfs, &wal_directory)?;
        for entry in &manifest.families {
            check_is_own(&*vfs, directory, &entry.name)?;
            remove_orphans(&*vfs, &directory.join(&entry.name), manifest.store, entry)?;
        }
        let empty = recovered.empty_segments.clone();
        let mut state = LoadedState::new(&options, directory, manifest, recovered)?;
        drop(watch);
        remove_segments_before(&*vfs, &wal_directory, state.manifest.first_segment)?;
        let end = state.log_tail.next_segment();
        remove_empty_tail(&*vfs, directory, &mut state.manifest, end, &empty)?;
        Ok(Self::new(options, state, Some(lock)))
    }
}

/// Refuses to create a store beside files of somebody else.
///
/// The entries of a creation that a crash interrupted are allowed, and the directory that a new file system has.
fn check_has_no_other_files(vfs: &dyn Vfs, directory: &Path) -> Result<()> {
    const ALLOWED: [&str; 4] = [LOCK_NAME, WAL_DIRECTORY, Manifest::TEMPORARY_NAME, "lost+found"];
    let entries = match vfs.list(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(Error::io(directory, "list"))?,
    };
    let Some(other) = entries.iter().find(|entry| !ALLOWED.contains(&&*entry.name)) else {
        return Ok(());
    };
    Err(Error::invalid(format!(
        "{}: has no store, but {}; a store is created only in an empty or new directory",
        directory.display(),
        other.name
    )))
}

/// Returns the table of row times, which has to know the newest timestamps of files and log.
fn row_times(options: &StoreOptions, manifest: &Manifest, log: &Recovered) -> RowTimes {
    // Timestamps of key-value families are no times.
    let families = manifest.families.iter().filter(|family| !family.options.key_value);
    let files = families.flat_map(|family| &family.files);
    let in_files = files.filter_map(|file| file.times).map(|(_, newest)| newest);
    let in_log = log.batches.iter().flat_map(|batch| &batch.cells).map(Cell::timestamp);
    RowTimes::new(options.clock.now(), in_files.chain(in_log))
}

/// Returns whether a cell of the log is in a file, because the log is kept for another family.
fn is_flushed(manifest: &Manifest, cell: &Cell) -> bool {
    manifest.families.iter().any(|family| {
        family.flushed.is_some_and(|flushed| cell.sequence_id() <= flushed)
            && family.name.as_bytes() == cell.family()
    })
}

/// Reads the log that belongs to a manifest; changes no file.
pub(super) fn read_log(
    options: &StoreOptions,
    directory: &Path,
    manifest: &Manifest,
) -> Result<Recovered> {
    let log = LogExtent {
        directory,
        store: Some(manifest.store),
        first: manifest.first_segment,
        end: manifest.log_end,
        segment_len_max: log::segment_len_max(options.wal_segment_bytes),
    };
    log::recover(&*options.vfs, &log, |id| manifest.family_name(id).map(str::as_bytes))
}

/// Removes the segments without records at the end of the log, which a crash left.
fn remove_empty_tail(
    vfs: &dyn Vfs,
    directory: &Path,
    manifest: &mut Manifest,
    log_end: SegmentNumber,
    empty: &[SegmentNumber],
) -> Result<()> {
    if empty.is_empty() {
        // A segment with records belongs to the log.
        manifest.log_end = manifest.log_end.max(log_end);
        return Ok(());
    }
    if manifest.log_end != log_end {
        // First the manifest, because the segments that it requires must exist.
        manifest.log_end = log_end;
        manifest.store(vfs, directory)?;
    }
    log::remove_empty_segments(vfs, &directory.join(WAL_DIRECTORY), empty)
}

/// Locks the store in `directory` against other openers.
pub(crate) fn take_lock(vfs: &dyn Vfs, directory: &Path) -> Result<Box<dyn Lock>> {
    let path = directory.join(LOCK_NAME);
    let lock = vfs.lock(&path).map_err(Error::io(&path, "lock"))?;
    lock.ok_or_else(|| Error::Locked {
        path: directory.to_path_buf(),
        process: lock_holder(vfs, &path),
    })
}

/// Returns the id of the process that holds the lock, if the lock file has it.
fn lock_holder(vfs: &dyn Vfs, path: &Path) -> Option<u32> {
    let file = vfs.open(path).ok()?;
    let mut digits = [0; 10];
    let len = usize::try_from(file.len()).ok()?.min(digits.len());
    let digits = digits.get_mut(..len)?;
    file.read_exact_at(digits, 0).ok()?;
    std::str::from_utf8(digits).ok()?.trim().parse().ok()
}

/// Creates the manifest of a new store.
fn create_manifest(vfs: &dyn Vfs, directory: &Path) -> Result<Manifest> {
    // Again, because the locked directory may be another one than the directory of the first look.
    check_has_no_other_files(vfs, directory)?;
    let wal = directory.join(WAL_DIRECTORY);
    if !vfs.list(&wal).map_err(Error::io(&wal, "list"))?.is_empty() {
        let path = directory.join(Manifest::NAME);
        return Err(Error::corrupt(&path, 0, "the manifest is missing, but the store has a log"));
    }
    let manifest = Manifest::new()?;
    manifest.store(vfs, directory)?;
    if let Some(parent) = directory.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        vfs.sync_directory(parent).map_err(Error::io(parent, "sync"))?;
    }
    Ok(manifest)
}

/// Removes the files of a family that this store wrote and its manifest does not list, left by a crash.
fn remove_orphans(vfs: &dyn Vfs, directory: &Path, store: u64, family: &FamilyEntry) -> Result<()> {
    for entry in vfs.list(directory).map_err(Error::io(directory, "list"))? {
        let is_listed = family.files.iter().any(|file| file.name == entry.name);
        if is_own_file_name(store, &entry.name) && !entry.is_directory() && !is_listed {
            let path = directory.join(&entry.name);
            vfs.unlink(&path).map_err(Error::io(&path, "unlink"))?;
        }
    }
    Ok(())
}

/// Removes flushed log segments, left by a crash.
fn remove_segments_before(vfs: &dyn Vfs, directory: &Path, first: SegmentNumber) -> Result<()> {
    for entry in vfs.list(directory).map_err(Error::io(directory, "list"))? {
        if SegmentNumber::from_name(&entry.name).is_some_and(|number| number < first) {
            let path = directory.join(&entry.name);
            vfs.unlink(&path).map_err(Error::io(&path, "unlink"))?;
        }
    }
    Ok(())
}
