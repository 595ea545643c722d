//! `hfile build --sort`: sorts any number of cells in bounded memory.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Output};

use crate::command_line::{command, text};

/// Runs `hfile`, which sorts in the directory `scratch`.
fn hfile(directory: &Path, scratch: &Path, args: &[&str]) -> Output {
    command(args).current_dir(directory).env("TMPDIR", scratch).output().expect("the binary runs")
}

fn build(directory: &Path, scratch: &Path, output: &str, options: &[&str]) -> Output {
    let args = ["build", "--from", "csv", "cells.csv", "--output", output, "--create-time", "1"];
    hfile(directory, scratch, &[&args[..], options].concat())
}

/// Writes unordered rows, some twice with another value.
fn write_cells(directory: &Path) {
    let mut csv = "row,family,qualifier,ts,type,value,seq\n".to_owned();
    for number in 0..20_000_u64 {
        let row = number * 7919 % 9973;
        let (column, sequence_id) = (row % 3, number % 2);
        writeln!(csv, "row{row:05},f,q{column},5,Put,value{number},{sequence_id}").expect("memory");
    }
    std::fs::write(directory.join("cells.csv"), csv).expect("the directory is ours");
}

/// Includes runs that are merged in several passes.
#[test]
fn sorting_in_runs_equals_sorting_in_memory() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let scratch = tempfile::tempdir().expect("a place for runs");
    let (directory, scratch) = (directory.path(), scratch.path());
    write_cells(directory);
    for (output, options) in [
        ("memory", &["--sort"][..]),
        ("runs", &["--sort", "--sort-memory", "100KiB"]),
        ("one-pass", &["--sort", "--sort-memory", "10KiB"]),
        ("two-passes", &["--sort", "--sort-memory", "300"]),
    ] {
        let done = build(directory, scratch, output, options);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    let read = |name| std::fs::read(directory.join(name)).expect("it was written");
    assert!(read("memory").len() > 400_000);
    for other in ["runs", "one-pass", "two-passes"] {
        assert!(read("memory") == read(other), "{other}: other bytes");
    }
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
fn runs_are_written() {
    let directory = tempfile::tempdir().expect("a place for the test");
    write_cells(directory.path());
    let nowhere = directory.path().join("nowhere");
    let failed = build(directory.path(), &nowhere, "never", &["--sort", "--sort-memory", "100KiB"]);
    assert_eq!(failed.status.code(), Some(3), "there is no place for runs");
    let done = build(directory.path(), &nowhere, "memory", &["--sort"]);
    assert!(done.status.success(), "none is needed");
}

#[test]
fn runs_are_written_to_the_given_directory() {
    let directory = tempfile::tempdir().expect("a place for the test");
    write_cells(directory.path());
    let (elsewhere, nowhere) =
        (directory.path().join("elsewhere"), directory.path().join("nowhere"));
    std::fs::create_dir(&elsewhere).expect("the directory is ours");
    for (place, status) in [("elsewhere", 0), ("nowhere", 3)] {
        let options = ["--force", "--sort", "--sort-memory", "100KiB", "--sort-directory", place];
        let ended = build(directory.path(), &nowhere, "out", &options);
        assert_eq!(ended.status.code(), Some(status), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    assert_eq!(std::fs::read_dir(elsewhere).expect("it is there").count(), 0);
}

/// The number of open files does not depend on the number of runs.
#[cfg(unix)]
#[test]
fn a_thousand_runs_need_few_open_files() {
    let directory = tempfile::tempdir().expect("a place for the test");
    write_cells(directory.path());
    let hfile = env!("CARGO_BIN_EXE_hfile");
    let sort = format!(
        "ulimit -n 90; '{hfile}' build --from csv cells.csv --output out --sort --sort-memory 1500"
    );
    let done = Command::new("sh").args(["-c", &sort]).current_dir(directory.path()).output();
    let done = done.expect("there is a shell");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Cells that differ only in tags or sequence id are all kept.
#[test]
fn cells_keep_their_tags_and_sequence_ids_in_runs() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let scratch = tempfile::tempdir().expect("a place for runs");
    let lines: Vec<String> = (0..300)
        .map(|number| {
            format!(
                "{{\"row\":\"{:02x}\",\"family\":\"66\",\"qualifier\":\"\",\"ts\":1,\"type\":\"Put\",\
                 \"value\":\"{number:04x}\",\"tags\":[{{\"type\":9,\"value\":\"{number:04x}\"}}],\
                 \"seq\":{number}}}\n",
                number * 37 % 100
            )
        })
        .collect();
    let mut sorted: Vec<usize> = (0..300).collect();
    sorted.sort_by_key(|number| (number * 37 % 100, std::cmp::Reverse(*number)));
    let sorted: String = sorted.into_iter().map(|number| &*lines[number]).collect();
    std::fs::write(directory.path().join("cells"), lines.concat()).expect("it is ours");
    let (directory, scratch) = (directory.path(), scratch.path());
    let build = ["build", "--from", "cells", "cells", "--output", "out", "--includes-tags", "true"];
    let sort = ["--sort", "--sort-memory", "2KiB"];
    assert!(hfile(directory, scratch, &[&build[..], &sort].concat()).status.success());
    let shown = hfile(directory, scratch, &["cat", "--format", "cells", "out"]).stdout;
    assert_eq!(String::from_utf8_lossy(&shown), sorted);
}

/// The input is a history, such as the output of `hfile wal cat`: HBase keeps the cell that was written last. A
/// file shows the first of its equal cells.
#[test]
fn of_cells_with_equal_keys_the_later_line_comes_first() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let scratch = tempfile::tempdir().expect("a place for runs");
    let (directory, scratch) = (directory.path(), scratch.path());
    let mut csv = "row,family,qualifier,ts,type,value,seq\n".to_owned();
    for number in 0..1000 {
        let sequence_id = if number == 53 { 9 } else { 7 };
        writeln!(csv, "row{:02},f,q,5,Put,{number},{sequence_id}", number % 50).expect("memory");
    }
    std::fs::write(directory.join("cells.csv"), csv).expect("the directory is ours");
    for (output, options) in [
        ("memory", &["--sort"][..]),
        ("runs", &["--sort", "--sort-memory", "10KiB"]),
        ("passes", &["--sort", "--sort-memory", "300"]),
    ] {
        let done = build(directory, scratch, output, options);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let cells = text(&hfile(directory, scratch, &["cat", "--format", "csv", output]).stdout);
        let of_row = |row: &str| {
            let lines = cells.lines().filter(|line| line.starts_with(row));
            lines.map(|line| line.split(',').nth(5).expect("a value").to_owned()).collect()
        };
        let row: Vec<String> = of_row("row01,");
        let expected: Vec<String> =
            (0..20).rev().map(|number| (number * 50 + 1).to_string()).collect();
        assert_eq!(row, expected, "{output}");
        // Sequence ids come before the order of the lines.
        let row: Vec<String> = of_row("row03,");
        assert_eq!(row[..3], ["53", "953", "903"], "{output}");
    }
}
