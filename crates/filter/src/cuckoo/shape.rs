//! Chooses the fingerprint width and the number of buckets for a size or an error rate.
//!
//! Keys fit *reliably* if the load, the share of used slots, is at most `load_max`. Then fewer than
//! one filter in ten thousand cannot take all of its keys.

use super::bucket::Buckets;
use crate::error::BuildError;
use crate::membership::FilterStats;
use crate::sizing::{Demand, Sizing};
use crate::theory;

/// Slots of a bucket, one per fingerprint.
///
/// With two slots, inserts fail from a load of 84 % on. With eight, a lookup compares twice as many
/// fingerprints, which doubles the error rate.
pub(super) const SLOTS: u32 = 4;

/// The valid widths of a fingerprint in bits.
pub(super) const FINGERPRINT_BITS: core::ops::RangeInclusive<u32> = 4..=16;

/// Iterates over the bucket layouts, shortest fingerprints first.
fn layouts() -> impl DoubleEndedIterator<Item = Buckets> {
    FINGERPRINT_BITS.map(|bits| Buckets::new(bits, SLOTS))
}

const SHORTEST: Buckets = Buckets::new(*FINGERPRINT_BITS.start(), SLOTS);

/// Minimum load of a filter for an error rate.
///
/// Empty slots lower the error rate. At this load, a key takes 32 slots, which are 64 bytes with
/// fingerprints of 16 bits.
const LOAD_MIN: f64 = 1.0 / 32.0;

/// The largest table in bytes of up to four keys, for which [`LOAD_MIN`] does not count.
const FEW_KEYS_LEN_MAX: u64 = 2 << 20;

/// The layout of a bucket, and the number of buckets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shape {
    pub(super) buckets: Buckets,
    pub(super) count: u64,
}

impl Shape {
    /// Returns the shape for `keys` keys; it has zero buckets for zero keys.
    ///
    /// For an error rate, this is the smallest shape; for a size, the one with the lowest error
    /// rate.
    pub(super) fn new(sizing: Sizing, keys: u64) -> Result<Self, BuildError> {
        if keys == 0 {
            return Ok(Self { buckets: SHORTEST, count: 0 });
        }
        let len = match sizing.demand(keys, SHORTEST.table_len(1))? {
            Demand::ErrorRate(rate) => {
                return Self::for_error_rate(rate, keys).ok_or(BuildError::ErrorRate(rate));
            }
            Demand::Bytes(len) => len,
        };
        let fallback = if let Sizing::BitsPerKey(bits) = sizing {
            // The maximum load is lower for few keys, so the smallest shape may exceed `bits`
            // per key. It is used nevertheless if `bits` would suffice for many keys.
            let many = f64::from(SHORTEST.fingerprint_bits()) / theory::cuckoo_load_max(u64::MAX);
            (bits >= many).then(|| Self::smallest(keys))
        } else {
            // If the keys fit reliably into no shape, the load may be as high as for many keys.
            // Building can then fail.
            let tight = Self::in_bytes(SHORTEST, len);
            let load = keys as f64 / (tight.count as f64 * f64::from(SLOTS));
            (load <= load_max(SHORTEST, u64::MAX)).then_some(tight)
        };
        Self::longest(len, keys).or(fallback).ok_or(BuildError::Full)
    }

    /// Returns the smallest shape for `keys` keys with fingerprints of `bits` bits.
    pub(super) fn with_fingerprint_bits(bits: u32, keys: u64) -> Result<Self, BuildError> {
        let buckets = layout(bits.into()).ok_or(BuildError::FingerprintBits(bits))?;
        Ok(Self { buckets, count: if keys == 0 { 0 } else { count_min(buckets, keys) } })
    }

    /// Returns the size and the expected error rate of a filter that holds `keys` keys.
    pub(super) fn stats(self, keys: u64) -> FilterStats {
        let bits = self.buckets.fingerprint_bits();
        let error_rate = theory::cuckoo_error_rate(keys, self.count, bits);
        FilterStats { keys, bytes: self.len(), error_rate }
    }

