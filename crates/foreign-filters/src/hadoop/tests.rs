//! Property tests of Hadoop's filters, and damaged bytes. `tests/filters/reference_impls/java.rs` compares with
//! Hadoop.

use std::num::NonZeroU32;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use filter::{Absent, ErrorRate};

fn shape(bits: u32, hash_count: u32) -> Shape {
    Shape::new(bits, hash_count, Hash::Murmur).expect("in range")
}

fn row_keys(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).expect("not zero")
}

fn hash() -> impl Strategy<Value = Hash> {
    prop::sample::select(&[Hash::Jenkins, Hash::Murmur][..])
}

/// Returns a serialised filter of each kind. Its 75 bits end within a byte and within a word.
fn samples() -> [Vec<u8>; 3] {
    let shape = shape(75, 3);
    let mut bits = BloomFilter::new(shape).expect("small");
    let mut counting = CountingBloomFilter::new(shape).expect("small");
    let mut dynamic = DynamicBloomFilter::new(shape, row_keys(4)).expect("small");
    for key in 0..10_u32 {
        bits.insert(&key.to_be_bytes()).expect("not empty");
        counting.insert(&key.to_be_bytes()).expect("not empty");
        dynamic.insert(&key.to_be_bytes()).expect("not empty");
    }
    [bits.to_bytes(), counting.to_bytes(), dynamic.to_bytes()]
}

/// Parses bytes as each kind and uses the filters; returns which kinds accept the bytes.
fn accepted(bytes: &[u8]) -> [bool; 3] {
    let keys = [&b"a"[..], b"row1", b""];
    let bits = BloomFilter::from_bytes(bytes).map(|filter| {
        for key in keys {
            let _ = filter.may_contain(key);
        }
        assert!((0.0..=1.0).contains(&filter.error_rate()));
        filter.to_bytes()
    });
    let counting = CountingBloomFilter::from_bytes(bytes).map(|mut filter| {
        for key in keys {
            let _ = filter.remove(key);
        }
        assert!((0.0..=1.0).contains(&filter.error_rate()));
    });
    let dynamic = DynamicBloomFilter::from_bytes(bytes).map(|filter| {
        for key in keys {
            let _ = filter.may_contain(key);
        }
        assert!((0.0..=1.0).contains(&filter.error_rate()));
        filter.to_bytes()
    });
    [bits.is_ok(), counting.is_ok(), dynamic.is_ok()]
}

proptest! {
    #[test]
    fn no_member_is_denied_and_the_bytes_round_trip(
        keys in vec(vec(any::<u8>(), 1..40), 0..60),
        bits in 1_u32..600,
        hash_count in 1_u32..12,
        hash in hash(),
        per_row in 1_u32..20,
    ) {
        let shape = Shape::new(bits, hash_count, hash).expect("in range");
        let mut bits = BloomFilter::new(shape).expect("small");
        let mut counting = CountingBloomFilter::new(shape).expect("small");
        let mut dynamic = DynamicBloomFilter::new(shape, row_keys(per_row)).expect("small");
        for key in &keys {
            prop_assert_eq!(bits.insert(key), Ok(()));
            prop_assert_eq!(counting.insert(key), Ok(()));
            prop_assert_eq!(dynamic.insert(key), Ok(()));
        }
        for key in &keys {
            prop_assert!(bits.may_contain(key));
            prop_assert!(counting.may_contain(key));
            prop_assert!(dynamic.may_contain(key));
        }
        prop_assert_eq!(dynamic.len(), keys.len() as u64);
        prop_assert_eq!(BloomFilter::from_bytes(&bits.to_bytes()), Ok(bits));
        prop_assert_eq!(CountingBloomFilter::from_bytes(&counting.to_bytes()), Ok(counting));
        prop_assert_eq!(DynamicBloomFilter::from_bytes(&dynamic.to_bytes()), Ok(dynamic));
    }

    /// Random bytes, and a valid filter with one changed byte or a truncated end.
    #[test]
    fn random_and_damaged_bytes_do_not_panic(
        random in vec(any::<u8>(), 0..40),
        sample in 0..3_usize,
        at in any::<prop::sample::Index>(),
        value in any::<u8>(),
        cut in any::<prop::sample::Index>(),
    ) {
        accepted(&random);
        let mut bytes = samples()[sample].clone();
        let at = at.index(bytes.len());
        bytes[at] = value;
        accepted(&bytes);
        accepted(&bytes[..cut.index(bytes.len())]);
    }
}

