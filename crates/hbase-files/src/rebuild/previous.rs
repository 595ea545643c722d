//! Compares the files of a family with the lists that it still has.
//!
//! | a file that is not in the newest readable list | is                                                              |
//! |------------------------------------------------|-----------------------------------------------------------------|
//! | while an unreadable list may be newer          | taken: the newer list may have it                               |
//! | otherwise, and a compaction replaced it        | left out                                                        |
//! | otherwise                                      | undecided: HBase left it out, or wrote the list after a list    |
//! |                                                | with the file was lost                                          |
//!
//! A file that the list has, and that is not there, is undecided, unless a compaction explains it.

use std::collections::BTreeSet;
use std::path::Path;

use super::candidate::Candidate;
use super::decision::{FileDecision, FileKind};
use super::replaced::replaced_files;
use crate::table::tracker::{PreviousLists, TrackedFiles};
use crate::{Error, FileTree, Result};

/// Marks files as undecided that the newest list lacks, or whose length differs from the list.
pub(super) fn compare(previous: &PreviousLists, files: &mut [Candidate]) {
    let Some(list) = &previous.newest else { return };
    if !previous.is_outdated {
        let listed: BTreeSet<&str> = list.files.iter().map(|file| &*file.name).collect();
        for file in files.iter_mut().filter(|file| file.decision.is_taken()) {
            if !listed.contains(&*file.name) {
                let list = name_of(list);
                file.decision = FileDecision::Undecided(format!(
                    "is not in the list {list}, which can be read: HBase left it out, or wrote {list} after another list was lost"
                ));
            }
        }
    }
    check_lengths(list, files);
}

/// Adds the files that only the newest list has.
///
/// # Errors
///
/// I/O errors.
pub(super) fn add_missing(
    previous: &PreviousLists,
    tree: &dyn FileTree,
    archive: &Path,
    files: &mut Vec<Candidate>,
) -> Result<()> {
    let Some(list) = &previous.newest else { return Ok(()) };
    let name = name_of(list);
    let replaced = replaced_files(files);
    let there: BTreeSet<String> = files.iter().map(|file| file.name.clone()).collect();
    for file in list.files.iter().filter(|file| !there.contains(&file.name)) {
        let decision = if replaced.contains_key(&file.name) {
            FileDecision::LeftOut(format!(
                "is not there: {name} has it, and a compaction has replaced it since"
            ))
        } else if is_archived(tree, archive, &file.name)? {
            // HBase writes a list without a file before it archives that file.
            if previous.is_outdated {
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
        files.push(Candidate { name: file.name.clone(), len: 0, decision, origin: None });
    }
    Ok(())
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
            file.decision = FileDecision::Undecided(why);
        }
    }
}

/// Returns the file name of a list.
fn name_of(list: &TrackedFiles) -> String {
    list.path.file_name().unwrap_or_default().display().to_string()
}

fn is_archived(tree: &dyn FileTree, archive: &Path, name: &str) -> Result<bool> {
    let path = archive.join(name);
    Ok(tree.find(&path).map_err(Error::io(&path, "find it"))?.is_some())
}
