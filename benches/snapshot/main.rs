//! A scan of a snapshot beside HBase's `TableSnapshotScanner`, and its export to Parquet.
//!
//! The snapshot has four regions with three files each, whose rows interleave: cells with rows of 16
//! bytes and values of 100, half of them zeros, plain blocks. HBase makes it, and scans it in one JVM, which has warmed
//! up. Ours are a scan with one thread, with two in the order of the rows, with two that each scan regions of their
//! own, and the export of all raw cells to Parquet (SNAPPY) with one thread.
//!
//! All files are in the page cache. HBase's time does not include the copy of the manifest that its scanner makes
//! beforehand; ours includes the opening of the snapshot. Every pass counts cells and bytes, and a pass that is not
//! timed compares a checksum of all cells.
//!
//! Run with `cargo bench -p benches --bench snapshot`; it needs what `tests/hbase-judge/README.md` names. The variable
//! `SIZE` sets the number of cells, two million without it.
#![expect(clippy::print_stdout, reason = "the figure of HBase stands beside ours")]

mod measure;

use std::path::Path;

use criterion::{Criterion, Throughput};
use serde_json::Value;
use support::judge;
use workload::median;

use measure::Work;

const NAME: &str = "bench";
const VALUE_LEN: u64 = 100;
/// Passes of HBase that are not timed: its compiler is done after four.
const WARM_UP_PASSES: usize = 6;
const PASSES: usize = 9;

fn main() {
    let mut criterion = Criterion::default().sample_size(10).configure_from_args();
    let cells = workload::size(2_000_000);
    let place = tempfile::tempdir().expect("there is a place for files");
    let root = place.path().join("root");
    let name = root.to_str().expect("the name is text");
    make(name, cells);
    check(name, cells);
    ask_hbase(name, WARM_UP_PASSES);
    let million_cells = cells as f64 / 1e6;
    println!("TableSnapshotScanner: {:.2} M cells/s", million_cells / ask_hbase(name, PASSES));
    let mut group = criterion.benchmark_group("snapshot");
    group.throughput(Throughput::Elements(cells));
    for work in Work::ALL {
        let count = work.pass(&root, place.path());
        group.bench_function(work.name(), |bencher| {
            bencher.iter(|| assert_eq!(work.pass(&root, place.path()), count));
        });
    }
    group.finish();
    criterion.final_summary();
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
