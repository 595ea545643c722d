//! `hfile store`: the verbs that change a value by what it is, and those that take a store elsewhere.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn hfile(directory: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hfile"));
    command.args(args).current_dir(directory).output().expect("the binary runs")
}

/// What it prints, with status 0.
fn store(directory: &Path, args: &[&str]) -> String {
    let output = hfile(directory, &[&["store"], args].concat());
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("output is text")
}

#[test]
fn numbers_are_added_to_and_bytes_put_behind_what_is_there() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    store(directory, &["create", "s", "f"]);
    assert_eq!(store(directory, &["increment", "s", "f", "page", "visits"]), "1\n");
    assert_eq!(store(directory, &["increment", "s", "f", "page", "visits", "--amount=-5"]), "-4\n");
    for suffix in ["Ada", " Lovelace"] {
        store(directory, &["append", "s", "f", "row1", "name", suffix]);
    }
    assert!(store(directory, &["get", "s", "row1"]).contains("V: Ada Lovelace"));
    let refused = hfile(directory, &["store", "increment", "s", "f", "row1", "name"]);
    assert_eq!(refused.status.code(), Some(3), "twelve bytes are no number");
    assert!(store(directory, &["get", "s", "row1"]).contains("V: Ada Lovelace"));
}

#[test]
fn a_checkpoint_is_a_store_of_its_own_and_an_export_is_cut_at_its_splits() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    store(directory, &["create", "s", "f"]);
    for row in ["a", "m", "z"] {
        store(directory, &["append", "s", "f", row, "q", "before"]);
    }
    store(directory, &["checkpoint", "s", "backup"]);
    store(directory, &["append", "s", "f", "a", "q", ", after"]);
    assert!(store(directory, &["get", "s", "a"]).contains("V: before, after"));
    assert!(store(directory, &["get", "backup", "a"]).ends_with("V: before\n"));

    let said = store(directory, &["export", "s", "out", "--splits", "m", "--table", "t"]);
    assert!(said.contains("completebulkload") && said.trim_end().ends_with("out t"), "{said}");
    let files = fs::read_dir(directory.join("out/f")).expect("the family has a directory");
    let mut rows: Vec<String> = files
        .map(|file| {
            let path = file.expect("it is there").path();
            let cells = hfile(directory, &["cat", path.to_str().expect("text"), "--format", "csv"]);
            let cells = String::from_utf8(cells.stdout).expect("output is text");
            cells.lines().skip(1).map(|line| &line[..1]).collect()
        })
        .collect();
    rows.sort();
    assert_eq!(rows, ["a", "mz"], "a file for each region");
    let again = hfile(directory, &["store", "export", "s", "out"]);
    assert!(!again.status.success(), "files that are there are not written over");
}
