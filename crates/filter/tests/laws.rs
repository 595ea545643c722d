//! Properties of every kind of stored filter.
//!
//! No member is denied, the stored form can be read, and foreign bytes do no harm.

use filter::engine::{KeyHash, Membership, build};
use filter::{CountingBloom, Cuckoo, DLeft, DLeftOptions, FilterKind, Seed, Sizing, StoredFilter};
use proptest::collection::vec;
use proptest::prelude::*;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Bytes of a stored filter's header; the last eight are the checksum.
const HEADER_LEN: usize = filter::engine::HEADER_LEN;

fn hashes(stream: u64, count: u64) -> Vec<KeyHash> {
    let seed = Seed::new(stream);
    (0..count).map(|key| KeyHash::new(seed, &key.to_le_bytes())).collect()
}

fn sizings() -> impl Strategy<Value = Sizing> {
    prop_oneof![
        (1e-6..0.5).prop_map(|rate| Sizing::error_rate(rate).expect("in range")),
        (1.0..40.0).prop_map(Sizing::BitsPerKey),
        (4_096_u64..20_000).prop_map(Sizing::Bytes),
    ]
}

proptest! {
    /// Covers every kind, size and alignment, copies and the empty key, one by one and in a batch.
    #[test]
    fn a_member_is_never_denied(
        keys in vec(vec(any::<u8>(), 0..64), 0..500),
        sizing in sizings(),
        seed in any::<u64>().prop_map(Seed::new),
        offset in 0..64_usize,
    ) {
        let hashes: Vec<KeyHash> = keys.iter().map(|key| KeyHash::new(seed, key)).collect();
        for kind in FilterKind::ALL {
            let Ok(bytes) = build(*kind, sizing, seed, &hashes) else { continue };
            if let Sizing::Bytes(budget) = sizing {
                prop_assert!(bytes.len() as u64 <= budget);
            }
            let mut shifted = vec![0; offset];
            shifted.extend_from_slice(&bytes);
            let filter = StoredFilter::parse(&shifted[offset..]).expect("sound");
            prop_assert_eq!(filter.kind(), *kind);
            prop_assert_eq!(filter.seed(), seed);
            prop_assert_eq!(filter.len(), keys.len() as u64);
            prop_assert_eq!(filter.as_bytes(), bytes.as_slice());

            let mut answers = vec![false; hashes.len()];
            Membership::may_contain_batch(&filter, &hashes, &mut answers);
            for ((key, hash), answer) in keys.iter().zip(&hashes).zip(answers) {
                prop_assert!(filter.may_contain(*hash), "{kind} lost {key:?}");
                prop_assert!(answer, "{kind} lost {key:?} in a batch");
            }
        }
    }

    #[test]
    fn a_batch_lookup_equals_single_lookups(count in 0..300_u64, absent in 0..200_u64) {
        let (members, absent) = (hashes(1, count), hashes(2, absent));
        for kind in FilterKind::ALL {
            let bytes = build(*kind, Sizing::BitsPerKey(12.0), Seed::new(1), &members)
                .expect("possible");
            let filter = StoredFilter::parse(bytes).expect("sound");
            let mut answers = vec![false; absent.len()];
            Membership::may_contain_batch(&filter, &absent, &mut answers);
            let single: Vec<bool> = absent.iter().map(|hash| filter.may_contain(*hash)).collect();
            prop_assert_eq!(answers, single);
        }
    }

    #[test]
    fn random_bytes_are_rejected(bytes in vec(any::<u8>(), 0..300)) {
        prop_assert!(StoredFilter::parse(bytes).is_err());
    }
}

/// Answers that are not written would deny members.
#[test]
fn fewer_answers_than_hashes_are_a_broken_invariant() {
    let members = hashes(1, 100);
    for kind in FilterKind::ALL {
        let bytes = build(*kind, Sizing::BitsPerKey(12.0), Seed::new(1), &members);
        let filter = StoredFilter::parse(bytes.expect("possible")).expect("sound");
        for count in [0, 99, 101] {
            let answered = std::panic::catch_unwind(|| {
                Membership::may_contain_batch(&filter, &members, &mut vec![false; count]);
            });
            assert!(answered.is_err(), "{kind} answers {count} of 100");
        }
    }
}

