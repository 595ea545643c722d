//! Plans and formulas for numbers that nobody needs: an error or a true number, never a saturated one.

use filter::engine::{KeyHash, build};
use filter::{BuildError, Cuckoo, DLeft, DLeftOptions, ErrorRate, FilterKind, Seed, Sizing, plan};

const KEY_COUNTS: [u64; 12] =
    [0, 1, 4, 5, 1_000, 1 << 20, 1 << 31, 1 << 40, 1 << 53, 1 << 61, 1 << 63, u64::MAX];

fn sizings() -> impl Iterator<Item = Sizing> {
    let rates = [1.0 - 1e-16, 0.999, 0.5, 0.01, 1e-6, 1e-9, 1e-18, 1e-300, f64::MIN_POSITIVE];
    let rates = rates.map(|rate| Sizing::error_rate(rate).expect("in range"));
    let bits = [f64::NAN, -1.0, 0.0, 1e-300, 1e-3, 1.0, 10.0, 1e6, 1e18, 1e300, f64::INFINITY];
    let bytes = [0, 63, 64, 65, 1_000, 1 << 40, 1 << 62, 1 << 63, u64::MAX];
    rates.into_iter().chain(bits.map(Sizing::BitsPerKey)).chain(bytes.map(Sizing::Bytes))
}

#[test]
fn a_plan_of_extreme_numbers_is_an_error_or_a_possible_size() {
    for sizing in sizings() {
        for keys in KEY_COUNTS {
            let of_kinds = FilterKind::ALL.iter().map(|kind| plan(*kind, sizing, keys));
            let four_bits = DLeftOptions::default().remainder_bits(4);
            let d_left = DLeft::plan_with_options(four_bits, sizing, keys);
            let cuckoo = Cuckoo::plan_with_fingerprint_bits(16, keys);
            for planned in of_kinds.chain([d_left, cuckoo]).flatten() {
                let context = format!("{sizing:?}, {keys} keys: {planned:?}");
                assert!(i64::try_from(planned.bytes).is_ok(), "{context}");
                assert!((0.0..=1.0).contains(&planned.error_rate), "{context}");
                assert_eq!(planned.keys, keys, "{context}");
                if let Sizing::ErrorRate(rate) = sizing {
                    // Cuckoo and d-left plans above have no error rate of their own.
                    let is_unsized = planned.error_rate > rate.get() * (1.0 + 1e-4);
                    assert!(!is_unsized || cuckoo == Ok(planned), "{context}");
                }
                if let Sizing::Bytes(budget) = sizing {
                    assert!(planned.bytes <= budget || cuckoo == Ok(planned), "{context}");
                }
            }
        }
    }
}

#[test]
fn a_number_of_bits_that_is_no_size_is_refused_by_every_kind() {
    let keys: Vec<_> = (0..1_000).map(KeyHash::from_u64).collect();
    for &kind in FilterKind::ALL {
        for bits in [0.0, -1.0, f64::NAN, f64::INFINITY].map(Sizing::BitsPerKey) {
            let refused = build(kind, bits, Seed::new(1), &keys).map(drop);
            let is_refused = matches!(refused, Err(BuildError::BitsPerKey(_)));
            assert!(is_refused, "{kind}, {bits:?}: {refused:?}");
        }
    }
}

#[test]
fn an_error_rate_below_the_collisions_of_hashes_is_refused_by_every_kind() {
    let rate = ErrorRate::new(1e-300).expect("in range");
    for keys in KEY_COUNTS.into_iter().filter(|keys| *keys > 0) {
        for &kind in FilterKind::ALL {
            let refused = plan(kind, Sizing::ErrorRate(rate), keys);
            let is_refused = matches!(refused, Err(BuildError::ErrorRate(_) | BuildError::Memory));
            assert!(is_refused, "{kind}, {keys} keys: {refused:?}");
        }
    }
    let one_key = plan(FilterKind::Cuckoo, Sizing::ErrorRate(rate), 1);
    assert_eq!(one_key, Err(BuildError::ErrorRate(1e-300)));
}
