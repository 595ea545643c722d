//! Salvages a damaged store: copies its sound cells into a new store. The damaged store is not changed.
//!
//! ```text
//! store files   sound: copied.  damaged: the cells of their sound blocks, in new files
//! log           every sound record, also after a damaged range, in new segments
//! manifest      as it was; if it is damaged, rebuilt from the directories
//! ```
//!
//! Until everything is on disk the new store is marked and cannot be opened: see
//! [`crate::files::new_files::salvage_marker`].
//!
//! The salvage uses files that an open would refuse, and reports what is missing from them. The new store
//! may lack writes from the middle of its history.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use cells::{show_count, show_number};
use sstable::{ReadAt, Reader, SequenceId};

use super::file_report::{FileProblem, FileReport, VerifyEvent};
use super::files::check_file;
use super::files_on_disk::{FilesOnDisk, Found};
use super::plan::{InspectionPlan, PlannedFamily};
use super::verify::report_of;
use crate::error::{Error, Result};
use crate::files::catalog::Catalog;
use crate::files::manifest::{FamilyEntry, FileEntry, Manifest};
use crate::files::names::WAL_DIRECTORY;
use crate::files::names::identity::name_in_store;
use crate::files::names::segment_number::SegmentNumber;
use crate::files::new_files::failed_store::remove_failed_store;
use crate::files::new_files::new_file::{FilePurpose, NewFile};
use crate::files::new_files::salvage_marker::{check_finished, mark_finished, mark_unfinished};
use crate::maintenance::filters::filter_of_leaving;
use crate::options::StoreOptions;
use crate::store::{StoreInner, take_lock};
use crate::vfs::{Lock, Vfs};
use crate::write::log::{self, InspectedSegment, LogTail, LoggedBatch, PreviousSegment};

/// The result of [`salvage`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SalvageOutcome {
    /// Nothing was lost.
    Whole,
    /// Something was lost.
    Partial,
}

