//! Bits per key and error rate of every kind of filter at several sizes.

use filter::{FilterKind, KeyHash, Membership, Seed, Sizing, StoredFilter, build};

use crate::run::FilterPoint;

const SEED: Seed = Seed::new(1);
const KEYS: u64 = 100_000;
/// Absent keys that are asked: enough for an error rate of 1 in 10,000.
const ABSENT_KEYS: u64 = 400_000;
const BITS_PER_KEY: [f64; 4] = [7.0, 10.0, 12.0, 16.0];

/// Returns a point for each kind and size that can be built.
pub(crate) fn points() -> Vec<FilterPoint> {
    let hash = |index| KeyHash::new(SEED, &workload::key(1, index));
    let members: Vec<_> = (0..KEYS).map(hash).collect();
    let absent: Vec<_> = (KEYS..KEYS + ABSENT_KEYS).map(hash).collect();
    let mut points = Vec::new();
    for kind in FilterKind::ALL.iter().copied() {
        for bits in BITS_PER_KEY {
            let Ok(bytes) = build(kind, Sizing::BitsPerKey(bits), SEED, &members) else { continue };
            let filter = StoredFilter::parse(&bytes).expect("just built");
            let wrong = absent.iter().filter(|hash| filter.may_contain(**hash)).count();
            points.push(FilterPoint {
                name: kind.name().to_owned(),
                bits_per_key: bytes.len() as f64 * 8.0 / KEYS as f64,
                error_rate: wrong as f64 / ABSENT_KEYS as f64,
            });
        }
    }
    points
}
