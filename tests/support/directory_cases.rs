//! Root directories whose files disagree, or that lack a part, and what each way of reading must say.
//!
//! A case is a copy of a root directory that HBase wrote, one change to it, and the outcome: HBase's cells,
//! perhaps with a warning, or an error. The same cases run through scan, get, export and verify of the command
//! line (`crates/cli/tests/cli_hbase/directory_cases.rs`), Arrow (`crates/arrow/tests/arrow.rs`), Python
//! (`crates/python/tests/test_cases.py`) and SQL (`crates/datafusion/tests/cases.rs`).

use std::path::Path;

use crate::root_directory::{NOW, RootCopy, data, reports};

mod descriptions;
mod files;
mod regions;
mod unchanged;
mod unflushed;

/// Returns all cases.
pub fn cases() -> impl Iterator<Item = &'static DirectoryCase> {
    [unchanged::CASES, descriptions::CASES, regions::CASES, files::CASES, unflushed::CASES]
        .into_iter()
        .flatten()
}

/// A changed root directory, and what a read of a table of it must return.
#[derive(Clone, Copy, Debug)]
pub struct DirectoryCase {
    /// What is special, as a part of a sentence: "a log has no bytes". Also names directories.
    pub name: &'static str,
    /// Changes the copy, whose path it gets.
    pub change: fn(&Path),
    /// The table or snapshot that is read.
    pub place: CasePlace,
    /// What a read must return.
    pub outcome: Outcome,
    /// A text that `verify` must report; `None` if it must call the table sound.
    pub verify: Option<&'static str>,
}

/// A root directory that HBase wrote.
#[derive(Clone, Copy, Debug)]
pub enum Base {
    /// `RootCopy::new`.
    Snapshots,
    /// `RootCopy::walt`.
    Walt,
    /// `RootCopy::recovered_hfiles`.
    RecoveredHFiles,
}

/// What is read, and the cells that HBase returns for the unchanged copy.
#[derive(Clone, Copy, Debug)]
pub struct CasePlace {
    /// The root directory.
    pub base: Base,
    /// The name of the table or snapshot.
    pub name: &'static str,
    /// Whether it is a snapshot.
    pub is_snapshot: bool,
    /// Whether cells that are only in logs are read.
    pub with_logs: bool,
    /// The file of the cells, in the directory of the base's data.
    pub cells: &'static str,
}

/// What a read must return.
#[derive(Clone, Copy, Debug)]
pub enum Outcome {
    /// The cells of the unchanged copy, and not a word.
    Cells,
    /// The cells of the unchanged copy, and a warning with this text.
    CellsAndWarning(&'static str),
    /// An error with this text.
    Error(&'static str),
}

/// Table `walt` of the small roots, with its logs.
pub const WALT: CasePlace = CasePlace {
    base: Base::Walt,
    name: "walt",
    is_snapshot: false,
    with_logs: true,
    cells: "walt.cells.ndjson.gz",
};
/// Table `walt` after its log was split to HFiles.
pub const RECOVERED: CasePlace =
    CasePlace { base: Base::RecoveredHFiles, cells: "recovered-hfiles.cells.ndjson.gz", ..WALT };
/// Table `t1` of the large root, with its logs.
pub const T1: CasePlace = CasePlace {
    base: Base::Snapshots,
    name: "t1",
    is_snapshot: false,
    with_logs: true,
    cells: "t1.live.ndjson.gz",
};

/// Table `t5` of the large root, which keeps lists of its files.
pub const T5: CasePlace = CasePlace {
    base: Base::Snapshots,
    name: "t5",
    is_snapshot: false,
    with_logs: true,
    cells: "s8.cells.ndjson.gz",
};

/// Returns a snapshot of the large root and the file of its cells.
pub const fn snapshot(name: &'static str, cells: &'static str) -> CasePlace {
    CasePlace { base: Base::Snapshots, name, is_snapshot: true, with_logs: false, cells }
}

impl CasePlace {
    /// Returns a case that `verify` must call sound.
    const fn case(self, name: &'static str, change: fn(&Path), outcome: Outcome) -> DirectoryCase {
        DirectoryCase { name, change, place: self, outcome, verify: None }
    }
}

impl DirectoryCase {
    /// Adds what `verify` must report.
    const fn verify(self, text: &'static str) -> Self {
        Self { verify: Some(text), ..self }
    }

    /// Returns the time at which HBase returned the cells, in milliseconds since 1970.
    pub const fn now(&self) -> i64 {
        match self.place.base {
            Base::Snapshots => NOW.get(),
            Base::Walt | Base::RecoveredHFiles => 1_795_625_000_000,
        }
    }

    /// Makes the changed copy.
    ///
    /// # Panics
    ///
    /// If the disk does not take it.
    pub fn copy(&self) -> RootCopy {
        let copy = match self.place.base {
            Base::Snapshots => RootCopy::new(),
            Base::Walt => RootCopy::walt(),
            Base::RecoveredHFiles => RootCopy::recovered_hfiles(),
        };
        (self.change)(&copy.path());
        copy
    }

    /// Returns the cells of the unchanged copy, one a line, without sequence ids.
    ///
    /// # Panics
    ///
    /// If the file cannot be read.
    pub fn cells(&self) -> String {
        let directory = match self.place.base {
            Base::Snapshots => data(),
            Base::Walt | Base::RecoveredHFiles => reports(),
        };
        without_sequence(&crate::gunzip(&directory.join(self.place.cells)))
    }
}

/// Returns the lines without the field `seq`, which not all files of HBase's cells have.
pub fn without_sequence(lines: &str) -> String {
    let cut = |line: &str| match line.rsplit_once(",\"seq\":") {
        Some((cell, _)) => format!("{cell}}}\n"),
        None => format!("{line}\n"),
    };
    lines.lines().map(cut).collect()
}
