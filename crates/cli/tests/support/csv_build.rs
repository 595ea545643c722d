//! Builds one file from CSV, or checks the refusal. A module of the tests of `cli`.
#![allow(dead_code, reason = "each test uses some of the helpers")]

use std::fs;

use tempfile::TempDir;

use crate::command_line::{Printed, directory, entries, path, stdout, tells};

/// A timestamp for all cells.
pub(crate) const AT_5: [&str; 2] = ["--timestamp", "5"];

/// Returns a directory that contains `in.csv`, and the path of that file.
pub(crate) fn with_csv(csv: impl AsRef<[u8]>) -> (TempDir, String) {
    let directory = directory();
    let input = path(&directory, "in.csv");
    fs::write(&input, csv).expect("writable");
    (directory, input)
}

/// Builds one file from CSV and returns its cells as text, without the lengths that `cat` prints.
pub(crate) fn cells(csv: impl AsRef<[u8]>, options: &[&str]) -> Vec<String> {
    let (directory, input) = with_csv(csv);
    let output = path(&directory, "out.hfile");
    stdout(&[&["build", "--from", "csv", &input, "--output", &output], options].concat());
    shown(&output)
}

/// Returns the cells of a file as text, without the lengths that `cat` prints.
pub(crate) fn shown(file: &str) -> Vec<String> {
    let all = stdout(&["cat", file]);
    let line = |line: &str| {
        let (key, value) = line.split_once("/Put/vlen=").expect("a put");
        let value = value.split_once(" V: ").expect("a value").1;
        format!("{} {value}", key.trim_start_matches("K: "))
    };
    all.lines().map(line).collect()
}

/// Runs a build that must exit with this status and leave no file, and returns its stderr.
#[track_caller]
pub(crate) fn refusal(status: i32, csv: impl AsRef<[u8]>, options: &[&str]) -> Printed {
    let (directory, input) = with_csv(csv);
    let output = path(&directory, "out.hfile");
    let build = ["build", "--from", "csv", &input, "--output", &output];
    let mut told = tells(status, &[&build[..], options].concat());
    assert_eq!(entries(&directory), 1, "{}: a file is left", told.text);
    assert!(!told.text.contains("out.hfile"), "the message names the output: {}", told.text);
    told.text = told.text.replace(&input, "in.csv");
    told
}
