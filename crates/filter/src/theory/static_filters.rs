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
pub(crate) fn fingerprint_error_rate(keys: u64, fingerprint_bits: u32) -> f64 {
    if keys == 0 {
        return 0.0;
    }
    let same_hash = keys as f64 * libm::exp2(-64.0);
    (libm::exp2(-f64::from(fingerprint_bits)) + same_hash).min(1.0)
}

/// Returns the slots per key in the table of a [`BinaryFuse`](crate::BinaryFuse).
///
/// The filter rounds the number of slots up to whole segments.
pub(crate) fn binary_fuse_slots_per_key(arity: FuseArity, keys: f64) -> f64 {
    let ln = libm::log(keys.max(2.0));
    match arity {
        FuseArity::Three => (0.875 + 0.25 * libm::log(1e6) / ln).max(1.125),
        FuseArity::Four => (0.77 + 0.305 * libm::log(6e5) / ln).max(1.075),
    }
}
