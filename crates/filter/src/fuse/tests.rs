use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::error::BuildError;
use crate::hash::{KeyHash, Seed, SeededHashes};
use crate::membership::Membership;
use crate::sizing::Sizing;
use crate::theory::static_filters::FuseArity;

const SEED: Seed = Seed::new(1);
const ARITIES: [FuseArity; 2] = [FuseArity::Three, FuseArity::Four];
const BITS: [FuseBits; 2] = [FuseBits::Eight, FuseBits::Sixteen];

fn keys(stream: u64, count: u64) -> Vec<KeyHash> {
    let seed = Seed::new(stream);
    (0..count).map(|key| KeyHash::new(seed, &key.to_le_bytes())).collect()
}

fn built(arity: FuseArity, bits: FuseBits, keys: &[KeyHash]) -> BinaryFuse {
    let hashes = SeededHashes::new(SEED, keys.iter().copied());
    let filter = BinaryFuse::build_with(arity, bits, &hashes).expect("possible");
    assert!(keys.iter().all(|key| filter.may_contain(*key)), "a member is denied");
    filter
}

#[test]
fn any_number_of_keys_can_be_peeled() {
    let sizes = (0..40).chain([100, 255, 1_000, 11_480, 11_504, 11_521, 30_000]);
    for (stream, count) in (1..).zip(sizes) {
        for arity in ARITIES {
            for bits in BITS {
                let filter = built(arity, bits, &keys(stream, count));
                assert_eq!((filter.arity(), filter.bits()), (arity, bits));
                assert_eq!(filter.stats().keys, count);
            }
        }
    }
}

#[test]
fn a_filter_is_built_from_duplicate_keys() {
    let once = keys(1, 1_000);
    let thrice: Vec<KeyHash> = [once.as_slice(); 3].concat();
    for arity in ARITIES {
        built(arity, FuseBits::Eight, &thrice);
        built(arity, FuseBits::Eight, &[once[0]; 500]);
    }
}

#[test]
fn a_batch_has_the_answers_of_single_lookups() {
    for count in [0, 1, 1_000, 20_000] {
        let members = keys(1, count);
        let all = [members.as_slice(), &keys(2, 20_000)].concat();
        for arity in ARITIES {
            for bits in BITS {
                let filter = built(arity, bits, &members);
                let one_by_one: Vec<bool> =
                    all.iter().map(|key| filter.may_contain(*key)).collect();
                let mut batch = vec![false; all.len()];
                Membership::may_contain_batch(&filter, &all, &mut batch);
                assert_eq!(batch, one_by_one, "{count} keys, {arity:?}, {bits:?}");
            }
        }
    }
}

#[test]
fn the_error_rate_is_that_of_the_fingerprint_length() {
    const ABSENT_COUNT: u64 = 1_000_000;
    let absent_keys = keys(2, ABSENT_COUNT);
    for arity in ARITIES {
        let filter = built(arity, FuseBits::Eight, &keys(1, 10_000));
        let measured = absent_keys.iter().filter(|key| filter.may_contain(**key)).count() as f64;
        let expected = ABSENT_COUNT as f64 / 256.0;
        assert!((measured - expected).abs() < 3.0 * expected.sqrt(), "{measured}, not {expected}");

        let filter = built(arity, FuseBits::Sixteen, &keys(1, 10_000));
        let measured = absent_keys.iter().filter(|key| filter.may_contain(**key)).count();
        assert!((4..=27).contains(&measured), "{measured}, not 15"); // Three standard deviations.
    }
}

#[test]
fn a_key_takes_as_many_bits_as_in_the_paper() {
    let plan = |sizing| BinaryFuse::plan(sizing, 1_000_000).expect("possible").bits_per_key();
    let rate = |rate| Sizing::error_rate(rate).expect("in range");
    assert!((8.6..=8.65).contains(&plan(rate(0.004))));
    assert!((17.2..=17.3).contains(&plan(rate(0.003))));
    assert!((17.2..=17.3).contains(&plan(Sizing::BitsPerKey(20.0))));
    assert!((8.6..=8.65).contains(&plan(Sizing::BitsPerKey(17.0))));

    let three = built(FuseArity::Three, FuseBits::Eight, &keys(3, 100_000)).stats();
    let four = built(FuseArity::Four, FuseBits::Eight, &keys(3, 100_000)).stats();
    assert!(three.bits_per_key() < 9.6 && four.bits_per_key() < 9.1, "{three:?} {four:?}");
}

#[test]
fn an_impossible_sizing_is_an_error() {
    let members = keys(1, 100_000);
    let full =
        BinaryFuse::from_hashes(Sizing::BitsPerKey(7.0), SEED, &members).expect_err("too small");
    assert_eq!(full, BuildError::Full);
    let rate = Sizing::error_rate(1e-5).expect("in range");
    let error = BinaryFuse::from_hashes(rate, SEED, &members).expect_err("too low");
    assert_eq!(error, BuildError::ErrorRate(1e-5));
    let error =
        BinaryFuse::from_hashes(Sizing::Bytes(1_000), SEED, &members).expect_err("too small");
    assert!(matches!(error, BuildError::Budget { budget: 1_000, .. }));
    let huge = BinaryFuse::plan(Sizing::BitsPerKey(20.0), u64::MAX);
    assert!(huge.is_ok_and(|stats| stats.bytes > 0));
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "checked when it was parsed or sized")]
fn a_segment_of_more_than_2_to_the_18_slots_is_a_broken_invariant() {
    let (arity, bits) = (FuseArity::Three, FuseBits::Eight);
    let shape = shape::Shape { arity, bits, segment_bits: 19, first_segments: 1 };
    let _ = FuseView::new(shape, 0);
}
