//! Hadoop's filters without Hadoop: laws, and bytes from outside. `tests/originals.rs` asks Hadoop itself.

use std::num::NonZeroU32;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::{Absent, ErrorRate};

fn shape(bits: u32, hash_count: u32) -> Shape {
    Shape::new(bits, hash_count, Hash::Murmur).expect("in range")
}

fn row_keys(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).expect("not zero")
}

fn hash() -> impl Strategy<Value = Hash> {
    prop::sample::select(&[Hash::Jenkins, Hash::Murmur][..])
}

/// One serialised filter of each kind, with a number of bits that ends within a byte and within a word.
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

/// Reads bytes as each kind, asks what was read and writes it again: true for those that were taken.
fn readings(bytes: &[u8]) -> [bool; 3] {
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
    /// No key is denied and every form reads back, whatever the shape.
    #[test]
    fn no_key_is_lost_and_the_bytes_read_back(
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

    /// A sound head in front of any bytes: taken or refused, never more.
    #[test]
    fn any_bytes_do_no_harm(
        head in vec(any::<u8>(), 0..40),
        sample in 0..3_usize,
        at in any::<prop::sample::Index>(),
        value in any::<u8>(),
        cut in any::<prop::sample::Index>(),
    ) {
        readings(&head);
        let mut bytes = samples()[sample].clone();
        let at = at.index(bytes.len());
        bytes[at] = value;
        readings(&bytes);
        readings(&bytes[..cut.index(bytes.len())]);
    }
}

#[test]
fn what_goes_in_comes_out_again() {
    let mut filter = CountingBloomFilter::new(shape(20_000, 5)).expect("small");
    let empty = filter.clone();
    for key in 0..1_000_u32 {
        filter.insert(&key.to_be_bytes()).expect("not empty");
    }
    for key in 0..1_000_u32 {
        filter.remove(&key.to_be_bytes()).expect("it is there");
    }
    assert_eq!(filter, empty, "no counter got to 15");
    assert_eq!(filter.remove(b"row1"), Err(Absent));
}

#[test]
fn a_counter_that_is_full_stays() {
    let mut filter = CountingBloomFilter::new(shape(1_000, 2)).expect("small");
    for copies in 1..=20_u32 {
        filter.insert(b"again").expect("not empty");
        assert_eq!(filter.count(b"again"), copies.min(15));
    }
    for _ in 0..20 {
        assert_eq!(filter.remove(b"again"), Ok(()));
    }
    assert!(filter.may_contain(b"again"));
}

#[test]
fn absent_keys_pass_as_often_as_the_shares_say() {
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
    let passed = [
        absent_keys().filter(|key| bits.may_contain(key)).count(),
        absent_keys().filter(|key| counting.may_contain(key)).count(),
        absent_keys().filter(|key| dynamic.may_contain(key)).count(),
    ];
    let rates = [bits.error_rate(), counting.error_rate(), dynamic.error_rate()];
    for (passed, rate) in passed.into_iter().zip(rates) {
        let expected = rate * 100_000.0;
        assert!((passed as f64 - expected).abs() < 4.0 * expected.sqrt(), "{passed}, {expected}");
    }
    assert!(rates[0] < 0.011 && rates[1] < 0.011 && rates[2] > rates[0], "{rates:?}");
}

#[test]
fn every_cut_excess_and_wrong_field_is_refused() {
    for (kind, sample) in samples().into_iter().enumerate() {
        assert!(readings(&sample)[kind]);
        for len in 0..sample.len() {
            assert!(!readings(&sample[..len])[kind], "kind {kind} cut at {len}");
        }
        let longer = [sample.as_slice(), &[0]].concat();
        assert!(!readings(&longer)[kind], "kind {kind} and a byte more");
        // Version, probes, hash, size: what Java refuses or never writes.
        for (at, wrong) in [(0, 0x80), (3, 0xfe), (4, 0x80), (5, 1), (8, 2), (8, 0xff), (9, 0x80)] {
            let mut bytes = sample.clone();
            bytes[at] = wrong;
            assert!(!readings(&bytes)[kind], "kind {kind}, byte {at} is {wrong}");
        }
    }
    let [bits, counting, dynamic] = samples();
    // Bit 75 of 75, counter 75 of 75.
    for (mut bytes, at, stray) in [(bits, 13 + 9, 0x08), (counting, 13 + 4 * 8, 0x10)] {
        bytes[at] |= stray;
        let errors =
            [BloomFilter::from_bytes(&bytes).err(), CountingBloomFilter::from_bytes(&bytes).err()];
        assert!(errors.contains(&Some(NotHadoop::StrayBit(75))), "{errors:?}");
    }
    // Keys a row, keys of the last row, number of rows, a row's size.
    for (at, wrong) in [(13, 0x80), (17, 0x80), (24, 0xff), (24, 4), (25 + 12, 74)] {
        let mut bytes = dynamic.clone();
        bytes[at] = wrong;
        assert!(!readings(&bytes)[2], "byte {at} is {wrong}");
    }
    // Hudi counts on in the last row, once its filter may have no further one.
    let mut counted_on = dynamic.clone();
    counted_on[20] = 5;
    let read = DynamicBloomFilter::from_bytes(&counted_on).expect("what Hudi writes");
    assert_eq!(read.to_bytes(), counted_on);
    let none = [&dynamic[..21], &[0, 0, 0, 0]].concat();
    assert_eq!(DynamicBloomFilter::from_bytes(&none), Err(NotHadoop::Rows("there is no row")));
}

#[test]
fn the_form_before_versions_is_read() {
    let shape = Shape::new(75, 3, Hash::Jenkins).expect("in range");
    let mut filter = BloomFilter::new(shape).expect("small");
    filter.insert(b"row1").expect("not empty");
    let bytes = filter.to_bytes();
    // Probes in place of the version, no hash type.
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

/// Each with one to four bytes changed, most of them in the head, where harm could come from.
#[test]
fn a_hundred_thousand_hostile_mutants_do_no_harm() {
    let samples = samples();
    let mut state = 26_u64;
    let mut random = move |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut taken = 0;
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
        taken += usize::from(readings(&bytes).contains(&true));
    }
    assert!((1_000..99_000).contains(&taken), "{taken} of 100,000 were taken for filters");
}