    /// Returns the shape of `len` bytes with the longest fingerprints; `None` if no shape suffices.
    ///
    /// Only shapes into which the keys fit reliably count. With fingerprints of f bits, the error
    /// rate is proportional to 1 / (buckets · 2^f). One bit more leaves about 4/5 or more of the
    /// buckets but doubles 2^f, so the longest fingerprints have the lowest error rate.
    fn longest(len: u64, keys: u64) -> Option<Self> {
        let shapes = layouts().rev().map(|buckets| Self::in_bytes(buckets, len));
        shapes.into_iter().find(|shape| shape.count >= count_min(shape.buckets, keys))
    }

    /// Returns the smallest shape into which `keys` keys fit reliably.
    pub(super) fn smallest(keys: u64) -> Self {
        Self { buckets: SHORTEST, count: count_min(SHORTEST, keys) }
    }

    /// Returns the shape with as many buckets as fit into `len` bytes.
    fn in_bytes(buckets: Buckets, len: u64) -> Self {
        Self { buckets, count: buckets.count_in(len) }
    }

    /// Returns the smallest shape with an error rate of at most `rate`; `None` if there is none.
    ///
    /// If the error rate of a width exceeds `rate` at the maximum load, more buckets lower it,
    /// because a lookup then compares with fewer fingerprints. So the smallest shape has either
    /// longer fingerprints at the maximum load, or shorter ones at a lower load.
    fn for_error_rate(rate: f64, keys: u64) -> Option<Self> {
        let shapes = layouts().filter_map(|buckets| {
            let errs = theory::cuckoo_bucket_count(keys, buckets.fingerprint_bits(), rate);
            let count = errs.max(count_min(buckets, keys) as f64);
            let load = keys as f64 / (count * f64::from(SLOTS));
            // The conversion saturates; the limits below exclude such a count.
            let shape = Self { buckets, count: count as u64 };
            let is_small = keys <= u64::from(SLOTS) && shape.len() <= FEW_KEYS_LEN_MAX;
            (is_small || load >= LOAD_MIN).then_some(shape)
        });
        shapes.min_by_key(|shape| shape.len())
    }

    /// Returns the size of all buckets in bytes.
    pub(super) fn len(self) -> u64 {
        self.buckets.table_len(self.count)
    }

    /// Returns a shape that has 1 + `share` times the buckets, rounded up, and one more.
    pub(super) fn enlarged(self, share: f64) -> Self {
        let more = libm::ceil(self.count as f64 * share) as u64;
        // The conversions are exact for counts below 2^53. More buckets would not fit into memory.
        Self { count: self.count + more + 1, ..self }
    }

    /// Returns a shape that is at least `bytes` bytes smaller; `None` if no bucket would remain.
    pub(super) fn without(self, bytes: u64) -> Option<Self> {
        let len = self.len().checked_sub(bytes)?;
        let count = Some(self.buckets.count_in(len)).filter(|count| *count > 0)?;
        Some(Self { count, ..self })
    }

    /// Returns the shape of at most `bytes` bytes with the next shorter fingerprints.
    ///
    /// Returns `None` if the fingerprints have the minimum width.
    pub(super) fn shortened(self, bytes: u64) -> Option<Self> {
        let bits = self.buckets.fingerprint_bits();
        let shorter = layouts().rev().find(|buckets| buckets.fingerprint_bits() < bits)?;
        Some(Self::in_bytes(shorter, bytes))
    }
}

/// Returns the load up to which `keys` keys fit reliably.
///
/// It is lower with fingerprints of 4 bits. They have 15 values, so all keys in a bucket share only
/// 15 alternative buckets, and inserts fail earlier: measured at a load of 0.964 with 10^4 to 10^7
/// slots, where all other widths reach at least 0.969.
fn load_max(buckets: Buckets, keys: u64) -> f64 {
    let load = theory::cuckoo_load_max(keys);
    if buckets.fingerprint_bits() == 4 { load * 0.985 } else { load }
}

/// Returns the minimum number of buckets into which `keys` keys fit reliably.
fn count_min(buckets: Buckets, keys: u64) -> u64 {
    if keys <= u64::from(SLOTS) {
        return 1;
    }
    libm::ceil(keys as f64 / (load_max(buckets, keys) * f64::from(SLOTS))) as u64
}

/// Returns the layout with fingerprints of `bits` bits; `None` if the width is invalid.
pub(super) fn layout(bits: u64) -> Option<Buckets> {
    layouts().find(|buckets| u64::from(buckets.fingerprint_bits()) == bits)
}
