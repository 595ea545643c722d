//! Runs gets of one kind, so that a profiler can count what each step of a get executes.
//!
//! Loads a store whose blocks are all in the cache, and runs gets of one column through
//! [`counted_get`], which is not inlined: a profiler can count that function alone.
//! `benches/get-steps` runs this program under Callgrind and prints a table of the steps.
//!
//! ```text
//! cargo run --profile profiling -p benches --example get_steps -- [present|absent] [get|get_with] [OPTION=NUMBER]…
//! ```
//!
//! Options: `rows`, `files`, `map` (0 or 1), `gets`, `rounds`, `threads`, `cache` (MiB). With `time=1`,
//! prints the mean time of a get of each round: the least and the median.
#![expect(clippy::print_stdout, reason = "the figures are what this is for")]

use std::hint::black_box;
use std::time::Instant;

use filter::{ErrorRate, FilterKind, Sizing};
use sstable::BloomType;
use store::{Durability, FamilyOptions, Get, MapMode, Put, Store, StoreOptions, WriteBatch};
use workload::Random;

const FAMILY: &str = "f";
const QUALIFIER: &str = "q";
const VALUE_LEN: usize = 100;
/// The seed of all keys and values.
const SEED: u64 = 1;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_named = |name: &str| arguments.iter().any(|argument| argument == name);
    let number = |name: &str, default: u64| {
        let number = arguments
            .iter()
            .find_map(|argument| argument.strip_prefix(name)?.strip_prefix('=')?.parse().ok());
        number.unwrap_or(default)
    };
    let (rows, gets) = (number("rows", 100_000), number("gets", 20_000));
    let is_present = !is_named("absent");
    let directory = tempfile::tempdir().expect("there is a place for files");
    let store = load(
        directory.path(),
        rows,
        number("files", 16),
        number("map", 1) == 1,
        number("cache", 2 << 10) << 20,
    );
    let mut random = Random::new(SEED);
    let mut plan = |gets: u64| -> Vec<Get> {
        let index = |_| {
            if is_present {
                random.below(rows as usize) as u64
            } else {
                rows + random.next_u64() % (1 << 40)
            }
        };
        let rows = (0..gets).map(index).map(|index| workload::key(SEED, index));
        rows.map(|row| Get::row(row).column(FAMILY, QUALIFIER)).collect()
    };
    // Loads every block into the cache.
    for index in 0..rows {
        let found = store.get(&Get::row(workload::key(SEED, index)).column(FAMILY, QUALIFIER));
        assert_eq!(found.expect("sound").len(), 1, "row {index}");
    }
    let is_visited = is_named("get_with");
    let expected = usize::from(is_present);
    let plans: Vec<Vec<Get>> = (0..number("threads", 1)).map(|_| plan(gets)).collect();
    let round = &|gets: &[Get]| {
        let start = Instant::now();
        for get in gets {
            let found =
                if is_visited { counted_visit(&store, get) } else { counted_get(&store, get) };
            assert_eq!(found, expected, "the answer to {get:?}");
        }
        start.elapsed().as_nanos() / gets.len() as u128
    };
    let rounds = number("rounds", 1);
    let mut nanos: Vec<u128> = std::thread::scope(|scope| {
        let threads: Vec<_> = plans
            .iter()
            .map(|gets| scope.spawn(move || (0..rounds).map(|_| round(gets)).collect::<Vec<_>>()))
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    nanos.sort_unstable();
    if number("time", 0) == 1 {
        println!("ns a get: {} least, {} median of rounds", nanos[0], nanos[nanos.len() / 2]);
    }
}

/// Runs one get and drops its answer: all that a profiler should count.
#[inline(never)]
fn counted_get(store: &Store, get: &Get) -> usize {
    black_box(store.get(get).expect("sound")).len()
}

/// The same for a get whose cells are visited: reads the value, but does not copy it.
#[inline(never)]
fn counted_visit(store: &Store, get: &Get) -> usize {
    let mut found = 0;
    let visited = store.get_with(get, |cell| {
        black_box(cell.value.iter().fold(0, |sum, byte| sum ^ byte));
        found += 1;
    });
    visited.expect("sound");
    found
}

fn load(directory: &std::path::Path, rows: u64, files: u64, map: bool, cache_bytes: u64) -> Store {
    let options = StoreOptions::default()
        .cache_bytes(cache_bytes)
        .memstore_flush_bytes(usize::MAX / 8)
        // The map is complete when this returns, and is as full in each run.
        .background(false)
        .auto_compaction(false);
    let store = Store::open(directory, options).expect("an empty directory");
    let filter = (FilterKind::BlockedBloom, Sizing::ErrorRate(ErrorRate::HBASE));
    let family = FamilyOptions::default()
        .bloom_type(BloomType::None)
        .family_map(if map { MapMode::Files } else { MapMode::Off })
        .filter((!map).then_some(filter));
    store.create_family(FAMILY, family).expect("a new store");
    let mut value = [0; VALUE_LEN];
    for file in 0..files {
        let mut batch = WriteBatch::new();
        for index in file * rows / files..(file + 1) * rows / files {
            workload::fill_value(SEED, index, &mut value);
            batch.put(Put::new(workload::key(SEED, index)).column(FAMILY, QUALIFIER, value));
        }
        store.write(batch, Durability::SkipWal).expect("sound");
        store.flush().expect("the disk has room");
    }
    if let Some(stats) = store.stats().families[0].map {
        assert_eq!(stats.covered_files, files.min(64), "covered files");
        let entries = stats.entries;
        println!("family map: {entries} entries, room for {} more", stats.free_entries);
    }
    store
}
