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
//! To bound the size of a memstore, one that fills up during a flush is replaced too and becomes
//! "flushing". The next flush writes it.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use sstable::{Caching, KeyRef, SequenceId};

use super::background::Maintenance;
use crate::error::{Error, Result};
use crate::files::catalog::{Catalog, discard_unless_listed};
use crate::files::family_map::map::Inserted;
use crate::files::manifest::{FileEntry, Manifest};
use crate::files::new_file::{FilePurpose, NewFile};
use crate::files::segment_number::SegmentNumber;
use crate::files::store_file::StoreFile;
use crate::files::version::{Family, FamilyVersion, StoreVersion};
use crate::maintenance::family_map::NewRows;
use crate::maintenance::filters::filter_of_new;
use crate::memstore::Memstore;
use crate::read::rules::{Rules, Verdict};
use crate::read::sources::{CellSource, MemstoreCursor, StoreMerge};
use crate::telemetry::{Work, WorkSpan};
use crate::write::log::{Log, Writer};

/// The state of the store after [`rotate_memstores`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct RotatedState {
    /// The first log segment without writes of the flushing memstores. It may not exist yet.
    pub(super) segment: SegmentNumber,
    /// The sequence id of the last write in the flushing memstores.
    pub(super) newest: SequenceId,
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
    pub(crate) fn flush(&self, catalog: &Catalog, log: &Log) -> Result<()> {
        let one_at_a_time = self.take_flush_turn()?;
        let result = self.flush_all(catalog, log);
        let result = result.map_err(|error| self.health.poison_unless_shortage(error));
        match &result {
            Ok(()) => self.tasks.end_flush_delay(),
            Err(error) if error.is_shortage() => self.tasks.want_flush_later(),
            Err(_) => {}
        }
        self.tasks.flush_ended();
        drop(one_at_a_time);
        if result.is_ok() {
            self.files_changed(catalog);
        }
        result
    }

    fn flush_all(&self, catalog: &Catalog, log: &Log) -> Result<()> {
        let mut writer = log.writer();
        let Some(rotated) = rotate_memstores(catalog, &mut writer, 0)? else { return Ok(()) };
        let version = catalog.version();
        drop(writer);
        let RotatedState { segment, newest } = rotated;
        let _span = WorkSpan::begin(Work::Flush);
        let mut flushed = Vec::new();
        let families = version.families.iter().filter(|family| !family.flushing.is_empty());
        let written = families.into_iter().try_for_each(|family| {
            flushed.push(write_memstores(catalog, family, newest, self.options.cache_on_write)?);
            Ok(())
        });
        let installed = written.and_then(|()| install_flushed(catalog, &flushed, segment, newest));
        discard_unless_listed(&installed, Flushed::files(&flushed));
        let unneeded = installed?;
        self.count(|counts| counts.flushes += 1);
        unlink_segments(catalog, unneeded)?;
        if self.options.auto_compaction {
            self.tasks.want_compaction();
        }
        Ok(())
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
/// Does nothing and returns `None` if all memstores are empty, or if the active memstores have
/// fewer than `bytes_min` bytes in total.
pub(crate) fn rotate_memstores(
    catalog: &Catalog,
    writer: &mut Writer,
    bytes_min: usize,
) -> Result<Option<RotatedState>> {
    let version = catalog.version();
    let is_empty =
        |family: &Arc<FamilyVersion>| family.memstores().all(|memstore| memstore.is_empty());
    if version.families.iter().all(is_empty) || version.active_bytes() < bytes_min {
        return Ok(None);
    }
    let segment = writer.close_for_flush()?;
    catalog.replace_version(|version| {
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
pub(super) fn write_memstores(
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
    let mut rules = Rules::for_rewrite(&family.options, catalog.clock.now());
    let mut file = NewFile::create(catalog, family, purpose)?;
    let mut rows = NewRows::of_flush(catalog, version, || count_rows(merged()?))?;
    while let Some(cell) = cells.cell() {
        assert!(cell.sequence_id <= newest, "no cell is newer than the last write of the flush");
        if rules.judge(&cell) == Verdict::Include {
            file.append(&cell)?;
            rows.add(cell.row, file.data_block_number());
        }
        cells.advance()?;
    }
    let file = file.finish()?.map(|entry| catalog.open_new(family, &entry)).transpose()?;
    // A scan of the new file brings its blocks into the cache.
    if let Some(file) = file.as_ref().filter(|_| cache_on_write) {
        let mut cells = file.reader.scanner(Caching::Use);
        cells.seek_to_first()?;
        while cells.cell().is_some() {
            cells.advance()?;
        }
    }
    let inserted = file.as_ref().and_then(|file| rows.finish(file));
    Ok(Flushed { family: Arc::clone(family), memstores, file, inserted })
}

/// Replaces the written memstores by their files, in the manifest and in the current version.
///
/// Returns the numbers of the log segments that can be removed.
fn install_flushed(
    catalog: &Catalog,
    flushed: &[Flushed],
    segment: SegmentNumber,
    newest: SequenceId,
) -> Result<Range<u64>> {
    let mut unneeded = 0..0;
    catalog.install(
        |manifest| unneeded = Flushed::list_in(flushed, manifest, segment, newest),
        |version| Flushed::replace_in(flushed, version),
    )?;
    Ok(unneeded)
}

impl Flushed {
    /// Returns the files.
    pub(super) fn files(flushed: &[Self]) -> impl Iterator<Item = &Arc<StoreFile>> {
        flushed.iter().filter_map(|flushed| flushed.file.as_ref())
    }

    /// Lists the files in the manifest, and notes that the log is needed only from `segment` on.
    ///
    /// Returns the numbers of the log segments that can be removed.
    pub(super) fn list_in(
        flushed: &[Self],
        manifest: &mut Manifest,
        segment: SegmentNumber,
        newest: SequenceId,
    ) -> Range<u64> {
        let unneeded = manifest.first_segment.0..segment.0;
        manifest.first_segment = segment;
        manifest.log_end = manifest.log_end.max(segment);
        manifest.flushed = manifest.flushed.max(newest);
        for Self { family, file, .. } in flushed {
            let entry: Option<FileEntry> = file.as_ref().map(|file| file.entry.clone());
            manifest.family_mut(family.id).files.extend(entry);
        }
        unneeded
    }

    /// Returns a version with the files in place of the written memstores.
    pub(super) fn replace_in(flushed: &[Self], version: &StoreVersion) -> StoreVersion {
        version.map(|family| {
            let Some(flushed) =
                flushed.iter().find(|flushed| flushed.family.id == family.family.id)
            else {
                return Arc::clone(family);
            };
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
