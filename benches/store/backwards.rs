//! Scans of all rows forwards and backwards: in the memstore, in files among which the rows are dealt out,
//! and past rows that are deleted. With the feature `store-peers`, fjall reads as many rows of one tree backwards.

use std::path::Path;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput};
use store::{Delete, Durability, Put, Scan, Store, WriteBatch};

use crate::{FAMILY, QUALIFIER, VALUE_LEN, in_memory};

/// Rows per batch of a fill.
const BATCH: usize = 1_000;

pub(crate) fn run(criterion: &mut Criterion) {
    let rows = workload::size(200_000) as usize;
    let mut group = criterion.benchmark_group("backwards");
    group.throughput(Throughput::Elements(rows as u64));
    for (files, name) in [(0, "the memstore"), (1, "one file"), (8, "8 files"), (16, "16 files")] {
        let directory = tempfile::tempdir().expect("there is a place for files");
        scan_both_ways(&mut group, name, &filled(directory.path(), rows, files), rows);
    }
    let directory = tempfile::tempdir().expect("there is a place for files");
    let store = filled(directory.path(), rows, 1);
    for number in 1..rows - 1 {
        store.delete(Delete::row(row(number)).family(FAMILY)).expect("there is memory");
    }
    scan_both_ways(&mut group, "one file, deleted in the memstore", &store, 2);
    store.flush().expect("the disk has room");
    scan_both_ways(&mut group, "one file, deleted in another", &store, 2);
    #[cfg(feature = "store-peers")]
    peer(&mut group, rows);
}

/// Times scans in both directions, of which each shows `shown` rows.
fn scan_both_ways(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    store: &Store,
    shown: usize,
) {
    for (direction, reverse) in [("forwards", false), ("backwards", true)] {
        group.bench_function(format!("{name}, {direction}"), |bencher| {
            bencher.iter(|| {
                let mut cells = store.scan(Scan::family(FAMILY).reverse(reverse)).expect("sound");
                let mut count = 0;
                while cells.next_ref().expect("sound").is_some() {
                    count += 1;
                }
                assert_eq!(count, shown, "{name}");
            });
        });
    }
}

/// Returns a store whose rows are dealt out among files, or are in the memstore if there are to be none.
fn filled(directory: &Path, rows: usize, files: usize) -> Store {
    let store = in_memory(directory);
    for first in 0..files.max(1) {
        let numbers: Vec<_> = (first..rows).step_by(files.max(1)).collect();
        for numbers in numbers.chunks(BATCH) {
            let mut batch = WriteBatch::new();
            for number in numbers {
                batch.put(Put::new(row(*number)).column(FAMILY, QUALIFIER, [b'v'; VALUE_LEN]));
            }
            store.write(batch, Durability::Skip).expect("there is memory");
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

/// Times a pass backwards over a tree of fjall.
#[cfg(feature = "store-peers")]
fn peer(group: &mut BenchmarkGroup<'_, WallTime>, rows: usize) {
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
    group.bench_function("fjall, one tree, backwards", |bencher| {
        bencher.iter(|| {
            let found = keyspace.iter().rev().map(|row| row.into_inner().expect("sound"));
            assert_eq!(found.filter(|(_, value)| value.len() == VALUE_LEN).count(), rows);
        });
    });
}
