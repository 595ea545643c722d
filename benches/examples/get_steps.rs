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
//! Options: `rows`, `files`, `map` (0 or 1), `gets`, `rounds`, `threads`, `cache` (MiB).
#![expect(clippy::print_stdout, reason = "the figures are what this is for")]

use std::hint::black_box;
use std::path::Path;

use filter::{ErrorRate, FilterKind, Sizing};
use sstable::BloomType;
use store::{Durability, FamilyOptions, Get, MapMode, Store};
use workload::{FAMILY, KeySet, Mix, QUALIFIER, Values, load, plan_gets, unmerged};

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
    let count = |name: &str, default: u64| number(name, default) as usize;
    let gets = count("gets", 20_000);
    let keys = KeySet::generate(count("rows", 100_000), count("files", 16), gets, SEED);
    let is_present = !is_named("absent");
    let directory = tempfile::tempdir().expect("there is a place for files");
    let cache_bytes = number("cache", 2 << 10) << 20;
    let store = load_store(directory.path(), &keys, number("map", 1) == 1, cache_bytes);
    // Loads every block into the cache.
    for row in keys.present.iter() {
        let found = store.get(&Get::row(row).column(FAMILY, QUALIFIER)).expect("sound");
        assert_eq!(found.len(), 1, "row {}", cells::escape(row));
    }
    let is_visited = is_named("get_with");
    let expected = usize::from(is_present);
    let mix = if is_present { Mix::Present } else { Mix::Absent };
    let plan = |thread: u64| -> Vec<Get> {
        let gets = plan_gets(&keys, mix, gets, SEED + thread);
        gets.iter().map(|get| Get::row(get.key).column(FAMILY, QUALIFIER)).collect()
    };
    let plans: Vec<Vec<Get>> = (0..number("threads", 1)).map(plan).collect();
    let rounds = number("rounds", 1);
    let store = &store;
    std::thread::scope(|scope| {
        for gets in &plans {
            scope.spawn(move || {
                for get in (0..rounds).flat_map(|_| gets) {
                    let found = if is_visited {
                        counted_visit(store, get)
                    } else {
                        counted_get(store, get)
                    };
                    assert_eq!(found, expected, "the answer to {get:?}");
                }
            });
        }
    });
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

fn load_store(directory: &Path, keys: &KeySet, map: bool, cache_bytes: u64) -> Store {
    // The map is complete when this returns, and is as full in each run.
    let options = unmerged(cache_bytes).background(false);
    let store = Store::open(directory, options).expect("an empty directory");
    let unfiltered = FamilyOptions::default().bloom_type(BloomType::None);
    let family = if map {
        unfiltered.family_map(MapMode::Files)
    } else {
        let sizing = Sizing::ErrorRate(ErrorRate::HBASE);
        unfiltered.family_map(MapMode::Off).filter(FilterKind::BlockedBloom, sizing)
    };
    store.create_family(FAMILY, family).expect("a new store");
    let values = Values { seed: SEED, size: VALUE_LEN };
    load(&store, keys, values, Durability::Skip, |_| ()).expect("the disk has room");
    if let Some(stats) = store.stats().families[0].map {
        assert_eq!(stats.covered_files, keys.files().min(64) as u64, "covered files");
        let entries = stats.entries;
        println!("family map: {entries} entries, room for {} more", stats.free_entries);
    }
    store
}
