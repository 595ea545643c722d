//! Filters of other libraries: each is parsed, queried, changed and written again.

use std::num::NonZeroU32;

use filter::ErrorRate;
use foreign_filters::hadoop::{BloomFilter, CountingBloomFilter, DynamicBloomFilter, Hash, Shape};
use foreign_filters::{GoCuckoo, GuavaBloom, GuavaStrategy, SimpleBloom};

/// Parses the input as the format that its first byte names; returns whether that succeeded.
///
/// # Panics
///
/// If a parsed filter is written differently, or denies a key that was inserted.
pub fn foreign(input: &[u8]) -> bool {
    let Some((format, bytes)) = input.split_first() else { return false };
    let keys = [&b"a"[..], b"row1", b"longer than a word"];
    match format % 6 {
        0 => GuavaBloom::from_bytes(bytes).is_ok_and(|mut filter| {
            assert_eq!(filter.to_bytes(), bytes);
            keys.iter().all(|key| filter.insert(key) | filter.may_contain(key))
        }),
        1 => SimpleBloom::default().with_bitset(bytes).is_ok_and(|mut filter| {
            assert!(bytes.starts_with(&filter.to_bitset()));
            filter.insert("row1");
            filter.may_contain("row1")
        }),
        2 => BloomFilter::from_bytes(bytes).is_ok_and(|mut filter| {
            assert_eq!(BloomFilter::from_bytes(&filter.to_bytes()).as_ref(), Ok(&filter));
            keys.iter().all(|key| filter.insert(key).is_ok() && filter.may_contain(key))
        }),
        3 => CountingBloomFilter::from_bytes(bytes).is_ok_and(|mut filter| {
            assert_eq!(CountingBloomFilter::from_bytes(&filter.to_bytes()).as_ref(), Ok(&filter));
            keys.iter().all(|key| filter.insert(key).is_ok() && filter.remove(key).is_ok())
        }),
        4 => DynamicBloomFilter::from_bytes(bytes).is_ok_and(|mut filter| {
            assert_eq!(DynamicBloomFilter::from_bytes(&filter.to_bytes()).as_ref(), Ok(&filter));
            keys.iter().all(|key| filter.insert(key).is_ok() && filter.may_contain(key))
        }),
        _ => GoCuckoo::from_bytes(bytes).is_ok_and(|mut filter| {
            assert_eq!(filter.to_bytes(), bytes);
            keys.iter().all(|key| filter.insert(key).is_err() || filter.may_contain(key))
        }),
    }
}

/// One sound filter of each format.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let shape = Shape::new(75, 3, Hash::Murmur).expect("in range");
    let rate = ErrorRate::new(0.1).expect("in range");
    let mut guava = GuavaBloom::new(10, rate, GuavaStrategy::Mitz64).expect("small");
    let mut bits = BloomFilter::new(shape).expect("small");
    let mut counting = CountingBloomFilter::new(shape).expect("small");
    let row_keys = NonZeroU32::new(4).expect("not zero");
    let mut dynamic = DynamicBloomFilter::new(shape, row_keys).expect("small");
    let mut cuckoo = GoCuckoo::new(16).expect("small");
    for number in 0..10_u32 {
        let key = number.to_be_bytes();
        guava.insert(&key);
        bits.insert(&key).expect("not empty");
        counting.insert(&key).expect("not empty");
        dynamic.insert(&key).expect("not empty");
        cuckoo.insert(&key).expect("room for all");
    }
    // A full bit set would take megabytes; a short one is valid too.
    let simple = vec![0x01, 0x80, 0x10];
    let filters = [
        guava.to_bytes(),
        simple,
        bits.to_bytes(),
        counting.to_bytes(),
        dynamic.to_bytes(),
        cuckoo.to_bytes(),
    ];
    let numbered = filters.into_iter().zip(0_u8..);
    numbered.map(|(bytes, format)| [&[format][..], &bytes].concat()).collect()
}