/// Bits of a cuckoo filter's fingerprints and of a d-left filter's remainders.
const WIDTHS: std::ops::RangeInclusive<u32> = 4..=16;

fn cuckoo(bits: u32, keys: u64, seed: Seed) -> Cuckoo {
    Cuckoo::with_fingerprint_bits(bits, keys, seed).expect("a width")
}

fn d_left(bits: u32, keys: u64, seed: Seed) -> DLeft {
    // A load of 7/8.
    let bits_per_key = f64::from(bits + 2) * 8.0 / 7.0 + 2_000.0 / keys.max(1) as f64;
    let options = DLeftOptions::default().remainder_bits(bits);
    let filter = DLeft::with_options(options, Sizing::BitsPerKey(bits_per_key), keys, seed);
    let filter = filter.expect("a width");
    assert_eq!(filter.remainder_bits(), bits);
    filter
}

/// Builds stored filters of every width.
fn filters_of_all_widths(keys: &[KeyHash], seed: Seed) -> Vec<Vec<u8>> {
    let mut stored = Vec::new();
    for bits in WIDTHS {
        let count = keys.len() as u64;
        let (mut cuckoo, mut d_left) = (cuckoo(bits, count, seed), d_left(bits, count, seed));
        for key in keys {
            cuckoo.insert(*key).expect("within the planned keys");
            d_left.insert(*key).expect("within the planned keys");
        }
        stored.extend([cuckoo.to_stored(), d_left.to_stored()]);
    }
    stored
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Looks up members in memory, stored and in a batch, and after other keys were removed.
    #[test]
    fn a_member_is_never_denied_at_any_width(
        keys in vec(any::<u64>(), 0..400),
        seed in any::<u64>().prop_map(Seed::new),
    ) {
        let hash = |key: &u64| KeyHash::new(seed, &key.to_le_bytes());
        let hashes: Vec<KeyHash> = keys.iter().map(hash).collect();
        for bytes in filters_of_all_widths(&hashes, seed) {
            let filter = StoredFilter::parse(bytes.as_slice()).expect("sound");
            let mut answers = vec![false; hashes.len()];
            Membership::may_contain_batch(&filter, &hashes, &mut answers);
            prop_assert!(answers.iter().all(|answer| *answer));
            prop_assert!(hashes.iter().all(|hash| filter.may_contain(*hash)));
        }
        for bits in WIDTHS {
            let count = keys.len() as u64;
            let (mut cuckoo, mut d_left) = (cuckoo(bits, count, seed), d_left(bits, count, seed));
            for hash in &hashes {
                prop_assert!(cuckoo.insert(*hash).is_ok() && d_left.insert(*hash).is_ok());
            }
            let (removed, left) = hashes.split_at(hashes.len() / 2);
            for hash in removed {
                prop_assert!(cuckoo.remove(*hash).is_ok() && d_left.remove(*hash).is_ok());
            }
            for hash in left {
                let both = cuckoo.may_contain(*hash) && d_left.may_contain(*hash);
                prop_assert!(both, "{} bits", bits);
            }
        }
    }
}

/// Builds small filters of every kind in several sizes, and of every width.
fn samples() -> Vec<Vec<u8>> {
    let sizes = [0, 1, 2, 40, 300];
    let pairs = FilterKind::ALL.iter().flat_map(|kind| sizes.map(|size| (*kind, size)));
    pairs
        .map(|(kind, size)| {
            build(kind, Sizing::BitsPerKey(24.0), Seed::new(3), &hashes(3, size)).expect("possible")
        })
        .chain(filters_of_all_widths(&hashes(3, 41), Seed::new(3)))
        .chain([with_overflow()])
        .collect()
}

/// Returns a cuckoo filter whose copies of a key exceed its buckets.
fn with_overflow() -> Vec<u8> {
    let mut filter = cuckoo(12, 60, Seed::new(1));
    for key in hashes(1, 60).into_iter().chain(hashes(1, 3).repeat(5)) {
        filter.insert(key).expect("copies never fail");
    }
    let (stored, plain) = (filter.to_stored(), cuckoo(12, 60, Seed::new(1)).to_stored());
    assert!(stored.len() > plain.len(), "the copies are in the overflow");
    stored
}