#[test]
fn removing_all_keys_leaves_an_empty_filter() {
    let mut filter = CountingBloomFilter::new(shape(20_000, 5)).expect("small");
    let empty = filter.clone();
    for key in 0..1_000_u32 {
        filter.insert(&key.to_be_bytes()).expect("not empty");
    }
    for key in 0..1_000_u32 {
        filter.remove(&key.to_be_bytes()).expect("a member");
    }
    assert_eq!(filter, empty, "no counter saturated");
    assert_eq!(filter.remove(b"row1"), Err(Absent));
}

#[test]
fn a_saturated_counter_is_not_lowered() {
    let mut filter = CountingBloomFilter::new(shape(1_000, 2)).expect("small");
    for copies in 1..=20_u32 {
        filter.insert(b"again").expect("not empty");
        assert_eq!(filter.copies(b"again"), u64::from(copies.min(15)));
    }
    for _ in 0..20 {
        assert_eq!(filter.remove(b"again"), Ok(()));
    }
    assert!(filter.may_contain(b"again"));
}

#[test]
fn the_measured_error_rate_is_the_expected_one() {
    let rate = ErrorRate::new(0.01).expect("in range");
    let shape = Shape::for_keys(5_000, rate, Hash::Murmur).expect("in range");
    let mut bits = BloomFilter::new(shape).expect("small");
    let mut counting = CountingBloomFilter::new(shape).expect("small");
    let mut dynamic = DynamicBloomFilter::new(shape, row_keys(5_000)).expect("small");
    for key in 0..5_000_u64 {
        bits.insert(&key.to_be_bytes()).expect("not empty");
        counting.insert(&key.to_be_bytes()).expect("not empty");
    }
    for key in 0..10_000_u64 {
        dynamic.insert(&key.to_be_bytes()).expect("not empty");
    }
    assert_eq!(dynamic.row_count(), 2);
    let absent_keys = || (1 << 40..(1_u64 << 40) + 100_000).map(u64::to_be_bytes);
    let false_positives = [
        absent_keys().filter(|key| bits.may_contain(key)).count(),
        absent_keys().filter(|key| counting.may_contain(key)).count(),
        absent_keys().filter(|key| dynamic.may_contain(key)).count(),
    ];
    let rates = [bits.error_rate(), counting.error_rate(), dynamic.error_rate()];
    for (measured, rate) in false_positives.into_iter().zip(rates) {
        let expected = rate * 100_000.0;
        let deviation = (measured as f64 - expected).abs();
        assert!(deviation < 4.0 * expected.sqrt(), "{measured}, not {expected}");
    }
    assert!(rates[0] < 0.011 && rates[1] < 0.011 && rates[2] > rates[0], "{rates:?}");
}

