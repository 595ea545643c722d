//! Compares the files of a family with the lists that it still has.
//!
//! | the newest readable list lacks a file, and                      | the file is                                       |
//! |-----------------------------------------------------------------|---------------------------------------------------|
//! | an unreadable list may be newer, and the file is newer than the | taken: the unreadable list may have it            |
//! | readable list, or nothing tells                                 |                                                   |
//! | a compaction replaced it                                        | left out                                          |
//! | otherwise                                                       | undecided: HBase left it out, or wrote the list   |
//! |                                                                 | after a list with the file was lost               |
//!
//! A file that the list has, and that is not there, is undecided, unless a compaction explains it.

use std::collections::BTreeSet;
use std::path::Path;

use super::candidate::{Candidate, Origin};
use super::decision::{FileDecision, FileKind};
use crate::history::{FamilyFile, ReplacedFiles};
use crate::table::tracker::{PreviousLists, TrackedFiles};
use crate::{Error, FileTree, Result};

/// Marks files as undecided that the newest list lacks, or whose length differs from the list.
pub(super) fn compare(previous: &PreviousLists, files: &mut [Candidate]) {
    let Some(list) = &previous.newest else { return };
    let listed: BTreeSet<&str> = list.files.iter().map(|file| &*file.name).collect();
    let name = name_of(list);
    for file in &mut *files {
        file.is_listed = listed.contains(&*file.name);
        let Some(origin) = file.taken_origin().filter(|_| !file.is_listed) else { continue };
        if !previous.may_be_outdated {
            file.decide(FileDecision::Undecided(format!(
                "is not in the list {name}, which can be read: HBase left it out, or wrote {name} after another list was lost"
            )));
        } else if was_written_before(origin, list) {
            file.decide(FileDecision::Undecided(format!(
                "was begun before the list {name}, which lacks it: a write that failed left it, or only an unreadable list names it"
            )));
        }
    }
    check_lengths(list, files);
}

/// Returns whether a flush or a compaction began the file before HBase wrote the list.
fn was_written_before(origin: &Origin, list: &TrackedFiles) -> bool {
    let created = origin.created.and_then(|created| u64::try_from(created.get()).ok());
    origin.is_of_family() && created.is_some_and(|created| created < list.timestamp)
}

/// Returns the files that only the newest list has.
///
/// # Errors
///
/// I/O errors.
pub(super) fn missing(
    previous: &PreviousLists,
    tree: &dyn FileTree,
    archive: &Path,
    files: &[Candidate],
) -> Result<Vec<Candidate>> {
    let Some(list) = &previous.newest else { return Ok(Vec::new()) };
    let name = name_of(list);
    let family: Vec<FamilyFile> = files.iter().map(Candidate::family_file).collect();
    let replaced = ReplacedFiles::by_files(&family);
    let there: BTreeSet<&str> = files.iter().map(|file| &*file.name).collect();
    let mut missing = Vec::new();
    for file in list.files.iter().filter(|file| !there.contains(&*file.name)) {
        let decision = if replaced.has(&file.name) {
            FileDecision::LeftOut(format!(
                "is not there: {name} has it, and a compaction has replaced it since"
            ))
        } else if archive_has(tree, archive, &file.name)? {
            // HBase writes a list without a file before it archives that file.
            if previous.may_be_outdated {
                FileDecision::LeftOut(format!(
                    "is not there: {name} has it, and HBase has archived it since"
                ))
            } else {
                FileDecision::Undecided(format!(
                    "is only in the archive, and the list {name} has it: restore it, or move an outdated list away"
                ))
            }
        } else if file.reference.is_some() {
            FileDecision::Undecided(format!(
                "a reference that is only in the list {name}, as newer versions of HBase keep them"
            ))
        } else {
            FileDecision::Undecided(format!("is not there, and the list {name} has it"))
        };
        missing.push(Candidate::new(file.name.clone(), 0, decision));
    }
    Ok(missing)
}

/// Marks files as undecided whose length differs from the list.
fn check_lengths(list: &TrackedFiles, files: &mut [Candidate]) {
    for file in files {
        let listed = list.files.iter().find(|listed| listed.name == file.name);
        let Some(expected) = listed.map(|listed| listed.size).filter(|size| *size > 0) else {
            continue;
        };
        // A file without bytes may have lost them.
        let has_bytes = file.taken_origin().is_some_and(|origin| origin.kind == FileKind::HFile)
            || file.len == 0;
        if has_bytes && file.len != expected {
            let why =
                format!("has {} bytes, but {expected} in the list {}", file.len, name_of(list));
            file.decide(FileDecision::Undecided(why));
        }
    }
}

/// Returns the file name of a list.
fn name_of(list: &TrackedFiles) -> String {
    list.path.file_name().unwrap_or_default().display().to_string()
}

fn archive_has(tree: &dyn FileTree, archive: &Path, name: &str) -> Result<bool> {
    let path = archive.join(name);
    Ok(tree.find(&path).map_err(Error::io(&path, "find it"))?.is_some())
}
