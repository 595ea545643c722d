use alloc::collections::BTreeMap;
use alloc::vec;
use proptest::collection::vec as vector;
use proptest::prelude::*;

use super::*;
use crate::error::{Absent, BuildError, Full};
use crate::hash::{KeyHash, Seed};
use crate::header::HEADER_LEN;
use crate::kernel::{self, Probes};
use crate::sizing::Sizing;
use crate::stored::StoredFilter;

const SEED: Seed = Seed::new(1);

/// Returns hashes of the numbers from zero on. Streams with different numbers have no hash in
/// common.
fn keys(stream: u64, count: u64) -> impl Iterator<Item = KeyHash> {
    let seed = Seed::new(stream);
    (0..count).map(move |key| KeyHash::new(seed, &key.to_le_bytes()))
}

fn filled(sizing: Sizing, count: u64) -> CountingBloom {
    filled_with(sizing, count, SEED)
}

fn filled_with(sizing: Sizing, count: u64, seed: Seed) -> CountingBloom {
    let mut filter = CountingBloom::with_seed(sizing, count, seed).expect("possible");
    for key in keys(1, count) {
        filter.insert(key).expect("never full");
    }
    filter
}

fn rate(rate: f64) -> Sizing {
    Sizing::error_rate(rate).expect("in range")
}

#[test]
fn a_million_keys_at_one_per_cent_take_at_most_forty_four_bits_each() {
    let filter = filled(rate(0.01), 1_000_000);
    let stats = filter.stats();
    eprintln!("{:.2} bits, {} counters per key", stats.bits_per_key(), filter.probe_count());
    assert!(stats.bits_per_key() <= 44.0, "{}", stats.bits_per_key());
    assert!(stats.error_rate <= 0.01);
    assert!(keys(1, 1_000_000).all(|key| filter.may_contain(key)));
}

#[test]
fn counters_saturate_as_often_as_expected_and_deny_no_member() {
    // Sixteen times the keys that the filter is sized for: nine keys per counter.
    let capacity = 20_000;
    let mut filter = CountingBloom::with_seed(rate(0.01), capacity, SEED).expect("possible");
    let count = capacity * 16;
    for key in keys(1, count) {
        filter.insert(key).expect("never full");
    }
    let counters = filter.body.len() as u64 * 2;
    assert_eq!((counters, filter.probe_count()), (216_960, 6));
    // Each counter has 320,000 trials of probability (1 − (127/128)^6)·128/216,960; 3.20 % of the
    // counters are raised at least 15 times.
    let expected = 6933.0;
    let saturated = filter.saturated_count() as f64;
    eprintln!("{saturated} of {counters} counters saturated, {expected:.0} expected");
    // The counters of a line are not independent, so they deviate more than independent ones.
    assert!(saturated > 1_000.0 && (saturated / expected - 1.0).abs() < 0.1);

    // Remove all keys but the last thousand. Saturated counters stay; the remaining keys are found.
    for key in keys(1, count - 1_000) {
        filter.remove(key).expect("a member");
    }
    assert!(keys(1, count).skip((count - 1_000) as usize).all(|key| filter.may_contain(key)));
    assert!(filter.saturated_count() as f64 >= saturated);
    // With as many keys as the filter is sized for, practically no counter saturates.
    let mut planned = CountingBloom::with_seed(rate(0.01), capacity, SEED).expect("possible");
    for key in keys(1, capacity) {
        planned.insert(key).expect("never full");
    }
    assert_eq!(planned.saturated_count(), 0);
}

#[test]
fn a_count_is_exact_for_most_keys_and_never_too_low() {
    let mut filter = CountingBloom::with_seed(rate(0.01), 10_000, SEED).expect("possible");
    for (index, key) in keys(1, 1_000).enumerate() {
        for _ in 0..=index % 18 {
            filter.insert(key).expect("never full");
        }
    }
    let mut exact = 0;
    for (index, key) in keys(1, 1_000).enumerate() {
        let (count, estimate) = (index as u64 % 18 + 1, filter.copies(key));
        assert!(estimate >= count.min(15));
        exact += u32::from(estimate == count.min(15));
    }
    assert!(exact >= 980, "{exact}");
}

#[test]
fn filters_of_different_shapes_cannot_be_united() {
    let mut filter = filled(rate(0.01), 1_000);
    let before = filter.to_stored();
    assert_eq!(filter.union(&filled(rate(0.01), 1_100)), Err(UnionError::Shapes));
    assert_eq!(filter.union(&filled(rate(0.001), 1_000)), Err(UnionError::Shapes));
    assert_eq!(filter.to_stored(), before);
}

