//! Reads that have much to pass, beside the same reads with nothing to pass: an old snapshot beside newer
//! rows, a row that was overwritten often and not flushed, and columns named in descending order.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput};
use store::{Durability, Get, Put, Scan, Snapshot, Store, WriteBatch};

use crate::{FAMILY, QUALIFIER, VALUE_LEN, in_memory};

/// Rows per batch of a fill.
const BATCH: u64 = 1_000;

pub(crate) fn run(criterion: &mut Criterion) {
    let rows = workload::size(1_000_000);
    let mut group = criterion.benchmark_group("hard-reads");
    old_snapshots(&mut group, rows);
    let directory = tempfile::tempdir().expect("there is a place for files");
    let store = in_memory(directory.path());
    overwritten(&mut group, &store, rows / 10);
    named_columns(&mut group, &store, rows / 10);
}

/// Scans of a snapshot without and with newer rows: 1.6 times as many, among the old rows or behind them.
fn old_snapshots(group: &mut BenchmarkGroup<'_, WallTime>, rows: u64) {
    for (place, prefix) in [("among", "user"), ("behind", "users")] {
        let directory = tempfile::tempdir().expect("there is a place for files");
        let store = in_memory(directory.path());
        fill(&store, "user", rows);
        let snapshot = store.snapshot();
        scans(group, &snapshot, rows, &format!("none yet {place} them"));
        fill(&store, prefix, rows * 8 / 5);
        scans(group, &snapshot, rows, &format!("newer rows {place} them"));
    }
}

fn scans(group: &mut BenchmarkGroup<'_, WallTime>, snapshot: &Snapshot, rows: u64, what: &str) {
    for (name, count, scan) in [
        ("all rows", rows, Scan::family(FAMILY)),
        ("all rows, backwards", rows, Scan::family(FAMILY).reverse(true)),
        ("the last row", 1, Scan::family(FAMILY).start(row("user", rows - 1, rows))),
    ] {
        group.throughput(Throughput::Elements(count));
        group.bench_function(format!("{name} of an old snapshot, {what}"), |bencher| {
            bencher.iter(|| {
                let mut cells = snapshot.scan(scan.clone()).expect("sound");
                let mut shown = 0;
                while cells.next_ref().expect("sound").is_some() {
                    shown += 1;
                }
                assert_eq!(shown, count);
            });
        });
    }
}

/// A get of a row whose one column was overwritten, and of a row that was written once.
fn overwritten(group: &mut BenchmarkGroup<'_, WallTime>, store: &Store, times: u64) {
    for _ in 0..times {
        put(store, "hot");
    }
    put(store, "cold");
    group.throughput(Throughput::Elements(1));
    for (row, times) in [("cold", 1), ("hot", times)] {
        let get = Get::row(row);
        group.bench_function(format!("a row that was written {times} times"), |bencher| {
            bencher.iter(|| assert_eq!(store.get(&get).expect("sound").len(), 1));
        });
    }
}

/// Gets that name columns in ascending and in descending order; the row has none of them.
fn named_columns(group: &mut BenchmarkGroup<'_, WallTime>, store: &Store, columns: u64) {
    let ascending: Vec<_> = (0..columns).map(|number| format!("{number:08}")).collect();
    let descending: Vec<_> = ascending.iter().rev().cloned().collect();
    group.throughput(Throughput::Elements(columns));
    for (order, names) in [("ascending", ascending), ("descending", descending)] {
        group.bench_function(format!("{columns} columns in {order} order"), |bencher| {
            bencher.iter(|| {
                let get = names.iter().fold(Get::row("cold"), |get, name| get.column(FAMILY, name));
                assert!(store.get(&get).expect("sound").is_empty());
            });
        });
    }
}

fn put(store: &Store, row: &str) {
    let put = Put::new(row).column(FAMILY, QUALIFIER, [b'v'; VALUE_LEN]);
    store.write(put, Durability::Skip).expect("there is memory");
}

/// Writes rows that are evenly spread among all row numbers.
fn fill(store: &Store, prefix: &str, rows: u64) {
    for first in (0..rows).step_by(BATCH as usize) {
        let mut batch = WriteBatch::new();
        for number in first..rows.min(first + BATCH) {
            let put = Put::new(row(prefix, number, rows));
            batch.put(put.column(FAMILY, QUALIFIER, [b'v'; VALUE_LEN]));
        }
        store.write(batch, Durability::Skip).expect("there is memory");
    }
}

fn row(prefix: &str, number: u64, rows: u64) -> String {
    format!("{prefix}{:016}-{rows}", u128::from(number) * 1_000_000_000_000 / u128::from(rows))
}
