//! Flushes memstores to files.
//!
//! All families are flushed together, at the end of a log segment. Once they are flushed, this segment
//! and the earlier ones can be removed. The manifest records the number of the first segment to keep.
//!
//! ```text
//! 1  writers wait: the log segment is closed; each family gets a new memstore, the old one is "flushing"
//! 2  writers continue: the flushing memstores are written to files, each synced and renamed
//! 3  one manifest lists the new files and the first segment that is still needed
//! 4  readers see the files instead of the memstores; older segments are unlinked
//! ```
//!
//! If the file of a family cannot be written for another reason than an I/O error, its memstores stay,
//! and with them the log. The manifest then has the sequence id up to which the other families are
//! flushed, so that recovery does not add their cells a second time.
//!
//! To bound the size of a memstore, one that fills up during a flush is replaced too and becomes
//! "flushing". The next flush writes it.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use cells::rules::{Rules, Verdict};
use sstable::tools::FileInCache;
use sstable::{KeyRef, SequenceId};

use super::background::Maintenance;
use crate::error::{Error, Result};
use crate::family_map::map::Inserted;
use crate::files::catalog::{Catalog, discard_unless_listed};
use crate::files::manifest::{FileEntry, Manifest};
use crate::files::names::segment_number::SegmentNumber;
use crate::files::new_files::new_file::{FilePurpose, NewFile};
use crate::files::version::store_file::StoreFile;
use crate::files::version::store_version::{Family, FamilyVersion, StoreVersion};
use crate::maintenance::filters::filter_of_new;
use crate::maintenance::map_upkeep::NewRows;
use crate::memstore::Memstore;
use crate::read::sources::{CellSource, MemstoreCursor, StoreMerge};
use crate::telemetry::{Work, WorkSpan};
use crate::write::log::{Log, LogWriter};

/// The state of the store after [`rotate_memstores`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct RotatedState {
    /// The first log segment without writes of the flushing memstores. It may not exist yet.
    pub(super) segment: SegmentNumber,
    /// The sequence id of the last write in the flushing memstores.
    pub(super) newest: SequenceId,
}

/// What a flush has written, and how far the log is needed afterwards.
pub(super) struct Flush {
    /// The first log segment without writes of the flushed memstores.
    pub(super) segment: SegmentNumber,
    /// The sequence id of the last write in the flushed memstores.
    pub(super) newest: SequenceId,
    pub(super) written: Vec<Flushed>,
    /// The ids of the families whose file could not be written, for another reason than a failure of
    /// the disk. Their memstores stay.
    pub(super) failed: Vec<u16>,
}

/// The written memstores of a family, and their file; no file if all of their cells were dropped.
pub(super) struct Flushed {
    family: Arc<Family>,
    memstores: Vec<Arc<Memstore>>,
    file: Option<Arc<StoreFile>>,
    /// The rows of the file in the family map; `None` if the map has no room or there is no map.
    inserted: Option<Inserted>,
}

impl Maintenance {
    /// Writes all memstores to files and syncs the files.
    ///
    /// Returns `FlushFailed` if the last flush of a family failed; the other families are in files then.
    pub(crate) fn flush(&self, catalog: &Catalog, log: &Log) -> Result<()> {
        let one_at_a_time = self.take_flush_turn()?;
        let result = self.flush_in_turn(catalog, log);
        self.tasks.flush_ended();
        drop(one_at_a_time);
        result?;
        self.files_changed(catalog);
        catalog.version().check_flushed()
    }

    /// Does the work of a flush for a caller that has the turn.
    pub(super) fn flush_in_turn(&self, catalog: &Catalog, log: &Log) -> Result<()> {
        let result = self.flush_all(catalog, log);
        let result = result.map_err(|error| self.health.poison_unless_shortage(error));
        match &result {
            Ok(()) => self.tasks.end_flush_delay(),
            Err(error) if error.is_shortage() => self.tasks.want_flush_later(),
            Err(_) => {}
        }
        result
    }

