//! What one lookup in a filter costs, for keys it holds and keys it does not, beside the crates
//! that people use otherwise.
//!
//! All filters of one size are asked in turn, round by round, in one process, with the same keys in
//! the same random order. Before a filter is timed it is asked other keys, so that it lies in the
//! caches as far as it fits, as a filter in use does; hits and misses take turns in coming first.
//! Passes are so short that most are not interrupted; the ratio of two filters is taken for each pass
//! of each round, and then the median.
//!
//! | asked by | what is timed                                                                    |
//! |----------|----------------------------------------------------------------------------------|
//! | hash     | one call a key, with a 64-bit hash that was made before                          |
//! | key      | one call a key, with its 16 bytes, hashing included                              |
//! | batch    | one call for all keys, with hashes that were made before                         |
//!
//! Ours are asked in memory, where they take keys, as those of the other crates; and "stored", as
//! read from bytes.
//!
//! ```text
//! cargo bench -p benches --bench filter --features filter-peers            100 k, 1 M and 10 M keys
//! cargo bench -p benches --bench filter --features filter-peers -- 1000000
//! ```
#![expect(clippy::print_stdout, reason = "the tables are what this program is for")]

#[cfg(feature = "filter-peers")]
mod peers;

use std::fmt;
use std::hint::black_box;
use std::rc::Rc;
use std::time::Instant;

use filter::bloom::{Blocked, Classic, SplitBlock};
use filter::{
    BinaryFuse, CountingBloom, Cuckoo, DLeft, ErrorRate, FilterKind, FuseArity, FuseBits, Insert,
    KeyHash, Membership, Ribbon, Seed, Sizing, StoredFilter, build,
};

const SEED: Seed = Seed::new(0x5eed);
/// Keys asked for in one pass: enough to drown the clock, few enough to be done before the scheduler
/// lets another program run.
const PROBES: usize = 5_000;
/// Passes of a round, each with its own keys: together too many for a branch predictor to learn.
const PASSES: usize = 20;
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

    /// Runs `fill`, and returns what it made and how many nanoseconds it took for each key.
    fn fill<F>(&self, fill: impl FnOnce() -> F) -> (F, f64) {
        let start = Instant::now();
        let filter = fill();
        (filter, start.elapsed().as_nanos() as f64 / self.bytes.len() as f64)
    }
}

/// How a filter is asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Input {
    /// By a hash that was made before.
    Hash,
    /// By the key's bytes; hashing them counts.
    Key,
    /// By all hashes in one call.
    Batch,
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hash => "hash",
            Self::Key => "key",
            Self::Batch => "batch",
        })
    }
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

    /// One of our filters, asked in every way.
    fn ours<F: Membership + 'static>(name: &str, filter: F, build_ns: f64) -> Vec<Self> {
        let filter = Rc::new(filter);
        let bits_per_key = filter.stats().bits_per_key();
        let one = |input| {
            let filter = Rc::clone(&filter);
            Self::new(name, input, bits_per_key, build_ns, move |keys| {
                let filter = &*filter;
                match input {
                    Input::Hash => count(&keys.hashes, |hash| filter.may_contain(*hash)),
                    Input::Key => {
                        count(&keys.bytes, |key| filter.may_contain(KeyHash::new(SEED, key)))
                    }
                    Input::Batch => {
                        let mut answers = vec![false; keys.hashes.len()];
                        filter.may_contain_batch(black_box(&keys.hashes), &mut answers);
                        answers.into_iter().filter(|answer| *answer).count()
                    }
                }
            })
        };
        [Input::Hash, Input::Key, Input::Batch].map(one).into()
    }

    /// One of our filters that take keys one by one, filled with the members.
    fn in_memory<F: Insert + 'static>(name: &str, mut empty: F, members: &Keys) -> Vec<Self> {
        let (filter, build_ns) = members.fill(|| {
            for hash in &members.hashes {
                empty.insert(*hash).expect("room for all");
            }
            empty
        });
        Self::ours(name, filter, build_ns)
    }
}

/// Our filters in memory, and the stored form of every kind.
fn ours(members: &Keys) -> Vec<Contender> {
    let sizing = Sizing::ErrorRate(ErrorRate::HBASE);
    let keys = members.hashes.len() as u64;
    let possible = "a filter of that size";
    let blocked = Blocked::new(sizing, keys).expect(possible);
    let split_block = SplitBlock::new(sizing, keys).expect(possible);
    let classic = Classic::new(sizing, keys).expect(possible);
    let counting = CountingBloom::new(sizing, keys).expect(possible);
    let d_left = DLeft::new(sizing, keys).expect(possible);
    let cuckoo = Cuckoo::new(sizing, keys).expect(possible);
    // With fingerprints as long as those of the `cuckoofilter` crate.
    let cuckoo_8 = Cuckoo::new(Sizing::BitsPerKey(8.5), keys).expect(possible);
    let mut contenders: Vec<Contender> = [
        Contender::in_memory(FilterKind::BlockedBloom.name(), blocked, members),
        Contender::in_memory(FilterKind::SplitBlock.name(), split_block, members),
        Contender::in_memory(FilterKind::ClassicBloom.name(), classic, members),
        Contender::in_memory(FilterKind::CountingBloom.name(), counting, members),
        Contender::in_memory(FilterKind::DLeft.name(), d_left, members),
        Contender::in_memory(FilterKind::Cuckoo.name(), cuckoo, members),
        Contender::in_memory("cuckoo 8-bit", cuckoo_8, members),
    ]
    .into_iter()
    .flatten()
    .collect();

    contenders.extend(solved(members));

    for &kind in FilterKind::ALL {
        let (bytes, build_ns) =
            members.fill(|| build(kind, sizing, SEED, &members.hashes).expect(possible));
        let filter = StoredFilter::parse(bytes).expect("our own bytes");
        // Some kinds exist in their stored form only.
        let is_both = contenders.iter().any(|contender| contender.name == kind.name());
        let name = if is_both { format!("{kind}, stored") } else { kind.to_string() };
        contenders.extend(Contender::ours(&name, filter, build_ns));
    }
    contenders
}

