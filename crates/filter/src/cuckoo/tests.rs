//! Tests of the cuckoo filter: size, error rate, removal, damage.

use std::collections::BTreeMap;

use proptest::prelude::*;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::bucket::Buckets;
use super::shape::Shape;
use super::*;
use crate::error::{Absent, BuildError, FormatError, Full};
use crate::hash::{KeyHash, Seed};
use crate::header::HEADER_LEN;
use crate::kinds::{FilterKind, build};
use crate::sizing::{ErrorRate, Sizing};
use crate::stored::StoredFilter;
use crate::theory;

const SEED: Seed = Seed::new(1);

/// Hashes of the numbers from zero; different streams have different hashes.
fn keys(stream: u64, count: u64) -> impl Iterator<Item = KeyHash> {
    let seed = Seed::new(stream);
    (0..count).map(move |key| KeyHash::new(seed, &key.to_le_bytes()))
}

/// Creates an empty filter of `count` buckets.
fn empty(bits: u32, slots: u32, count: u64) -> Cuckoo {
    Cuckoo::with_shape(Shape { buckets: Buckets::new(bits, slots), count }, SEED)
        .expect("small enough")
}

/// Creates a filter of `count` buckets of four, with keys of stream 1.
fn filled(bits: u32, count: u64, keys_wanted: u64) -> Cuckoo {
    let mut filter = empty(bits, 4, count);
    for key in keys(1, keys_wanted) {
        filter.insert(key).expect("not full yet");
    }
    filter
}

fn parsed(filter: &Cuckoo) -> StoredFilter<Vec<u8>> {
    StoredFilter::parse(filter.to_stored()).expect("sound")
}

#[test]
fn eight_and_a_half_bits_a_key_suffice_at_every_size() {
    let sizes = [
        1_000_000, 1_000, 1_023, 1_024, 1_025, 3_000, 10_000, 16_385, 40_000, 65_536, 65_537,
        99_999, 131_073, 200_000, 262_145, 300_000, 524_289,
    ];
    for size in sizes {
        // Fingerprints of 8 bits have an error rate of 3 %.
        let rate = ErrorRate::new(0.03).expect("a rate");
        let mut filter = Cuckoo::with_seed(Sizing::ErrorRate(rate), size, SEED).expect("possible");
        assert_eq!(filter.fingerprint_bits(), 8);
        assert!(keys(size, size).all(|key| filter.insert(key).is_ok()), "{size} do not fit");
        assert!(keys(size, size).all(|key| filter.may_contain(key)), "{size}: a key is denied");

        let stats = filter.stats();
        println!("{size} keys: {:.3} bits a key, load {:.4}", stats.bits_per_key(), filter.load());
        assert!(stats.bits_per_key() <= 8.5, "{size}: {}", stats.bits_per_key());
        if size >= 3_000 {
            assert!(filter.load() >= 0.95, "{size}: {}", filter.load());
        }
    }
}

#[test]
fn the_measured_error_rate_is_that_of_theory() {
    // Bits of a fingerprint, load, probes.
    let settings = [
        (4, 0.94, 200_000),
        (5, 0.96, 200_000),
        (6, 0.96, 200_000),
        (7, 0.50, 300_000),
        (9, 0.96, 500_000),
        (10, 0.96, 500_000),
        (11, 0.60, 1_000_000),
        (13, 0.96, 1_500_000),
        (14, 0.96, 2_000_000),
        (15, 0.80, 2_500_000),
        (8, 0.10, 500_000),
        (8, 0.25, 500_000),
        (8, 0.50, 500_000),
        (8, 0.75, 500_000),
        (8, 0.96, 500_000),
        (12, 0.40, 1_000_000),
        (12, 0.96, 1_000_000),
        (16, 0.30, 2_500_000),
        (16, 0.60, 2_500_000),
        (16, 0.96, 2_500_000),
    ];
    for (bits, load, probes) in settings {
        let count = 30_011_u64;
        let filter = filled(bits, count, (count as f64 * 4.0 * load) as u64);
        let passed = keys(2, probes).filter(|key| filter.may_contain(*key)).count() as f64;

        let rate = theory::cuckoo_error_rate(filter.stats().keys, count, bits);
        let (expected, probes) = (rate * probes as f64, probes as f64);
        println!("{bits} bits, load {load}: {rate:.6} promised, {:.6} measured", passed / probes);
        assert!((passed - expected).abs() < 3.0 * expected.sqrt(), "{passed}, not {expected}");
        // The overflow does not change the error rate.
        assert!((filter.stats().error_rate / rate - 1.0).abs() < 0.01, "{bits} bits");
    }
    assert!((theory::cuckoo_error_rate(120_000, 31_250, 8) - 0.03).abs() < 0.001);
    assert!((theory::cuckoo_error_rate(120_000, 31_250, 16) - 0.000_1).abs() < 0.000_02);
}