/// Creates a store in `out` from the sound parts of the store in `directory`.
///
/// `out` must be empty or missing. The store in `directory` must not be open, and is not changed. `event`
/// receives the progress, and each file with its losses. If the salvage fails, what it wrote is removed. If it is
/// interrupted, or the removal fails, `out` stays marked, and opening it fails with [`Error::Unfinished`].
///
/// `families` are needed only if the manifest is damaged: the names of all families in the order of their
/// creation, because the log refers to families by number. `-` stands for a family that was dropped. They may be left out if there is only one
/// family. The families then have default options.
///
/// # Errors
///
/// [`Error::Missing`] if there is no store, [`Error::Locked`] if it is open, [`Error::Invalid`] if
/// `out` is not empty or families are unknown, [`Error::Unfinished`] if an interrupted salvage left
/// `out`, [`Error::Io`] if a file cannot be read or written.
pub fn salvage(
    directory: impl AsRef<Path>,
    out: impl AsRef<Path>,
    options: &StoreOptions,
    families: &[String],
    event: impl FnMut(VerifyEvent<'_>),
) -> Result<SalvageOutcome> {
    let (directory, out, vfs) = (directory.as_ref(), out.as_ref(), &*options.vfs);
    InspectionPlan::make(options, directory)?;
    let _lock = lock_unless_read_only(vfs, directory)?;
    let mut plan = InspectionPlan::make(options, directory)?;
    let existed = check_place(vfs, directory, out)?;
    if plan.manifest.is_none() {
        name_families(vfs, directory, &mut plan, families)?;
    }
    // Not in what is removed after a failure: another salvage may have marked the directory first.
    mark_unfinished(vfs, out)?;
    let copied = copy_sound_parts(&plan, [directory, out], options, families, event);
    if copied.is_err() {
        remove_failed_store(vfs, out, existed);
    }
    copied
}

/// Writes the store into a marked directory, and removes the mark.
fn copy_sound_parts(
    plan: &InspectionPlan,
    [directory, out]: [&Path; 2],
    options: &StoreOptions,
    families: &[String],
    mut event: impl FnMut(VerifyEvent<'_>),
) -> Result<SalvageOutcome> {
    let vfs = &*options.vfs;
    let mut manifest = Manifest::new()?;
    let store = manifest.store;
    let mut salvage = Salvage { vfs, directory, out, store, event: &mut event, is_whole: true };
    salvage.done(&plan.report);
    manifest.seed = plan.manifest.as_ref().map_or(manifest.seed, |old| old.seed);
    manifest.flushed = plan.manifest.as_ref().map_or(manifest.flushed, |old| old.flushed);
    let mut damaged_files = Vec::new();
    for (index, family) in plan.families.iter().enumerate() {
        let old = plan.manifest.as_ref().and_then(|old| old.families.get(index));
        let id = old.map_or_else(|| family_id(families, &family.name, index), |old| Ok(old.id))?;
        let files = salvage.copy_family(family, &mut manifest.flushed, &mut damaged_files)?;
        // With all its files, a family has what was flushed: the log could bring back what compactions dropped.
        // Without one of them, the log may have the cells of the file.
        let is_whole = files.len() == family.files.len();
        let flushed = old.and_then(|old| old.flushed).filter(|_| is_whole);
        let (name, options) = (family.name.clone(), family.options.clone());
        manifest.families.push(FamilyEntry { id, name, options, flushed, files });
    }
    manifest.log_end = salvage.copy_log(plan, &manifest)?;
    manifest.store(vfs, out)?;
    salvage.copy_sound_blocks(damaged_files, options)?;
    mark_finished(vfs, out)?;
    Ok(if salvage.is_whole { SalvageOutcome::Whole } else { SalvageOutcome::Partial })
}

/// Locks the store. On a read-only file system no lock is needed: no process can write there.
fn lock_unless_read_only(vfs: &dyn Vfs, directory: &Path) -> Result<Option<Box<dyn Lock>>> {
    match take_lock(vfs, directory) {
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::ReadOnlyFilesystem => {
            Ok(None)
        }
        lock => lock.map(Some),
    }
}

/// Refuses an output directory that is not empty, or that is in the damaged store. Returns whether the directory exists.
fn check_place(vfs: &dyn Vfs, directory: &Path, out: &Path) -> Result<bool> {
    check_finished(vfs, out)?;
    let shown = out.display();
    if out.starts_with(directory) {
        return Err(Error::invalid(format!(
            "{shown}: is in the damaged store, which a salvage does not change"
        )));
    }
    match vfs.list(out) {
        Ok(entries) if !entries.is_empty() => Err(Error::invalid(format!(
            "{shown}: is not empty; a salvaged store needs an empty directory"
        ))),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(out, "list")(error)),
        listed => Ok(listed.is_ok()),
    }
}

/// Puts the families in the order of their creation, which is unknown if the manifest is damaged.
fn name_families(
    vfs: &dyn Vfs,
    directory: &Path,
    plan: &mut InspectionPlan,
    told: &[String],
) -> Result<()> {
    if let Some(unknown) = told
        .iter()
        .filter(|name| *name != DROPPED)
        .find(|name| plan.families.iter().all(|family| family.name != **name))
    {
        return Err(Error::invalid(format!("the store has no family {unknown}")));
    }
    let place = |family: &PlannedFamily| told.iter().position(|name| *name == family.name);
    // Families that were not given come last.
    plan.families.sort_by_key(|family| place(family).map_or((true, 0), |place| (false, place)));
    let told_count = told.iter().filter(|name| *name != DROPPED).count();
    if told_count == plan.families.len() || plan.families.len() == 1 || !plan.has_log {
        return Ok(());
    }
    let wal = directory.join(WAL_DIRECTORY);
    let mut has_records = false;
    log::inspect(
        vfs,
        &plan.log_extent(&wal),
        |_| Some(&b"?"[..]),
        |segment| {
            has_records |= !segment.batches.is_empty();
            Ok(())
        },
    )?;
    if !has_records {
        return Ok(());
    }
    let names: Vec<_> = plan.families.iter().map(|family| &*family.name).collect();
    Err(Error::invalid(format!(
        "the manifest is damaged, and the log calls families by number: name them in the order in \
         which they were made (there are: {}); write - for a family that was dropped",
        names.join(", ")
    )))
}

/// Stands for a dropped family among the names of families.
const DROPPED: &str = "-";

/// Returns the number of a family in the log: its place among the names in the order of creation.
fn family_id(told: &[String], name: &str, index: usize) -> Result<u16> {
    let place = told.iter().position(|told| told == name);
    // The log has no records of a family that was not named.
    let id = place.unwrap_or_else(|| told.len().saturating_add(index));
    u16::try_from(id).map_err(|_| Error::invalid("a store has at most 65,536 family ids"))
}

/// A running salvage.
struct Salvage<'a> {
    vfs: &'a dyn Vfs,
    directory: &'a Path,
    out: &'a Path,
    /// The id of the new store.
    store: u64,
    event: &'a mut dyn FnMut(VerifyEvent<'_>),
    is_whole: bool,
}

