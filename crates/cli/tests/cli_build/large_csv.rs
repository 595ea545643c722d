//! `hfile build --from csv` at the size of a real import: memory, speed, and what HBase counts.
//!
//! `.ci/nightly` runs it with ten million rows; `CSV_ROWS` says another number. The rows come through a pipe, so that
//! only temporary files and the table take disk: about 2 GB.

#![cfg(target_os = "linux")]

use std::io::{BufWriter, Read, Write};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use serde_json::Value;
use support::people::{self, Person};
use support::{hex, judge, say};

use crate::command_line::{command, directory, path};

/// What a build may take, whatever its input's size.
const MEMORY_MAX_KIB: u64 = 512 << 10;
/// Coprime to the number of rows, so that every row comes once, in no order.
const STRIDE: u64 = 6_700_417;
const DIGITS: usize = 10;

/// What HBase must count in a family.
#[derive(Default)]
struct Expected {
    cells: u64,
    crc_sum: u64,
}

/// What a process took.
#[derive(Default)]
struct Taken {
    peak_kib: u64,
    cpu_seconds: f64,
    time: Duration,
}

impl Taken {
    /// Takes down what the process has taken so far.
    fn update(&mut self, child: &Child) {
        self.peak_kib = self.peak_kib.max(peak_memory(child).unwrap_or(0));
        self.cpu_seconds = self.cpu_seconds.max(cpu_seconds(child).unwrap_or(0.0));
    }
}

/// The seconds of CPU, in user mode and in the kernel, that a running process has had.
fn cpu_seconds(child: &Child) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
    // The name, in parentheses, may hold anything; the times are the 14th and the 15th word.
    let words = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11).take(2);
    let ticks: Option<Vec<u64>> = words.map(|word| word.parse().ok()).collect();
    Some(ticks?.iter().sum::<u64>() as f64 / 100.0)
}

/// The most memory that a running process has had, in KiB.
fn peak_memory(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

/// Builds region files of that many rows.
fn build(row_count: u64, args: &[&str]) -> (Value, Taken) {
    let begin = Instant::now();
    let mut child = command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut out = BufWriter::with_capacity(1 << 20, child.stdin.take().expect("piped"));
    let writer = thread::spawn(move || {
        writeln!(out, "{}", people::HEADER)?;
        for number in 0..row_count {
            Person::new(number * STRIDE % row_count, DIGITS).write_csv(&mut out)?;
        }
        out.flush()
    });
    let mut taken = Taken::default();
    let status = loop {
        taken.update(&child);
        match child.try_wait().expect("it is ours") {
            Some(status) => break status,
            None => thread::sleep(Duration::from_millis(5)),
        }
    };
    taken.time = begin.elapsed();
    writer.join().expect("no panic").expect("the build reads all of it");
    assert!(status.success(), "{status}");
    let mut report = String::new();
    child.stdout.take().expect("piped").read_to_string(&mut report).expect("text");
    (serde_json::from_str(&report).expect("one object"), taken)
}

/// The expected counts and checksums of each family for `row_count` rows, in the order of [`FAMILIES`].
fn expected(row_count: u64) -> [Expected; 2] {
    let mut families = [Expected::default(), Expected::default()];
    let mut bytes = Vec::new();
    for number in 0..row_count {
        Person::new(number, DIGITS).cells(|cell| {
            let index = usize::from(cell.family != FAMILIES[0].as_bytes());
            bytes.clear();
            bytes.extend_from_slice(cell.row);
            bytes.extend_from_slice(cell.qualifier);
            bytes.extend_from_slice(&cell.timestamp.get().to_be_bytes());
            bytes.extend_from_slice(cell.value);
            families[index].cells += 1;
            families[index].crc_sum += u64::from(support::crc32(&bytes));
        });
    }
    families
}

const FAMILIES: [&str; 2] = ["info", "stat"];

#[test]
#[ignore = "takes minutes; .ci/nightly runs it"]
fn a_running_hbase_counts_every_row_of_a_large_csv_built_in_little_memory() {
    let row_count = env::var("CSV_ROWS").map_or(10_000_000, |text| text.parse().expect("a number"));
    assert_ne!(row_count % STRIDE, 0, "the stride must be coprime to the number of rows");
    let directory = directory();
    let out = path(&directory, "out");
    let splits =
        [1, 2, 3].map(|part| format!("row{:0digits$}", row_count * part / 4, digits = DIGITS));
    let joined = splits.join(",");
    let temporary = directory.path().to_str().expect("text");
    let build_args = ["build", "--from", "csv", "-", "--output", &out, "--json", "--sort"];
    let more = ["--sort-directory", temporary, "--splits", &joined];
    let (report, taken) = build(row_count, &[&build_args[..], &more, &people::OPTIONS].concat());
    assert_eq!(report["cells"], 3 * row_count);
    let Taken { peak_kib, cpu_seconds, time } = taken;
    let seconds = time.as_secs_f64();
    say(&format!(
        "hfile build: {row_count} rows in {seconds:.1} s, {:.0} rows/s; {cpu_seconds:.1} s of CPU, {:.0} rows/s of \
         CPU; at most {} MiB of memory",
        row_count as f64 / seconds,
        row_count as f64 / cpu_seconds,
        peak_kib >> 10
    ));
    assert!(peak_kib > 0 && peak_kib <= MEMORY_MAX_KIB, "{peak_kib} KiB");

    if !judge::is_enabled("a large CSV") {
        return;
    }
    let splits = splits.map(|row| hex(row.as_bytes())).join(",");
    for (family, expected) in FAMILIES.into_iter().zip(expected(row_count)) {
        let [rows, sum] = [row_count, expected.crc_sum].map(|number| number.to_string());
        let load = ["bulkload", &out, "--family", family, "--splits", &splits, "--count"];
        let answer =
            judge::ask(&[&load[..], &["--expect-rows", &rows, "--expect-crc-sum", &sum]].concat());
        assert_eq!(answer["ok"], true, "{answer:#}");
        assert_eq!(answer["count"]["cells"], expected.cells, "{answer:#}");
        say(&format!("HBase, family {family}: {}", answer["count"]));
    }
}