#[test]
fn truncated_bytes_excess_bytes_and_wrong_fields_are_refused() {
    for (kind, sample) in samples().into_iter().enumerate() {
        assert!(accepted(&sample)[kind]);
        for len in 0..sample.len() {
            assert!(!accepted(&sample[..len])[kind], "kind {kind} truncated to {len} bytes");
        }
        let longer = [sample.as_slice(), &[0]].concat();
        assert!(!accepted(&longer)[kind], "kind {kind} with a byte of excess");
        // Values of version, probes, hash and size that Java refuses or never writes.
        for (at, wrong) in [(0, 0x80), (3, 0xfe), (4, 0x80), (5, 1), (8, 2), (8, 0xff), (9, 0x80)] {
            let mut bytes = sample.clone();
            bytes[at] = wrong;
            assert!(!accepted(&bytes)[kind], "kind {kind}, byte {at} is {wrong}");
        }
    }
    let [bits, counting, dynamic] = samples();
    // Set bit 75 and counter 75, which a filter of 75 does not have.
    for (mut bytes, at, stray) in [(bits, 13 + 9, 0x08), (counting, 13 + 4 * 8, 0x10)] {
        bytes[at] |= stray;
        let errors =
            [BloomFilter::from_bytes(&bytes).err(), CountingBloomFilter::from_bytes(&bytes).err()];
        assert!(errors.contains(&Some(NotHadoop::StrayBit(75))), "{errors:?}");
    }
    // Change the keys per row, the keys of the last row, the number of rows, and the size of a row.
    for (at, wrong) in [(13, 0x80), (17, 0x80), (24, 0xff), (24, 4), (25 + 12, 74)] {
        let mut bytes = dynamic.clone();
        bytes[at] = wrong;
        assert!(!accepted(&bytes)[2], "byte {at} is {wrong}");
    }
    // A filter of Hudi that may not grow counts further keys in its last row.
    let mut overfull = dynamic.clone();
    overfull[20] = 5;
    let parsed = DynamicBloomFilter::from_bytes(&overfull).expect("Hudi writes such filters");
    assert_eq!(parsed.to_bytes(), overfull);
    let mut grown = parsed.clone();
    grown.insert(b"one more").expect("not empty");
    assert_eq!(grown.row_count(), parsed.row_count() + 1);
    let none = [&dynamic[..21], &[0, 0, 0, 0]].concat();
    assert_eq!(DynamicBloomFilter::from_bytes(&none), Err(NotHadoop::Rows("there is no row")));
}

#[test]
fn the_old_form_without_a_version_is_read() {
    let shape = Shape::new(75, 3, Hash::Jenkins).expect("in range");
    let mut filter = BloomFilter::new(shape).expect("small");
    filter.insert(b"row1").expect("not empty");
    let bytes = filter.to_bytes();
    // The old form has the probes in the place of the version, and no hash type.
    let old = [&bytes[4..8], &bytes[9..]].concat();
    assert_eq!(BloomFilter::from_bytes(&old), Ok(filter));
}

#[test]
fn shapes_out_of_range_and_the_empty_key_are_refused() {
    for (bits, hash_count) in [(0, 1), (1 << 31, 1), (1, 0), (1, 1_025)] {
        let refused = Shape::new(bits, hash_count, Hash::Murmur);
        assert_eq!(refused, Err(InvalidShape { bits, hash_count }));
    }
    let mut filter = BloomFilter::new(shape(8, 1)).expect("small");
    assert_eq!(filter.insert(b""), Err(EmptyKey));
    assert!(!filter.may_contain(b""));
    assert_eq!(filter.union(&BloomFilter::new(shape(9, 1)).expect("small")), Err(ShapesDiffer));
    // 60,000 · 9 · ln 10 / (ln 2)² = 2,587,965.8 bits, and 43.13 · ln 2 = 29.9 probes.
    let rate = ErrorRate::new(1e-9).expect("in range");
    let shape = Shape::for_keys(60_000, rate, Hash::Murmur).expect("in range");
    assert_eq!((shape.bits(), shape.hash_count()), (2_587_966, 30));
}

/// Each mutant has one to four changed bytes, most of them in the header.
#[test]
fn a_hundred_thousand_mutants_do_not_panic() {
    let samples = samples();
    let mut state = 26_u64;
    let mut random = move |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut accepted_count = 0;
    for _ in 0..100_000 {
        let mut bytes = samples[random(3)].clone();
        for _ in 0..=random(4) {
            let at = if random(3) == 0 { random(bytes.len()) } else { random(40.min(bytes.len())) };
            bytes[at] = [0, 1, 2, 0x7f, 0x80, 0xff, random(256) as u8][random(7)];
        }
        match random(4) {
            0 => bytes.truncate(random(bytes.len() + 1)),
            1 => bytes.extend((0..random(60)).map(|byte| byte as u8)),
            _ => {}
        }
        accepted_count += usize::from(accepted(&bytes).contains(&true));
    }
    let expected = 1_000..99_000;
    assert!(expected.contains(&accepted_count), "{accepted_count} of 100,000 were accepted");
}
