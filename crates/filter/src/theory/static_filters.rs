//! Error rates and sizes of the static filters: ribbon and binary fuse.
//!
//! In both, the exclusive or of a key's slots is the key's fingerprint of r bits. For an absent
//! key, the exclusive or is random and equals the fingerprint with probability 2^−r, which is the
//! error rate. The two filters differ in the number of slots per key.

/// The number of slots that a lookup in a binary fuse filter reads.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum FuseArity {
    /// Three slots; the table of a large filter has 1.13 slots per key.
    Three,
    /// Four slots; the table of a large filter has 1.08 slots per key.
    Four,
}

impl FuseArity {
    /// Returns the number of slots that a lookup reads.
    pub const fn slots(self) -> usize {
        match self {
            Self::Three => 3,
            Self::Four => 4,
        }
    }
}

/// Returns the error rate of a filter of n keys that compares fingerprints of r bits.
///
/// The error rate is 2^−r + n·2^−64. The second term is the probability that an absent key has the
/// same 64-bit hash as a key of the filter.
pub fn fingerprint_error_rate(keys: u64, fingerprint_bits: u32) -> f64 {
    if keys == 0 {
        return 0.0;
    }
    let same_hash = keys as f64 * libm::exp2(-64.0);
    (libm::exp2(-f64::from(fingerprint_bits)) + same_hash).min(1.0)
}

/// Returns the bits per key of a large [`Ribbon`](crate::Ribbon).
///
/// A share x of the blocks has r = ⌊log2(1/ε)⌋ columns and the others have r + 1, so that
/// ε = x·2^−r + (1 − x)·2^−(r+1). Between two powers of two, the size is linear in ε, and exceeds
/// the lower bound log2(1/ε) by at most 0.0861 bits per key.
///
/// Empty slots add 0.16 % to the size of the columns, as measured. The thresholds, which record
/// which keys a layer bumped, take 2/128 bits per key.
///
/// ```
/// use filter::theory::{bits_per_key_floor, ribbon_bits_per_key};
///
/// assert!(ribbon_bits_per_key(1.0 / 256.0) < 8.0 * 1.004);
/// assert!(ribbon_bits_per_key(0.01) < bits_per_key_floor(0.01) * 1.016);
/// ```
pub fn ribbon_bits_per_key(error_rate: f64) -> f64 {
    const EMPTY: f64 = 0.0016;
    const THRESHOLDS: f64 = 2.0 / 128.0;
    // Tolerates rounding errors in powers of two.
    let columns = libm::floor(super::bits_per_key_floor(error_rate) + 1e-9);
    let narrow = (error_rate * libm::exp2(columns + 1.0) - 1.0).clamp(0.0, 1.0);
    (columns + 1.0 - narrow) * (1.0 + EMPTY) + THRESHOLDS
}

/// Returns the slots per key in the table of a [`BinaryFuse`](crate::BinaryFuse).
///
/// The filter rounds the number of slots up to whole segments.
///
/// ```
/// use filter::FuseArity;
/// use filter::theory::binary_fuse_slots_per_key;
///
/// assert!((binary_fuse_slots_per_key(FuseArity::Three, 1e6) - 1.125).abs() < 1e-9);
/// assert!((binary_fuse_slots_per_key(FuseArity::Four, 1e6) - 1.075).abs() < 1e-9);
/// ```
pub fn binary_fuse_slots_per_key(arity: FuseArity, keys: f64) -> f64 {
    let ln = libm::log(keys.max(2.0));
    match arity {
        FuseArity::Three => (0.875 + 0.25 * libm::log(1e6) / ln).max(1.125),
        FuseArity::Four => (0.77 + 0.305 * libm::log(6e5) / ln).max(1.075),
    }
}
