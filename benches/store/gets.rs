//! The cost of a get over many overlapping files, and of its parts.
//!
//! Rows with keys of 16 bytes and values of 100 bytes in 16 files, written in random order and never
//! compacted; all blocks are in the cache; one thread. Each get asks one column, and every answer is
//! checked. `hfile bench` times the same gets one by one and counts the blocks; here they run in rounds
//! without reading the clock in between, so that a profile shows nothing else:
//!
//! ```text
//! perf record -g -- cargo bench -p benches --bench store -- gets
//! ```

use std::hint::black_box;

use filter::{ErrorRate, FilterKind, Sizing};
use sstable::{BloomType, RowProbe};
use store::{Durability, FamilyOptions, Get, Put, Store, StoreOptions, WriteBatch};
use workload::cpu_time::{THREAD, cpu_nanos};
use workload::{KEY_LEN, Random};

use crate::{FAMILY, QUALIFIER, SEED, VALUE_LEN};

const FILES: u64 = 16;
const GETS: usize = 200_000;
const ROUNDS: usize = 9;
/// Rows per call of `multi_get`.
const BATCH: usize = 100;

type Row = [u8; KEY_LEN];

pub(crate) fn run(rows: u64) {
    let directory = tempfile::tempdir().expect("there is a place for files");
    let store = load(directory.path(), rows);
    let mut random = Random::new(SEED);
    let mut present: Vec<(Row, u64)> = (0..GETS)
        .map(|_| random.below(rows as usize) as u64)
        .map(|index| (workload::key(SEED, index), index))
        .collect();
    random.shuffle(&mut present);
    let absent: Vec<Row> =
        (rows..rows + GETS as u64).map(|index| workload::key(SEED, index)).collect();

    println!("| {rows} rows in {FILES} files | CPU ns a get |\n|---|--:|");
    let question = |row: &Row| Get::row(row).column(FAMILY, QUALIFIER);
    report("create the get", || {
        for row in &absent {
            let _ = black_box(question(row));
        }
    });
    report("hash the row", || {
        for row in &absent {
            let seed = filter::Seed::new(SEED);
            black_box(RowProbe::new(row, seed).key_hash(seed));
        }
    });
    report("take and drop a snapshot", || {
        for _ in &absent {
            black_box(store.snapshot());
        }
    });
    report("get of an absent row", || {
        for row in &absent {
            assert!(store.get(&question(row)).expect("sound").is_empty(), "never written");
        }
    });
    let questions =
        |rows: &mut dyn Iterator<Item = &Row>| -> Vec<Get> { rows.map(question).collect() };
    report("create a hundred gets", || {
        for rows in absent.chunks(BATCH) {
            black_box(questions(&mut rows.iter()));
        }
    });
    report("get of an absent row, batches of a hundred", || {
        for rows in absent.chunks(BATCH) {
            let answers = store.multi_get(&questions(&mut rows.iter())).expect("sound");
            assert!(answers.iter().all(Vec::is_empty), "never written");
        }
    });
    let mut value = [0; VALUE_LEN];
    report("generate the expected value", || {
        for (_, index) in &present {
            workload::fill_value(SEED, *index, &mut value);
            black_box(&value);
        }
    });
    report("get of a present row, checked", || {
        for (row, index) in &present {
            let cells = store.get(&question(row)).expect("sound");
            workload::fill_value(SEED, *index, &mut value);
            assert!(cells.len() == 1 && cells[0].value() == value, "as it was written");
        }
    });
    report("get of a present row, batches of a hundred, checked", || {
        for rows in present.chunks(BATCH) {
            let gets = questions(&mut rows.iter().map(|(row, _)| row));
            let answers = store.multi_get(&gets).expect("sound");
            for ((_, index), cells) in rows.iter().zip(answers) {
                workload::fill_value(SEED, *index, &mut value);
                assert!(cells.len() == 1 && cells[0].value() == value, "as it was written");
            }
        }
    });
}

/// Prints the processor time of one of [`GETS`] calls: the median of the rounds after the first.
fn report(what: &str, mut round: impl FnMut()) {
    let mut nanos: Vec<u64> = (0..=ROUNDS)
        .map(|_| {
            let before = cpu_nanos(THREAD);
            round();
            (cpu_nanos(THREAD) - before) / GETS as u64
        })
        .skip(1)
        .collect();
    nanos.sort_unstable();
    println!("| {what} | {} |", nanos[ROUNDS / 2]);
}

fn load(directory: &std::path::Path, rows: u64) -> Store {
    let options = StoreOptions::default()
        .cache_bytes(2 << 30)
        .memstore_flush_bytes(usize::MAX / 8)
        .auto_compaction(false);
    let store = Store::open(directory, options).expect("an empty directory");
    let family = FamilyOptions::default()
        .bloom_type(BloomType::None)
        .filter(Some((FilterKind::BlockedBloom, Sizing::ErrorRate(ErrorRate::HBASE))));
    store.create_family(FAMILY, family).expect("a new store");
    let mut value = [0; VALUE_LEN];
    for file in 0..FILES {
        let mut batch = WriteBatch::new();
        for index in file * rows / FILES..(file + 1) * rows / FILES {
            workload::fill_value(SEED, index, &mut value);
            batch.put(Put::new(workload::key(SEED, index)).column(FAMILY, QUALIFIER, value));
            if batch.len() == 1000 {
                store.write(std::mem::take(&mut batch), Durability::SkipWal).expect("sound");
            }
        }
        store.write(batch, Durability::SkipWal).expect("sound");
        store.flush().expect("the disk has room");
    }
    store
}
