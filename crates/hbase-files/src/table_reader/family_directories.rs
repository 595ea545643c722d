//! Reports directories of families that are gone from the regions of a table.
//!
//! HBase makes the directory of each family when it opens a region (`HStore`), so a missing directory
//! is damage, unless HBase may not have made it:
//!
//! | region opened | other regions have the directory | the region                  | result  |
//! |---------------|----------------------------------|-----------------------------|---------|
//! | yes           | none, and the table was altered  | has directories of families | warning |
//! | yes           | otherwise                        |                             | damage  |
//! | no            | none                             |                             | warning |
//! | no            | some                             | has no family's directory   | warning |
//! | no            | some                             | has directories of families | damage  |
//!
//! HBase has opened a region if there is a file `recovered.edits/N.seqid`, which each opening writes.
//! The first row is a family that was added while the table was disabled. The other warnings are
//! regions of a new clone, split or merge.
//!
//! The directories do not tell all cases apart. A sound table is called damaged while an `alter` that
//! adds a family reopens one region after the other, and after `restore_snapshot` of a snapshot that
//! leaves out an empty family, until the table is enabled: a lost directory looks the same, and cells
//! must not be lost silently.
//!
//! A copy by way of an object store has no empty directories at all. There a family without a directory is empty: one
//! warning for the whole root says so.
//!
//! Snapshots list families without files, or leave them out; MOB files get a directory with the first
//! of them. Both are not checked.

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::Error;
use crate::table::log_files::LOGS;
use crate::table::{Family, Region};
use crate::table_reader::found::Found;
use crate::tree::{FileTree, ItemKind};
use crate::warning::Warning;

/// Adds the missing directories of families to the problems, or to the warnings if HBase may not
/// have made them.
pub(crate) fn check_family_directories(
    tree: &dyn FileTree,
    root: &Path,
    table: &Path,
    is_altered: bool,
    regions: &[Region],
    found: &mut Found,
) {
    let (mut missing, mut families_there) = (Vec::new(), BTreeSet::new());
    for region in regions {
        let directory = table.join(region.name().as_str());
        let mut missing_here = Vec::new();
        for family in &region.families {
            let path = directory.join(&*String::from_utf8_lossy(&family.name));
            match tree.find(&path) {
                _ if !family.files.is_empty() => _ = families_there.insert(&family.name[..]),
                Ok(Some(_)) => _ = families_there.insert(&family.name[..]),
                Ok(None) => missing_here.push((family, path)),
                Err(error) => found.problems.push(Error::io(&path, "find it")(error)),
            }
        }
        if !missing_here.is_empty() {
            missing.push((region, missing_here));
        }
    }
    if !missing.is_empty() && !keeps_empty_directories(tree, root, table) {
        let what = "has no empty directories, as copies by way of object stores: families without a directory are read as empty";
        let warning = Warning::new(root, what);
        // Reading `hbase:meta` may have said so.
        if !found.warnings.contains(&warning) {
            found.warnings.push(warning);
        }
        return;
    }
    for (region, families) in missing {
        let was_opened = region.last_opened.is_some();
        let has_no_family = families.len() == region.families.len();
        let directory = table.join(region.name().as_str());
        for (family, searched) in families {
            let is_in_no_region = !families_there.contains(&family.name[..]);
            let is_expected = if was_opened {
                is_altered && is_in_no_region && !has_no_family
            } else {
                is_in_no_region || has_no_family
            };
            if is_expected {
                let doubt = "it is lost, or HBase has not opened the region since the region or the family was made";
                let what = format!("{} is missing: {doubt}", what_of(family));
                found.warnings.push(Warning::new(&directory, what));
            } else {
                let (path, what) = (directory.clone(), format!("{},", what_of(family)));
                found.problems.push(Error::Missing { path, what, searched: vec![searched] });
            }
        }
    }
}

/// Returns whether there is an empty directory near the top of a root, or in a table.
///
/// HBase always has some, such as `.tmp` in the root and directories of regions. `WALs` of the root does
/// not count: a reader may have made it for a read with logs.
fn keeps_empty_directories(tree: &dyn FileTree, root: &Path, table: &Path) -> bool {
    [(root, 1), (table, 2)].into_iter().any(|(directory, depth)| has_empty(tree, directory, depth))
}

/// Returns whether a directory is empty, or one that is at most `depth` levels below it.
///
/// A directory that cannot be listed counts as empty, so that missing directories are reported.
fn has_empty(tree: &dyn FileTree, directory: &Path, depth: u32) -> bool {
    let Ok(items) = tree.list(directory) else { return true };
    let Some(below) = depth.checked_sub(1) else { return items.is_empty() };
    let mut directories =
        items.iter().filter(|item| item.kind == ItemKind::Directory && item.name() != Some(LOGS));
    items.is_empty() || directories.any(|item| has_empty(tree, &item.path, below))
}

fn what_of(family: &Family) -> String {
    let name = cells::escape(&family.name);
    format!("the directory of family {name}, which HBase makes when it opens a region")
}
