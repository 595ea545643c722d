//! Builds one file from CSV, or checks the refusal. A module of the tests of `cli`.
#![allow(dead_code, reason = "each test uses some of the helpers")]

use std::fs;

use tempfile::TempDir;

use crate::command_line::{directory, entries, failure, path, stdout};

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

/// Checks that a build fails and leaves no file; returns its status and error output.
pub(crate) fn refusal(csv: impl AsRef<[u8]>, options: &[&str]) -> (i32, String) {
    let (directory, input) = with_csv(csv);
    let output = path(&directory, "out.hfile");
    let (status, message) =
        failure(&[&["build", "--from", "csv", &input, "--output", &output], options].concat());
    assert_eq!(entries(&directory), 1, "{message}: a file is left");
    assert!(!message.contains("out.hfile"), "the message names the output: {message}");
    (status, message.replace(&input, "in.csv"))
}
