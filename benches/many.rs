//! The cost of asking many filters for one key, as a get asks the filters of all store files.
//!
//! 32 filters of one million keys each at 1 %, of every kind in turn. Before each pass, other memory is
//! read until no cache holds the filters; a pass reads few of their lines twice. The keys are absent,
//! so most answers are "no". Each key depends on the answers for the key before, like a get that waits
//! for another. Four ways alternate:
//!
//! ```text
//! loop    may_contain of one filter after the other
//! many    probe_many: prefetches from all filters, then asks them
//! free    the loop over independent keys: what the processor overlaps without help
//! ring    independent keys; the filters of each key are prefetched while the key before is asked
//! ```
//!
//! ```text
//! cargo bench -p benches --bench many                32 filters of 1 M keys
//! cargo bench -p benches --bench many -- 16 100000   16 filters of 100 k
//! cargo bench -p benches --bench many -- warm        with the filters in the caches
//! ```
#![expect(clippy::print_stdout, reason = "the program prints a table")]

use std::hint::black_box;
use std::time::Instant;

use bytes::Bytes;
use filter::{
    ErrorRate, FilterKind, KeyHash, Membership, Seed, Sizing, StoredFilter, build, probe_many,
};

const SEED: Seed = Seed::new(0x5eed);
/// Keys of one pass.
const PROBES: u64 = 2_000;
/// Bytes that are read to evict the filters: twice the largest caches of today. Reading leaves the cache
/// lines clean; after writing, each miss would have to write a line back first.
const OTHER_BYTES: usize = 1 << 29;
/// Bytes of a cache line.
const LINE: usize = 64;
const ROUNDS: usize = 15;

type Filter = StoredFilter<Bytes>;
/// Asks all filters for all keys, and returns how many answers are "maybe".
type Ask = fn(&[Filter], &[KeyHash]) -> usize;

const WAYS: [Ask; 4] = [in_a_loop, in_probe_many, in_a_free_loop, in_a_ring];

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|number| number.parse::<u64>().ok());
    let is_warm = std::env::args().any(|argument| argument == "warm");
    let other_work = vec![1_u8; if is_warm { 0 } else { OTHER_BYTES }];
    let files = numbers.next().unwrap_or(32);
    let keys = numbers.next().unwrap_or(1_000_000);
    let absent: Vec<KeyHash> =
        (0..PROBES).map(|index| KeyHash::new(SEED, &workload::key(2, index))).collect();
    println!("ns for one key over {files} filters of {keys} keys\n");
    println!(
        "{:<15}{:>7}{:>7}{:>7}{:>7}{:>11}{:>11}",
        "filter", "loop", "many", "free", "ring", "loop/many", "free/ring"
    );
    for &kind in FilterKind::ALL {
        let filters: Vec<Filter> = (0..files).map(|file| filled(kind, file, keys)).collect();
        let passed = in_a_loop(&filters, &absent);
        assert_eq!(in_probe_many(&filters, &absent), passed, "{kind}: other answers");
        let times = measure(&filters, &absent, &other_work);
        let [in_loop, many, free, ring] =
            std::array::from_fn(|way| median(times.iter().map(|round| round[way])));
        let ratio =
            |slow: usize, fast: usize| median(times.iter().map(|round| round[slow] / round[fast]));
        println!(
            "{:<15}{in_loop:>7.0}{many:>7.0}{free:>7.0}{ring:>7.0}{:>11.2}{:>11.2}",
            kind.name(),
            ratio(0, 1),
            ratio(2, 3),
        );
    }
}

/// Returns the nanoseconds per key of each round and way. Other memory is read before each.
fn measure(filters: &[Filter], absent: &[KeyHash], other_work: &[u8]) -> Vec<[f64; WAYS.len()]> {
    let round = |_| {
        WAYS.map(|ask| {
            black_box(other_work.iter().step_by(LINE).map(|byte| u64::from(*byte)).sum::<u64>());
            let started = Instant::now();
            black_box(ask(black_box(filters), black_box(absent)));
            started.elapsed().as_nanos() as f64 / PROBES as f64
        })
    };
    (0..ROUNDS).map(round).collect()
}

fn in_a_loop(filters: &[Filter], hashes: &[KeyHash]) -> usize {
    let mut passed = 0;
    for hash in hashes {
        let hash = after(*hash, passed);
        for filter in filters {
            if filter.may_contain(hash) {
                passed += 1;
            }
        }
    }
    passed
}

fn in_probe_many(filters: &[Filter], hashes: &[KeyHash]) -> usize {
    let mut passed = 0;
    for hash in hashes {
        probe_many(filters, after(*hash, passed), |_| passed += 1);
    }
    passed
}

fn in_a_free_loop(filters: &[Filter], hashes: &[KeyHash]) -> usize {
    let mut passed = 0;
    for hash in hashes {
        for filter in filters {
            if filter.may_contain(*hash) {
                passed += 1;
            }
        }
    }
    passed
}

fn in_a_ring(filters: &[Filter], hashes: &[KeyHash]) -> usize {
    let mut passed = 0;
    for (index, hash) in hashes.iter().enumerate() {
        if let Some(next) = hashes.get(index + 1) {
            for filter in filters {
                filter.prefetch(*next);
            }
        }
        for filter in filters {
            if filter.may_contain(*hash) {
                passed += 1;
            }
        }
    }
    passed
}

/// Returns a key that depends on earlier answers.
fn after(hash: KeyHash, passed: usize) -> KeyHash {
    KeyHash::from_u64(hash.get().wrapping_add(passed as u64))
}

fn filled(kind: FilterKind, file: u64, keys: u64) -> Filter {
    let members: Vec<KeyHash> = (file * keys..(file + 1) * keys)
        .map(|index| KeyHash::new(SEED, &workload::key(1, index)))
        .collect();
    let sizing = Sizing::ErrorRate(ErrorRate::HBASE);
    let bytes = build(kind, sizing, SEED, &members).expect("every kind can be built so");
    StoredFilter::parse(aligned(&bytes)).expect("our own bytes")
}

/// Returns a copy that is aligned to a cache line, as a reader keeps filters.
fn aligned(bytes: &[u8]) -> Bytes {
    let mut room = vec![0; bytes.len() + LINE];
    let start = room.as_ptr().align_offset(LINE);
    room[start..start + bytes.len()].copy_from_slice(bytes);
    Bytes::from(room).slice(start..start + bytes.len())
}

fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
