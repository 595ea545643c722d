//! The split-block filter compared with Apache Parquet's: the `parquet` crate writes the same bytes
//! for the same keys, and each side reads the other's.
//!
//! `cargo test -p tests --features parquet --test formats parquet`

use filter::{ParquetBloom, Sizing};
use parquet::bloom_filter::Sbbf;
use proptest::prelude::*;
use support::Random;

/// The length of a filter block.
const BLOCK_LEN: usize = 32;

/// Returns our filter and Parquet's, of `blocks` blocks, with the same keys.
fn filled(blocks: usize, keys: &[Vec<u8>]) -> (ParquetBloom, Sbbf) {
    let empty = vec![0; blocks * BLOCK_LEN];
    let mut ours = ParquetBloom::from_bitset(&empty, 0).expect("whole blocks");
    let mut theirs = Sbbf::new(&empty);
    for key in keys {
        ours.insert(key).expect("never full");
        theirs.insert(key.as_slice());
    }
    (ours, theirs)
}

fn bitset(theirs: &Sbbf) -> Vec<u8> {
    let mut bytes = Vec::new();
    theirs.write_bitset(&mut bytes).expect("in memory");
    bytes
}

fn random_keys(seed: u64, count: usize) -> Vec<Vec<u8>> {
    let mut random = Random::new(seed);
    let mut key = || (0..random.below(40)).map(|_| random.next_u64() as u8).collect();
    (0..count).map(|_| key()).collect()
}

#[test]
fn parquet_writes_the_same_bytes_and_reads_ours() {
    // Parquet's writers use powers of two; its format, and ours, allow any number.
    for (blocks, count) in [(1, 0), (1, 1), (1, 20), (3, 30), (64, 1_000), (1_000, 30_000)] {
        let (keys, absent) = (random_keys(1, count), random_keys(2, 20_000));
        let (ours, theirs) = filled(blocks, &keys);
        assert_eq!(ours.bitset(), bitset(&theirs), "{blocks} blocks, {count} keys");

        let read_by_us = ParquetBloom::from_bitset(&bitset(&theirs), count as u64).expect("whole");
        let read_by_them = Sbbf::new(ours.bitset());
        for key in &keys {
            assert!(read_by_us.may_contain(key) && read_by_them.check(key.as_slice()));
        }
        let mut let_through = 0;
        for key in &absent {
            let answer = theirs.check(key.as_slice());
            assert_eq!(read_by_us.may_contain(key), answer);
            assert_eq!(read_by_them.check(key.as_slice()), answer);
            let_through += u32::from(answer);
        }
        assert!(let_through < 20_000, "the filter denies no absent key");
    }
}

#[test]
fn a_filter_of_a_parquet_file_survives_a_round_trip() {
    let keys = random_keys(3, 5_000);
    let mut theirs = Sbbf::new_with_ndv_fpp(5_000, 0.01).expect("possible");
    for key in &keys {
        theirs.insert(key.as_slice());
    }
    let ours = ParquetBloom::from_bitset(&bitset(&theirs), 5_000).expect("whole blocks");
    assert!(keys.iter().all(|key| ours.may_contain(key)));

    // A Parquet file has a Thrift header before the bits.
    let mut file = Vec::new();
    Sbbf::new(ours.bitset()).write(&mut file).expect("in memory");
    assert!(file.ends_with(ours.bitset()));
    let again = Sbbf::from_bytes(&file).expect("a valid filter");
    assert!(keys.iter().all(|key| again.check(key.as_slice())));
}

#[test]
fn a_filter_that_we_sized_is_valid_for_parquet() {
    let keys = random_keys(4, 3_001);
    let mut ours = ParquetBloom::new(Sizing::BitsPerKey(10.5), 3_001).expect("possible");
    for key in &keys {
        ours.insert(key).expect("never full");
    }
    let theirs = Sbbf::new(ours.bitset());
    assert!(keys.iter().all(|key| theirs.check(key.as_slice())));
    assert_eq!(bitset(&theirs), ours.bitset());
}

proptest! {
    /// Any keys, any number of blocks.
    #[test]
    fn the_bytes_are_the_same(
        keys in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..200),
        blocks in 1..50_usize,
    ) {
        let (ours, theirs) = filled(blocks, &keys);
        prop_assert_eq!(ours.bitset(), bitset(&theirs));
    }
}
