use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::error::BuildError;
use crate::hash::{KeyHash, Seed};
use crate::kernel::InstructionSet;
use crate::membership::{FilterStats, Membership};
use crate::sizing::Sizing;

const SEED: Seed = Seed::new(1);

fn keys(stream: u64, count: u64) -> Vec<KeyHash> {
    let seed = Seed::new(stream);
    (0..count).map(|key| KeyHash::new(seed, &key.to_le_bytes())).collect()
}

fn error_rate(rate: f64) -> Sizing {
    Sizing::error_rate(rate).expect("a rate")
}

fn built(sizing: Sizing, keys: &[KeyHash]) -> Ribbon {
    let filter = Ribbon::from_hashes(sizing, SEED, keys).expect("possible");
    assert!(keys.iter().all(|key| filter.may_contain(*key)), "a member was denied");
    filter
}

/// Returns the bits a key divided by the lower bound of any filter.
fn over_bound(stats: FilterStats, rate: f64) -> f64 {
    stats.bits_per_key() / -rate.log2()
}

#[test]
fn copies_of_keys_are_allowed() {
    let once = keys(1, 20_000);
    let thrice: Vec<KeyHash> = [once.as_slice(); 3].concat();
    assert_eq!(built(error_rate(0.01), &thrice).stats().keys, 60_000);
    let one_key = vec![once[0]; 100_000];
    let filter = built(error_rate(0.01), &one_key);
    assert!(keys(2, 10_000).iter().filter(|key| filter.may_contain(**key)).count() < 200);
}

#[test]
fn wide_blocks_meet_an_error_rate_between_two_numbers_of_columns() {
    let members = keys(1, 20_000);
    for rate in [0.9, 0.5, 0.3, 0.01, 0.005, 0.001, 1e-6, 3e-10] {
        let stats = built(error_rate(rate), &members).stats();
        // Plus the chance that an absent key has the hash of a member: 20,000 · 2^−64.
        assert!(stats.error_rate <= rate + 1e-14, "{} at {rate}", stats.error_rate);
        assert!(stats.error_rate > rate * 0.995, "{} at {rate}", stats.error_rate);
    }
}

/// Blocks of different widths slow every lookup. The rounding error of the sum over many blocks
/// must not add a wide block.
#[test]
fn an_error_rate_of_whole_columns_makes_all_blocks_equal() {
    for blocks in [1_001, 49_999, 147_657, 1_476_563] {
        let starts = layer::starts(blocks);
        for fill in [0xff, 0x5a, 0xe7] {
            let thresholds = vec![fill; thresholds::len(starts) as usize];
            let mut plan = shape::FilterPlan { base_share: 1.0, ..Default::default() };
            plan.add_layer(starts, &thresholds);
            plan.base_slots = 100;
            for columns in [1_u32, 7, 8, 20] {
                let rate = (-f64::from(columns)).exp2();
                let layout = plan.layout(error_rate(rate), 1).expect("possible");
                let equal = layout::Layout {
                    narrow_columns: columns,
                    narrow_blocks: blocks,
                    block_count: blocks,
                };
                assert_eq!(layout, equal, "{fill:#x}");
            }
        }
    }
}

#[test]
fn a_budget_is_used_to_the_last_word() {
    let members = keys(1, 20_000);
    for bits in [0.7, 1.0, 6.5, 7.0, 8.1, 12.34, 32.0] {
        let stats = built(Sizing::BitsPerKey(bits), &members).stats();
        assert!((bits - 0.01..=bits).contains(&stats.bits_per_key()), "{stats:?} at {bits}");
    }
    for budget in [20_000, 20_001, 33_333] {
        let stored = built(Sizing::Bytes(budget), &members).to_stored();
        assert!((budget - 20..=budget).contains(&(stored.len() as u64)), "{}", stored.len());
    }
}

/// Compares lookups one by one and in batches.
///
/// Covers equal and mixed blocks, more columns than a vector has lanes, and keys that end in the
/// last block, in later layers or in the base.
#[test]
fn all_vector_kernels_give_the_same_answers() {
    for (count, rates) in
        [(1_000, [0.3, 0.01]), (20_000, [1.0 / 128.0, 0.01]), (5_000, [1e-3, 1e-5])]
    {
        let members = keys(1, count);
        let all = [members.as_slice(), &keys(2, 50_000)].concat();
        for rate in rates {
            let mut filter = built(error_rate(rate), &members);
            let best: Vec<bool> = all.iter().map(|key| filter.may_contain(*key)).collect();
            assert!(best[..members.len()].iter().all(|may| *may), "{count} keys at {rate}");
            for set in InstructionSet::available() {
                filter.view = filter.view.with(set);
                let one_by_one: Vec<bool> =
                    all.iter().map(|key| filter.may_contain(*key)).collect();
                assert!(one_by_one == best, "{count} keys at {rate}, {set:?}");
                let mut batch = vec![false; all.len()];
                Membership::may_contain_batch(&filter, &all, &mut batch);
                assert!(batch == best, "{count} keys at {rate}, {set:?}");
            }
        }
    }
}

