//! What cuckoo filters cost and how often they err.

use super::lower_bound::bits_per_key_floor;

/// Returns how often a cuckoo filter lets an absent key pass that has so many keys in `buckets` buckets
/// and fingerprints of so many bits.
///
/// To the filter an absent key is a key that it holds if their fingerprints agree, one of 2^f − 1 (none
/// is 0), and their pairs of buckets: any of the two buckets of the one decides it, 2/B. That goes
/// for each of n keys, wherever the kicks have put it; the size b of a bucket does not matter but
/// through n ≤ bB, which makes it the 1 − (1 − 2^−f)^2b ≈ 2b/2^f of the paper for full buckets.
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

/// Fingerprints of so many bits, without 0.
fn cuckoo_fingerprints(bits: u32) -> f64 {
    libm::exp2(f64::from(bits)) - 1.0
}

/// Returns (log2(1/ε) + 3)/0.95: what a cuckoo filter with buckets of four costs per key, if
/// fingerprints could have any number of bits.
pub fn cuckoo_bits_per_key(error_rate: f64) -> f64 {
    (bits_per_key_floor(error_rate) + 3.0) / 0.95
}

/// Returns how full a cuckoo filter with buckets of four may be planned to be, so that fewer than
/// one in ten thousand cannot take so many keys: 0.96·n/(n + 16).
///
/// Measured, with fingerprints of 5 to 16 bits: [`Cuckoo`](crate::Cuckoo) first fails at a load of
/// 0.969 to 0.973 from 10^5 to 10^7 slots; the worst of 20,000 filters of 200 slots at 0.90, of 100
/// at 0.70. (With unlimited kicks, 0.9768 is possible: Fernholz, Ramachandran 2007; Cain, Sanders,
/// Wormald 2007.)
pub fn cuckoo_load_max(keys: u64) -> f64 {
    0.96 * keys as f64 / (keys as f64 + 16.0)
}
