//! Writes of one thread, with flushes and compactions running.
//!
//! Rows have a key of 16 bytes in no order, a value of 100 bytes and one column. Every write is
//! acknowledged as `Durability::Logged` says: the operating system has it, the disk need not. Afterwards every
//! row and value is read back and checked.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

use criterion::{Criterion, Throughput};
use store::{Durability, FamilyOptions, Put, Scan, Store, StoreOptions, WriteBatch};

use crate::counted_files::CountedFiles;
use crate::{FAMILY, QUALIFIER, ROW_LEN, SEED, VALUE_LEN};

pub(crate) fn run(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("writes");
    for (name, batch_rows) in [("puts", 1), ("batches of 100", 100)] {
        let directory = tempfile::tempdir().expect("there is a place for files");
        let files = CountedFiles::default();
        let options = StoreOptions::default().vfs(Arc::new(files.clone()));
        let store = Store::open(directory.path(), options).expect("an empty directory");
        store.create_family(FAMILY, FamilyOptions::default()).expect("a new store");
        let mut rows = 0;
        group.throughput(Throughput::Elements(batch_rows));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                write(&store, rows, batch_rows);
                rows += batch_rows;
            });
        });
        store.flush().expect("the disk has room");
        check(&store, rows);
        let by_row = |bytes: u64| bytes as f64 / (rows * ROW_LEN as u64).max(1) as f64;
        println!(
            "{name}, {rows} rows: for each byte of a row {:.2} bytes of log and {:.2} of files; {} stalls",
            by_row(files.log_bytes()),
            by_row(files.file_bytes()),
            store.stats().write_stalls,
        );
    }
}

fn write(store: &Store, first: u64, count: u64) {
    let mut value = [0; VALUE_LEN];
    let mut put = |index| {
        workload::fill_value(SEED, index, &mut value);
        Put::new(workload::key(SEED, index)).column(FAMILY, QUALIFIER, value)
    };
    let written = if count == 1 {
        store.put(put(first))
    } else {
        let mut batch = WriteBatch::new();
        (first..first + count).for_each(|index| batch.put(put(index)));
        store.write(batch, Durability::Logged)
    };
    written.expect("the disk has room");
}

/// Reads all rows back, and checks their number, their order and the sum of their hashes.
fn check(store: &Store, rows: u64) {
    let hash = BuildHasherDefault::<DefaultHasher>::default();
    let mut value = [0; VALUE_LEN];
    let expected = (0..rows).fold(0_u64, |sum, index| {
        workload::fill_value(SEED, index, &mut value);
        sum.wrapping_add(hash.hash_one((&workload::key(SEED, index)[..], &value[..])))
    });
    let (mut count, mut found, mut last) = (0, 0_u64, Vec::new());
    for cell in store.scan(Scan::family(FAMILY)).expect("sound") {
        let cell = cell.expect("sound");
        assert!(cell.row() > &last[..], "rows are in order, each once");
        last.clear();
        last.extend_from_slice(cell.row());
        found = found.wrapping_add(hash.hash_one((cell.row(), cell.value())));
        count += 1;
    }
    assert_eq!((count, found), (rows, expected), "every row and value that was written");
}