    fn flush_all(&self, catalog: &Catalog, log: &Log) -> Result<()> {
        let mut writer = log.writer();
        let Some(rotated) = rotate_memstores(catalog, &mut writer, 0)? else { return Ok(()) };
        let version = catalog.version();
        drop(writer);
        let _span = WorkSpan::begin(Work::Flush);
        let flushed = self.write_families(catalog, &version.families, rotated)?;
        let published = publish_flushed(catalog, &flushed);
        discard_unless_listed(&published, flushed.files());
        let unneeded = published?;
        if flushed.failed.is_empty() {
            self.count(|counts| counts.flushes += 1);
        }
        unlink_segments(catalog, unneeded)?;
        if self.options.auto_compaction {
            self.tasks.want_compaction();
        }
        Ok(())
    }

    /// Writes the flushing memstores of families to files. Returns only I/O errors.
    pub(super) fn write_families<'f>(
        &self,
        catalog: &Catalog,
        families: impl IntoIterator<Item = &'f Arc<FamilyVersion>>,
        RotatedState { segment, newest }: RotatedState,
    ) -> Result<Flush> {
        let mut flush = Flush { segment, newest, written: Vec::new(), failed: Vec::new() };
        for version in families.into_iter().filter(|version| !version.flushing.is_empty()) {
            match write_memstores(catalog, version, newest, self.options.cache_on_write) {
                Ok(written) => flush.written.push(written),
                Err(error) if error.is_io() => {
                    let failed = Err(error);
                    discard_unless_listed(&failed, flush.files());
                    return failed;
                }
                // The family's settings or cells are at fault.
                Err(error) => {
                    let Family { id, name, failures, .. } = &*version.family;
                    failures.flush_failed(name, &error, self.options.memstore_flush_bytes);
                    flush.failed.push(*id);
                }
            }
        }
        Ok(flush)
    }

    /// Replaces the memstores by new ones if they filled up during a flush.
    ///
    /// The next flush writes the old ones.
    pub(super) fn rotate_full_memstores(&self, catalog: &Catalog, log: &Log) -> Result<()> {
        let result =
            rotate_memstores(catalog, &mut log.writer(), self.options.memstore_flush_bytes);
        result.map(drop).map_err(|error| self.health.poison_unless_shortage(error))
    }
}

/// Closes the log segment and gives each family a new memstore.
///
/// Does nothing and returns `None` if all memstores are empty and the log has no segment, or if the
/// active memstores have fewer than `bytes_min` bytes in total. The log may have records although all
/// memstores are empty, because recovery skips cells that are in files already (`flushed`).
pub(crate) fn rotate_memstores(
    catalog: &Catalog,
    writer: &mut LogWriter,
    bytes_min: usize,
) -> Result<Option<RotatedState>> {
    let version = catalog.version();
    let is_empty =
        |family: &Arc<FamilyVersion>| family.memstores().all(|memstore| memstore.is_empty());
    let is_flushed = version.families.iter().all(is_empty) && catalog.log_segments() == 0;
    if is_flushed || version.active_bytes() < bytes_min {
        return Ok(None);
    }
    let segment = writer.close_for_flush()?;
    catalog.publish_version(|version| {
        version.map(|family| {
            if family.active.is_empty() {
                return Arc::clone(family);
            }
            let mut changed = FamilyVersion::clone(family);
            changed.flushing.insert(0, Arc::clone(&family.active));
            changed.active = Arc::new(Memstore::new());
            Arc::new(changed)
        })
    });
    Ok(Some(RotatedState { segment, newest: writer.newest() }))
}

/// Writes the flushing memstores of a family to one file, without the cells that a flush drops.
fn write_memstores(
    catalog: &Catalog,
    version: &FamilyVersion,
    newest: SequenceId,
    cache_on_write: bool,
) -> Result<Flushed> {
    let family = &version.family;
    let memstores = version.flushing.clone();
    let merged = || {
        let sources = memstores.iter().map(|memstore| {
            CellSource::Memory(MemstoreCursor::new(Arc::clone(memstore), SequenceId::MAX))
        });
        StoreMerge::new(sources.collect(), KeyRef::before_row(b""))
    };
    let existing: Vec<_> = version.files.by_sequence().cloned().collect();
    let purpose = FilePurpose {
        sequence_max: newest,
        has_tags: memstores.iter().any(|memstore| memstore.has_tags()),
        is_major_compaction: false,
        filter: filter_of_new(family, &existing, || count_rows(merged()?))?,
    };
    let mut cells = merged()?;
    let mut rules = Rules::for_rewrite(&family.options.retention(), catalog.clock.now_for_expiry());
    let mut file = NewFile::create(catalog, family, purpose)?;
    let cached = cache_on_write
        .then(|| FileInCache::new(Arc::clone(catalog.opener.cache()), family.options.in_memory));
    if let Some(place) = &cached {
        file = file.cached_in(place.clone());
    }
    let mut rows = NewRows::of_flush(catalog, version);
    while let Some(cell) = cells.cell() {
        assert!(cell.sequence_id <= newest, "no cell is newer than the last write of the flush");
        if rules.judge(&cell) == Verdict::Include {
            file.append(&cell)?;
            if let Some(rows) = &mut rows {
                rows.add(cell.row);
            }
        }
        cells.advance()?;
    }
    let entry = file.finish()?;
    let file = entry.map(|entry| catalog.open_new(family, &entry, cached.as_ref())).transpose()?;
    let inserted = file.as_ref().and_then(|_| rows?.finish());
    Ok(Flushed { family: Arc::clone(family), memstores, file, inserted })
}

