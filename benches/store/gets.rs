//! The cost of a get over many overlapping files, and of its parts.
//!
//! Rows with keys of 16 bytes and values of 100 bytes in 16 files, written in random order and never
//! compacted; all blocks are in the cache; one thread. Each get asks one column. `hfile bench` times the
//! same gets one by one and counts the blocks.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use filter::{ErrorRate, FilterKind, Sizing};
use sstable::{BloomType, RowProbe};
use store::{Durability, FamilyOptions, Get, Store};
use workload::{KeySet, Mix, PlannedGet, Values, load, plan_gets, unmerged};

use crate::{FAMILY, QUALIFIER, SEED, VALUE_LEN};

const FILES: usize = 16;
const GETS: usize = 200_000;
/// Rows per call of `multi_get`.
const BATCH: usize = 100;

const VALUES: Values = Values { seed: SEED, size: VALUE_LEN };

pub(crate) fn run(criterion: &mut Criterion) {
    let directory = tempfile::tempdir().expect("there is a place for files");
    let keys = KeySet::generate(workload::size(2_000_000) as usize, FILES, GETS, SEED);
    let store = Store::open(directory.path(), unmerged(2 << 30)).expect("an empty directory");
    let family = FamilyOptions::default()
        .bloom_type(BloomType::None)
        .filter(FilterKind::BlockedBloom, Sizing::ErrorRate(ErrorRate::HBASE));
    store.create_family(FAMILY, family).expect("a new store");
    load(&store, &keys, VALUES, Durability::Skip, |_| ()).expect("the disk has room");

    let mut group = criterion.benchmark_group("gets");
    let question = |get: &PlannedGet<'_>| Get::row(get.key).column(FAMILY, QUALIFIER);
    for mix in [Mix::Absent, Mix::Present] {
        let plan = plan_gets(&keys, mix, GETS, SEED);
        let mut value = [0; VALUE_LEN];
        for get in &plan {
            let cells = store.get(&question(get)).expect("sound");
            assert_eq!(VALUES.check(get, &cells, &mut value), Ok(mix == Mix::Present));
        }
        let mut gets = plan.iter().cycle();
        let mut next = || gets.next().expect("an endless cycle");
        let name = mix.name();
        if mix == Mix::Absent {
            group.bench_function("create the get", |bencher| bencher.iter(|| question(next())));
            let seed = filter::Seed::new(SEED);
            group.bench_function("hash the row", |bencher| {
                bencher.iter(|| RowProbe::new(next().key, seed).key_hash(seed));
            });
            group.bench_function("take and drop a snapshot", |bencher| {
                bencher.iter(|| drop(black_box(store.snapshot())));
            });
        }
        group.bench_function(format!("{name} row"), |bencher| {
            bencher.iter(|| store.get(&question(next())).expect("sound"));
        });
        group.throughput(Throughput::Elements(BATCH as u64));
        group.bench_function(format!("{name} rows, a hundred in one multi_get"), |bencher| {
            bencher.iter(|| {
                let gets: Vec<Get> = (0..BATCH).map(|_| question(next())).collect();
                store.multi_get(&gets).expect("sound")
            });
        });
        group.throughput(Throughput::Elements(1));
    }
}