#[test]
fn the_load_at_the_first_failure_is_that_of_the_literature() {
    for (slots, load) in [(1, 0.50), (2, 0.84), (4, 0.95), (8, 0.98)] {
        let buckets = 400_000 / u64::from(slots);
        let reached = Cuckoo::load_at_first_refusal(slots, buckets, keys(3, u64::MAX));
        let reached = reached.expect("possible");
        println!("buckets of {slots}: {reached:.4}");
        assert!(reached > load - 0.01, "buckets of {slots}: {reached}");
    }
    let refused = Cuckoo::load_at_first_refusal(3, 10, keys(3, 10)).err();
    assert_eq!(refused, Some(BuildError::SlotCount(3)));
}

#[test]
fn a_failed_insert_changes_nothing() {
    for (bits, count) in [(8, 1), (8, 2), (16, 7), (8, 100), (12, 1_000), (16, 5_003)] {
        let mut filter = empty(bits, 4, count);
        let mut candidates = keys(5, u64::MAX);
        let mut members = Vec::new();
        let mut before = filter.clone();
        for failures in 0..50 {
            // Inserts up to the next failure; `before` is the filter before the last insert.
            members.extend(candidates.by_ref().take_while(|key| {
                before.clone_from(&filter);
                filter.insert(*key).is_ok()
            }));
            let same = filter.to_stored() == before.to_stored();
            assert!(same, "{count} buckets changed at failure {failures}");
        }
        assert!(members.iter().all(|key| filter.may_contain(*key)), "{count} buckets lost a key");
        assert_eq!(filter.stats().keys, members.len() as u64);
    }
}

#[test]
fn a_hundred_copies_of_a_key_can_be_inserted_and_removed() {
    for count in [1, 2, 3, 1_000] {
        let mut filter = empty(8, 4, count);
        let [key, other, ..] = keys(6, 2).collect::<Vec<_>>()[..] else { unreachable!() };
        for copies in 1..=100 {
            filter.insert(key).expect("copies never fail");
            assert_eq!(filter.copies(key), copies);
        }
        filter.insert(other).expect("the copies take only three slots");
        let mut filter = Cuckoo::from_stored(&parsed(&filter)).expect("consistent");
        for copies in (0..100).rev() {
            assert!(filter.may_contain(key));
            filter.remove(key).expect("a copy is left");
            assert_eq!(filter.copies(key), copies);
        }
        assert_eq!(filter.remove(key), Err(Absent));
        assert!(filter.may_contain(other));
        assert_eq!(filter.stats().keys, 1);
    }
}

#[test]
fn a_full_filter_accepts_copies_of_its_keys() {
    let mut filter = empty(8, 4, 50);
    let members: Vec<_> = keys(7, u64::MAX).take_while(|key| filter.insert(*key).is_ok()).collect();
    for key in &members {
        filter.insert(*key).expect("a second copy");
    }
    assert_eq!(filter.stats().keys, members.len() as u64 * 2);
}

#[test]
fn the_smallest_layout_for_an_error_rate_is_chosen() {
    // Error rate, keys, bits of a fingerprint, maximum bits per key.
    let settings = [
        (0.5, 10_000, 4, 4.26),
        (0.2, 10_000, 5, 5.9),
        (0.1, 10_000, 6, 7.3),
        (0.03, 10_000, 8, 8.37),
        (0.027, 10_000, 8, 9.42),
        (0.01, 10_000, 10, 10.46),
        (0.002, 10_000, 12, 12.55),
        (0.001, 10_000, 13, 13.6),
        (0.000_12, 10_000, 16, 16.7),
        (0.000_01, 10_000, 16, 200.0),
    ];
    for (rate, size, bits, bits_per_key) in settings {
        let sizing = Sizing::error_rate(rate).expect("a rate");
        let mut filter = Cuckoo::with_seed(sizing, size, SEED).expect("possible");
        assert!(keys(1, size).all(|key| filter.insert(key).is_ok()));
        let stats = filter.stats();
        assert_eq!(filter.fingerprint_bits(), bits, "{rate}");
        assert!(stats.error_rate <= rate, "{rate}: {stats:?}");
        assert!(stats.bits_per_key() <= bits_per_key, "{rate}: {}", stats.bits_per_key());
    }
    for rate in [1e-6, 1e-30] {
        let sizing = Sizing::error_rate(rate).expect("a rate");
        assert_eq!(
            Cuckoo::with_seed(sizing, 10_000, SEED).expect_err("too low a rate"),
            BuildError::ErrorRate(rate)
        );
    }
}