/// Filters that can change answer in memory as they do stored, whose error rates are measured below.
#[test]
fn a_loaded_filter_answers_as_the_stored_one() {
    fn compare(rate: f64, stored: &StoredFilter<Vec<u8>>, loaded: &impl Membership) {
        let asked = [hashes(5, 3_000), hashes(6, 20_000)].concat();
        let differs = |hash: &&KeyHash| stored.may_contain(**hash) != loaded.may_contain(**hash);
        assert_eq!(asked.iter().find(differs), None, "{} {rate}", stored.kind());
        assert_eq!(stored.stats(), loaded.stats(), "{} {rate}", stored.kind());
    }
    for rate in [0.3, 0.03, 0.001] {
        let sizing = Sizing::error_rate(rate).expect("in range");
        let stored = |kind| {
            let bytes = build(kind, sizing, Seed::new(5), &hashes(5, 3_000)).expect("possible");
            StoredFilter::parse(bytes).expect("sound")
        };
        let counting = stored(FilterKind::CountingBloom);
        compare(rate, &counting, &CountingBloom::from_stored(&counting).expect("sound"));
        let d_left = stored(FilterKind::DLeft);
        compare(rate, &d_left, &DLeft::from_stored(&d_left).expect("sound"));
        let cuckoo = stored(FilterKind::Cuckoo);
        compare(rate, &cuckoo, &Cuckoo::from_stored(&cuckoo).expect("sound"));
    }
}

/// Calls all methods of a damaged filter; its answers may be wrong.
fn exercise(filter: &StoredFilter<&[u8]>) {
    let keys = hashes(4, 64);
    let mut answers = vec![false; keys.len()];
    Membership::may_contain_batch(filter, &keys, &mut answers);
    for hash in [0, 1, u64::MAX, u64::MAX << 32, u64::MAX >> 32].map(KeyHash::from_u64) {
        filter.prefetch(hash);
        filter.may_contain(hash);
    }
    assert!((0.0..=1.0).contains(&filter.stats().error_rate));
    assert!(filter.bits_per_key() >= 0.0);
}

#[test]
fn every_flipped_bit_is_detected() {
    for sample in samples() {
        for bit in 0..sample.len() * 8 {
            let mut bytes = sample.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(StoredFilter::parse(bytes).is_err(), "bit {bit}");
        }
    }
}

#[test]
fn every_truncation_and_every_extra_byte_is_detected() {
    for sample in samples() {
        for len in 0..sample.len() {
            assert!(StoredFilter::parse(&sample[..len]).is_err(), "{len} bytes");
        }
        let mut bytes = sample.clone();
        bytes.push(0);
        assert!(StoredFilter::parse(bytes).is_err());
    }
}

/// Corrects the length and the checksum, as an attacker would.
fn correct_checksum(bytes: &mut [u8]) {
    let body_len = (bytes.len() - HEADER_LEN) as u64;
    bytes[32..40].copy_from_slice(&body_len.to_le_bytes());
    let checksum = xxh3_64_with_seed(&bytes[..56], xxh3_64(&bytes[HEADER_LEN..]));
    bytes[56..HEADER_LEN].copy_from_slice(&checksum.to_le_bytes());
}

