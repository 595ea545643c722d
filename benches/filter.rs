//! What one lookup in a filter costs, for keys it holds and keys it does not, beside the crates
//! that people use otherwise.
//!
//! All filters of one size are asked in turn, round by round, in one process, with the same keys in
//! the same order: noise hits all alike, and the ratio of a round is taken before the median over
//! the rounds. Hits and misses apart; "hash" rows get a 64-bit hash that was made before, "key"
//! rows get 16 bytes and hash them.
//!
//! ```text
//! cargo bench -p benches --bench filter --features peers            100 k, 1 M and 10 M keys
//! cargo bench -p benches --bench filter --features peers -- 1000000
//! ```
#![expect(clippy::print_stdout, reason = "the table is what this program is for")]

#[cfg(feature = "peers")]
mod peers;

use std::hint::black_box;
use std::time::Instant;

use filter::{ErrorRate, FilterKind, KeyHash, Membership, Seed, Sizing, StoredFilter, build};

const SEED: Seed = Seed::new(0x5eed);
/// Keys asked for in one pass: enough to drown the clock, few enough for many rounds.
const PROBES: usize = 100_000;
const ROUNDS: usize = 15;

/// Keys, and their hashes.
struct Keys {
    bytes: Vec<[u8; 16]>,
    hashes: Vec<KeyHash>,
}

impl Keys {
    fn new(indexes: impl Iterator<Item = u64>) -> Self {
        let bytes: Vec<_> = indexes.map(|index| workload::key(1, index)).collect();
        let hashes = bytes.iter().map(|key| KeyHash::new(SEED, key)).collect();
        Self { bytes, hashes }
    }
}

/// How a filter is asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Input {
    /// By a hash that was made before.
    Hash,
    /// By the key's bytes; hashing them counts.
    Key,
}

/// A filter under test: asked for all keys, it says how many it let through.
struct Contender {
    name: String,
    input: Input,
    bits_per_key: f64,
    build_ns: f64,
    ask: Box<dyn Fn(&Keys) -> usize>,
    hit_ns: Vec<f64>,
    miss_ns: Vec<f64>,
    error_rate: f64,
}

impl Contender {
    fn new(
        name: impl Into<String>,
        input: Input,
        bits_per_key: f64,
        build_ns: f64,
        ask: impl Fn(&Keys) -> usize + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            input,
            bits_per_key,
            build_ns,
            ask: Box::new(ask),
            hit_ns: Vec::new(),
            miss_ns: Vec::new(),
            error_rate: 0.0,
        }
    }
}

/// Our filters, each asked in both ways.
fn ours(members: &Keys) -> Vec<Contender> {
    let mut contenders = Vec::new();
    for &kind in FilterKind::ALL {
        let start = Instant::now();
        let sizing = Sizing::ErrorRate(ErrorRate::HBASE);
        let bytes = build(kind, sizing, SEED, &members.hashes).expect("a filter of that size");
        let build_ns = start.elapsed().as_nanos() as f64 / members.hashes.len() as f64;
        for input in [Input::Hash, Input::Key] {
            let filter = StoredFilter::parse(bytes.clone()).expect("our own bytes");
            let bits_per_key = filter.bits_per_key();
            contenders.push(Contender::new(kind.name(), input, bits_per_key, build_ns, {
                move |keys| match input {
                    Input::Hash => count(&keys.hashes, |hash| filter.may_contain(*hash)),
                    Input::Key => {
                        count(&keys.bytes, |key| filter.may_contain(KeyHash::new(SEED, key)))
                    }
                }
            }));
        }
    }
    contenders
}

fn count<T>(probes: &[T], may_contain: impl Fn(&T) -> bool) -> usize {
    probes.iter().filter(|probe| may_contain(black_box(probe))).count()
}

fn time(contender: &Contender, probes: &Keys) -> (usize, f64) {
    let start = Instant::now();
    let passed = (contender.ask)(black_box(probes));
    (passed, start.elapsed().as_nanos() as f64 / probes.bytes.len() as f64)
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// Asks all contenders in turn, and prints what it took.
fn compare(count: u64) {
    let members = Keys::new(0..count);
    let mut contenders = ours(&members);
    #[cfg(feature = "peers")]
    contenders.extend(peers::all(&members));

    let mut random = workload::Random::new(7);
    let hits = Keys::new((0..PROBES).map(|_| random.below(count as usize) as u64));
    let misses = Keys::new((0..PROBES as u64).map(|index| count + index));
    for round in 0..=ROUNDS {
        for contender in &mut contenders {
            let (passed, hit_ns) = time(contender, &hits);
            assert_eq!(passed, PROBES, "{} denied a member", contender.name);
            let (passed, miss_ns) = time(contender, &misses);
            contender.error_rate = passed as f64 / PROBES as f64;
            // The first round warms caches and branch predictors.
            if round > 0 {
                contender.hit_ns.push(hit_ns);
                contender.miss_ns.push(miss_ns);
            }
        }
    }

    println!("\n{count} keys\n");
    println!("| filter | asked by | bits/key | error rate | build ns | hit ns | miss ns |");
    println!("|---|---|---:|---:|---:|---:|---:|");
    for contender in &contenders {
        println!(
            "| {} | {} | {:.2} | {:.3} % | {:.1} | {:.1} | {:.1} |",
            contender.name,
            if contender.input == Input::Hash { "hash" } else { "key" },
            contender.bits_per_key,
            contender.error_rate * 100.0,
            contender.build_ns,
            median(contender.hit_ns.clone()),
            median(contender.miss_ns.clone()),
        );
    }
    #[cfg(feature = "peers")]
    ratios(&contenders);
}

/// Prints ours over theirs: the median of the rounds' ratios.
#[cfg(feature = "peers")]
fn ratios(contenders: &[Contender]) {
    println!("\n| ours / theirs | asked by | hit | miss | bits/key |\n|---|---|---:|---:|---:|");
    for (ours, theirs) in peers::RIVALS {
        for input in [Input::Hash, Input::Key] {
            let find = |name: &str, input| {
                contenders.iter().find(|it| it.name == name && it.input == input)
            };
            let (Some(ours), Some(theirs)) = (find(ours, input), find(theirs, input)) else {
                continue;
            };
            let ratio = |ours: &[f64], theirs: &[f64]| {
                median(ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect())
            };
            println!(
                "| {} / {} | {} | {:.2} | {:.2} | {:.2} |",
                ours.name,
                theirs.name,
                if input == Input::Hash { "hash" } else { "key" },
                ratio(&ours.hit_ns, &theirs.hit_ns),
                ratio(&ours.miss_ns, &theirs.miss_ns),
                ours.bits_per_key / theirs.bits_per_key,
            );
        }
    }
}

fn main() {
    // Cargo passes `--bench`; what is left are sizes.
    let sizes: Vec<u64> = std::env::args().skip(1).filter_map(|size| size.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![100_000, 1_000_000, 10_000_000] } else { sizes };
    for size in sizes {
        compare(size);
    }
}