#[test]
fn a_budget_gives_the_longest_fingerprints_that_fit() {
    for (bits_per_key, bits) in
        [(8.4, 8), (9.3, 8), (9.4, 9), (12.4, 11), (12.6, 12), (16.6, 15), (16.8, 16), (64.0, 16)]
    {
        let size = 10_000;
        let filter =
            Cuckoo::with_seed(Sizing::BitsPerKey(bits_per_key), size, SEED).expect("possible");
        assert_eq!(filter.fingerprint_bits(), bits, "{bits_per_key}");
        let budget = (bits_per_key * size as f64 / 8.0) as u64;
        assert!((budget - 8..=budget).contains(&filter.stats().bytes), "{bits_per_key}");

        let budget = budget + HEADER_LEN as u64;
        let filter = Cuckoo::with_seed(Sizing::Bytes(budget), size, SEED).expect("possible");
        assert_eq!(filter.fingerprint_bits(), bits, "{bits_per_key}");
        assert!((budget - 8..=budget).contains(&(filter.to_stored().len() as u64)));
    }
    let refused = |sizing, size| Cuckoo::with_seed(sizing, size, SEED).expect_err("impossible");
    assert_eq!(refused(Sizing::BitsPerKey(4.1), 10_000), BuildError::Full);
    assert_eq!(refused(Sizing::Bytes(65), 1), BuildError::Budget { needed: 66, budget: 65 });
    assert_eq!(refused(Sizing::Bytes(550), 1_000), BuildError::Full);
    assert!(Cuckoo::with_seed(Sizing::Bytes(64 + 17), 30, SEED).is_ok(), "tight, but may succeed");
    assert!(Cuckoo::with_seed(Sizing::BitsPerKey(4.3), 3, SEED).is_ok());
    assert_eq!(refused(Sizing::BitsPerKey(1e18), 1 << 40), BuildError::Memory);
}

#[test]
fn a_filter_for_zero_keys_has_no_body_and_accepts_no_key() {
    let mut filter = Cuckoo::with_seed(Sizing::BitsPerKey(10.0), 0, SEED).expect("possible");
    assert!(keys(1, 1_000).all(|key| !filter.may_contain(key)));
    let key = KeyHash::from_u64(1);
    assert_eq!((filter.insert(key), filter.remove(key)), (Err(Full), Err(Absent)));
    let stored = parsed(&filter);
    assert_eq!(stored.as_bytes().len(), HEADER_LEN);
    assert!(keys(1, 1_000).all(|key| !stored.may_contain(key)));
}

#[test]
fn keys_that_do_not_fit_get_a_larger_filter_or_shorter_fingerprints() {
    // If each key occurs twice, only a load of 88 % is possible.
    let twice: Vec<_> = keys(8, 20_000).flat_map(|key| [key, key]).collect();
    let rate = Sizing::ErrorRate(ErrorRate::HBASE);
    for (sizing, bits) in [(rate, 10), (Sizing::BitsPerKey(12.6), 10)] {
        let filter = Cuckoo::from_hashes(sizing, SEED, &twice).expect("made to fit");
        assert_eq!((filter.fingerprint_bits(), filter.stats().keys), (bits, 40_000));
        assert!(twice.iter().all(|key| filter.copies(*key) >= 2));
        let stored = build(FilterKind::Cuckoo, sizing, Seed::new(1), &twice).expect("the same");
        assert_eq!(stored, filter.to_stored());
    }
}

#[test]
fn the_overflow_counts_towards_the_budget() {
    // A hundred keys with fifty copies each among 5,000 with one.
    let many: Vec<_> = keys(8, 5_000).chain((0..50).flat_map(|_| keys(8, 100))).collect();
    for bits_per_key in [8.5, 13.0, 17.0] {
        let bytes = (bits_per_key * many.len() as f64 / 8.0) as u64;
        let filter =
            Cuckoo::from_hashes(Sizing::BitsPerKey(bits_per_key), SEED, &many).expect("possible");
        assert!((bytes - 8..=bytes).contains(&filter.stats().bytes));
        let filter = Cuckoo::from_hashes(Sizing::Bytes(bytes), SEED, &many).expect("possible");
        assert!((bytes - 8..=bytes).contains(&(filter.to_stored().len() as u64)));
        assert!(keys(8, 100).all(|key| filter.copies(key) >= 51));
    }
    // Only copies of one key, and no room for the overflow: an error only if the budget is strict.
    for count in [4, 9, 1_000] {
        let alike = vec![many[0]; count];
        let filter = Cuckoo::from_hashes(Sizing::BitsPerKey(8.4), SEED, &alike).expect("possible");
        assert_eq!(filter.copies(many[0]), count as u64);
    }
    let refused = Cuckoo::from_hashes(Sizing::Bytes(64 + 5), SEED, &many[..1].repeat(4)).err();
    assert_eq!(refused, Some(BuildError::Full));
}

