//! Every byte that belongs to a store is read once, and nothing is changed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sstable::Cell;

use super::files::check_file;
use super::part::{Part, PartKind, Problem, Step};
use super::plan::{Plan, PlannedFamily};
use crate::error::{Error, Result};
use crate::files::identity::is_store_file_name;
use crate::files::manifest::Manifest;
use crate::files::names::WAL_DIRECTORY;
use crate::files::new_file::NewPlace;
use crate::files::segment_number::SegmentNumber;
use crate::options::StoreOptions;
use crate::store::OPEN_ATTEMPTS_MAX;
use crate::vfs::Vfs;
use crate::write::log::{self, InspectedSegment};

/// Checks a store: the manifest, the log, every store file wholly, and which files are nobody's.
/// Returns whether all is sound; `step` is told of each file.
///
/// Takes no lock and changes nothing, so a store can be verified that cannot be written to, or that
/// another process writes to: where something seems wrong and the manifest has changed meanwhile,
/// what the new one names is looked at. What a crash leaves is no damage: the end of a write in the
/// log, and files that the next open removes.
///
/// ```
/// use store::{Step, Store, StoreOptions, verify};
///
/// # let directory = tempfile::tempdir()?;
/// # let directory = directory.path();
/// drop(Store::open(directory, StoreOptions::default())?);
/// let is_sound = verify(directory, &StoreOptions::default(), |step| {
///     if let Step::Done(part) = step {
///         println!("{}: {:?}", part.path.display(), part.problems);
///     }
/// })?;
/// assert!(is_sound);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`Error::Missing`](crate::Error::Missing) if there is no store, and what the operating system says
/// of directories. A file that cannot be read is a problem of that file.
pub fn verify(
    directory: impl AsRef<Path>,
    options: &StoreOptions,
    mut step: impl FnMut(Step<'_>),
) -> Result<bool> {
    let directory = directory.as_ref();
    let done = BTreeSet::new();
    let mut verification =
        Verification { directory, options, step: &mut step, is_sound: true, done };
    for tried in 1.. {
        let plan = Plan::make(options, directory)?;
        if verification.run(&plan, tried < OPEN_ATTEMPTS_MAX)? {
            break;
        }
    }
    Ok(verification.is_sound)
}

/// A verification under way.
struct Verification<'a> {
    directory: &'a Path,
    options: &'a StoreOptions,
    step: &'a mut dyn FnMut(Step<'_>),
    is_sound: bool,
    /// The parts that were told.
    done: BTreeSet<PathBuf>,
}

impl Verification<'_> {
    /// Looks at all that a plan has; `false` if the manifest has changed and a new plan is needed.
    fn run(&mut self, plan: &Plan, may_begin_anew: bool) -> Result<bool> {
        let vfs = &*self.options.vfs;
        let mut parts = vec![plan.part.clone()];
        let names = plan.left_over.iter();
        parts.extend(names.map(|name| left_over(self.directory.join(name), "not the store's")));
        let family_name = |id| match &plan.manifest {
            Some(manifest) => manifest.family_name(id).map(str::as_bytes),
            None => Some(&b"?"[..]),
        };
        let wal = self.directory.join(WAL_DIRECTORY);
        if plan.has_log {
            log::inspect(vfs, &plan.log(&wal), family_name, |segment| {
                parts.push(part_of(&segment));
                Ok(())
            })?;
        }
        parts.extend(left_over_of_log(vfs, plan, &wal)?);
        for part in parts {
            if !self.tell(&part, plan, may_begin_anew) {
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
                let part = check_file(vfs, &path, file.entry.as_ref(), self.step);
                if !self.tell(&part, plan, may_begin_anew) {
                    return Ok(false);
                }
            }
            for part in left_over_in(vfs, family, &place) {
                self.tell(&part, plan, false);
            }
        }
        Ok(true)
    }

    /// Tells of a part, once; `false` if something is wrong with it and the manifest has changed.
    fn tell(&mut self, part: &Part, plan: &Plan, may_begin_anew: bool) -> bool {
        if !part.is_sound() && may_begin_anew {
            let newest = Manifest::load(&*self.options.vfs, self.directory);
            if newest.is_ok_and(|newest| newest != plan.manifest) {
                return false;
            }
        }
        if self.done.insert(part.path.clone()) {
            self.is_sound &= part.is_sound();
            (self.step)(Step::Done(part));
        }
        true
    }
}

/// A segment as a part of the store.
pub(super) fn part_of(segment: &InspectedSegment) -> Part {
    let records = segment.batches.len() as u64;
    let mut part = Part::new(segment.path.clone(), PartKind::LogSegment { records });
    part.cells = segment.batches.iter().map(|(_, cells): &(_, Vec<Cell>)| cells.len() as u64).sum();
    let problem = |hole: &log::DamagedRange| Problem {
        at: hole.at,
        len: Some(hole.len),
        block: None,
        what: hole.what.clone(),
    };
    part.problems.extend(segment.damaged_ranges.iter().map(problem));
    part.notes.extend(segment.torn_at.map(|at| {
        let len = segment.len - at;
        format!("{len} bytes from {at:#x} on are a write that was under way; an open for writing cuts them off")
    }));
    part
}

fn left_over(path: PathBuf, note: &str) -> Part {
    let mut part = Part::new(path, PartKind::LeftOver);
    part.notes.push(note.to_owned());
    part
}

/// What is in the log's directory and is no segment that is needed.
fn left_over_of_log(vfs: &dyn Vfs, plan: &Plan, wal: &Path) -> Result<Vec<Part>> {
    if !plan.has_log {
        return Ok(Vec::new());
    }
    let entries = vfs.list(wal).map_err(Error::io(wal, "list"))?;
    let notes = entries.iter().filter_map(|entry| match SegmentNumber::from_name(&entry.name) {
        None => Some((entry, "not the store's")),
        Some(number) => {
            let first = plan.manifest.as_ref().map(|manifest| manifest.first_segment);
            let is_flushed = first.is_some_and(|first| number < first);
            is_flushed.then_some((
                entry,
                "what it holds is in files: the next open for writing removes it",
            ))
        }
    });
    Ok(notes.map(|(entry, note)| left_over(wal.join(&entry.name), note)).collect())
}

/// What is in a family's directory and not in the manifest.
fn left_over_in(vfs: &dyn Vfs, family: &PlannedFamily, place: &Path) -> Vec<Part> {
    let names = family.left_over.iter();
    names
        .map(|name| {
            let plain = name.strip_suffix(NewPlace::TEMPORARY_SUFFIX).unwrap_or(name);
            let path = place.join(name);
            let is_removed = is_store_file_name(plain) && vfs.open(&path).is_ok();
            let note = if is_removed {
                "the manifest does not name it: a crash left it, and the next open for writing removes it, \
                 or a writer is making it"
            } else {
                "not the store's"
            };
            left_over(path, note)
        })
        .collect()
}