/// A damaged file whose sound blocks are still to be copied.
struct DamagedFile {
    family: String,
    reader: Reader,
    /// Its entry in the manifest.
    entry: FileEntry,
    report: FileReport,
}

impl Salvage<'_> {
    fn done(&mut self, report: &FileReport) {
        self.is_whole &= report.is_sound();
        (self.event)(VerifyEvent::Done(report));
    }

    /// Copies the sound files of a family. Damaged files go to `damaged_files` if they can be read.
    fn copy_family(
        &mut self,
        family: &PlannedFamily,
        newest: &mut SequenceId,
        damaged_files: &mut Vec<DamagedFile>,
    ) -> Result<Vec<FileEntry>> {
        let place = self.out.join(&family.name);
        self.vfs.create_directory(&place).map_err(Error::io(&place, "create"))?;
        let mut there = FilesOnDisk::new(self.vfs, self.directory.join(&family.name), family);
        let mut entries = Vec::new();
        for file in &family.files {
            let path = there.directory.join(&file.name);
            let mut report = check_file(self.vfs, &path, file.entry.as_ref(), self.event);
            match there.find(file, &mut report) {
                Found::Whole(source, entry) => {
                    *newest = (*newest).max(entry.sequence_max);
                    report.cells = entry.cells;
                    let name = name_in_store(self.store, &entry.name);
                    copy(self.vfs, &*source, &path, &place.join(&name), entry.length)?;
                    entries.push(FileEntry { name, ..entry });
                }
                Found::DamagedFile(reader, entry) => {
                    *newest = (*newest).max(entry.sequence_max);
                    let (family, reader) = (family.name.clone(), *reader);
                    damaged_files.push(DamagedFile { family, reader, entry, report });
                    continue;
                }
                Found::Nothing => {
                    report.cells = 0;
                    if let Some(entry) = &file.entry {
                        *newest = (*newest).max(entry.sequence_max);
                    }
                }
            }
            self.done(&report);
        }
        self.vfs.sync_directory(&place).map_err(Error::io(&place, "sync"))?;
        Ok(entries)
    }

    /// Writes all sound records into new segments. Returns the number after the last segment.
    fn copy_log(&mut self, plan: &InspectionPlan, manifest: &Manifest) -> Result<SegmentNumber> {
        let (from, to) = (self.directory.join(WAL_DIRECTORY), self.out.join(WAL_DIRECTORY));
        self.vfs.create_directory(&to).map_err(Error::io(&to, "create"))?;
        let ids: BTreeMap<&[u8], u16> =
            manifest.families.iter().map(|family| (family.name.as_bytes(), family.id)).collect();
        let first = manifest.first_segment;
        let mut log = LogTail::new(manifest.store, first, PreviousSegment::default());
        let family_name = |id| manifest.family_name(id).map(str::as_bytes);
        let mut write = |segment: InspectedSegment| -> Result<()> {
            for LoggedBatch { sequence_id, replaces, cells } in &segment.batches {
                if log.segment().is_none() {
                    log.begin(self.vfs, &to)?;
                }
                let written = log.segment().expect("just begun");
                let (mut record, header) = (Vec::new(), *written.header());
                let cells = cells.iter().map(|cell| (ids[cell.family()], cell.as_ref()));
                let durable = written.durable();
                log::encode_batch(&mut record, &header, *sequence_id, durable, *replaces, cells)?;
                log.open_segment().write(&record)?;
            }
            log.close()?;
            let mut report = report_of(&segment);
            if let Some(at) = segment.torn_at.filter(|at| *at < segment.len) {
                let left_out = show_number(segment.len - at, "byte");
                report.notes.push(format!("{left_out} from {at:#x} on: left out"));
            }
            self.is_whole &= report.is_sound();
            (self.event)(VerifyEvent::Done(&report));
            Ok(())
        };
        if plan.has_log {
            log::inspect(self.vfs, &plan.log_extent(&from), family_name, &mut write)?;
        }
        Ok(log.next_segment())
    }

    /// Writes the sound cells of damaged files into files of the new store.
    fn copy_sound_blocks(
        &mut self,
        damaged_files: Vec<DamagedFile>,
        options: &StoreOptions,
    ) -> Result<()> {
        if damaged_files.is_empty() {
            return Ok(());
        }
        let options = options.clone().create(false).background(false).auto_compaction(false);
        let store = StoreInner::open(self.out, options)?;
        for mut damaged in damaged_files {
            copy_sound_blocks_of(&store.catalog, &mut damaged)?;
            self.done(&damaged.report);
        }
        Ok(())
    }
}

