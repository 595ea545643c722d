//! The cases.

use std::path::Path;

use super::Base::{Snapshots, Walt};
use super::{DirectoryCase, Outcome, T1, WALT, snapshot, unflushed};

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
        name: "an entry of a log writes a cell twice",
        base: Walt,
        change: unflushed::write_twice,
        place: WALT,
        outcome: Outcome::Cells,
        verify: None,
    },
    DirectoryCase {
        name: "a log is of the codec of Phoenix",
        base: Walt,
        change: unflushed::name_phoenix,
        place: WALT,
        outcome: Outcome::Cells,
        verify: None,
    },
    DirectoryCase {
        name: "an entry of a log is damaged",
        base: Walt,
        change: unflushed::damage,
        place: WALT,
        outcome: Outcome::Error("damaged at offset"),
        verify: None,
    },
];

fn nothing(_root: &Path) {}
