use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use proptest::collection::vec as vector;
use proptest::prelude::*;

use super::options::REMAINDER_BITS;
use super::shape::Shape;
use super::*;
use crate::error::{Absent, BuildError, Full};
use crate::hash::{KeyHash, Seed};
use crate::header::HEADER_LEN;
use crate::membership::Membership;
use crate::sizing::Sizing;
use crate::stored::StoredFilter;

const SEED: Seed = Seed::new(1);

/// Hashes of the numbers from zero; different streams have different hashes.
fn keys(stream: u64, count: u64) -> impl Iterator<Item = KeyHash> {
    let seed = Seed::new(stream);
    (0..count).map(move |key| KeyHash::new(seed, &key.to_le_bytes()))
}

fn fill(filter: &mut DLeft, count: u64) {
    for key in keys(1, count) {
        filter.insert(key).expect("sized for as many");
    }
}

fn filled(sizing: Sizing, count: u64) -> DLeft {
    let mut filter = DLeft::with_seed(sizing, count, SEED).expect("possible");
    fill(&mut filter, count);
    filter
}

fn rate(rate: f64) -> Sizing {
    Sizing::error_rate(rate).expect("a rate")
}

fn with_buckets(buckets: u64, remainder_bits: u32, counter_bits: CounterBits) -> DLeft {
    let shape = Shape { subtables: 4, buckets, remainder_bits, counter_bits };
    DLeft::with_shape(shape, SEED).expect("fits into memory")
}

/// Checks the measured error rate against theory.
fn assert_promised_error_rate(filter: &DLeft, probes: u64, name: &str) {
    let expected = filter.layout.shape.error_rate(filter.keys);
    let held = filter.stats().error_rate;
    let passed = keys(2, probes).filter(|key| filter.may_contain(*key)).count() as f64;
    let measured = passed / probes as f64;
    let sigma = (expected * (1.0 - expected) / probes as f64).sqrt();
    let off = (measured - expected) / sigma;
    eprintln!("{name}: {expected:.3e} promised, {measured:.3e} measured, {off:+.1} sigma");
    assert!(off.abs() < 3.0, "{name}: {measured}, not {expected}");
    // The error rate from the cells in use agrees; distinct keys may share a number.
    assert!((held / expected - 1.0).abs() < 0.02, "{name}: {held}, not {expected}");
}

#[test]
#[should_panic(expected = "the table has all buckets of its shape")]
fn a_table_without_a_bucket_of_its_shape_is_a_broken_invariant() {
    let shape =
        Shape { subtables: 4, buckets: 8, remainder_bits: 12, counter_bits: CounterBits::Two };
    let layout = layout::Layout::new(shape);
    let table = vec![0; usize::try_from(shape.table_len()).expect("short") / 2];
    let _ = layout.search(&table, 0);
}

#[test]
fn a_million_keys_of_18_5_bits_have_an_error_rate_below_0_0018() {
    let filter = filled(rate(0.0018), 1_000_000);
    let stats = filter.stats();
    let loads: Vec<_> = filter.subtable_loads().collect();
    eprintln!("{:.3} bits a key, loads {loads:.4?}", stats.bits_per_key());
    assert!(stats.bits_per_key() <= 18.5, "{}", stats.bits_per_key());
    assert!(stats.error_rate <= 0.0018, "{}", stats.error_rate);
    assert_eq!(filter.stash_len(), 0);
    assert!(keys(1, 1_000_000).all(|key| filter.may_contain(key)));
    assert_promised_error_rate(&filter, 200_000, "a million keys");
}

#[test]
fn half_a_million_keys_at_an_error_rate_of_1e_6_fill_subtables_evenly() {
    let filter = filled(rate(1e-6), 500_000);
    let stats = filter.stats();
    let loads: Vec<_> = filter.subtable_loads().collect();
    let mean = loads.iter().sum::<f64>() / 4.0;
    eprintln!("{:.2} bits a key, loads {loads:.4?}", stats.bits_per_key());
    assert!((0.8e-6..=1e-6).contains(&stats.error_rate), "{}", stats.error_rate);
    assert!(loads.iter().all(|load| (load / mean - 1.0).abs() < 0.1), "{loads:?}");
}