fn assert_mutants_do_no_harm(mutants_per_kind: u64) {
    let samples = samples();
    let per_sample = mutants_per_kind * FilterKind::ALL.len() as u64 / samples.len() as u64;
    let mut accepted = 0;
    for (index, sample) in samples.iter().enumerate() {
        for mutant in 0..per_sample {
            // All choices of a mutant come from one stream of hashes, so that runs are repeatable.
            let seed = Seed::new(mutant << 8 | index as u64);
            let mut drawn = 0_u64;
            let mut draw = |below: u64| {
                drawn += 1;
                KeyHash::new(seed, &drawn.to_le_bytes()).get() % below
            };
            let mut bytes = sample.clone();
            for _ in 0..=draw(3) {
                // Mostly the header's parameters and counts.
                let at = if draw(4) > 0 { 9 + draw(47) } else { draw(bytes.len() as u64) };
                bytes[at as usize] = match draw(3) {
                    0 => bytes[at as usize] ^ (1 << draw(8)),
                    1 => [0x00, 0x01, 0x7f, 0x80, 0xff][draw(5) as usize],
                    _ => draw(256) as u8,
                };
            }
            match draw(4) {
                0 => bytes
                    .truncate(HEADER_LEN + draw((bytes.len() - HEADER_LEN + 1) as u64) as usize),
                1 => bytes.extend((0..draw(130)).map(|_| 0xff)),
                _ => {}
            }
            correct_checksum(&mut bytes);
            if let Ok(filter) = StoredFilter::parse(bytes.as_slice()) {
                accepted += 1;
                exercise(&filter);
            }
        }
    }
    eprintln!("{accepted} of {} mutants were accepted", per_sample * samples.len() as u64);
    assert!(accepted > 0, "no mutant was accepted");
}

#[test]
fn mutants_with_a_correct_checksum_do_no_harm() {
    assert_mutants_do_no_harm(5_000);
}

/// `cargo test --release -p hfile-filter --test laws -- --ignored mutants`
#[test]
#[ignore = "takes half a minute in release mode"]
fn a_hundred_thousand_mutants_of_each_kind_do_no_harm() {
    assert_mutants_do_no_harm(100_000);
}

/// Returns the promised error rate, the measured error rate, and the standard error.
///
/// The error rate varies with the members of a filter, so the mean of several filters is measured.
fn measure(kind: FilterKind, sizing: Sizing, keys: u64) -> (f64, f64, f64) {
    const FILTERS: u64 = 25;
    const ABSENT: u64 = 20_000;
    let absent = hashes(6, ABSENT);
    let (mut promised, mut rates) = (0.0, Vec::new());
    for stream in 100..100 + FILTERS {
        let bytes = build(kind, sizing, Seed::new(5), &hashes(stream, keys)).expect("possible");
        let filter = StoredFilter::parse(bytes).expect("sound");
        promised += filter.error_rate() / FILTERS as f64;
        let passed = absent.iter().filter(|hash| filter.may_contain(**hash)).count();
        rates.push(passed as f64 / ABSENT as f64);
    }
    let mean = rates.iter().sum::<f64>() / FILTERS as f64;
    let variance = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>();
    let binomial = promised * (1.0 - promised) / (FILTERS * ABSENT) as f64;
    let sigma = (variance / (FILTERS * (FILTERS - 1)) as f64).max(binomial).sqrt();
    (promised, mean, sigma)
}

#[test]
fn the_measured_error_rate_is_the_promised_one() {
    let rates = [0.3, 0.1, 0.05, 0.02, 0.01, 0.005, 0.001, 3e-4];
    let rates = rates.map(|rate| Sizing::error_rate(rate).expect("in range"));
    let sizings: Vec<Sizing> =
        rates.into_iter().chain([12.3, 17.6].map(Sizing::BitsPerKey)).collect();
    for kind in FilterKind::ALL {
        for (sizing, keys) in sizings.iter().zip([10_000, 2_011].into_iter().cycle()) {
            let (promised, measured, sigma) = measure(*kind, *sizing, keys);
            let deviation = (measured - promised) / sigma;
            eprintln!(
                "{kind} {sizing:?}: {promised:.3e} promised, {measured:.3e} measured, \
                 {deviation:+.1} sigma"
            );
            if let Sizing::ErrorRate(rate) = sizing {
                assert!(promised <= rate.get(), "{kind} promises {promised}, not {rate:?}");
            }
            assert!(deviation.abs() <= 3.0, "{kind} {sizing:?} is off by {deviation} sigma");
        }
    }
}

#[test]
fn filters_can_be_shared_between_threads() {
    fn assert_shareable<T: Send + Sync>() {}
    assert_shareable::<StoredFilter<Vec<u8>>>();
    assert_shareable::<filter::Blocked>();
    assert_shareable::<filter::hbase::ChunkBuilder>();
}
