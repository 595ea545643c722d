//! The cases.

use std::path::Path;

use super::Base::{Snapshots, Walt};
use super::{DirectoryCase, Outcome, T1, WALT, snapshot};

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
];

fn nothing(_root: &Path) {}
