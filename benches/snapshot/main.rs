//! A scan of a snapshot beside HBase's `TableSnapshotScanner`, and its export to Parquet.
//!
//! The snapshot has four regions with three files each, whose rows interleave: cells with rows of 16
//! bytes and values of 100, half of them zeros, plain blocks. HBase makes it. Then the sides take turns:
//! `TableSnapshotScanner` in one JVM, which has warmed up; our scan with one thread, with two in the
//! order of the rows, and with two that each scan regions of their own; and the export of all raw cells
//! to Parquet (SNAPPY) with one thread. A ratio is taken in each turn. The median over the turns is
//! printed with the limits of the project.
//!
//! Each of our measurements is a process of its own, so that its peak memory (`VmHWM`) is its own. It
//! reads the snapshot once before the timed passes; all files are in the page cache. HBase's time does
//! not include the copy of the manifest that its scanner makes beforehand; ours includes the opening of
//! the snapshot. Every pass counts cells and bytes, and a pass that is not timed compares a checksum
//! of all cells.
//!
//! Run with `cargo bench -p benches --bench snapshot [-- [CELLS] [DIR]]`; it needs what
//! `tests/hbase-judge/README.md` names. CELLS defaults to two million. The snapshot is made in the
//! directory DIR, and stays there for the next run.
#![expect(clippy::print_stdout, reason = "the program prints a table")]

mod measure;

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use support::judge;
use workload::median;

use measure::{Measured, Work};

const NAME: &str = "bench";
const VALUE_LEN: u64 = 100;
const TURNS: usize = 5;
/// Passes of each side in a turn.
const PASSES: usize = 3;
/// Passes of HBase before the first turn: its compiler is done after four.
const WARM_UP_PASSES: usize = 6;
const MEMORY_MIB_MAX: f64 = 512.0;

/// Seconds of the passes of one turn, and the peak memory of the process in MiB.
struct Turn {
    hbase: f64,
    /// In the order of [`Work::ALL`].
    ours: [Measured; 4],
}

fn main() {
    let arguments: Vec<_> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [mode, work, root] = &arguments[..]
        && mode == "measure"
    {
        let work = Work::from_name(work).expect("the program calls itself");
        println!("{}", measure::run(work, Path::new(root)));
        return;
    }
    let cells =
        arguments.iter().find_map(|argument| argument.parse::<u64>().ok()).unwrap_or(2_000_000);
    let place = tempfile::tempdir().expect("there is a place for files");
    let root = arguments.iter().find(|argument| argument.parse::<u64>().is_err());
    let root = root.map_or_else(|| place.path().join("root"), Into::into);
    let root = root.to_str().expect("the name is text");
    if !Path::new(root).exists() {
        make(root, cells);
    }
    check(root, cells);
    ask_hbase(root, WARM_UP_PASSES);
    let turns = [(); TURNS].map(|()| Turn {
        hbase: ask_hbase(root, PASSES),
        ours: Work::ALL.map(|work| in_process(work, root)),
    });
    print(cells, &turns);
}

fn make(root: &str, cells: u64) {
    eprintln!("HBase makes a snapshot of {cells} cells in {root}");
    let cells = cells.to_string();
    let made = judge::ask_alone(&["make-bench-snapshot", root, "--cells", &cells]);
    let made = made.expect("HBase finishes");
    assert_eq!(made["ok"], true, "{made:#}");
}

/// Checks that both sides read the same cells.
fn check(root: &str, cells: u64) {
    let answer = judge::ask(&["bench-snapshot", root, NAME, "--passes", "1", "--checksum"]);
    assert_eq!(answer["ok"], true, "{answer:#}");
    let count = answer["cells"].as_u64().expect("a count");
    assert_eq!(count, cells, "{root} has another snapshot; remove it, or name another directory");
    for threads in [1, 2] {
        let crc_sum = measure::crc_sum(Path::new(root), threads);
        assert_eq!(Value::from(crc_sum), answer["crcSum"], "the cells differ");
    }
}

/// Returns the median seconds of HBase's passes.
fn ask_hbase(root: &str, passes: usize) -> f64 {
    let answer = judge::ask(&["bench-snapshot", root, NAME, "--passes", &passes.to_string()]);
    assert_eq!(answer["ok"], true, "{answer:#}");
    let seconds = answer["seconds"].as_array().expect("a pass has seconds");
    median(seconds.iter().map(|value| value.as_f64().expect("a number")))
}

/// Runs this program for one measurement.
fn in_process(work: Work, root: &str) -> Measured {
    let program = std::env::current_exe().expect("the system knows it");
    let output = Command::new(program)
        .args(["measure", work.name(), root])
        .stderr(Stdio::inherit())
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{} failed", work.name());
    let text = String::from_utf8(output.stdout).expect("text");
    let measured = Measured::from_text(&text).expect("a line of figures");
    assert!(measured.memory_mib < MEMORY_MIB_MAX, "{}: {measured:?}", work.name());
    measured
}

fn print(cells: u64, turns: &[Turn; TURNS]) {
    let [one, two, regions, export] = [0, 1, 2, 3];
    let of_turns = |figure: &dyn Fn(&Turn) -> f64| median(turns.iter().map(figure));
    let millions = cells as f64 / 1e6;
    let memory = |work: usize| {
        let mib = turns.iter().map(|turn| turn.ours[work].memory_mib);
        mib.fold(0.0, f64::max)
    };
    let seconds = |work: usize| of_turns(&|turn: &Turn| turn.ours[work].seconds);
    let cpu = |work: usize| of_turns(&|turn: &Turn| turn.ours[work].cpu_seconds);
    println!("| | M cells/s | CPU ns a cell | peak MiB |\n|---|--:|--:|--:|");
    let hbase = of_turns(&|turn: &Turn| turn.hbase);
    println!("| TableSnapshotScanner | {:.2} | | |", millions / hbase);
    for (work, name) in [
        (one, "scan, one thread"),
        (two, "scan, two threads"),
        (regions, "scan, two threads by region"),
        (export, "Parquet, one thread"),
    ] {
        println!(
            "| {name} | {:.2} | {:.0} | {:.0} |",
            millions / seconds(work),
            cpu(work) * 1e3 / millions,
            memory(work)
        );
    }
    println!();
    let over_hbase = of_turns(&|turn: &Turn| turn.hbase / turn.ours[one].seconds);
    let over_one =
        |work: usize| of_turns(&|turn: &Turn| turn.ours[one].seconds / turn.ours[work].seconds);
    let memory = [one, two, regions, export].map(memory).into_iter().fold(0.0, f64::max);
    let verdict = |is_held: bool| if is_held { "held" } else { "NOT held" };
    for (what, found, limit) in [
        ("scan with one thread over HBase's", over_hbase, 2.5),
        ("scan with two threads over one", over_one(two), 1.6),
        ("scan with two threads by region over one", over_one(regions), 1.6),
        ("M cells/s of a core to Parquet", millions / cpu(export), 1.0),
    ] {
        println!("* {what}: {found:.2}; at least {limit}: {}", verdict(found >= limit));
    }
    println!(
        "* peak memory: {memory:.0} MiB; at most {MEMORY_MIB_MAX:.0}: {}",
        verdict(memory <= MEMORY_MIB_MAX)
    );
}
