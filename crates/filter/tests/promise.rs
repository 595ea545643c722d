//! The error rate that a sizing promises, measured for few and for many keys.
//!
//! The test counts the filters that pass at least one of some absent keys. Each filter has keys of
//! its own, so filters are independent. If the error rate is ε at most, a filter passes one of `a`
//! absent keys with a probability of a·ε at most, even if the rate differs from filter to filter. So
//! the count has at most the tail of the binomial distribution with a·ε, which is computed exactly.

use filter::engine::{KeyHash, Membership, build};
use filter::hbase::{ChunkBuilder, ChunkSizing, HashPair, HashType, may_contain};
use filter::{BuildError, FilterKind, Seed, Sizing, StoredFilter, plan};

/// The probability at most that a filter that keeps its promise fails, for each setting.
const FALSE_ALARM: f64 = 1e-12;

/// The expected number of false positives of a filter whose error rate is the promised one.
const PER_FILTER: f64 = 0.25;

/// The lowest error rate that the number of absent keys can measure.
const MEASURABLE: f64 = 1e-6;

/// How many filters passed an absent key.
#[derive(Debug)]
struct Outcome {
    /// The number of absent keys that each filter was asked for, until one passed.
    absent: u64,
    filters: u64,
    passing: u64,
    /// The number of filters that may pass one at the promised rate.
    passing_max: u64,
}

impl Outcome {
    /// Counts filters: `passes_one(filter, absent)` builds one and looks up `absent` absent keys.
    fn count(promised: f64, filters: u64, mut passes_one: impl FnMut(u64, u64) -> bool) -> Self {
        let absent = ((PER_FILTER / promised) as u64).max(1);
        let passing = (0..filters).filter(|filter| passes_one(*filter, absent)).count() as u64;
        let passing_max = binomial_max(filters, (absent as f64 * promised).min(1.0));
        Self { absent, filters, passing, passing_max }
    }

    fn keeps_its_promise(&self) -> bool {
        self.passing <= self.passing_max
    }

    /// Returns the error rate with which this number of filters is expected to pass a key.
    fn estimate(&self) -> f64 {
        -(-(self.passing as f64) / self.filters as f64).ln_1p() / self.absent as f64
    }
}

/// Measures filters of a kind; [`Sizing::ErrorRate`] promises its rate, other sizings the planned one.
fn measure(
    kind: FilterKind,
    sizing: Sizing,
    keys: u64,
    filters: u64,
) -> Result<Outcome, BuildError> {
    let seed = |filter| Seed::new(keys << 32 | filter);
    let filter_of = |seed| {
        let members: Vec<_> = (0..keys).map(|key| hash(seed, key)).collect();
        let bytes = build(kind, sizing, seed, &members).expect("it was planned");
        StoredFilter::parse(bytes).expect("our own bytes")
    };
    let planned = plan(kind, sizing, keys)?.error_rate;
    let promised = match sizing {
        Sizing::ErrorRate(rate) => rate.get(),
        Sizing::BitsPerKey(_) | Sizing::Bytes(_) => planned.max(MEASURABLE),
    };
    // A ribbon may exceed the rate by rounding errors of a sum.
    assert!(planned <= promised * (1.0 + 1e-8), "{kind}, {keys} keys: {planned}");
    Ok(Outcome::count(promised, filters, |filter, absent| {
        let seed = seed(filter);
        passes_one(&filter_of(seed), seed, absent)
    }))
}

fn hash(seed: Seed, key: u64) -> KeyHash {
    KeyHash::new(seed, &key.to_le_bytes())
}

/// Returns whether one of `count` absent keys passes.
fn passes_one(filter: &StoredFilter<Vec<u8>>, seed: Seed, count: u64) -> bool {
    const BATCH: u64 = 1_024;
    let mut hashes = Vec::new();
    let mut answers = [false; BATCH as usize];
    (0..count).step_by(BATCH as usize).any(|from| {
        hashes.clear();
        // The numbers of members are below 2^32.
        hashes.extend((from..count.min(from + BATCH)).map(|key| hash(seed, 1 << 32 | key)));
        let answers = &mut answers[..hashes.len()];
        Membership::may_contain_batch(filter, &hashes, answers);
        answers.contains(&true)
    })
}

/// Returns the least count that a binomial distribution exceeds with at most [`FALSE_ALARM`].
///
/// All of `trials` if the odds are 1: nothing can be measured then.
fn binomial_max(trials: u64, odds: f64) -> u64 {
    if odds >= 1.0 {
        return trials;
    }
    // From the last term on, so that the sum of the tail loses no small terms. `term` is a logarithm.
    let mut term = trials as f64 * odds.ln();
    let mut tail = 0.0;
    for count in (1..=trials).rev() {
        tail += term.exp();
        if tail > FALSE_ALARM {
            return count;
        }
        // P(k − 1) / P(k) = k / (n − k + 1) · (1 − p) / p
        term += (count as f64 / (trials - count + 1) as f64).ln() + ((1.0 - odds) / odds).ln();
    }
    0
}

