//! The cost of one lookup in a filter, for members and for absent keys, beside other crates.
//!
//! All filters of one size are asked in turn, round by round, in one process, with the same keys in
//! the same random order. Before a filter is timed, it is asked other keys, a tenth as many as it
//! holds, so that as much of it is in the caches as fits. Hits and misses alternate in coming first.
//! A pass is short enough that most passes are not interrupted. The ratio of two filters is the median
//! of the ratios of their passes. Every few rounds all filters are built again, memory allocation
//! included; the ratio of two build times is a median too.
//!
//! | asked by | what is timed                                                                    |
//! |----------|----------------------------------------------------------------------------------|
//! | hash     | one call per key, with a precomputed 64-bit hash                                 |
//! | key      | one call per key, with its 16 bytes, hashing included                            |
//! | batch    | one call for all keys, with precomputed hashes                                   |
//!
//! Our filters are asked as they are in memory, like those of the other crates, and "stored": parsed
//! from bytes.
//!
//! ```text
//! cargo bench -p benches --bench filter --features filter-peers            100 k, 1 M and 10 M keys
//! cargo bench -p benches --bench filter --features filter-peers -- 1000000
//! cargo bench -p benches --bench filter --features filter-peers -- cold    not warmed by other keys
//! cargo bench -p benches --bench filter --features filter-peers -- ribbon xorf    only these names
//! ```
#![expect(clippy::print_stdout, reason = "the program prints tables")]

mod contender;
#[cfg(feature = "filter-peers")]
mod peers;

use filter::bloom::{Blocked, Classic, SplitBlock};
use filter::{
    BinaryFuse, CountingBloom, Cuckoo, DLeft, ErrorRate, FilterKind, FuseArity, FuseBits, Ribbon,
    Seed, Sizing, StoredFilter, build,
};

use workload::median;

use contender::{Build, Contender, Keys, time_builds};

const SEED: Seed = Seed::new(0x5eed);
/// Keys of one pass: many compared with the cost of reading the clock, few compared with a time slice.
const PROBES: usize = 5_000;
/// Passes of a round. Each has its own keys, too many together for a branch predictor to learn.
const PASSES: usize = 20;
const ROUNDS: usize = 15;
/// Members per key that warms a filter; at least as many keys as are timed warm it.
const MEMBERS_PER_WARMING_KEY: usize = 10;
/// Rounds after which all filters are built again.
const ROUNDS_PER_BUILD: usize = 3;

/// Our filters in memory, and the stored form of every kind.
fn ours(members: &Keys) -> Vec<Contender> {
    let sizing = Sizing::ErrorRate(ErrorRate::HBASE);
    let keys = members.hashes.len() as u64;
    let possible = "a filter of that size";
    // With the fingerprint length of the crate `cuckoofilter`.
    let tight = Sizing::BitsPerKey(8.5);
    let blocked = move || Blocked::new(sizing, keys).expect(possible);
    let split_block = move || SplitBlock::new(sizing, keys).expect(possible);
    let classic = move || Classic::new(sizing, keys).expect(possible);
    let counting = move || CountingBloom::new(sizing, keys).expect(possible);
    let d_left = move || DLeft::new(sizing, keys).expect(possible);
    let cuckoo = move |sizing| move || Cuckoo::new(sizing, keys).expect(possible);
    let mut contenders: Vec<Contender> = [
        Contender::in_memory(FilterKind::BlockedBloom.name(), blocked, members),
        Contender::in_memory(FilterKind::SplitBlock.name(), split_block, members),
        Contender::in_memory(FilterKind::ClassicBloom.name(), classic, members),
        Contender::in_memory(FilterKind::CountingBloom.name(), counting, members),
        Contender::in_memory(FilterKind::DLeft.name(), d_left, members),
        Contender::in_memory(FilterKind::Cuckoo.name(), cuckoo(sizing), members),
        Contender::in_memory("cuckoo 8-bit", cuckoo(tight), members),
    ]
    .into_iter()
    .flatten()
    .collect();

    contenders.extend(static_filters(members));

    for &kind in FilterKind::ALL {
        let (bytes, again) = Build::new(members, move |members| {
            build(kind, sizing, SEED, &members.hashes).expect(possible)
        });
        let filter = StoredFilter::parse(bytes).expect("our own bytes");
        // Some kinds exist only in their stored form.
        let is_both = contenders.iter().any(|contender| contender.name == kind.name());
        let name = if is_both { format!("{kind}, stored") } else { kind.to_string() };
        contenders.extend(Contender::ours(&name, (filter, again)));
    }
    contenders
}