#[test]
fn a_filter_can_be_rebuilt_larger() {
    let sizing = Sizing::BitsPerKey(8.5);
    let mut filter = Cuckoo::with_seed(sizing, 1_000, SEED).expect("possible");
    assert!(keys(9, 1_000).all(|key| filter.insert(key).is_ok()));
    let before = filter.to_stored();
    // A capacity below the number of keys leaves the filter unchanged.
    assert_eq!(filter.grow(sizing, 1_000, keys(9, 2_000)), Err(BuildError::Full));
    assert_eq!(filter.to_stored(), before);
    filter.grow(sizing, 2_000, keys(9, 1_000)).expect("room for all");
    assert!(keys(9, 1_000).all(|key| filter.may_contain(key)));
    assert!(keys(10, 1_000).all(|key| filter.insert(key).is_ok()));
}

/// Returns a sound stored filter with overflow.
fn sound() -> Vec<u8> {
    sound_at(12)
}

/// Returns a sound stored filter with overflow and fingerprints of `bits` bits.
fn sound_at(bits: u32) -> Vec<u8> {
    let mut filter = filled(bits, 20, 60);
    for key in keys(1, 3).chain(keys(1, 3)).chain(keys(1, 2)) {
        filter.insert(key).expect("a copy");
    }
    filter.to_stored()
}

