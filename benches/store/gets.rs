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
use std::path::Path;

use filter::{ErrorRate, FilterKind, Sizing};
use sstable::{BloomType, RowProbe};
use store::{Durability, FamilyOptions, Get, Store};
use workload::cpu_time::{THREAD, cpu_nanos};
use workload::{KeySet, Mix, PlannedGet, Values, load, median, plan_gets, unmerged};

use crate::{FAMILY, QUALIFIER, SEED, VALUE_LEN};

const FILES: usize = 16;
const GETS: usize = 200_000;
const ROUNDS: usize = 9;
/// Rows per call of `multi_get`.
const BATCH: usize = 100;

const VALUES: Values = Values { seed: SEED, size: VALUE_LEN };

pub(crate) fn run(rows: u64) {
    let directory = tempfile::tempdir().expect("there is a place for files");
    let keys = KeySet::generate(rows as usize, FILES, GETS, SEED);
    let store = load_store(directory.path(), &keys);
    let present = plan_gets(&keys, Mix::Present, GETS, SEED);
    let absent = plan_gets(&keys, Mix::Absent, GETS, SEED);

    println!("| {rows} rows in {FILES} files | CPU ns a get |\n|---|--:|");
    let question = |get: &PlannedGet<'_>| Get::row(get.key).column(FAMILY, QUALIFIER);
    report("create the get", || {
        for get in &absent {
            let _ = black_box(question(get));
        }
    });
    report("hash the row", || {
        for get in &absent {
            let seed = filter::Seed::new(SEED);
            black_box(RowProbe::new(get.key, seed).key_hash(seed));
        }
    });
    report("take and drop a snapshot", || {
        for _ in &absent {
            black_box(store.snapshot());
        }
    });
    report("get of an absent row", || {
        for get in &absent {
            assert!(store.get(&question(get)).expect("sound").is_empty(), "never written");
        }
    });
    let questions = |gets: &[PlannedGet<'_>]| -> Vec<Get> { gets.iter().map(question).collect() };
    report("create a hundred gets", || {
        for gets in absent.chunks(BATCH) {
            black_box(questions(gets));
        }
    });
    report("get of an absent row, batches of a hundred", || {
        for gets in absent.chunks(BATCH) {
            let answers = store.multi_get(&questions(gets)).expect("sound");
            assert!(answers.iter().all(Vec::is_empty), "never written");
        }
    });
    let mut value = [0; VALUE_LEN];
    report("generate the expected value", || {
        for index in present.iter().filter_map(|get| get.member) {
            workload::fill_value(SEED, index as u64, &mut value);
            black_box(&value);
        }
    });
    report("get of a present row, checked", || {
        for get in &present {
            let cells = store.get(&question(get)).expect("sound");
            assert_eq!(VALUES.check(get, &cells, &mut value), Ok(true));
        }
    });
    report("get of a present row, batches of a hundred, checked", || {
        for gets in present.chunks(BATCH) {
            let answers = store.multi_get(&questions(gets)).expect("sound");
            for (get, cells) in gets.iter().zip(answers) {
                assert_eq!(VALUES.check(get, &cells, &mut value), Ok(true));
            }
        }
    });
}

/// Prints the processor time of one of [`GETS`] calls: the median of the rounds after the first.
fn report(what: &str, mut round: impl FnMut()) {
    let nanos = (0..=ROUNDS).map(|_| {
        let before = cpu_nanos(THREAD);
        round();
        (cpu_nanos(THREAD) - before) as f64 / GETS as f64
    });
    println!("| {what} | {:.0} |", median(nanos.skip(1)));
}

fn load_store(directory: &Path, keys: &KeySet) -> Store {
    let store = Store::open(directory, unmerged(2 << 30)).expect("an empty directory");
    let family = FamilyOptions::default()
        .bloom_type(BloomType::None)
        .filter(Some((FilterKind::BlockedBloom, Sizing::ErrorRate(ErrorRate::HBASE))));
    store.create_family(FAMILY, family).expect("a new store");
    load(&store, keys, VALUES, Durability::SkipWal, |_| ()).expect("the disk has room");
    store
}
