//! Compares the files of a family with the lists that it still has.
//!
//! | the newest tracker file | a file that is not in its list                                        |
//! |-------------------------|-----------------------------------------------------------------------|
//! | can be read             | is left out: HBase decided so                                         |
//! | cannot be read          | counts: it may be newer than the older list, which can be read        |
//!
//! A file that a list has, and that is not there, is undecided, unless a compaction explains it.

use std::collections::BTreeSet;
use std::path::Path;

use super::candidate::Candidate;
use super::decision::FileDecision;
use crate::table::tracker::{PreviousLists, TrackedFiles};

/// Applies the newest list that can be read. Adds the files that only the list has.
pub(super) fn apply(
    previous: &PreviousLists,
    files: &mut Vec<Candidate>,
    is_archived: impl Fn(&str) -> bool,
) {
    let Some(list) = &previous.newest else { return };
    let name = list.path.file_name().unwrap_or_default().display().to_string();
    let listed: BTreeSet<&str> = list.files.iter().map(|file| &*file.name).collect();
    if previous.unread.is_empty() {
        for file in files.iter_mut().filter(|file| file.decision.is_taken()) {
            if !listed.contains(&*file.name) {
                let why = format!("the list {name}, which can be read, does not have it");
                file.decision = FileDecision::LeftOut(why);
            }
        }
    }
    check_lengths(list, &name, files);
    let inputs: BTreeSet<String> = files
        .iter()
        .filter_map(|file| file.origin.as_ref())
        .flat_map(|origin| origin.inputs.iter().cloned())
        .collect();
    let there: BTreeSet<String> = files.iter().map(|file| file.name.clone()).collect();
    for file in list.files.iter().filter(|file| !there.contains(&file.name)) {
        let decision = if inputs.contains(&file.name) {
            FileDecision::LeftOut(format!(
                "is not there: {name} has it, and a compaction has replaced it since"
            ))
        } else if is_archived(&file.name) {
            FileDecision::LeftOut(format!(
                "is not there: {name} has it, and HBase has archived it since"
            ))
        } else if file.reference.is_some() {
            FileDecision::Undecided(format!(
                "a reference that is only in the list {name}, as newer versions of HBase keep them"
            ))
        } else {
            FileDecision::Undecided(format!("is not there, and the list {name} has it"))
        };
        files.push(Candidate { name: file.name.clone(), len: 0, decision, origin: None });
    }
}

/// Leaves the decision about files to the caller whose length is not that of the list.
fn check_lengths(list: &TrackedFiles, list_name: &str, files: &mut [Candidate]) {
    for file in files {
        let listed = list.files.iter().find(|listed| listed.name == file.name);
        let Some(expected) = listed.map(|listed| listed.size).filter(|size| *size > 0) else {
            continue;
        };
        // A file without bytes may have lost them.
        let is_hfile = file.taken_origin().is_some() || file.len == 0;
        if is_hfile && file.len != expected {
            let why = format!("has {} bytes, and {expected} by the list {list_name}", file.len);
            file.decision = FileDecision::Undecided(why);
        }
    }
}

/// Returns whether a file is below the archive.
pub(super) fn is_archived(tree: &dyn crate::FileTree, archived: &Path, name: &str) -> bool {
    matches!(tree.find(&archived.join(name)), Ok(Some(_)))
}