#[test]
fn contradictory_fields_are_rejected() {
    let sound = sound();
    let with = |at: usize, number: u64| {
        let mut bytes = sound.clone();
        bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        let checksum = xxh3_64_with_seed(&bytes[..56], xxh3_64(&bytes[64..]));
        bytes[56..64].copy_from_slice(&checksum.to_le_bytes());
        StoredFilter::parse(bytes).and_then(|stored| Cuckoo::from_stored(&stored))
    };
    let (keys_at, count_at, overflow_at) = (24, 40, 48);
    let copies_at = sound.len() - 8;
    assert!(with(keys_at, 68).is_ok());
    // The identities of the last two entries of 16 bytes, in ascending order.
    let [first, second] = [32, 16].map(|before_end| sound.len() - before_end);
    let identity =
        |at: usize| u64::from_le_bytes(sound[at..at + 8].try_into().expect("eight bytes"));
    assert!(identity(first) < identity(second));
    for (at, number) in [
        (second, identity(first)), // The entry before again.
        (keys_at, 67),             // Fewer keys than in the buckets.
        (keys_at, u64::MAX),       // More keys than in the buckets.
        (count_at, 19),            // Contradicts the length.
        (count_at, u64::MAX),      // Overflows.
        (overflow_at, 0),          // Contradicts the length.
        (overflow_at, u64::MAX),   // Overflows.
        (copies_at, 0),            // No copies.
        (copies_at, u64::MAX),     // More copies than keys.
        (copies_at - 8, 0),        // Fingerprint 0, and not ascending.
        (copies_at - 8, 1 << 63),  // No such bucket.
    ] {
        assert!(matches!(with(at, number), Err(FormatError::Parameters(_))), "{number} at {at}");
    }
    let other = build(FilterKind::BlockedBloom, Sizing::BitsPerKey(10.0), Seed::new(1), &[]);
    let other = StoredFilter::parse(other.expect("possible")).expect("sound");
    assert!(Cuckoo::from_stored(&other).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Compares the filter with a multiset of identities. A failed operation changes no byte.
    #[test]
    fn the_filter_is_a_multiset_of_identities(
        bits in 4_u32..=16,
        count in 1_u64..14,
        operations in prop::collection::vec((0_u64..60, 0_u8..10), 0..200),
    ) {
        let mut filter = empty(bits, 4, count);
        let mut model = BTreeMap::<u64, u64>::new();
        let names: Vec<_> = keys(12, 60).collect();
        for (key, operation) in operations {
            let key = names[key as usize];
            let held = model.entry(filter.key_buckets(key).identity()).or_default();
            // Six of ten operations insert; operation 0 inserts 20 copies.
            let times = if operation == 0 { 20 } else { 1 };
            for _ in 0..times {
                let before = filter.to_stored();
                if operation < 6 {
                    if filter.insert(key).is_ok() {
                        *held += 1;
                    } else {
                        prop_assert_eq!(*held, 0);
                        prop_assert!(filter.to_stored() == before);
                    }
                } else if filter.remove(key).is_ok() {
                    prop_assert!(*held > 0);
                    *held -= 1;
                } else {
                    prop_assert_eq!(*held, 0);
                    prop_assert!(filter.to_stored() == before);
                }
            }
        }

        let stored = parsed(&filter);
        let again = Cuckoo::from_stored(&stored).expect("consistent");
        for key in names {
            let held = model.get(&filter.key_buckets(key).identity()).copied().unwrap_or(0);
            prop_assert_eq!(filter.copies(key), held);
            prop_assert_eq!(again.copies(key), held);
            prop_assert_eq!(filter.may_contain(key), held > 0);
            prop_assert_eq!(stored.may_contain(key), held > 0);
        }
        prop_assert_eq!(filter.stats().keys, model.values().sum::<u64>());
        prop_assert_eq!(again.to_stored(), stored.into_inner());
    }
}

#[test]
fn every_width_holds_its_keys_at_the_planned_load() {
    for bits in 4..=16 {
        for size in [1, 5, 300, 1_000, 10_007, 100_000, 400_001] {
            let planned = Cuckoo::plan_with_fingerprint_bits(bits, size).expect("a width");
            let mut filter = Cuckoo::with_fingerprint_bits(bits, size, SEED).expect("a width");
            assert_eq!((filter.fingerprint_bits(), planned.bytes), (bits, filter.stats().bytes));
            for key in keys(size, size) {
                filter.insert(key).unwrap_or_else(|Full| panic!("{size} keys, {bits} bits"));
            }
            assert!(keys(size, size).all(|key| filter.may_contain(key)), "{size}, {bits} bits");
            let stored = parsed(&filter);
            assert!(keys(size, size).all(|key| stored.may_contain(key)), "{size}, {bits} bits");
            // The overflow is not part of the plan.
            let stats = filter.stats();
            let overflow = stats.bytes - planned.bytes;
            assert!(
                overflow as f64 * 8.0 <= size as f64 * 0.02 + 128.0,
                "{overflow} bytes, {bits} bits"
            );
            if size >= 10_000 {
                let per_key = stats.bits_per_key();
                assert!(per_key <= f64::from(bits) / 0.94, "{per_key} at {bits} bits");
            }
            for key in keys(size, size) {
                filter.remove(key).expect("a member");
            }
            assert_eq!((filter.stats().keys, filter.load()), (0, 0.0));
        }
    }
    for bits in [0, 3, 17, 32, u32::MAX] {
        let refused = BuildError::FingerprintBits(bits);
        assert_eq!(Cuckoo::with_fingerprint_bits(bits, 9, SEED).err(), Some(refused));
    }
}

/// An odd number of buckets of an odd width ends in the middle of a byte.
#[test]
fn bits_after_the_last_bucket_are_rejected() {
    for bits in (5..=15).step_by(2) {
        for (count, has_padding) in [(7, true), (8, false)] {
            let sound = empty(bits, 4, count).to_stored();
            assert_eq!(sound.len() - HEADER_LEN, (count as usize * bits as usize).div_ceil(2));
            let mut bytes = sound.clone();
            *bytes.last_mut().expect("a body") |= 0x80;
            let checksum = xxh3_64_with_seed(&bytes[..56], xxh3_64(&bytes[64..]));
            bytes[56..64].copy_from_slice(&checksum.to_le_bytes());
            assert_eq!(
                StoredFilter::parse(bytes).is_err(),
                has_padding,
                "{bits} bits, {count} buckets"
            );
        }
    }
}

/// The stored form is stable.
#[test]
fn the_stored_bytes_of_8_12_and_16_bits_do_not_change() {
    for (bits, expected) in
        [(8, 0xcecf_a51a_8bb3_f0c6), (12, 0xd241_2b98_c720_52bd), (16, 0x46b2_9333_f15e_aff6)]
    {
        let mut filter = filled(bits, 1_001, 3_800);
        for key in keys(1, 5).flat_map(|key| [key; 7]) {
            filter.insert(key).expect("a copy");
        }
        filter.seed = Seed::new(9);
        let stored = filter.to_stored();
        assert_eq!(xxh3_64(&stored), expected, "{bits} bits");
        let read = StoredFilter::parse(stored).expect("sound");
        assert!(keys(1, 3_800).all(|key| read.may_contain(key)));
    }
}
