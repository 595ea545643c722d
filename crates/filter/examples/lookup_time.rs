//! What a lookup of an absent key costs in each kind of filter, with the kernels of this build.
//!
//! ```sh
//! cargo run --release -p hfile-filter --example lookup_time
//! cargo run --release -p hfile-filter --example lookup_time --no-default-features
//! ```
//!
//! One hundred thousand keys at 1 %: filters that fit into L2.
#![expect(clippy::print_stdout, reason = "an example prints what it finds")]

use std::time::{Duration, Instant};

use filter::{ErrorRate, FilterKind, Seed, SeededHash, SeededHashes, Sizing, StoredFilter};

const KEYS: u64 = 100_000;
const ROUNDS: u32 = 50;

/// The seed of all filters, so that each run measures the same lookups.
const SEED: Seed = Seed::new(1);

fn hashes(from: u64) -> Vec<SeededHash> {
    (from..from + KEYS).map(|key| SeededHash::new(SEED, &key.to_le_bytes())).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let members = SeededHashes::new(SEED, hashes(0));
    let absent = hashes(KEYS);
    let batch_of_absent = SeededHashes::new(SEED, absent.iter().copied());
    let mut answers = vec![false; absent.len()];
    println!("{:<15} {:>10} {:>10}", "ns a lookup", "one by one", "in a batch");
    for &kind in FilterKind::ALL {
        let sizing = Sizing::ErrorRate(ErrorRate::HBASE);
        let filter = StoredFilter::parse(kind.build(sizing, &members)?)?;
        let single = fastest(|| {
            let passed = absent.iter().filter(|key| filter.may_contain(**key)).count();
            std::hint::black_box(passed);
        });
        let batch = fastest(|| {
            filter.may_contain_batch(&batch_of_absent, &mut answers);
            std::hint::black_box(&answers);
        });
        println!("{:<15} {single:>10.1} {batch:>10.1}", kind.name());
    }
    Ok(())
}

/// Returns the nanoseconds a key of the fastest round, which other processes disturbed least.
fn fastest(mut look_up_all: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        look_up_all();
        start.elapsed()
    };
    let fastest = (0..ROUNDS).map(time).min().unwrap_or(Duration::ZERO);
    fastest.as_nanos() as f64 / KEYS as f64
}
