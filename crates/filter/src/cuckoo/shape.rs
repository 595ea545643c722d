//! How long fingerprints are and how many buckets there are, from what the user asked for.

use super::bucket::Buckets;
use crate::{BuildError, HEADER_LEN, Sizing, theory};

/// Fingerprints of a bucket. Two would fill to 84 %, eight would err twice as often.
pub(super) const SLOTS: u32 = 4;

/// The buckets there can be, by the length of a fingerprint in bits.
const LAYOUTS: [Buckets; 3] =
    [Buckets::new(8, SLOTS), Buckets::new(12, SLOTS), Buckets::new(16, SLOTS)];

/// The emptiest that a filter is made to err less often: more than 64 bytes a key help nobody.
const LOAD_MIN: f64 = 1.0 / 32.0;

/// How fingerprints lie in a bucket, and the number of buckets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shape {
    pub(super) buckets: Buckets,
    pub(super) count: u64,
}

impl Shape {
    /// Finds the best shape for so many keys. No keys take no buckets.
    pub(super) fn new(sizing: Sizing, keys: u64) -> Result<Self, BuildError> {
        match sizing {
            _ if keys == 0 => Ok(Self { buckets: LAYOUTS[0], count: 0 }),
            Sizing::ErrorRate(rate) => {
                Self::for_error_rate(rate.get(), keys).ok_or(BuildError::ErrorRate(rate.get()))
            }
            Sizing::BitsPerKey(bits) if bits > 0.0 && bits.is_finite() => {
                // Only a handful of keys takes more than it should, to fit reliably.
                let smallest =
                    (bits >= 8.0 / theory::cuckoo_load_max(u64::MAX)).then(|| Self::smallest(keys));
                let len = (bits * keys as f64 / 8.0) as u64;
                Self::longest(len, keys).or(smallest).ok_or(BuildError::Full)
            }
            Sizing::BitsPerKey(bits) => Err(BuildError::BitsPerKey(bits)),
            Sizing::Bytes(budget) => {
                let needed = (HEADER_LEN + LAYOUTS[0].bucket_len()) as u64;
                if budget < needed {
                    return Err(BuildError::Budget { needed, budget });
                }
                let len = budget - HEADER_LEN as u64;
                let tight = Self::in_bytes(LAYOUTS[0], len);
                let load = keys as f64 / (tight.count as f64 * f64::from(SLOTS));
                let tight = (load <= theory::cuckoo_load_max(u64::MAX)).then_some(tight);
                Self::longest(len, keys).or(tight).ok_or(BuildError::Full)
            }
        }
    }

    /// Finds the longest fingerprints with which so many keys fit reliably into so many bytes. The
    /// error rate goes with 1 / (buckets · 2^f), so these err least.
    fn longest(len: u64, keys: u64) -> Option<Self> {
        let shapes = LAYOUTS.iter().rev().map(|buckets| Self::in_bytes(*buckets, len));
        shapes.into_iter().find(|shape| shape.count >= count_min(keys))
    }

    /// Returns the smallest shape into which so many keys fit reliably.
    pub(super) fn smallest(keys: u64) -> Self {
        Self { buckets: LAYOUTS[0], count: count_min(keys) }
    }

    fn in_bytes(buckets: Buckets, len: u64) -> Self {
        Self { buckets, count: len / buckets.bucket_len() as u64 }
    }

    /// Finds the smallest shape that errs no more often than `rate`: long fingerprints in full
    /// buckets, or shorter ones in emptier buckets.
    fn for_error_rate(rate: f64, keys: u64) -> Option<Self> {
        let shapes = LAYOUTS.iter().filter_map(|buckets| {
            let errs = theory::cuckoo_bucket_count(keys, buckets.fingerprint_bits(), rate);
            let count = errs.max(count_min(keys) as f64);
            let load = keys as f64 / (count * f64::from(SLOTS));
            (keys <= u64::from(SLOTS) || load >= LOAD_MIN)
                .then_some(Self { buckets: *buckets, count: count as u64 })
        });
        shapes.min_by_key(|shape| shape.len())
    }

    /// Bytes of all buckets.
    pub(super) fn len(self) -> u64 {
        self.count.saturating_mul(self.buckets.bucket_len() as u64)
    }

    /// Returns a shape with `share` more buckets, and one more.
    pub(super) fn enlarged(self, share: f64) -> Self {
        let more = libm::ceil(self.count as f64 * share) as u64;
        Self { count: self.count.saturating_add(more).saturating_add(1), ..self }
    }

    /// Returns a shape that is smaller by so many bytes, if that leaves a bucket.
    pub(super) fn without(self, bytes: u64) -> Option<Self> {
        let fewer = bytes.div_ceil(self.buckets.bucket_len() as u64);
        let count = self.count.checked_sub(fewer).filter(|count| *count > 0)?;
        Some(Self { count, ..self })
    }

    /// Returns the shape in so many bytes with the next shorter fingerprints, if there are any.
    pub(super) fn shortened(self, bytes: u64) -> Option<Self> {
        let bits = self.buckets.fingerprint_bits();
        let shorter = LAYOUTS.iter().rev().find(|buckets| buckets.fingerprint_bits() < bits)?;
        Some(Self::in_bytes(*shorter, bytes))
    }
}

/// Returns the fewest buckets into which so many keys go.
fn count_min(keys: u64) -> u64 {
    if keys <= u64::from(SLOTS) {
        return 1;
    }
    libm::ceil(keys as f64 / (theory::cuckoo_load_max(keys) * f64::from(SLOTS))) as u64
}

/// Returns the layout with fingerprints of so many bits, if that is one of ours.
pub(super) fn layout(bits: u64) -> Option<Buckets> {
    LAYOUTS.iter().copied().find(|buckets| u64::from(buckets.fingerprint_bits()) == bits)
}