#[test]
fn filters_of_different_seeds_cannot_be_united() {
    let (mut one, two) = (
        filled_with(rate(0.01), 1_000, Seed::new(1)),
        filled_with(rate(0.01), 1_000, Seed::new(2)),
    );
    assert_eq!(one.union(&two), Err(UnionError::Seeds(Seed::new(1), Seed::new(2))));
    assert_eq!(one.len(), 1_000);
    assert_eq!(one.union(&one.clone()), Ok(()));

    // Also if one of them was stored.
    let stored = StoredFilter::parse(two.to_stored()).expect("our own");
    let mut two = CountingBloom::from_stored(&stored).expect("counting");
    assert!(matches!(two.union(&one), Err(UnionError::Seeds(..))));
}

#[test]
fn a_filter_fills_its_budget_up_to_the_last_whole_line() {
    for budget in [128, 1_000, 4_096] {
        let stored = filled(Sizing::Bytes(budget), 50).to_stored();
        assert!((budget - 63..=budget).contains(&(stored.len() as u64)));
    }
    let error =
        CountingBloom::with_seed(Sizing::Bytes(127), 1, SEED).expect_err("no room for a line");
    assert_eq!(error, BuildError::Budget { needed: 128, budget: 127 });
    for wanted in [20.0, 43.21] {
        let bits = filled(Sizing::BitsPerKey(wanted), 50_000).stats().bits_per_key();
        assert!((wanted - 0.02..=wanted).contains(&bits), "{bits} of {wanted}");
    }
}

#[test]
fn a_filter_sized_for_no_keys_has_no_bits_and_takes_no_keys() {
    let mut filter = filled(rate(0.01), 0);
    assert_eq!(filter.insert(KeyHash::from_u64(1)), Err(Full));
    assert_eq!(filter.remove(KeyHash::from_u64(1)), Err(Absent));
    assert_eq!(filter.copies(KeyHash::from_u64(1)), 0);
    let stored = StoredFilter::parse(filter.to_stored()).expect("our own bytes");
    assert_eq!(stored.as_bytes().len(), HEADER_LEN);
    assert!(keys(1, 1_000).all(|key| !stored.may_contain(key)));
}

#[test]
fn keys_choose_all_counters_of_a_line_equally_often() {
    let mut counts = vec![0_u32; 128];
    for key in keys(1, 10_000) {
        for bit in kernel::line_positions(4, key.get(), Probes::new(32)) {
            assert_eq!(bit % 4, 0);
            counts[bit / 4] += 1;
        }
    }
    // 2,500 are expected, with a standard deviation of 50.
    assert!(counts.iter().all(|count| (2_500 - 220..2_500 + 220).contains(count)), "{counts:?}");
}

#[test]
fn coinciding_probes_of_a_key_raise_a_counter_once() {
    let mut filter = CountingBloom::with_seed(Sizing::Bytes(64 + 64), 3, SEED).expect("a line");
    assert!(filter.probe_count() > 16, "enough probes for some to coincide");
    for key in keys(1, 100) {
        filter.insert(key).expect("never full");
        assert!(filter.body.iter().all(|byte| byte & 0xee == 0));
        assert_eq!(filter.copies(key), 1);
        filter.remove(key).expect("a member");
        assert!(filter.body.iter().all(|byte| *byte == 0));
    }
}

proptest! {
    /// The model is a multiset of keys.
    #[test]
    fn no_key_of_a_random_multiset_is_denied_or_counted_too_low(
        steps in vector((0..40_u64, any::<bool>()), 0..400),
        capacity in 0..30_u64,
    ) {
        let mut filter = CountingBloom::with_seed(Sizing::BitsPerKey(40.0), capacity, SEED).expect("possible");
        let mut model: BTreeMap<KeyHash, u32> = BTreeMap::new();
        for (key, is_insert) in steps {
            let key = KeyHash::new(SEED, &key.to_le_bytes());
            let copies = model.get(&key).copied().unwrap_or(0);
            let before = filter.to_stored();
            if is_insert {
                if filter.insert(key).is_ok() {
                    *model.entry(key).or_default() += 1;
                } else {
                    prop_assert_eq!(&filter.to_stored(), &before);
                }
            } else if copies > 0 {
                prop_assert_eq!(filter.remove(key), Ok(()));
                model.insert(key, copies - 1);
            } else if !filter.may_contain(key) {
                prop_assert_eq!(filter.remove(key), Err(Absent));
                prop_assert_eq!(&filter.to_stored(), &before);
            }
            for (key, count) in &model {
                prop_assert!(filter.copies(*key) >= u64::from(*count).min(15));
                prop_assert!(*count == 0 || filter.may_contain(*key));
            }
        }
        let stored = StoredFilter::parse(filter.to_stored()).expect("our own bytes");
        let copy = CountingBloom::from_stored(&stored).expect("of this kind");
        prop_assert_eq!(copy.to_stored(), stored.as_bytes());
    }
}
