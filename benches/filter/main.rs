//! The cost of one lookup in a filter, for members and for absent keys, beside other crates.
//!
//! All filters of one size have the same keys, which are asked in the same random order.
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
//! cargo bench -p benches --bench filter --features filter-peers              100 k, 1 M and 10 M keys
//! SIZE=1000000 cargo bench -p benches --bench filter --features filter-peers
//! cargo bench -p benches --bench filter --features filter-peers -- ribbon    only these names
//! ```
#![expect(clippy::print_stdout, reason = "sizes and error rates are figures, too")]

mod contender;
#[cfg(feature = "filter-peers")]
mod peers;

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};
use filter::engine::build;
use filter::{
    BinaryFuse, Blocked, Classic, CountingBloom, Cuckoo, DLeft, ErrorRate, FilterKind, FuseArity,
    FuseBits, Ribbon, Seed, Sizing, SplitBlock, StoredFilter,
};

use contender::{Build, Contender, Input, Keys};

const SEED: Seed = Seed::new(0x5eed);
/// Keys of one pass, which is one call of a batch.
const PROBES: usize = 5_000;
/// Passes with keys of their own, too many together for a branch predictor to learn.
const PASSES: usize = 20;

/// Our filters in memory, and the stored form of every kind.
fn ours(members: &Keys) -> Vec<Contender> {
    let sizing = Sizing::ErrorRate(ErrorRate::HBASE);
    let keys = members.hashes.len() as u64;
    let possible = "a filter of that size";
    // With the fingerprint length of the crate `cuckoofilter`.
    let tight = Sizing::BitsPerKey(8.5);
    let blocked = move || Blocked::with_seed(sizing, keys, SEED).expect(possible);
    let split_block = move || SplitBlock::with_seed(sizing, keys, SEED).expect(possible);
    let classic = move || Classic::with_seed(sizing, keys, SEED).expect(possible);
    let counting = move || CountingBloom::with_seed(sizing, keys, SEED).expect(possible);
    let d_left = move || DLeft::with_seed(sizing, keys, SEED).expect(possible);
    let cuckoo = move |sizing| move || Cuckoo::with_seed(sizing, keys, SEED).expect(possible);
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
            let filter = Ribbon::build(Sizing::ErrorRate(rate), &members.seeded());
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
            let filter = BinaryFuse::build_with(arity, FuseBits::Eight, &members.seeded());
            filter.expect("a filter of that size")
        });
        Contender::ours(&name, build)
    };
    let ribbons = [ribbon(7, true), ribbon(7, false), ribbon(8, true)];
    let all = ribbons.into_iter().chain([fuse(FuseArity::Three), fuse(FuseArity::Four)]);
    all.flatten().collect()
}

/// Measures lookups of members and of absent keys, and builds, of all filters with `count` keys.
fn measure(criterion: &mut Criterion, count: u64) {
    let members = Keys::new(0..count);
    #[cfg_attr(not(feature = "filter-peers"), expect(unused_mut, reason = "peers are added"))]
    let mut contenders = ours(&members);
    #[cfg(feature = "filter-peers")]
    contenders.extend(peers::all(&members));
    let mut random = workload::Random::new(7);
    let mut passes = |first: u64, below: u64| -> Vec<Keys> {
        let mut pass =
            || Keys::new((0..PROBES).map(|_| first + random.below(below as usize) as u64));
        (0..PASSES).map(|_| pass()).collect()
    };
    let (hits, misses) = (passes(0, count), passes(count, 1 << 40));
    for contender in &contenders {
        let maybe = |passes: &[Keys]| passes.iter().map(|keys| contender.ask(keys)).sum::<usize>();
        assert_eq!(maybe(&hits), PROBES * PASSES, "{} denied a member", contender.name);
        let error_rate = maybe(&misses) as f64 / (PROBES * PASSES) as f64 * 100.0;
        let (name, bits) = (&contender.name, contender.bits_per_key);
        println!("{count} keys, {name}: {bits:.2} bits a key, error rate {error_rate:.3} %");
    }
    for (kind, passes) in [("hit", &hits), ("miss", &misses)] {
        let mut group = criterion.benchmark_group(format!("{count} keys, {kind}"));
        for contender in &contenders {
            let id = BenchmarkId::new(&contender.name, contender.input);
            group.bench_function(id, |bencher| {
                bencher.iter_custom(|lookups| {
                    let turns = lookups.div_ceil(PROBES as u64) as usize;
                    let start = Instant::now();
                    for pass in passes.iter().cycle().take(turns) {
                        black_box(contender.ask(pass));
                    }
                    start.elapsed().mul_f64(lookups as f64 / (turns * PROBES) as f64)
                });
            });
        }
    }
    let mut group = criterion.benchmark_group(format!("{count} keys, build"));
    group.throughput(Throughput::Elements(count));
    for contender in contenders.iter().filter(|contender| contender.input == Input::Hash) {
        group.bench_function(&contender.name, |bencher| {
            bencher.iter(|| contender.build(&members));
        });
    }
}

fn main() {
    let quick = Duration::from_millis(500);
    let criterion = Criterion::default().sample_size(10).warm_up_time(quick);
    let mut criterion = criterion.measurement_time(Duration::from_secs(1)).configure_from_args();
    match workload::size(0) {
        0 => {
            for size in [100_000, 1_000_000, 10_000_000] {
                measure(&mut criterion, size);
            }
        }
        size => measure(&mut criterion, size),
    }
    criterion.final_summary();
}
