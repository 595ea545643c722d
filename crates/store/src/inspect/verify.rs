//! Every byte that belongs to a store is read once, and nothing is changed.

use std::path::{Path, PathBuf};

use sstable::Cell;

use super::files::check_file;
use super::part::{Part, PartKind, Problem, Step};
use super::plan::{Plan, PlannedFamily};
use crate::error::Result;
use crate::identity::is_store_file_name;
use crate::new_file::NewPlace;
use crate::options::StoreOptions;
use crate::store::{WAL_DIRECTORY, take_lock};
use crate::vfs::Vfs;
use crate::wal::{self, InspectedSegment, SegmentNumber};

/// Checks a store that nobody has open: the manifest, the log, every store file wholly, and which
/// files are nobody's. Returns whether all is sound; `step` is told of each file.
///
/// Nothing is changed, but that `LOCK` is made if it is missing. What a crash leaves is no damage:
/// the end of a write in the log, and files that the next open removes.
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
/// [`Error::Missing`](crate::Error::Missing) if there is no store,
/// [`Error::Locked`](crate::Error::Locked) if it is open, and what the operating system says of
/// directories. A file that cannot be read is a problem of that file.
pub fn verify(
    directory: impl AsRef<Path>,
    options: &StoreOptions,
    mut step: impl FnMut(Step<'_>),
) -> Result<bool> {
    let (directory, vfs) = (directory.as_ref(), &*options.vfs);
    Plan::make(options, directory)?;
    let _lock = take_lock(vfs, directory)?;
    // Only now nobody else changes it.
    let plan = Plan::make(options, directory)?;
    let mut is_sound = true;
    let mut done = |part: &Part, step: &mut dyn FnMut(Step<'_>)| {
        is_sound &= part.is_sound();
        step(Step::Done(part));
    };
    done(&plan.part, &mut step);
    for name in &plan.left_over {
        done(&left_over(directory.join(name), "not the store's"), &mut step);
    }
    let family_name = |id| match &plan.manifest {
        Some(manifest) => manifest.family_name(id).map(str::as_bytes),
        None => Some(&b"?"[..]),
    };
    let wal = directory.join(WAL_DIRECTORY);
    if plan.has_log {
        wal::inspect(vfs, &plan.log(&wal), family_name, |segment| {
            done(&part_of(&segment), &mut step);
            Ok(())
        })?;
    }
    for part in left_over_of_log(vfs, &plan, &wal) {
        done(&part, &mut step);
    }
    for family in &plan.families {
        let place = directory.join(&family.name);
        for file in &family.files {
            let path = place.join(&file.name);
            let part = check_file(vfs, &path, file.entry.as_ref(), &mut step);
            done(&part, &mut step);
        }
        for part in left_over_in(vfs, family, &place) {
            done(&part, &mut step);
        }
    }
    Ok(is_sound)
}

/// A segment as a part of the store.
pub(super) fn part_of(segment: &InspectedSegment) -> Part {
    let records = segment.batches.len() as u64;
    let mut part = Part::new(segment.path.clone(), PartKind::LogSegment { records });
    part.cells = segment.batches.iter().map(|(_, cells): &(_, Vec<Cell>)| cells.len() as u64).sum();
    let problem = |hole: &wal::Hole| Problem {
        at: hole.at,
        len: Some(hole.len),
        block: None,
        what: hole.what.clone(),
    };
    part.problems.extend(segment.holes.iter().map(problem));
    part.notes.extend(segment.tail.map(|at| {
        let len = segment.len - at;
        format!("{len} bytes from {at:#x} on are a write that was under way; an open cuts them off")
    }));
    part
}

fn left_over(path: PathBuf, note: &str) -> Part {
    let mut part = Part::new(path, PartKind::LeftOver);
    part.notes.push(note.to_owned());
    part
}

/// What is in the log's directory and is no segment that is needed.
fn left_over_of_log(vfs: &dyn Vfs, plan: &Plan, wal: &Path) -> Vec<Part> {
    let entries = if plan.has_log { vfs.list(wal).unwrap_or_default() } else { Vec::new() };
    let notes = entries.iter().filter_map(|entry| match SegmentNumber::from_name(&entry.name) {
        None => Some((entry, "not the store's")),
        Some(number) => {
            let first = plan.manifest.as_ref().map(|manifest| manifest.first_segment);
            let is_flushed = first.is_some_and(|first| number < first);
            is_flushed.then_some((entry, "what it holds is in files: an open removes it"))
        }
    });
    notes.map(|(entry, note)| left_over(wal.join(&entry.name), note)).collect()
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
                "no manifest names it: a crash left it, and an open removes it"
            } else {
                "not the store's"
            };
            left_over(path, note)
        })
        .collect()
}