#[test]
fn keys_without_a_cell_go_to_the_stash_until_it_is_full() {
    // 320 cells; the stash takes 16.
    let mut filter = with_buckets(10, 16, CounterBits::Two);
    let mut held: Vec<KeyHash> = Vec::new();
    let mut refused = 0;
    for key in keys(1, 400) {
        let before = filter.to_stored();
        if filter.insert(key).is_ok() {
            held.push(key);
        } else {
            assert_eq!(filter.to_stored(), before, "a failed insert changes nothing");
            refused += 1;
        }
    }
    assert_eq!(filter.stash_len(), 16);
    assert!(refused > 50 && held.len() > 320, "{refused} refused, {} held", held.len());
    assert!(held.iter().all(|key| filter.may_contain(*key)));

    let stored = StoredFilter::parse(filter.to_stored()).expect("sound");
    assert!(held.iter().all(|key| stored.may_contain(*key)));
    let mut restored = DLeft::from_stored(&stored).expect("a d-left filter");
    assert_eq!(
        restored.subtable_loads().collect::<Vec<_>>(),
        filter.subtable_loads().collect::<Vec<_>>()
    );
    while let Some(key) = held.pop() {
        assert_eq!(restored.remove(key), Ok(()));
        assert!(held.iter().all(|key| restored.may_contain(*key)));
    }
    // All bytes are zero again, including the remainders of free cells.
    assert_eq!(restored.to_stored(), with_buckets(10, 16, CounterBits::Two).to_stored());
}

#[test]
fn copies_are_counted_in_several_cells_until_the_key_saturates() {
    for (bits, most) in [(CounterBits::Two, 12), (CounterBits::Four, 60)] {
        assert_eq!(bits.copies_max(), most);
        let key = KeyHash::new(SEED, b"again and again");
        let empty = with_buckets(100, 14, bits);
        let mut filter = empty.clone();
        for copies in 1..most {
            filter.insert(key).expect("room");
            assert_eq!(filter.copies(key), u64::from(copies));
        }
        for copies in (0..most - 1).rev() {
            filter.remove(key).expect("a member");
            assert_eq!(filter.copies(key), u64::from(copies));
            assert_eq!(filter.may_contain(key), copies > 0);
        }
        assert_eq!(filter.remove(key), Err(Absent));
        assert_eq!(filter.to_stored(), empty.to_stored());

        // A key with the maximum number of copies stays, in four cells.
        for _ in 0..1_000 {
            filter.insert(key).expect("takes no more room");
        }
        assert_eq!(filter.entries(), 4);
        for _ in 0..1_000 {
            filter.remove(key).expect("a member");
        }
        assert!(filter.may_contain(key));
    }
}

#[test]
fn a_budget_is_used_up_to_one_bucket_per_subtable() {
    for (budget, count) in [(1_000, 300), (4_096, 1_000), (20_000, 10_000)] {
        let stored = filled(Sizing::Bytes(budget), count).to_stored();
        let row = 4 * 28;
        assert!((budget - row..=budget).contains(&(stored.len() as u64)), "{}", stored.len());
    }
    let error = DLeft::with_seed(Sizing::Bytes(1_000), 1_000, SEED).expect_err("a byte a key");
    assert_eq!(error, BuildError::Budget { needed: 64 + 36 * 4 * 8, budget: 1_000 });
    // Bits per key are used, too.
    for wanted in [12.0, 14.7, 18.3, 18.5, 24.0, 40.0] {
        let bits = filled(Sizing::BitsPerKey(wanted), 20_000).stats().bits_per_key();
        assert!((wanted - 0.05..=wanted).contains(&bits), "{bits} of {wanted}");
    }
}

#[test]
fn a_filter_for_zero_keys_has_no_body_and_accepts_no_key() {
    let mut filter = filled(rate(0.01), 0);
    assert_eq!(filter.insert(KeyHash::from_u64(1)), Err(Full));
    assert_eq!(filter.remove(KeyHash::from_u64(1)), Err(Absent));
    let stored = StoredFilter::parse(filter.to_stored()).expect("sound");
    assert_eq!(stored.as_bytes().len(), HEADER_LEN);
    assert!(keys(1, 1_000).all(|key| !stored.may_contain(key)));
}

#[test]
fn filters_of_2_to_8_subtables_hold_their_keys() {
    for subtables in 2..=8 {
        for counter_bits in [CounterBits::Two, CounterBits::Four] {
            let options = DLeftOptions::default().subtables(subtables).counter_bits(counter_bits);
            let mut filter =
                DLeft::with_options(options, rate(0.001), 5_000, SEED).expect("possible");
            fill(&mut filter, 5_000);
            assert!(keys(1, 5_000).all(|key| filter.may_contain(key)), "{subtables}");
            assert_eq!(filter.subtable_loads().len(), subtables as usize);
            let stored = StoredFilter::parse(filter.to_stored()).expect("sound");
            assert!(keys(1, 5_000).all(|key| stored.may_contain(key)), "{subtables}, stored");
            assert!(keys(2, 5_000).all(|key| stored.may_contain(key) == filter.may_contain(key)));
        }
    }
}

