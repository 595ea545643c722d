//! The length of fingerprints and the number of buckets for a size or an error rate.

use super::bucket::Buckets;
use crate::error::BuildError;
use crate::header::HEADER_LEN;
use crate::membership::FilterStats;
use crate::sizing::Sizing;
use crate::theory;

/// Fingerprints of a bucket. Buckets of two fill to 84 %; buckets of eight double the error rate.
pub(super) const SLOTS: u32 = 4;

/// Bits that a fingerprint can have.
pub(super) const FINGERPRINT_BITS: core::ops::RangeInclusive<u32> = 4..=16;

/// Iterates over the bucket layouts, shortest fingerprints first.
fn layouts() -> impl DoubleEndedIterator<Item = Buckets> {
    FINGERPRINT_BITS.map(|bits| Buckets::new(bits, SLOTS))
}

const SHORTEST: Buckets = Buckets::new(*FINGERPRINT_BITS.start(), SLOTS);

/// Minimum load of a filter that uses empty slots to lower its error rate (64 bytes a key).
const LOAD_MIN: f64 = 1.0 / 32.0;

/// The layout of a bucket, and the number of buckets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shape {
    pub(super) buckets: Buckets,
    pub(super) count: u64,
}

impl Shape {
    /// Finds the best shape for `keys` keys: zero buckets for zero keys.
    pub(super) fn new(sizing: Sizing, keys: u64) -> Result<Self, BuildError> {
        match sizing {
            _ if keys == 0 => Ok(Self { buckets: SHORTEST, count: 0 }),
            Sizing::ErrorRate(rate) => {
                Self::for_error_rate(rate.get(), keys).ok_or(BuildError::ErrorRate(rate.get()))
            }
            Sizing::BitsPerKey(bits) if bits > 0.0 && bits.is_finite() => {
                // A handful of keys may exceed `bits`, so that they fit reliably.
                let smallest = (bits
                    >= f64::from(SHORTEST.fingerprint_bits()) / theory::cuckoo_load_max(u64::MAX))
                .then(|| Self::smallest(keys));
                let len = (bits * keys as f64 / 8.0) as u64;
                Self::longest(len, keys).or(smallest).ok_or(BuildError::Full)
            }
            Sizing::BitsPerKey(bits) => Err(BuildError::BitsPerKey(bits)),
            Sizing::Bytes(budget) => {
                let needed = HEADER_LEN as u64 + SHORTEST.table_len(1);
                if budget < needed {
                    return Err(BuildError::Budget { needed, budget });
                }
                let len = budget - HEADER_LEN as u64;
                let tight = Self::in_bytes(SHORTEST, len);
                let load = keys as f64 / (tight.count as f64 * f64::from(SLOTS));
                let tight = (load <= load_max(SHORTEST, u64::MAX)).then_some(tight);
                Self::longest(len, keys).or(tight).ok_or(BuildError::Full)
            }
        }
    }

    /// Returns the smallest shape for `keys` keys with fingerprints of `bits` bits.
    pub(super) fn with_fingerprint_bits(bits: u32, keys: u64) -> Result<Self, BuildError> {
        let buckets = layout(bits.into()).ok_or(BuildError::FingerprintBits(bits))?;
        Ok(Self { buckets, count: if keys == 0 { 0 } else { count_min(buckets, keys) } })
    }

    /// Returns size and error rate with `keys` keys.
    pub(super) fn stats(self, keys: u64) -> FilterStats {
        let bits = self.buckets.fingerprint_bits();
        let error_rate = theory::cuckoo_error_rate(keys, self.count, bits);
        FilterStats { keys, bytes: self.len(), error_rate }
    }

    /// Finds the longest fingerprints with which the keys fit reliably into `len` bytes.
    ///
    /// The error rate is proportional to 1 / (buckets · 2^f), so it is lowest for these.
    fn longest(len: u64, keys: u64) -> Option<Self> {
        let shapes = layouts().rev().map(|buckets| Self::in_bytes(buckets, len));
        shapes.into_iter().find(|shape| shape.count >= count_min(shape.buckets, keys))
    }

    /// Returns the smallest shape into which `keys` keys fit reliably.
    pub(super) fn smallest(keys: u64) -> Self {
        Self { buckets: SHORTEST, count: count_min(SHORTEST, keys) }
    }

    fn in_bytes(buckets: Buckets, len: u64) -> Self {
        Self { buckets, count: buckets.count_in(len) }
    }

    /// Finds the smallest shape with an error rate of at most `rate`.
    ///
    /// That has either long fingerprints in full buckets, or shorter fingerprints in emptier
    /// buckets.
    fn for_error_rate(rate: f64, keys: u64) -> Option<Self> {
        let shapes = layouts().filter_map(|buckets| {
            let errs = theory::cuckoo_bucket_count(keys, buckets.fingerprint_bits(), rate);
            let count = errs.max(count_min(buckets, keys) as f64);
            let load = keys as f64 / (count * f64::from(SLOTS));
            (keys <= u64::from(SLOTS) || load >= LOAD_MIN)
                .then_some(Self { buckets, count: count as u64 })
        });
        shapes.min_by_key(|shape| shape.len())
    }

    /// Returns the bytes of all buckets.
    pub(super) fn len(self) -> u64 {
        self.buckets.table_len(self.count)
    }

    /// Returns a shape with `share` more buckets, and one more.
    pub(super) fn enlarged(self, share: f64) -> Self {
        let more = libm::ceil(self.count as f64 * share) as u64;
        // Exact: both counts are below 2^53, or the buckets would not fit into memory.
        Self { count: self.count + more + 1, ..self }
    }

    /// Returns a shape that is smaller by `bytes` bytes, if that leaves a bucket.
    pub(super) fn without(self, bytes: u64) -> Option<Self> {
        let len = self.len().checked_sub(bytes)?;
        let count = Some(self.buckets.count_in(len)).filter(|count| *count > 0)?;
        Some(Self { count, ..self })
    }

    /// Returns the shape of `bytes` bytes with the next shorter fingerprints.
    pub(super) fn shortened(self, bytes: u64) -> Option<Self> {
        let bits = self.buckets.fingerprint_bits();
        let shorter = layouts().rev().find(|buckets| buckets.fingerprint_bits() < bits)?;
        Some(Self::in_bytes(shorter, bytes))
    }
}

/// Returns the maximum planned load for `keys` keys.
///
/// Fingerprints of 4 bits have only fifteen other buckets, so inserts fail earlier: measured at a
/// load of 0.964 with 10^4 to 10^7 slots, where all other widths reach at least 0.969.
fn load_max(buckets: Buckets, keys: u64) -> f64 {
    let load = theory::cuckoo_load_max(keys);
    if buckets.fingerprint_bits() == 4 { load * 0.985 } else { load }
}

/// Returns the minimum number of buckets for `keys` keys.
fn count_min(buckets: Buckets, keys: u64) -> u64 {
    if keys <= u64::from(SLOTS) {
        return 1;
    }
    libm::ceil(keys as f64 / (load_max(buckets, keys) * f64::from(SLOTS))) as u64
}

/// Returns the layout with fingerprints of `bits` bits, if that is a valid width.
pub(super) fn layout(bits: u64) -> Option<Buckets> {
    layouts().find(|buckets| u64::from(buckets.fingerprint_bits()) == bits)
}