/// Our filters that are solved, with fingerprints as long as those of the peers beside them; the ribbon
/// also as it is on a processor without vectors.
fn solved(members: &Keys) -> Vec<Contender> {
    let ribbon = |bits: i32, has_vectors: bool| {
        let rate = ErrorRate::new(f64::from(-bits).exp2()).expect("a rate");
        let make = || Ribbon::from_keys(Sizing::ErrorRate(rate), &members.hashes);
        let (filter, build_ns) = members.fill(make);
        let filter = filter.expect("a filter of that size");
        if has_vectors {
            Contender::ours(&format!("ribbon {bits}-bit"), filter, build_ns)
        } else {
            let filter = filter.without_vectors();
            Contender::ours(&format!("ribbon {bits}-bit, plain"), filter, build_ns)
        }
    };
    let fuse = |arity: FuseArity| {
        let make = || BinaryFuse::new(arity, FuseBits::Eight, &members.hashes);
        let (filter, build_ns) = members.fill(make);
        let name = format!("binary-fuse 8-bit, {}-wise", arity.slots());
        Contender::ours(&name, filter.expect("a filter of that size"), build_ns)
    };
    let ribbons = [ribbon(7, true), ribbon(7, false), ribbon(8, true)];
    let all = ribbons.into_iter().chain([fuse(FuseArity::Three), fuse(FuseArity::Four)]);
    all.flatten().collect()
}

fn count<T>(probes: &[T], may_contain: impl Fn(&T) -> bool) -> usize {
    probes.iter().filter(|probe| may_contain(black_box(probe))).count()
}

/// Asks for the keys of every pass; returns how many were let through, and the nanoseconds a key that
/// each pass took.
fn time(contender: &Contender, passes: &[Keys]) -> (usize, Vec<f64>) {
    let mut let_through = 0;
    let times = passes.iter().map(|keys| {
        let start = Instant::now();
        let_through += (contender.ask)(black_box(keys));
        start.elapsed().as_nanos() as f64 / keys.bytes.len() as f64
    });
    let times = times.collect();
    (let_through, times)
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// Asks all contenders in turn, and prints what it took.
fn compare(count: u64) {
    let members = Keys::new(0..count);
    let mut contenders = ours(&members);
    #[cfg(feature = "filter-peers")]
    contenders.extend(peers::all(&members));

    let mut random = workload::Random::new(7);
    let mut passes = |first: u64, below: usize| -> Vec<Keys> {
        let mut pass = || Keys::new((0..PROBES).map(|_| first + random.below(below) as u64));
        (0..PASSES).map(|_| pass()).collect()
    };
    let size = count as usize;
    let (hits, misses, others) = (passes(0, size), passes(count, 1 << 40), passes(0, 2 * size));
    for round in 0..ROUNDS {
        for contender in &mut contenders {
            time(contender, &others);
            for is_hit in [round % 2 == 0, round % 2 != 0] {
                let (let_through, ns) = time(contender, if is_hit { &hits } else { &misses });
                if is_hit {
                    assert_eq!(let_through, PROBES * PASSES, "{} denied a member", contender.name);
                    contender.hit_ns.extend(ns);
                } else {
                    contender.error_rate = let_through as f64 / (PROBES * PASSES) as f64;
                    contender.miss_ns.extend(ns);
                }
            }
        }
    }

    println!("\n### {} keys\n", with_commas(count));
    println!("| filter | asked by | bits/key | error rate | build ns | hit ns | miss ns |");
    println!("|---|---|---:|---:|---:|---:|---:|");
    for contender in &contenders {
        println!(
            "| {} | {} | {:.2} | {:.3} % | {:.1} | {:.1} | {:.1} |",
            contender.name,
            contender.input,
            contender.bits_per_key,
            contender.error_rate * 100.0,
            contender.build_ns,
            median(contender.hit_ns.clone()),
            median(contender.miss_ns.clone()),
        );
    }
    #[cfg(feature = "filter-peers")]
    ratios(&contenders);
}

fn with_commas(count: u64) -> String {
    let digits = count.to_string();
    let groups: Vec<&[u8]> = digits.as_bytes().rchunks(3).rev().collect();
    String::from_utf8(groups.join(&b',')).expect("digits")
}

/// Prints ours over theirs: the median of the rounds' ratios.
#[cfg(feature = "filter-peers")]
fn ratios(contenders: &[Contender]) {
    println!("\n| ours / theirs | asked by | hit | miss | bits/key | build |");
    println!("|---|---|---:|---:|---:|---:|");
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
                "| {} / {} | {} | {:.2} | {:.2} | {:.2} | {:.2} |",
                ours.name,
                theirs.name,
                input,
                ratio(&ours.hit_ns, &theirs.hit_ns),
                ratio(&ours.miss_ns, &theirs.miss_ns),
                ours.bits_per_key / theirs.bits_per_key,
                ours.build_ns / theirs.build_ns,
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
