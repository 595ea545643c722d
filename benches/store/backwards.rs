//! Scans of all rows forwards and backwards: in the memstore, in files among which the rows are dealt out,
//! and past rows that are deleted.
//!
//! Of each place the table has the nanoseconds a row in both directions and their ratio, the median of the
//! rounds. With the feature `store-peers`, fjall reads as many rows of one tree backwards.

use std::path::Path;
use std::time::Instant;

use store::{Delete, Durability, FamilyOptions, Put, Scan, Store, WriteBatch};
use workload::{median, unmerged};

use crate::{FAMILY, QUALIFIER, VALUE_LEN};

const ROUNDS: usize = 9;
/// Rows per batch of a fill.
const BATCH: usize = 1_000;

pub(crate) fn run(rows: u64) {
    println!("| rows are in | forwards, ns a row | backwards | ratio |\n|---|--:|--:|--:|");
    let rows = usize::try_from(rows).expect("fits into memory");
    for (files, name) in [(0, "the memstore"), (1, "one file"), (8, "8 files"), (16, "16 files")] {
        let directory = tempfile::tempdir().expect("there is a place for files");
        let store = filled(directory.path(), rows, files);
        print_times(name, &store, rows, rows);
    }
    let directory = tempfile::tempdir().expect("there is a place for files");
    let store = filled(directory.path(), rows, 1);
    for number in 1..rows - 1 {
        store.delete(Delete::row(row(number)).family(FAMILY)).expect("there is memory");
    }
    print_times("one file, deleted in the memstore", &store, rows, 2);
    store.flush().expect("the disk has room");
    print_times("one file, deleted in another", &store, rows, 2);
    if let Some(backwards) = peer(rows) {
        println!("| fjall, one tree | – | {backwards:.0} | – |");
    }
}

/// Prints the times of scans in both directions over `rows` rows, of which `shown` are shown.
fn print_times(name: &str, store: &Store, rows: usize, shown: usize) {
    let [forwards, backwards] = [false, true].map(|reverse| {
        time(rows, || {
            let mut cells = store.scan(Scan::family(FAMILY).reverse(reverse)).expect("sound");
            let mut count = 0;
            while cells.next_ref().expect("sound").is_some() {
                count += 1;
            }
            assert_eq!(count, shown, "{name}");
        })
    });
    println!("| {name} | {forwards:.0} | {backwards:.0} | {:.2} |", backwards / forwards);
}

/// Returns a store whose rows are dealt out among files, or are in the memstore if there are to be none.
fn filled(directory: &Path, rows: usize, files: usize) -> Store {
    let options = unmerged(1 << 30).durability(Durability::SkipWal).background(false);
    let store = Store::open(directory, options).expect("an empty directory");
    store.create_family(FAMILY, FamilyOptions::default()).expect("a new store");
    for first in 0..files.max(1) {
        let numbers: Vec<_> = (first..rows).step_by(files.max(1)).collect();
        for numbers in numbers.chunks(BATCH) {
            let mut batch = WriteBatch::new();
            for number in numbers {
                batch.put(Put::new(row(*number)).column(FAMILY, QUALIFIER, [b'v'; VALUE_LEN]));
            }
            store.write(batch, Durability::SkipWal).expect("there is memory");
        }
        if files > 0 {
            store.flush().expect("the disk has room");
        }
    }
    store
}

fn row(number: usize) -> String {
    format!("user{number:012}")
}

/// Returns the nanoseconds a row of a pass over `rows` rows: the median of the rounds after the first.
pub(crate) fn time(rows: usize, mut pass: impl FnMut()) -> f64 {
    let nanos = (0..=ROUNDS).map(|_| {
        let before = Instant::now();
        pass();
        before.elapsed().as_nanos() as f64 / rows as f64
    });
    median(nanos.skip(1))
}

/// Returns the nanoseconds a row of a pass backwards over a tree of fjall.
#[cfg(feature = "store-peers")]
fn peer(rows: usize) -> Option<f64> {
    let directory = tempfile::tempdir().expect("there is a place for files");
    let database = fjall::Database::builder(directory.path())
        .cache_size(1 << 30)
        .open()
        .expect("a writable directory");
    let options = fjall::KeyspaceCreateOptions::default;
    let keyspace = database.keyspace("rows", options).expect("a writable directory");
    for number in 0..rows {
        keyspace.insert(row(number), [b'v'; VALUE_LEN]).expect("the disk has room");
    }
    keyspace.rotate_memtable_and_wait().expect("the disk has room");
    Some(time(rows, || {
        let rows_found = keyspace.iter().rev().map(|row| row.into_inner().expect("sound"));
        let count = rows_found.filter(|(_, value)| value.len() == VALUE_LEN).count();
        assert_eq!(count, rows, "every row");
    }))
}

#[cfg(not(feature = "store-peers"))]
fn peer(_: usize) -> Option<f64> {
    None
}
