//! Error rates and sizes of cuckoo filters.
//!
//! Notation: n keys, B buckets of b slots, fingerprints of f bits, ε the error rate.

/// Returns the error rate of a cuckoo filter with `keys` keys in `buckets` buckets.
///
/// The error rate is 1 − (1 − 2/(B·(2^f − 1)))^n. An absent key is a false positive if it agrees
/// with some member in both respects:
///
/// * The fingerprints are equal, with probability 1/(2^f − 1): there are 2^f − 1 fingerprints,
///   because 0 marks an empty slot.
/// * The pairs of candidate buckets are equal, with probability 2/B. Which of its two buckets the
///   member occupies makes no difference.
///
/// The number b of slots per bucket limits n to b·B, but is not in the formula. If all buckets are
/// full, n = b·B, the formula is approximately the paper's 1 − (1 − 2^−f)^2b ≈ 2b/2^f.
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

/// Returns the smallest number of buckets with which [`cuckoo_error_rate`] is at most `error_rate`.
pub(crate) fn cuckoo_bucket_count(keys: u64, fingerprint_bits: u32, error_rate: f64) -> f64 {
    let odds = -libm::expm1(libm::log1p(-error_rate) / keys as f64);
    libm::ceil(2.0 / (odds * cuckoo_fingerprints(fingerprint_bits)))
}

/// Returns the number of fingerprints of `bits` bits: 2^f − 1, because 0 is not a fingerprint.
fn cuckoo_fingerprints(bits: u32) -> f64 {
    libm::exp2(f64::from(bits)) - 1.0
}

/// Returns the load for which a cuckoo filter with buckets of four is sized: 0.96·n/(n + 16).
///
/// The load is the fraction of slots in use. At this load, fewer than one filter in ten thousand
/// refuses a key. The formula is fitted to measurements of [`Cuckoo`](crate::Cuckoo) with
/// fingerprints of 5 to 16 bits, which first refuses a key at these loads:
///
/// | slots        | load at the first refused key |
/// |--------------|-------------------------------|
/// | 10^5 to 10^7 | 0.969 to 0.973                |
/// | 200          | 0.90, worst of 20,000 filters |
/// | 100          | 0.70, worst of 20,000 filters |
///
/// If an insert could move any number of fingerprints, loads up to 0.9768 would be possible
/// (Fernholz, Ramachandran 2007; Cain, Sanders, Wormald 2007).
pub(crate) fn cuckoo_load_max(keys: u64) -> f64 {
    0.96 * keys as f64 / (keys as f64 + 16.0)
}
