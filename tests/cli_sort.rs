//! `hfile build --sort`: any amount of cells, in bounded memory.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Output};

fn build(directory: &Path, scratch: &Path, output: &str, options: &[&str]) -> Output {
    let args = ["build", "--from", "csv", "cells.csv", "--output", output, "--create-time", "1"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_hfile"));
    command.args(args).args(options).current_dir(directory).env("TMPDIR", scratch);
    command.output().expect("the binary runs")
}

/// Rows in no order, some of them again with another value, so that equal keys must keep theirs.
fn write_cells(directory: &Path) {
    let mut csv = "row,family,qualifier,ts,type,value,seq\n".to_owned();
    for number in 0..20_000_u64 {
        let row = number * 7919 % 9973;
        let (column, sequence_id) = (row % 3, number % 2);
        writeln!(csv, "row{row:05},f,q{column},5,Put,value{number},{sequence_id}").expect("memory");
    }
    std::fs::write(directory.join("cells.csv"), csv).expect("the directory is ours");
}

#[test]
fn what_is_sorted_in_runs_is_what_is_sorted_in_memory() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let scratch = tempfile::tempdir().expect("a place for runs");
    let (directory, scratch) = (directory.path(), scratch.path());
    write_cells(directory);
    for (output, options) in
        [("memory", &["--sort"][..]), ("runs", &["--sort", "--sort-memory", "100KiB"])]
    {
        let done = build(directory, scratch, output, options);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    let read = |name| std::fs::read(directory.join(name)).expect("it was written");
    assert!(read("memory").len() > 400_000);
    assert!(read("memory") == read("runs"), "other bytes");
    let left = std::fs::read_dir(scratch).expect("it is there").count();
    assert_eq!(left, 0, "runs are left behind");
}

#[test]
fn a_failure_leaves_no_runs_behind() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let scratch = tempfile::tempdir().expect("a place for runs");
    let (directory, scratch) = (directory.path(), scratch.path());
    write_cells(directory);
    let csv = directory.join("cells.csv");
    let mut cells = std::fs::read_to_string(&csv).expect("it was written");
    cells += "row,f,q,not a time,Put,value,1\n";
    std::fs::write(&csv, cells).expect("the directory is ours");
    let failed = build(directory, scratch, "never", &["--sort", "--sort-memory", "100KiB"]);
    assert_eq!(failed.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&failed.stderr).contains("line 20002"));
    assert_eq!(std::fs::read_dir(scratch).expect("it is there").count(), 0);
    assert!(!directory.join("never").exists());
}

#[test]
fn runs_are_really_made() {
    let directory = tempfile::tempdir().expect("a place for the test");
    write_cells(directory.path());
    let nowhere = directory.path().join("nowhere");
    let failed = build(directory.path(), &nowhere, "never", &["--sort", "--sort-memory", "100KiB"]);
    assert_eq!(failed.status.code(), Some(3), "there is no place for runs");
    let done = build(directory.path(), &nowhere, "memory", &["--sort"]);
    assert!(done.status.success(), "none is needed");
}
