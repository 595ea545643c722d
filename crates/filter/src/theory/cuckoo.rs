//! Error rates and sizes of cuckoo filters.

use super::lower_bound::bits_per_key_floor;

/// Returns the error rate of a cuckoo filter with `keys` keys in `buckets` buckets.
///
/// An absent key is a false positive if it has the fingerprint of a member, one of 2^f − 1 (0 is not a
/// fingerprint), and the same pair of buckets, 2/B. This holds for each of n keys, in whichever of its two
/// buckets it is. The size b of a bucket matters only through n ≤ bB; for full buckets the formula is
/// the paper's 1 − (1 − 2^−f)^2b ≈ 2b/2^f.
///
/// ```
/// use filter::theory::cuckoo_error_rate;
///
/// let (keys, buckets) = (950_000, 250_000); // Buckets of four, 95 % full.
/// assert!((cuckoo_error_rate(keys, buckets, 8) - 0.0294).abs() < 0.0001);
/// assert!((cuckoo_error_rate(keys, buckets, 16) - 0.000_116).abs() < 0.000_001);
/// ```
pub fn cuckoo_error_rate(keys: u64, buckets: u64, fingerprint_bits: u32) -> f64 {
    if keys == 0 {
        return 0.0;
    }
    let odds = 2.0 / (buckets as f64 * cuckoo_fingerprints(fingerprint_bits));
    if odds >= 1.0 { 1.0 } else { -libm::expm1(keys as f64 * libm::log1p(-odds)) }
}

/// Returns the fewest buckets with which [`cuckoo_error_rate`] is at most `error_rate`.
pub fn cuckoo_bucket_count(keys: u64, fingerprint_bits: u32, error_rate: f64) -> f64 {
    let odds = -libm::expm1(libm::log1p(-error_rate) / keys as f64);
    libm::ceil(2.0 / (odds * cuckoo_fingerprints(fingerprint_bits)))
}

/// Returns the number of fingerprints of `bits` bits: all but 0.
fn cuckoo_fingerprints(bits: u32) -> f64 {
    libm::exp2(f64::from(bits)) - 1.0
}

/// Returns the bits per key of a cuckoo filter with buckets of four, (log2(1/ε) + 3)/0.95.
///
/// The formula assumes fingerprints of any number of bits, fractions included.
pub fn cuckoo_bits_per_key(error_rate: f64) -> f64 {
    (bits_per_key_floor(error_rate) + 3.0) / 0.95
}

/// Returns the load to plan a cuckoo filter with buckets of four for: 0.96·n/(n + 16).
///
/// At this load, fewer than one filter in ten thousand refuses a key. Measured with fingerprints of 5 to
/// 16 bits, [`Cuckoo`](crate::Cuckoo) first refuses a key at a load of 0.969 to 0.973 for 10^5 to 10^7
/// slots. The worst of 20,000 filters refuses at 0.90 for 200 slots, and at 0.70 for 100 slots. (With
/// unlimited kicks, 0.9768 is possible: Fernholz, Ramachandran 2007; Cain, Sanders, Wormald 2007.)
pub fn cuckoo_load_max(keys: u64) -> f64 {
    0.96 * keys as f64 / (keys as f64 + 16.0)
}