/// Returns our static filters with the fingerprint lengths of their peers, and the ribbon also without
/// vector instructions.
fn static_filters(members: &Keys) -> Vec<Contender> {
    let ribbon = |bits: i32, has_vectors: bool| {
        let rate = ErrorRate::new(f64::from(-bits).exp2()).expect("a rate");
        let (filter, build) = Build::new(members, move |members| {
            let filter = Ribbon::build(Sizing::ErrorRate(rate), &members.hashes);
            filter.expect("a filter of that size")
        });
        if has_vectors {
            Contender::ours(&format!("ribbon {bits}-bit"), (filter, build))
        } else {
            let filter = filter.without_vectors();
            Contender::ours(&format!("ribbon {bits}-bit, plain"), (filter, build))
        }
    };
    let fuse = |arity: FuseArity| {
        let name = format!("binary-fuse 8-bit, {}-wise", arity.slots());
        let build = Build::new(members, move |members| {
            let filter = BinaryFuse::build_with(arity, FuseBits::Eight, &members.hashes);
            filter.expect("a filter of that size")
        });
        Contender::ours(&name, build)
    };
    let ribbons = [ribbon(7, true), ribbon(7, false), ribbon(8, true)];
    let all = ribbons.into_iter().chain([fuse(FuseArity::Three), fuse(FuseArity::Four)]);
    all.flatten().collect()
}

/// Measures all contenders in turn, or those whose names contain one of `words`, and prints the table.
///
/// With `is_warm`, each contender is asked other keys before it is timed.
fn compare(count: u64, is_warm: bool, words: &[String]) {
    let members = Keys::new(0..count);
    let mut contenders = ours(&members);
    #[cfg(feature = "filter-peers")]
    contenders.extend(peers::all(&members));
    contenders.retain(|contender| {
        words.is_empty() || words.iter().any(|word| contender.name.contains(word.as_str()))
    });

    let mut random = workload::Random::new(7);
    let mut passes = |passes: usize, first: u64, below: usize| -> Vec<Keys> {
        let mut pass = || Keys::new((0..PROBES).map(|_| first + random.below(below) as u64));
        (0..passes).map(|_| pass()).collect()
    };
    let size = count as usize;
    let (hits, misses) = (passes(PASSES, 0, size), passes(PASSES, count, 1 << 40));
    let warming = if is_warm { PASSES.max(size / MEMBERS_PER_WARMING_KEY / PROBES) } else { 0 };
    let others = passes(warming, 0, 2 * size);
    for round in 0..ROUNDS {
        if round % ROUNDS_PER_BUILD == 0 {
            time_builds(&contenders, &members);
        }
        for contender in &mut contenders {
            contender.time(&others);
            for is_hit in [round % 2 == 0, round % 2 != 0] {
                let (maybe_count, ns) = contender.time(if is_hit { &hits } else { &misses });
                if is_hit {
                    assert_eq!(maybe_count, PROBES * PASSES, "{} denied a member", contender.name);
                    contender.hit_ns.extend(ns);
                } else {
                    contender.error_rate = maybe_count as f64 / (PROBES * PASSES) as f64;
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
            median(contender.build_ns()),
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

/// Prints the median ratios of our times and sizes over those of the peers.
#[cfg(feature = "filter-peers")]
fn ratios(contenders: &[Contender]) {
    println!("\n| ours / theirs | asked by | hit | miss | bits/key | build |");
    println!("|---|---|---:|---:|---:|---:|");
    for (ours, theirs) in peers::RIVALS {
        for input in [contender::Input::Hash, contender::Input::Key] {
            let find = |name: &str, input| {
                contenders
                    .iter()
                    .find(|contender| contender.name == name && contender.input == input)
            };
            let (Some(ours), Some(theirs)) = (find(ours, input), find(theirs, input)) else {
                continue;
            };
            let ratio = |ours: &[f64], theirs: &[f64]| {
                median(ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs))
            };
            println!(
                "| {} / {} | {} | {:.2} | {:.2} | {:.2} | {:.2} |",
                ours.name,
                theirs.name,
                input,
                ratio(&ours.hit_ns, &theirs.hit_ns),
                ratio(&ours.miss_ns, &theirs.miss_ns),
                ours.bits_per_key / theirs.bits_per_key,
                ratio(&ours.build_ns(), &theirs.build_ns()),
            );
        }
    }
}

fn main() {
    // Cargo passes `--bench` as well.
    let arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let (sizes, mut words): (Vec<String>, Vec<String>) =
        arguments.partition(|argument| argument.parse::<u64>().is_ok());
    let sizes: Vec<u64> = sizes.iter().filter_map(|size| size.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![100_000, 1_000_000, 10_000_000] } else { sizes };
    let is_warm = !words.iter().any(|word| word == "cold");
    words.retain(|word| word != "cold");
    for size in sizes {
        compare(size, is_warm, &words);
    }
}
