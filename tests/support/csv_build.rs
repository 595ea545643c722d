//! Builds one file of CSV, or sees it refused. A module of the tests of `cli`.
#![allow(dead_code, reason = "not every test needs everything")]

use std::fs;

use tempfile::TempDir;

use crate::command_line::{directory, entries, failure, path, stdout};

/// A timestamp for all cells.
pub(crate) const AT_5: [&str; 2] = ["--timestamp", "5"];

/// A directory with `in.csv`.
pub(crate) fn with_csv(csv: impl AsRef<[u8]>) -> (TempDir, String) {
    let directory = directory();
    let input = path(&directory, "in.csv");
    fs::write(&input, csv).expect("disk takes it");
    (directory, input)
}

/// Builds one file of CSV and gives its cells as text, without what `cat` says of lengths.
pub(crate) fn cells(csv: impl AsRef<[u8]>, options: &[&str]) -> Vec<String> {
    let (directory, input) = with_csv(csv);
    let output = path(&directory, "out.hfile");
    stdout(&[&["build", "--from", "csv", &input, "--output", &output], options].concat());
    shown(&output)
}

/// The cells of a file as text, without what `cat` says of lengths.
pub(crate) fn shown(file: &str) -> Vec<String> {
    let all = stdout(&["cat", file]);
    let line = |line: &str| {
        let (key, value) = line.split_once("/Put/vlen=").expect("a put");
        let value = value.split_once(" V: ").expect("a value").1;
        format!("{} {value}", key.trim_start_matches("K: "))
    };
    all.lines().map(line).collect()
}

/// Builds a file that cannot be built, leaves nothing behind, and gives what was said.
pub(crate) fn refusal(csv: impl AsRef<[u8]>, options: &[&str]) -> (i32, String) {
    let (directory, input) = with_csv(csv);
    let output = path(&directory, "out.hfile");
    let (status, said) =
        failure(&[&["build", "--from", "csv", &input, "--output", &output], options].concat());
    assert_eq!(entries(&directory), 1, "{said}: something is left");
    assert!(!said.contains("out.hfile"), "the output is not at fault: {said}");
    (status, said.replace(&input, "in.csv"))
}
