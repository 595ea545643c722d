//! The cases.

use std::path::Path;

use super::Base::{Snapshots, Walt};
use super::{CasePlace, DirectoryCase, Outcome, T1, WALT, files, snapshot};

/// A table with a store file tracker.
const TRACKED: CasePlace =
    CasePlace { name: "t5", is_snapshot: false, with_logs: false, cells: "s8.cells.ndjson.gz" };

/// All cases.
pub const CASES: &[DirectoryCase] = &[
    DirectoryCase {
        name: "nothing is changed",
        base: Walt,
        change: nothing,
        place: WALT,
        outcome: Outcome::Cells,
        verify: None,
    },
    DirectoryCase {
        name: "nothing is changed in a table with splits, bulk loads and logs",
        base: Snapshots,
        change: nothing,
        place: T1,
        outcome: Outcome::Cells,
        verify: None,
    },
    DirectoryCase {
        name: "nothing is changed in a snapshot with references to links",
        base: Snapshots,
        change: nothing,
        place: snapshot("s10", "s10.cells.ndjson.gz"),
        outcome: Outcome::Cells,
        verify: None,
    },
    DirectoryCase {
        name: "an HFile of another family is in the directory of a family",
        base: Snapshots,
        change: files::add_file_of_another_family,
        place: T1,
        outcome: Outcome::Error("has cells of family f2, in the place of a file of f1"),
        verify: Some("has cells of family f2, in the place of a file of f1"),
    },
    DirectoryCase {
        name: "an HFile of another region is in the directory of a family",
        base: Snapshots,
        change: files::add_file_of_another_region,
        place: T1,
        outcome: Outcome::Error("has rows outside of its region"),
        verify: Some("has rows outside of its region"),
    },
    DirectoryCase {
        name: "a reference leads to an HFile of another region",
        base: Snapshots,
        change: files::replace_referred_file,
        place: T1,
        outcome: Outcome::Error("has rows outside of the half of it"),
        verify: Some("has rows outside of the half of it"),
    },
    DirectoryCase {
        name: "a family has an HFile and a link to it",
        base: Snapshots,
        change: files::add_link_to_own_file,
        place: T1,
        outcome: Outcome::Error("another store file of the family has the same cells"),
        verify: Some("another store file of the family has the same cells"),
    },
    DirectoryCase {
        name: "an HFile of a snapshot has another length",
        base: Snapshots,
        change: files::replace_file_of_snapshot,
        place: snapshot("s6", "s6.cells.ndjson.gz"),
        outcome: Outcome::Error("has 5507 bytes; 8336 are recorded"),
        verify: Some("has 5507 bytes; 8336 are recorded"),
    },
    DirectoryCase {
        name: "an HFile that a tracker lists has another length",
        base: Snapshots,
        change: files::replace_tracked_file,
        place: TRACKED,
        outcome: Outcome::Error("has 5180 bytes; 8155 are recorded"),
        verify: Some("has 5180 bytes; 8155 are recorded"),
    },
    DirectoryCase {
        name: "a manifest lists a store file twice",
        base: Snapshots,
        change: files::list_file_twice,
        place: snapshot("s1", "s1.cells.ndjson.gz"),
        outcome: Outcome::Error("is listed twice"),
        verify: Some("is listed twice"),
    },
    DirectoryCase {
        name: "a manifest lists a family of a region twice",
        base: Snapshots,
        change: files::list_family_twice,
        place: snapshot("s1", "s1.cells.ndjson.gz"),
        outcome: Outcome::Error("lists the family f1 twice"),
        verify: Some("lists the family f1 twice"),
    },
    #[cfg(unix)]
    DirectoryCase {
        name: "the directory of a family is a symbolic link out of the root",
        base: Snapshots,
        change: files::family_outside,
        place: T1,
        outcome: Outcome::Error("out of the root directory"),
        verify: Some("out of the root directory"),
    },
    #[cfg(unix)]
    DirectoryCase {
        name: "the archive is a symbolic link out of the root",
        base: Snapshots,
        change: files::archive_outside,
        place: snapshot("s6", "s6.cells.ndjson.gz"),
        outcome: Outcome::Error("out of the root directory"),
        verify: Some("out of the root directory"),
    },
];

fn nothing(_root: &Path) {}