/// Measures all kinds, and returns the settings that break their promise.
fn broken_promises(key_counts: &[u64], sizings: &[Sizing], filters: u64) -> Vec<String> {
    let mut broken = Vec::new();
    for &kind in FilterKind::ALL {
        for &keys in key_counts {
            for &sizing in sizings {
                let outcome = match measure(kind, sizing, keys, filters) {
                    Ok(outcome) => outcome,
                    Err(error) => {
                        assert!(may_refuse(kind, sizing), "{kind}, {sizing:?}, {keys}: {error}");
                        continue;
                    }
                };
                let estimate = outcome.estimate();
                let setting =
                    format!("{kind}, {sizing:?}, {keys} keys: {estimate:.2e}, {outcome:?}");
                eprintln!("{setting}");
                if !outcome.keeps_its_promise() {
                    broken.push(setting);
                }
            }
        }
    }
    broken
}

/// Returns whether a kind has no filter of that sizing, for some numbers of keys.
///
/// A fuse has fingerprints of 16 bits; so has a cuckoo filter, and at most 32 slots a key.
fn may_refuse(kind: FilterKind, sizing: Sizing) -> bool {
    match sizing {
        Sizing::ErrorRate(rate) => match kind {
            FilterKind::BinaryFuse => rate.get() < 2.0_f64.powi(-16),
            FilterKind::Cuckoo => rate.get() < 4e-6,
            _ => false,
        },
        Sizing::BitsPerKey(bits) => bits < 12.0,
        Sizing::Bytes(_) => false,
    }
}

fn error_rates(rates: &[f64]) -> Vec<Sizing> {
    let rate = |rate: &f64| Sizing::error_rate(*rate).expect("in range");
    rates.iter().map(rate).collect()
}

#[test]
fn every_kind_has_at_most_the_given_error_rate_for_few_keys() {
    let broken = broken_promises(&[1, 7, 200], &error_rates(&[1e-1, 1e-3, 1e-5]), 100);
    assert!(broken.is_empty(), "{broken:#?}");
}

/// The promise of other sizings is the planned error rate, which the stats show.
#[test]
fn every_kind_has_at_most_the_planned_error_rate_for_few_keys() {
    let broken = broken_promises(&[1, 7, 200], &[6.0, 14.0, 20.0].map(Sizing::BitsPerKey), 100);
    assert!(broken.is_empty(), "{broken:#?}");
}

/// `cargo test --release -p hfile-filter --test promise -- --ignored --nocapture`
#[test]
#[ignore = "takes half an hour in release mode"]
fn every_kind_has_at_most_the_given_error_rate_from_one_key_to_ten_thousand() {
    let key_counts = [1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000];
    let mut sizings = error_rates(&[0.5, 1e-1, 3e-2, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6]);
    sizings.extend([4.0, 8.0, 12.0, 16.0, 24.0].map(Sizing::BitsPerKey));
    let broken = broken_promises(&key_counts, &sizings, 400);
    assert!(broken.is_empty(), "{broken:#?}");
}

/// The bytes must be those of HBase, whose formula ignores that probes coincide. The figures are those
/// of `docs/src/filters/hbase.md`: the number of keys, the given error rate, and the measured one.
#[test]
fn an_hbase_chunk_of_few_keys_exceeds_the_given_error_rate_as_its_page_says() {
    const FILTERS: u64 = 1_000;
    const ABSENT: u64 = 500;
    let figures = [
        (1, 1e-2, 2.7e-2),
        (1, 1e-3, 6.1e-3),
        (1, 1e-4, 1.3e-2),
        (10, 1e-2, 5.9e-3),
        (10, 1e-3, 7.6e-4),
        (10, 1e-4, 1.2e-3),
        (100, 1e-2, 8.1e-3),
        (100, 1e-3, 1.9e-4),
        (100, 1e-4, 2.6e-4),
    ];
    for (keys, given, documented) in figures {
        let sizing = ChunkSizing::new(given as f32, 128 * 1024, 7).expect("possible");
        let pair = |filter: u64, key: u64| {
            HashPair::new(HashType::Murmur, format!("{filter}/{key}").as_bytes())
        };
        let mut passed = 0;
        for filter in 0..FILTERS {
            let mut chunk = ChunkBuilder::new(sizing);
            (0..keys).for_each(|key| chunk.insert(pair(filter, key)));
            let bits = chunk.finish().bits;
            let absent = (keys..keys + ABSENT).map(|key| pair(filter, key));
            passed += absent.filter(|pair| may_contain(&bits, sizing.hash_count, *pair)).count();
        }
        let measured = passed as f64 / (FILTERS * ABSENT) as f64;
        eprintln!("{keys} keys at {given}: {measured:.1e}");
        assert!((measured / documented - 1.0).abs() < 0.3, "{keys} keys at {given}: {measured}");
    }
}
