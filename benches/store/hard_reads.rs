//! Reads that have much to pass, beside the same reads with nothing to pass: an old snapshot beside newer
//! rows, a row that was overwritten often and not flushed, and columns named in descending order.
//!
//! The table has the nanoseconds a row, or a named column, and the ratio; medians of the rounds.

use std::path::Path;

use store::{Durability, FamilyOptions, Get, Put, Scan, Snapshot, Store, WriteBatch};
use workload::unmerged;

use crate::backwards::time;
use crate::{FAMILY, QUALIFIER, VALUE_LEN};

/// Rows per batch of a fill.
const BATCH: u64 = 1_000;

pub(crate) fn run(rows: u64) {
    println!("| read | easy, ns | hard, ns | ratio |\n|---|--:|--:|--:|");
    old_snapshots(rows);
    let directory = tempfile::tempdir().expect("there is a place for files");
    let store = new_store(directory.path());
    overwritten(&store, rows / 10);
    named_columns(&store, rows / 10);
}

fn print(name: &str, easy: f64, hard: f64) {
    println!("| {name} | {easy:.0} | {hard:.0} | {:.2} |", hard / easy);
}

/// Scans of a snapshot without and with newer rows: 1.6 times as many, among the old rows or behind them.
fn old_snapshots(rows: u64) {
    let newer = rows * 8 / 5;
    for (place, prefix) in [("among", "user"), ("behind", "users")] {
        let directory = tempfile::tempdir().expect("there is a place for files");
        let store = new_store(directory.path());
        fill(&store, "user", rows);
        let snapshot = store.snapshot();
        let scans = [
            ("all rows", rows, Scan::family(FAMILY)),
            ("all rows, backwards", rows, Scan::family(FAMILY).reverse(true)),
            ("the last row", 1, Scan::family(FAMILY).start(row("user", rows - 1, rows))),
        ];
        let easy = scans.clone().map(|(_, count, scan)| time_of(&snapshot, &scan, count));
        fill(&store, prefix, newer);
        for ((name, count, scan), easy) in scans.into_iter().zip(easy) {
            let name = format!("{name} of an old snapshot, {newer} newer rows {place} them");
            print(&name, easy, time_of(&snapshot, &scan, count));
        }
    }
}

fn time_of(snapshot: &Snapshot, scan: &Scan, count: u64) -> f64 {
    time(count as usize, || {
        let mut cells = snapshot.scan(scan.clone()).expect("sound");
        let mut shown = 0;
        while cells.next_ref().expect("sound").is_some() {
            shown += 1;
        }
        assert_eq!(shown, count);
    })
}

/// A get of a row whose one column was overwritten, and of a row that was written once.
fn overwritten(store: &Store, times: u64) {
    for _ in 0..times {
        put(store, "hot");
    }
    put(store, "cold");
    let [easy, hard] = ["cold", "hot"].map(|row| {
        let get = Get::row(row);
        time(100, || (0..100).for_each(|_| assert_eq!(store.get(&get).expect("sound").len(), 1)))
    });
    print(&format!("a row that was overwritten {times} times"), easy, hard);
}

/// Gets that name columns in ascending and in descending order; the row has none of them.
fn named_columns(store: &Store, columns: u64) {
    let names = || (0..columns).map(|number| format!("{number:08}"));
    let ascending: Vec<_> = names().collect();
    let descending: Vec<_> = names().rev().collect();
    let [easy, hard] = [ascending, descending].map(|names| {
        time(columns as usize, || {
            let get = names.iter().fold(Get::row("cold"), |get, name| get.column(FAMILY, name));
            assert!(store.get(&get).expect("sound").is_empty());
        })
    });
    print(&format!("{columns} columns in descending order, a column"), easy, hard);
}

fn put(store: &Store, row: &str) {
    let put = Put::new(row).column(FAMILY, QUALIFIER, [b'v'; VALUE_LEN]);
    store.write(put, Durability::SkipWal).expect("there is memory");
}

fn new_store(directory: &Path) -> Store {
    let options = unmerged(4 << 30).durability(Durability::SkipWal).background(false);
    let store = Store::open(directory, options).expect("an empty directory");
    store.create_family(FAMILY, FamilyOptions::default()).expect("a new store");
    store
}

/// Writes rows that are evenly spread among all row numbers.
fn fill(store: &Store, prefix: &str, rows: u64) {
    for first in (0..rows).step_by(BATCH as usize) {
        let mut batch = WriteBatch::new();
        for number in first..rows.min(first + BATCH) {
            let put = Put::new(row(prefix, number, rows));
            batch.put(put.column(FAMILY, QUALIFIER, [b'v'; VALUE_LEN]));
        }
        store.write(batch, Durability::SkipWal).expect("there is memory");
    }
}

fn row(prefix: &str, number: u64, rows: u64) -> String {
    format!("{prefix}{:016}-{rows}", u128::from(number) * 1_000_000_000_000 / u128::from(rows))
}