/// Replaces the written memstores by their files, in the manifest and in the current version.
///
/// Returns the numbers of the log segments that can be removed.
pub(super) fn publish_flushed(catalog: &Catalog, flushed: &Flush) -> Result<Range<u64>> {
    let mut unneeded = 0..0;
    catalog.publish_change(
        |manifest| unneeded = flushed.list_in(manifest),
        |version| flushed.replace_in(version),
    )?;
    Ok(unneeded)
}

impl Flush {
    /// Returns the files.
    pub(super) fn files(&self) -> impl Iterator<Item = &Arc<StoreFile>> {
        self.written.iter().filter_map(|flushed| flushed.file.as_ref())
    }

    /// Lists the files in the manifest, and notes that the log is needed only from `segment` on.
    ///
    /// If a family could not be written, all of the log is still needed, but only for this family.
    /// Returns the numbers of the log segments that can be removed.
    pub(super) fn list_in(&self, manifest: &mut Manifest) -> Range<u64> {
        let Self { segment, newest, written, failed } = self;
        let unneeded = manifest.first_segment.0..segment.0;
        manifest.log_end = manifest.log_end.max(*segment);
        manifest.flushed = manifest.flushed.max(*newest);
        for Flushed { family, file, .. } in written {
            let entry: Option<FileEntry> = file.as_ref().map(|file| file.entry.clone());
            manifest.family_mut(family.id).files.extend(entry);
        }
        if failed.is_empty() {
            manifest.first_segment = *segment;
            manifest.families.iter_mut().for_each(|family| family.flushed = None);
            return unneeded;
        }
        for family in manifest.families.iter_mut().filter(|family| !failed.contains(&family.id)) {
            family.flushed = Some(*newest);
        }
        0..0
    }

    /// Returns a version with the files in place of the written memstores.
    pub(super) fn replace_in(&self, version: &StoreVersion) -> StoreVersion {
        version.map(|family| {
            let Some(flushed) =
                self.written.iter().find(|flushed| flushed.family.id == family.family.id)
            else {
                return Arc::clone(family);
            };
            family.family.failures.flush_succeeded();
            let mut changed = FamilyVersion::clone(family);
            changed.flushing.retain(|memstore| {
                !flushed.memstores.iter().any(|written| Arc::ptr_eq(written, memstore))
            });
            let removed = family.flushing.len() - changed.flushing.len();
            assert_eq!(removed, flushed.memstores.len(), "every written memstore was flushing");
            changed.files = family.files.replace(&[], flushed.file.as_ref());
            if let Some((file, inserted)) = flushed.file.as_ref().zip(flushed.inserted.as_ref()) {
                changed.files = changed.files.cover(file, inserted);
            }
            Arc::new(changed)
        })
    }
}

/// Unlinks log segments that the manifest no longer requires.
pub(super) fn unlink_segments(catalog: &Catalog, unneeded: Range<u64>) -> Result<()> {
    for number in unneeded {
        let path = SegmentNumber(number).path(&catalog.opener.wal_directory());
        match catalog.opener.vfs().unlink(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::io(&path, "unlink")(error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the number of rows.
fn count_rows(mut cells: StoreMerge) -> Result<u64> {
    let mut last: Option<Vec<u8>> = None;
    let mut count = 0;
    while let Some(cell) = cells.cell() {
        if last.as_deref() != Some(cell.row) {
            last = Some(cell.row.to_vec());
            count += 1;
        }
        cells.advance()?;
    }
    Ok(count)
}
