//! Memory accesses, in sizes that an interpreter can execute: parsing untrusted bytes, lookups in
//! every kind at every alignment, changes of filters in place.
//!
//! Miri runs these tests, on x86-64 in the code of SSE2, and reports any undefined behaviour, such
//! as an access that is out of bounds or misaligned. It also runs them for a big-endian target:
//!
//! ```text
//! cargo +nightly miri test -p hfile-filter --test memory
//! cargo +nightly miri test -p hfile-filter --test memory --target s390x-unknown-linux-gnu
//! ```

use filter::engine::{AlignedBytes, Insert, KeyHash, Membership, Remove, build};
use filter::{Blocked, Classic, SplitBlock};
use filter::{CountingBloom, Cuckoo, DLeft, DLeftOptions, FilterKind, Seed, Sizing, StoredFilter};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Keys of the larger filters, which take a few lines and buckets.
const KEYS: u64 = if cfg!(miri) { 12 } else { 3_000 };
/// Keys of the filters whose bytes are cut and flipped.
const CUT_KEYS: u64 = if cfg!(miri) { 12 } else { 24 };
/// The step between cuts, flipped bits and alignments; large for an interpreter, which would take
/// hours.
const STEP: usize = if cfg!(miri) { 71 } else { 1 };

fn hashes(stream: u64, count: u64) -> Vec<KeyHash> {
    (0..count).map(|key| KeyHash::new(Seed::new(stream), &key.to_le_bytes())).collect()
}

fn stored(kind: FilterKind, keys: u64) -> Vec<u8> {
    build(kind, Sizing::BitsPerKey(30.0), Seed::new(1), &hashes(1, keys)).expect("possible")
}

/// Looks up keys one by one, in a batch, and after a prefetch.
fn ask(filter: &impl Membership, members: &[KeyHash], is_whole: bool) {
    let all = [members, &hashes(2, 9)].concat();
    let mut answers = vec![false; all.len()];
    filter.may_contain_batch(&all, &mut answers);
    for (hash, answer) in all.iter().zip(&answers) {
        filter.prefetch(*hash);
        assert_eq!(filter.may_contain(*hash), *answer);
    }
    assert!(!is_whole || answers[..members.len()].iter().all(|answer| *answer));
    // Formulas access no memory, and take an interpreter seconds.
    assert!(cfg!(miri) || (0.0..=1.0).contains(&filter.stats().error_rate));
}

#[test]
fn every_kind_answers_at_every_alignment() {
    for kind in FilterKind::ALL {
        for keys in [0, 1, KEYS] {
            let (bytes, members) = (stored(*kind, keys), hashes(1, keys));
            for offset in (0..64).step_by(STEP) {
                let mut shifted = vec![0xff; offset];
                shifted.extend_from_slice(&bytes);
                let filter = StoredFilter::parse(&shifted[offset..]).expect("valid bytes");
                ask(&filter, &members, true);
            }
            let aligned = AlignedBytes::copy_of(&bytes).expect("little memory");
            ask(&StoredFilter::parse(aligned).expect("valid bytes"), &members, true);
        }
    }
}

/// Filters are part of files, which any processor may write and another read.
#[test]
fn the_stored_bytes_do_not_depend_on_the_processor() {
    const KEYS: u64 = 12;
    let checksums = FilterKind::ALL.iter().map(|kind| (kind.name(), xxh3_64(&stored(*kind, KEYS))));
    let expected = [
        ("classic-bloom", 5_806_064_095_325_212_046),
        ("blocked-bloom", 17_722_394_036_473_538_644),
        ("split-block", 8_727_434_293_187_240_351),
        ("counting-bloom", 13_238_477_069_163_245_221),
        ("d-left", 7_731_731_061_830_469_912),
        ("cuckoo", 14_098_050_965_481_086_341),
        ("ribbon", 15_481_362_760_268_082_267),
        ("binary-fuse", 12_678_575_557_894_059_919),
    ];
    assert_eq!(checksums.collect::<Vec<_>>(), expected);
}

/// Corrects the length and the checksum, as an attacker would.
fn repaired(mut bytes: Vec<u8>) -> Vec<u8> {
    let body_len = (bytes.len() - filter::engine::HEADER_LEN) as u64;
    bytes[32..40].copy_from_slice(&body_len.to_le_bytes());
    let checksum = xxh3_64_with_seed(&bytes[..56], xxh3_64(&bytes[filter::engine::HEADER_LEN..]));
    bytes[56..64].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

#[test]
fn cut_and_flipped_bytes_are_refused_or_read_within_bounds() {
    for kind in FilterKind::ALL {
        let whole = stored(*kind, CUT_KEYS);
        for len in (0..whole.len()).step_by(STEP) {
            assert!(StoredFilter::parse(&whole[..len]).is_err(), "{kind}: {len} bytes");
        }
        // With a valid checksum, only the checks of the header's and the body's numbers are left.
        let cuts = (filter::engine::HEADER_LEN..whole.len())
            .step_by(STEP)
            .map(|len| whole[..len].to_vec());
        let flips = (9 * 8..56 * 8).step_by(STEP).map(|bit| {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            bytes
        });
        for bytes in cuts.chain(flips) {
            if let Ok(filter) = StoredFilter::parse(repaired(bytes).as_slice()) {
                ask(&filter, &hashes(1, CUT_KEYS), false);
            }
        }
    }
}

#[test]
fn a_filter_in_memory_contains_its_keys() {
    fn fill(mut filter: impl Insert) {
        let members = hashes(1, KEYS);
        for member in &members {
            filter.insert(*member).expect("room for all");
        }
        ask(&filter, &members, true);
    }
    let sizing = Sizing::BitsPerKey(30.0);
    fill(Blocked::new(sizing, KEYS).expect("possible"));
    fill(Classic::new(sizing, KEYS).expect("possible"));
    fill(SplitBlock::new(sizing, KEYS).expect("possible"));
    fill(CountingBloom::new(sizing, KEYS).expect("possible"));
    fill(DLeft::new(sizing, KEYS).expect("possible"));
    fill(Cuckoo::new(sizing, KEYS).expect("possible"));
    // Cuckoo buckets that begin within a byte, and d-left buckets shorter than a word.
    for bits in [4, 5, 9, 15] {
        fill(Cuckoo::with_fingerprint_bits(bits, KEYS, Seed::new(1)).expect("a width"));
        let options = DLeftOptions::default().remainder_bits(bits);
        fill(DLeft::with_options(options, sizing, KEYS, Seed::new(1)).expect("a width"));
    }
}

#[test]
fn a_filter_without_its_removed_keys_is_empty() {
    fn insert_and_remove(mut filter: impl Remove) {
        let members = hashes(1, KEYS);
        for member in members.iter().chain(&members) {
            filter.insert(*member).expect("room for all");
        }
        for member in &members {
            filter.remove(*member).expect("a member");
        }
        ask(&filter, &members, true);
        for member in &members {
            filter.remove(*member).expect("a member");
        }
        assert!(members.iter().all(|member| !filter.may_contain(*member)));
        assert!(filter.remove(members[0]).is_err());
    }
    let sizing = Sizing::BitsPerKey(40.0);
    insert_and_remove(CountingBloom::new(sizing, 2 * KEYS).expect("possible"));
    insert_and_remove(DLeft::new(sizing, 2 * KEYS).expect("possible"));
    insert_and_remove(Cuckoo::new(sizing, 2 * KEYS).expect("possible"));
}
