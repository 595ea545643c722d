//! Verifies a store: reads every byte of it, and changes nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cells::show_number;

use super::file_report::{FileKind, FileProblem, FileReport, VerifyEvent};
use super::files::check_file;
use super::plan::{InspectionPlan, PlannedFamily};
use crate::error::{Error, Result};
use crate::files::manifest::Manifest;
use crate::files::names::WAL_DIRECTORY;
use crate::files::names::identity::is_own_file_name;
use crate::files::names::segment_number::SegmentNumber;
use crate::options::StoreOptions;
use crate::store::OPEN_ATTEMPTS_MAX;
use crate::vfs::Vfs;
use crate::write::log::{self, InspectedSegment};

/// The result of [`verify`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum VerifyOutcome {
    /// All files are sound.
    Sound,
    /// Some files have problems, or are missing.
    Damaged,
    /// No problems were found, but some files could not be read: see [`FileReport::unread`].
    Unread,
}

/// Verifies a store: manifest, log, all store files completely, and left-over files.
///
/// `event` receives the progress and the report about each file.
///
/// Takes no lock and changes nothing. A store can be verified that is read-only, or that another process
/// writes to: if a problem is found and the manifest has changed meanwhile, the files of the new manifest
/// are verified instead. The traces of a crash are not problems: an incomplete record at the end of the
/// log, and files that the next open removes.
///
/// ```
/// use store::tools::{VerifyEvent, VerifyOutcome, verify};
/// use store::{Store, StoreOptions};
///
/// # let directory = tempfile::tempdir()?;
/// # let directory = directory.path();
/// drop(Store::open(directory, StoreOptions::default())?);
/// let outcome = verify(directory, &StoreOptions::default(), |event| {
///     if let VerifyEvent::Done(report) = event {
///         println!("{}: {:?}", report.path.display(), report.problems);
///     }
/// })?;
/// assert_eq!(outcome, VerifyOutcome::Sound);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`Error::Missing`](crate::Error::Missing) if there is no store, [`Error::Io`](crate::Error::Io) if a
/// directory cannot be read. A file that cannot be read is a matter of its report.
pub fn verify(
    directory: impl AsRef<Path>,
    options: &StoreOptions,
    mut event: impl FnMut(VerifyEvent<'_>),
) -> Result<VerifyOutcome> {
    let directory = directory.as_ref();
    let done = BTreeSet::new();
    let mut verification =
        Verification { directory, options, event: &mut event, outcome: VerifyOutcome::Sound, done };
    for tried in 1.. {
        let plan = InspectionPlan::make(options, directory)?;
        if verification.run(&plan, tried < OPEN_ATTEMPTS_MAX)? {
            break;
        }
    }
    Ok(verification.outcome)
}

/// A running verification.
struct Verification<'a> {
    directory: &'a Path,
    options: &'a StoreOptions,
    event: &'a mut dyn FnMut(VerifyEvent<'_>),
    outcome: VerifyOutcome,
    /// The files that were reported.
    done: BTreeSet<PathBuf>,
}