/// Copies the first `len` bytes of a file. The copy is then on disk.
fn copy(vfs: &dyn Vfs, source: &dyn ReadAt, from: &Path, to: &Path, len: u64) -> Result<()> {
    const CHUNK: u64 = 1 << 20;
    let mut file = vfs.create(to).map_err(Error::io(to, "create"))?;
    let mut at = 0;
    while at < len {
        let mut chunk = vec![0; CHUNK.min(len - at) as usize];
        source.read_exact_at(&mut chunk, at).map_err(Error::io(from, "read"))?;
        file.write_all(&chunk).map_err(Error::io(to, "write"))?;
        at += chunk.len() as u64;
    }
    file.sync().map_err(Error::io(to, "sync"))
}

/// Writes the sound blocks of a file into a new file, and adds that to the new store.
fn copy_sound_blocks_of(catalog: &Catalog, damaged: &mut DamagedFile) -> Result<()> {
    let version = catalog.version();
    let family = version.family(damaged.family.as_bytes()).expect("all were made");
    let family = Arc::clone(&family.family);
    let purpose = FilePurpose {
        sequence_max: damaged.entry.sequence_max,
        has_tags: damaged.reader.file_info().includes_tags(),
        is_major_compaction: false,
        filter: filter_of_leaving(&family),
    };
    let mut file = NewFile::create(catalog, &family, purpose)?;
    let (mut kept, mut refused) = (0, None);
    let lost = sstable::salvage(&damaged.reader, |cell| match file.append(&cell) {
        Ok(()) => {
            kept += 1;
            Ok(())
        }
        // The checksum is correct, but the format does not allow the cell.
        Err(Error::StoreFile(error @ sstable::Error::Invalid { .. })) => {
            refused = Some(error.to_string());
            Ok(())
        }
        Err(error) => Err(error),
    })?;
    damaged.report.cells = kept;
    let refusal = |what| FileProblem { at: 0, len: None, block: None, what, rows: None };
    damaged.report.problems.extend(refused.map(refusal));
    // Each loss is reported once, with its length.
    let places: Vec<u64> = lost.iter().map(|lost| lost.damage.at.get()).collect();
    damaged
        .report
        .problems
        .retain(|problem| problem.block.is_none() || !places.contains(&problem.at));
    damaged.report.problems.extend(lost.into_iter().map(|lost| FileProblem {
        len: Some(lost.len),
        rows: lost.rows,
        ..FileProblem::from(lost.damage)
    }));
    let note = match file.finish()? {
        None => "no data block is sound".to_owned(),
        Some(entry) => {
            let (name, cells) = (entry.name.clone(), damaged.entry.cells);
            let entry = FileEntry {
                sequence_min: damaged.entry.sequence_min,
                carries_sequence_ids: damaged.entry.carries_sequence_ids,
                ..entry
            };
            let opened = catalog.opener.open_file(&family, &entry)?;
            catalog.replace_files(&family, &[], Some(&opened))?;
            format!("{} of its {} are in {name}", show_count(kept), show_number(cells, "cell"))
        }
    };
    damaged.report.notes.push(note);
    Ok(())
}