#[test]
fn an_impossible_sizing_is_an_error() {
    let members = keys(1, 1_000);
    let error = Ribbon::from_hashes(error_rate(1e-10), SEED, &members).expect_err("too seldom");
    assert_eq!(error, BuildError::ErrorRate(1e-10));
    let error = Ribbon::from_hashes(Sizing::Bytes(64), SEED, &members).expect_err("a header only");
    assert_eq!(error, BuildError::Budget { needed: 65, budget: 64 });
    let error = Ribbon::from_hashes(Sizing::Bytes(65), SEED, &members).expect_err("a byte");
    assert_eq!(error, BuildError::Full);
}

#[test]
fn keys_that_contradict_each_other_are_kept_in_a_list() {
    // A list takes any keys.
    let members = keys(1, 100);
    let list = base::Base::List({
        let mut sorted = members.clone();
        sorted.sort_unstable();
        sorted
    });
    let bytes = list.to_bytes(8);
    let holds = |key| base::may_contain(&bytes, list.seed(), list.slots(), 8, key);
    assert!(members.iter().all(|key| holds(*key)));
    assert!(!keys(2, 1_000).iter().any(|key| holds(*key)));
}

/// Returns the mean of [`over_bound`] over several filters, because small filters vary.
fn mean_over_bound(count: u64, rate: f64, filters: u64) -> f64 {
    let over = (0..filters).map(|stream| {
        over_bound(built(error_rate(rate), &keys(100 + stream, count)).stats(), rate)
    });
    over.sum::<f64>() / filters as f64
}

fn assert_sizes(sizes: &[(u64, u64, f64)], rates: &[f64]) {
    for (count, filters, limit) in sizes {
        for rate in rates {
            let over = mean_over_bound(*count, *rate, *filters);
            std::eprintln!("{count} keys at {rate}: {over:.4} times the bound");
            assert!(over <= *limit, "{count} keys at {rate}: {over}");
        }
    }
}

/// Error rates of a whole number of columns.
const WHOLE: [f64; 2] = [1.0 / 128.0, 1.0 / 256.0];
/// Error rates between two numbers of columns.
const FRACTIONS: [f64; 3] = [0.01, 0.005, 0.001];

#[test]
fn a_ribbon_is_near_the_bound() {
    let sizes = [(1_000, 20, 1.03), (5_000, 10, 1.01), (50_000, 8, 1.004), (100_000, 2, 1.004)];
    assert_sizes(&sizes, &WHOLE);
    assert_sizes(&[(100_000, 1, 1.02)], &FRACTIONS);
}

/// `cargo test --release -p hfile-filter --lib -- --ignored --nocapture large_ribbons`
#[test]
#[ignore = "takes a minute in release mode"]
fn large_ribbons_are_near_the_bound() {
    let sizes = [(1_000_000, 2, 1.004), (10_000_000, 1, 1.004)];
    assert_sizes(&sizes, &WHOLE);
    assert_sizes(&[(1_000_000, 1, 1.02), (10_000_000, 1, 1.02)], &FRACTIONS);
}

/// Checks that a filter of error rate 2^−bits lets the expected number of absent keys pass.
fn assert_error_rate(count: u64, bits: i32, absent: u64) {
    let filter = built(error_rate(f64::from(bits).exp2().recip()), &keys(7, count));
    let passed = keys(8, absent).iter().filter(|key| filter.may_contain(**key)).count() as f64;
    let expected = absent as f64 * f64::from(bits).exp2().recip();
    let deviation = (passed - expected) / expected.sqrt();
    std::eprintln!("{count} keys, 2^-{bits}: {passed} of {absent} passed, {deviation:+.1} sigma");
    assert!(deviation.abs() <= 3.0, "{passed}, not {expected}");
}

#[test]
fn the_measured_error_rate_is_two_to_the_minus_columns() {
    for bits in [1, 4, 7, 8, 9, 12] {
        assert_error_rate(100, bits, 100_000);
        assert_error_rate(20_000, bits, 500_000);
    }
}

/// `cargo test --release -p hfile-filter --lib -- --ignored --nocapture million_probes_of_ribbons`
#[test]
#[ignore = "takes a minute in release mode, and 2 GB"]
fn no_member_is_denied_in_a_hundred_million_probes_of_ribbons() {
    let mut probes = 0;
    for (count, filters) in [(10, 10_000), (1_000, 5_000), (60_000, 300), (10_000_000, 8)] {
        for stream in 0..filters {
            let rate = [0.3, 0.01, 1.0 / 256.0, 1e-5][stream as usize % 4];
            built(error_rate(rate), &keys(stream, count));
            probes += count;
        }
    }
    std::eprintln!("{probes} probes, none denied");
    assert!(probes > 100_000_000);
    for bits in [7, 8, 12] {
        assert_error_rate(1_000_000, bits, 10_000_000);
    }
}

/// A plan must know the slots that the rounding of blocks takes from a small layer: the keys that
/// do not fit are bumped and need slots elsewhere.
#[test]
fn a_plan_of_few_keys_has_the_size_of_the_filter() {
    for count in [769, 1_000, 1_100, 1_500, 3_000, 10_000] {
        let planned = Ribbon::plan(error_rate(0.001), count).expect("possible").bits_per_key();
        let built = built(error_rate(0.001), &keys(1, count)).stats().bits_per_key();
        assert!((planned / built - 1.0).abs() < 0.015, "{count} keys: {planned}, not {built}");
    }
}
