//! What the static filters cost and how often they err: ribbon and binary fuse.
//!
//! Both give every key slots whose exclusive or is the key's fingerprint. An absent key's is anything, so
//! it passes with 2^−r; what differs is how many slots a key costs.

/// How many slots a key has.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum FuseArity {
    /// Three: 1.13 slots a key.
    Three,
    /// Four: 1.08 slots a key, and one more to look at.
    Four,
}

impl FuseArity {
    /// Returns the number of slots.
    pub const fn slots(self) -> usize {
        match self {
            Self::Three => 3,
            Self::Four => 4,
        }
    }
}

/// Returns 2^−r: how often an absent key passes whose fingerprint of r bits is compared once; and adds
/// that it may have the 64-bit hash of a key, n·2^−64.
pub fn fingerprint_error_rate(keys: u64, fingerprint_bits: u32) -> f64 {
    if keys == 0 {
        return 0.0;
    }
    let same_hash = keys as f64 * libm::exp2(-64.0);
    (libm::exp2(-f64::from(fingerprint_bits)) + same_hash).min(1.0)
}

/// Returns how many bits a key takes in a large [`Ribbon`](crate::Ribbon).
///
/// A share x of the blocks has r = ⌊log2(1/ε)⌋ columns and the others have one more, so that
/// ε = x·2^−r + (1 − x)·2^−(r+1); that is a straight line where the bound is a curve, and above it by
/// at most 0.0861 bits. To each column come 0.16 % of slots that stay empty, as measured, and to each
/// key 2/128 bits of thresholds.
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
    // A power of two that a rounding error has made smaller is still one.
    let columns = libm::floor(super::bits_per_key_floor(error_rate) + 1e-9);
    let narrow = (error_rate * libm::exp2(columns + 1.0) - 1.0).clamp(0.0, 1.0);
    (columns + 1.0 - narrow) * (1.0 + EMPTY) + THRESHOLDS
}

/// Returns how many slots a key takes in a [`BinaryFuse`](crate::BinaryFuse), before whole segments
/// are counted.
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