impl Verification<'_> {
    /// Verifies all files of a plan. Returns `false` if the manifest has changed and a new plan is needed.
    fn run(&mut self, plan: &InspectionPlan, may_begin_anew: bool) -> Result<bool> {
        let vfs = &*self.options.vfs;
        let mut reports = vec![plan.report.clone()];
        let names = plan.left_over.iter();
        reports.extend(names.map(|name| left_over(self.directory.join(name), NOT_OF_THIS_STORE)));
        let family_name = |id| match &plan.manifest {
            Some(manifest) => manifest.family_name(id).map(str::as_bytes),
            None => Some(&b"?"[..]),
        };
        let wal = self.directory.join(WAL_DIRECTORY);
        if plan.has_log {
            log::inspect(vfs, &plan.log_extent(&wal), family_name, |segment| {
                reports.push(report_of(&segment));
                Ok(())
            })?;
        }
        reports.extend(left_over_of_log(vfs, plan, &wal)?);
        for report in reports {
            if !self.tell(&report, plan, may_begin_anew) {
                return Ok(false);
            }
        }
        for family in &plan.families {
            let place = self.directory.join(&family.name);
            for file in &family.files {
                let path = place.join(&file.name);
                if self.done.contains(&path) {
                    continue;
                }
                let report = check_file(vfs, &path, file.entry.as_ref(), self.event);
                if !self.tell(&report, plan, may_begin_anew) {
                    return Ok(false);
                }
            }
            for report in left_over_in(plan, family, &place) {
                self.tell(&report, plan, false);
            }
        }
        Ok(true)
    }

    /// Reports a file, once. Returns `false` if it has problems and the manifest has changed.
    fn tell(&mut self, report: &FileReport, plan: &InspectionPlan, may_begin_anew: bool) -> bool {
        if !report.is_sound() && may_begin_anew {
            let newest = Manifest::load(&*self.options.vfs, self.directory);
            if newest.is_ok_and(|newest| newest != plan.manifest) {
                return false;
            }
        }
        if self.done.insert(report.path.clone()) {
            if !report.problems.is_empty() {
                self.outcome = VerifyOutcome::Damaged;
            } else if !report.is_sound() && self.outcome == VerifyOutcome::Sound {
                self.outcome = VerifyOutcome::Unread;
            }
            (self.event)(VerifyEvent::Done(report));
        }
        true
    }
}

/// Returns the report about a log segment.
pub(super) fn report_of(segment: &InspectedSegment) -> FileReport {
    let records = segment.batches.len() as u64;
    let mut report = FileReport::new(segment.path.clone(), FileKind::LogSegment { records });
    report.cells = segment.batches.iter().map(|batch| batch.cells.len() as u64).sum();
    let problem = |hole: &log::DamagedRange| FileProblem {
        at: hole.at,
        len: Some(hole.len),
        block: None,
        what: hole.what.clone(),
        rows: None,
    };
    report.problems.extend(segment.damaged_ranges.iter().map(problem));
    report.notes.extend(segment.torn_at.map(|at| {
        let torn = show_number(segment.len - at, "byte");
        format!("{torn} from {at:#x} on: an incomplete write; the next open for writing removes it")
    }));
    report
}

/// What is said of a file that the store did not write. The store never changes or removes such a file.
const NOT_OF_THIS_STORE: &str = "not of this store";

fn left_over(path: PathBuf, note: &str) -> FileReport {
    let mut report = FileReport::new(path, FileKind::LeftOver);
    report.notes.push(note.to_owned());
    report
}

/// Returns reports about files in the log's directory that are not needed.
fn left_over_of_log(vfs: &dyn Vfs, plan: &InspectionPlan, wal: &Path) -> Result<Vec<FileReport>> {
    if !plan.has_log {
        return Ok(Vec::new());
    }
    let entries = vfs.list(wal).map_err(Error::io(wal, "list"))?;
    let notes = entries.iter().filter_map(|entry| match SegmentNumber::from_name(&entry.name) {
        None => Some((entry, NOT_OF_THIS_STORE)),
        Some(number) => {
            let first = plan.manifest.as_ref().map(|manifest| manifest.first_segment);
            let is_flushed = first.is_some_and(|first| number < first);
            is_flushed.then_some((
                entry,
                "its writes are in store files; the next open for writing removes it",
            ))
        }
    });
    Ok(notes.map(|(entry, note)| left_over(wal.join(&entry.name), note)).collect())
}

/// Returns reports about files in a family's directory that the manifest does not list.
fn left_over_in(plan: &InspectionPlan, family: &PlannedFamily, place: &Path) -> Vec<FileReport> {
    let store = plan.manifest.as_ref().map(|manifest| manifest.store);
    let is_own = |name: &str| store.is_some_and(|store| is_own_file_name(store, name));
    let names = family.left_over.iter();
    names
        .map(|name| {
            let path = place.join(name);
            let note = if is_own(name) {
                "the manifest does not name it: a crash left it, and the next open for writing removes it, \
                 or a writer is making it"
            } else {
                NOT_OF_THIS_STORE
            };
            left_over(path, note)
        })
        .collect()
}
