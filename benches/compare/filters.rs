//! Every kind of filter at several sizes: how many bits a key it takes, and how often it is wrong.

use filter::{FilterKind, KeyHash, Membership, Seed, Sizing, StoredFilter, build};

use crate::figure::FilterPoint;

const SEED: Seed = Seed::new(1);
const KEYS: u64 = 100_000;
/// Keys asked for that no filter holds: enough for a rate of one in ten thousand.
const STRANGERS: u64 = 400_000;
const BITS_PER_KEY: [f64; 4] = [7.0, 10.0, 12.0, 16.0];

/// All that can be built so.
pub(crate) fn points() -> Vec<FilterPoint> {
    let hash = |index| KeyHash::new(SEED, &workload::key(1, index));
    let members: Vec<_> = (0..KEYS).map(hash).collect();
    let strangers: Vec<_> = (KEYS..KEYS + STRANGERS).map(hash).collect();
    let mut points = Vec::new();
    for kind in FilterKind::ALL.iter().copied() {
        for bits in BITS_PER_KEY {
            let Ok(bytes) = build(kind, Sizing::BitsPerKey(bits), SEED, &members) else { continue };
            let filter = StoredFilter::parse(&bytes).expect("just built");
            let wrong = strangers.iter().filter(|hash| filter.may_contain(**hash)).count();
            points.push(FilterPoint {
                name: kind.name().to_owned(),
                bits_per_key: bytes.len() as f64 * 8.0 / KEYS as f64,
                error_rate: wrong as f64 / STRANGERS as f64,
            });
        }
    }
    points
}
