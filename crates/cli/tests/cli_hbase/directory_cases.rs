//! The cases of `support/directory_cases.rs` through scan, get, export and verify.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use support::directory_cases::{DirectoryCase, Outcome, cases, without_sequence};

use crate::command_line::{hfile, text};

/// About how many rows are got of each case.
const ROWS_MAX: usize = 60;

/// A case, its copy of the root directory and its cells.
struct Run<'c> {
    case: &'c DirectoryCase,
    root: &'c str,
    cells: &'c str,
}

impl Run<'_> {
    /// Runs a verb on the table or snapshot, with the options of a read of its cells.
    fn read(&self, verb: &str, args: &[&str]) -> Output {
        let now = self.case.now().to_string();
        let with_logs = self.case.place.with_logs.then_some("--with-wal");
        let options = [&["--now", &now][..], with_logs.as_slice(), args].concat();
        self.verb(verb, &options)
    }

    fn verb(&self, verb: &str, args: &[&str]) -> Output {
        let noun = if self.case.place.is_snapshot { "snapshot" } else { "table" };
        hfile(&[&[noun, verb, "--root", self.root, self.case.place.name][..], args].concat())
    }

    /// Checks what a door says; `cells` are those that it printed or wrote.
    fn check(&self, door: &str, output: &Output, cells: impl FnOnce() -> String) {
        let name = self.case.name;
        let (code, told) = (output.status.code(), text(&output.stderr));
        match self.case.outcome {
            Outcome::Cells | Outcome::CellsAndWarning(_) => {
                assert_eq!(code, Some(0), "{door}, {name}: {told}");
                let cells = without_sequence(&cells());
                let counts = (cells.lines().count(), self.cells.lines().count());
                assert!(cells == self.cells, "{door}, {name}: {counts:?} cells: {told}");
            }
            Outcome::Error(_) => assert_ne!(code, Some(0), "{door}, {name}: {told}"),
        }
        match self.case.outcome {
            Outcome::Cells => assert_eq!(told, "", "{door}, {name}"),
            Outcome::CellsAndWarning(wanted) | Outcome::Error(wanted) => {
                assert!(told.contains(wanted), "{door}, {name}: {told:?} lacks {wanted:?}");
            }
        }
    }

    /// Gets about [`ROWS_MAX`] of the rows.
    fn check_get(&self) {
        let mut rows: Vec<String> = self.cells.lines().map(row_of).collect();
        rows.dedup();
        let step = rows.len().div_ceil(ROWS_MAX);
        let rows: Vec<&str> = rows.iter().step_by(step).map(String::as_str).collect();
        let output = self.read("get", &[&["--format", "cells"][..], &rows].concat());
        let is_wanted = |line: &&str| rows.contains(&row_of(line).as_str());
        let cells = self
            .cells
            .lines()
            .filter(is_wanted)
            .fold(String::new(), |cells, line| cells + line + "\n");
        Run { cells: &cells, ..*self }.check("get", &output, || text(&output.stdout));
    }

    fn check_export(&self, directory: &Path) {
        let out = directory.to_str().expect("UTF-8");
        let output = self.read("export", &["--to", "cells", "--output", out, "--json"]);
        self.check("export", &output, || {
            let mut files: Vec<_> = fs::read_dir(directory)
                .expect("made")
                .map(|entry| entry.expect("listed").path())
                .collect();
            files.retain(|path| path.extension().is_some_and(|extension| extension == "ndjson"));
            files.sort();
            files.iter().map(|path| fs::read_to_string(path).expect("text")).collect()
        });
    }

    fn check_verify(&self) {
        let output = self.verb("verify", &[]);
        let (name, said) = (self.case.name, text(&output.stdout) + &text(&output.stderr));
        match self.case.verify {
            None => assert!(
                output.status.success() && said.contains(": sound"),
                "verify, {name}: {said}"
            ),
            Some(wanted) => {
                assert!(said.contains(wanted), "verify, {name}: {said:?} lacks {wanted:?}");
            }
        }
    }
}

/// Returns the row of a line of cells as an argument of `get`.
fn row_of(line: &str) -> String {
    let cell: Value = serde_json::from_str(line).expect("a cell");
    format!("hex:{}", cell["row"].as_str().expect("hex"))
}

#[test]
fn every_verb_returns_the_cells_of_hbase_or_says_what_is_wrong() {
    for case in cases() {
        let copy = case.copy();
        let (path, cells) = (copy.path(), case.cells());
        let run = Run { case, root: path.to_str().expect("UTF-8"), cells: &cells };
        let scanned = run.read("scan", &["--format", "cells"]);
        run.check("scan", &scanned, || text(&scanned.stdout));
        run.check_get();
        run.check_export(&path.with_file_name("exported"));
        run.check_verify();
    }
}

/// A verb that is given directories of store files reads no manifest and no log, but the schema of
/// the table that has them.
#[test]
fn the_schema_of_the_table_says_whether_a_list_of_files_counts_in_its_directories() {
    let case = |name: &str| cases().find(|case| case.name == name).expect("a case");
    let info = |root: &Path, directory: &str| {
        let path = root.join("data/default").join(directory);
        let output = hfile(&["info", "--json", path.to_str().expect("UTF-8")]);
        (output.status.code(), text(&output.stdout).lines().count(), text(&output.stderr))
    };
    let stale = case("a list of files is left in a table that does not use lists").copy();
    let family = "walt/7376d67c7d538f14a61907ae3ff3e36e/f";
    let names = fs::read_dir(stale.path().join("data/default").join(family)).expect("there");
    // All but `.filelist`.
    let files = names.count() - 1;
    assert!(files > 1, "the list has one file");
    let (status, count, told) = info(&stale.path(), family);
    assert_eq!((status, count), (Some(0), files), "{told}");
    let (_, _, told) = info(&stale.path(), "walt");
    assert!(!told.contains("not in the tracker's list"), "{told}");

    let lost = case("a table that lists its files has lost a list").copy();
    for directory in ["t5", "t5/1bc192e1c1ff9049e743103c3534b32c/g"] {
        let (status, _, told) = info(&lost.path(), directory);
        assert_ne!(status, Some(0), "{told}");
        assert!(told.contains("the list of the family's store file tracker is missing"), "{told}");
    }
}
