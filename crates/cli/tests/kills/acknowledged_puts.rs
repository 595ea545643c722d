//! `hfile store put` is killed with SIGKILL: the store then holds every acknowledged cell, and a
//! prefix of the cells in the order of their writes, in whole batches.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use support::cells::put_line;
use tempfile::TempDir;

const KILLS: u64 = 20;
const BATCH: u64 = 7;

fn hfile(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hfile"));
    command.args(args);
    command
}

fn run(args: &[&str]) -> String {
    let output = hfile(args).output().expect("the binary runs");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "hfile {args:?}: {message}");
    String::from_utf8(output.stdout).expect("output is text")
}

/// Creates a store in a new directory; returns the directory and the path of the store.
fn new_store() -> (TempDir, String) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let store = directory.path().join("store").to_str().expect("text").to_owned();
    run(&["store", "create", &store, "f"]);
    (directory, store)
}

/// Returns cell `number`, in its own row, so that the rows of the store tell which were written.
fn cell(number: u64) -> String {
    let value = "v".repeat(100 + (number % 400) as usize);
    put_line(&format!("{number:08}"), "q", number, &value)
}

/// Puts cells from `first` on and kills the process after some acknowledgements.
///
/// Returns the number of acknowledged cells.
fn put_and_kill(store: &str, first: u64, acknowledgements: u64, delay: Duration) -> u64 {
    let batch = BATCH.to_string();
    let put = ["store", "put", store, "f", "--from", "cells", "-", "--ack", "--batch", &batch];
    let mut child =
        hfile(&put).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary runs");
    let mut stdin = child.stdin.take().expect("piped");
    let feeder = std::thread::spawn(move || {
        // Ends with the process, because writing to a pipe without a reader fails.
        let _ = (first..).try_for_each(|number| stdin.write_all(cell(number).as_bytes()));
    });
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    let mut last = 0;
    let mut line = String::new();
    for _ in 0..acknowledgements {
        last = read_acknowledgement(&mut output, &mut line).unwrap_or(last);
    }
    std::thread::sleep(delay);
    kill(&mut child);
    // Acknowledgements that were printed before the kill count too.
    while let Some(more) = read_acknowledgement(&mut output, &mut line) {
        last = more;
    }
    feeder.join().expect("the feeder does not panic");
    last
}

fn read_acknowledgement(output: &mut impl BufRead, line: &mut String) -> Option<u64> {
    line.clear();
    output.read_line(line).ok()?;
    // The kill may cut the last line, which then acknowledges nothing.
    line.strip_prefix("ACK ")?.strip_suffix('\n')?.parse().ok()
}

fn kill(child: &mut Child) {
    // On Unix this is SIGKILL, which a process cannot catch.
    child.kill().expect("it is still running");
    let status = child.wait().expect("a child of this process");
    assert!(!status.success(), "the process ended before the kill");
}

/// Returns the numbers of the cells in the store.
fn numbers(store: &str) -> Vec<u64> {
    run(&["store", "scan", store, "f", "--format", "csv"])
        .lines()
        .skip(1)
        .map(|line| {
            let mut fields = line.split(',');
            let row: u64 = fields.next().expect("a row").parse().expect("a number");
            let timestamp = fields.nth(2).expect("a time");
            let value = fields.nth(1).expect("a value");
            assert_eq!(timestamp.parse(), Ok(row), "the timestamp of row {row}");
            assert_eq!(value.len() as u64, 100 + row % 400, "the value of row {row}");
            row
        })
        .collect()
}

#[test]
fn no_acknowledged_cell_is_lost_when_put_is_killed() {
    let (_directory, store) = new_store();
    let mut written = 0;
    let mut acknowledged_in_all = 0;
    for round in 0..KILLS {
        let delay = Duration::from_micros(round * 137 % 1_900);
        let acknowledged = put_and_kill(&store, written, 1 + round * 11 % 60, delay);
        let found = numbers(&store);
        let sound = found.iter().copied().eq(0..found.len() as u64);
        assert!(sound, "round {round}: the store holds a prefix of the cells");
        let now = found.len() as u64;
        assert!(now >= written + acknowledged, "round {round}: {now} of {written}+{acknowledged}");
        assert_eq!((now - written) % BATCH, 0, "round {round}: every batch is whole");
        written = now;
        acknowledged_in_all += acknowledged;
        if round % 5 == 4 {
            run(&["store", "flush", &store]);
        }
    }
    assert!(acknowledged_in_all > 0);
    println!("{KILLS} kills: 0 of {acknowledged_in_all} acknowledged cells lost");
}

#[test]
fn a_killed_flush_or_compaction_loses_nothing() {
    let (directory, store) = new_store();
    let cells = directory.path().join("cells");
    let count = 6_000;
    write_cells(&cells, count);
    let expected: Vec<u64> = (0..count).collect();
    run(&["store", "put", &store, "f", "--from", "cells", cells.to_str().expect("text")]);
    let whole = Instant::now();
    run(&["store", "compact", &store, "--major"]);
    let whole = whole.elapsed();
    for round in 0..KILLS {
        // The same cells again, so that there is always something to flush and merge.
        run(&["store", "put", &store, "f", "--from", "cells", cells.to_str().expect("text")]);
        let verb: &[&str] =
            if round % 2 == 0 { &["store", "flush"] } else { &["store", "compact", "--major"] };
        let mut child = hfile(verb).arg(&store).spawn().expect("the binary runs");
        // Delays from the start of the command to about its end.
        std::thread::sleep(whole.mul_f64((round + 1) as f64 / KILLS as f64));
        // The process may have ended already; then the kill changes nothing.
        let _ = child.kill();
        let _ = child.wait();
        assert!(numbers(&store) == expected, "round {round}: killed in {verb:?}");
    }
}

fn write_cells(path: &Path, count: u64) {
    let lines: String = (0..count).map(cell).collect();
    std::fs::write(path, lines).expect("writable");
}