proptest! {
    /// Compares the filter with a multiset. A failed operation changes no byte. With remainders of
    /// 24 bits no two of these keys have the same number.
    #[test]
    fn the_filter_is_a_multiset_of_its_keys(
        steps in vector((0..60_u64, 0..3_u8), 0..300),
        buckets in 0..3_u64,
        counter_bits in prop_oneof![Just(CounterBits::Two), Just(CounterBits::Four)],
    ) {
        let mut filter = with_buckets(buckets, 24, counter_bits);
        let mut model: BTreeMap<KeyHash, u32> = BTreeMap::new();
        for (key, step) in steps {
            let key = KeyHash::new(SEED, &key.to_le_bytes());
            let held = model.get(&key).copied().unwrap_or(0);
            let most = counter_bits.copies_max();
            let before = filter.to_stored();
            if step > 0 {
                if filter.insert(key).is_ok() {
                    model.insert(key, (held + 1).min(most));
                } else {
                    prop_assert_eq!(&filter.to_stored(), &before);
                }
            } else if held == 0 {
                prop_assert_eq!(filter.remove(key), Err(Absent));
                prop_assert_eq!(&filter.to_stored(), &before);
            } else {
                prop_assert_eq!(filter.remove(key), Ok(()));
                model.insert(key, if held == most { most } else { held - 1 });
            }
        }
        let stored = StoredFilter::parse(filter.to_stored()).expect("sound");
        let restored = DLeft::from_stored(&stored).expect("a d-left filter");
        prop_assert_eq!(restored.to_stored(), stored.as_bytes());
        for (key, count) in model {
            for filter in [&filter, &restored] {
                prop_assert_eq!(filter.copies(key), u64::from(count));
                prop_assert_eq!(filter.may_contain(key), count > 0);
            }
            prop_assert_eq!(stored.may_contain(key), count > 0);
        }
    }
}

#[test]
fn every_width_holds_its_keys_and_has_the_promised_error_rate() {
    for bits in *REMAINDER_BITS.start()..=20 {
        for subtables in [2, 4] {
            let options = DLeftOptions::default().remainder_bits(bits).subtables(subtables);
            let shape = Shape {
                subtables,
                buckets: 1_500,
                remainder_bits: bits,
                counter_bits: CounterBits::Two,
            };
            let count = 1_500 * u64::from(subtables) * 7;
            let mut filter = DLeft::with_shape(shape, SEED).expect("small");
            // Keys with the same number are copies; with 4 bits, every second key is one.
            fill(&mut filter, count);
            assert!(keys(1, count).all(|key| filter.may_contain(key)), "{bits} bits");
            // A number with more than three copies has several cells, which count as several
            // numbers. So the stated rate is too high.
            let slack = if bits < 8 { 0.15 } else { 0.0 };
            assert_numbers_pass(&filter, 200_000, slack, &format!("{bits} bits"));
            let stored = StoredFilter::parse(filter.to_stored()).expect("sound");
            assert!(keys(1, count).all(|key| stored.may_contain(key)), "{bits} bits stored");
            let asked: Vec<_> = keys(1, 200).chain(keys(2, 2_000)).collect();
            let mut answers = vec![false; asked.len()];
            Membership::may_contain_batch(&stored, &asked, &mut answers);
            let single: Vec<_> = asked.iter().map(|key| filter.may_contain(*key)).collect();
            assert_eq!(answers, single, "{bits} bits");
            let mut restored = DLeft::from_stored(&stored).expect("a d-left filter");
            assert_eq!(restored.remainder_bits(), bits);
            if bits >= 8 {
                for key in keys(1, count) {
                    restored.remove(key).expect("a member");
                }
                assert_eq!(restored.stats().keys, 0);
            }

            let sized = DLeft::with_options(options, Sizing::BitsPerKey(40.0), 5_000, SEED);
            assert_eq!(sized.expect("more than enough").remainder_bits(), bits);
            // Emptier buckets allow any rate at any width, up to a limit of the size.
            let planned = DLeft::plan_with_options(options, rate(0.05), 5_000);
            match planned {
                Ok(planned) => assert!(planned.error_rate <= 0.05, "{bits} bits"),
                Err(error) => assert!(bits < 7 && error == BuildError::ErrorRate(0.05), "{bits}"),
            }
        }
    }
}

/// Checks that the share of absent keys that pass is the stated rate, or up to `slack` less.
fn assert_numbers_pass(filter: &DLeft, probes: u64, slack: f64, name: &str) {
    let held = filter.stats().error_rate;
    let passed = keys(2, probes).filter(|key| filter.may_contain(*key)).count() as f64;
    let expected = held * probes as f64;
    let sigma = (expected * (1.0 - held)).sqrt().max(1.0);
    let (least, most) = (expected * (1.0 - slack) - 4.0 * sigma, expected + 4.0 * sigma);
    assert!((least..most).contains(&passed), "{name}: {passed} of {probes}, not {held}");
}
