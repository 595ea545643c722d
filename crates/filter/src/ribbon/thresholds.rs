//! The thresholds of a layer: which keys were bumped to the next layer.
//!
//! The start of a key is the first slot of its equation. A bucket is a range of 128 starts, which
//! are divided into three classes. Each bucket has a threshold of two bits.
//!
//! ```text
//! start in its bucket   0          16             36                                         127
//!                       ├─ class 2 ─┼── class 1 ──┼──────────────── class 0 ──────────────────┤
//!                         filled last                                             filled first
//! ```
//!
//! A bucket is filled from right to left, so the keys that do not fit are at the left end, mostly
//! in class 2. The first key that does not fit bumps all keys of its class and of higher classes.
//! The threshold is the class of that key, or 3 if all keys fit.

use crate::kernel;

/// The number of starts in a bucket.
pub(super) const BUCKET_STARTS: u64 = 128;

/// The first start of class 1 in its bucket.
const CLASS_1: u64 = 16;
/// The first start of class 0 in its bucket.
const CLASS_0: u64 = 36;

/// The threshold of a bucket that bumped no key.
pub(super) const NOTHING_BUMPED: u8 = 3;

/// The number of buckets whose thresholds share a byte.
const BUCKETS_PER_BYTE: u64 = 4;

/// Returns the class of a start.
pub(super) const fn class(start: u64) -> u8 {
    let offset = start % BUCKET_STARTS;
    (offset < CLASS_1) as u8 + (offset < CLASS_0) as u8
}

/// Returns the length in bytes of the thresholds of `starts` starts.
pub(super) const fn len(starts: u64) -> u64 {
    starts.div_ceil(BUCKET_STARTS).div_ceil(BUCKETS_PER_BYTE)
}

/// Sets the threshold of a bucket. Its previous value must be [`NOTHING_BUMPED`].
pub(super) fn set(thresholds: &mut [u8], bucket: u64, threshold: u8) {
    let shift = bucket % BUCKETS_PER_BYTE * 2;
    thresholds[(bucket / BUCKETS_PER_BYTE) as usize] &= !((NOTHING_BUMPED ^ threshold) << shift);
}

/// Returns the threshold of a bucket; [`NOTHING_BUMPED`] after the last bucket.
pub(super) fn get(thresholds: &[u8], bucket: u64) -> u8 {
    // The cast is exact: the thresholds are in memory, so their indexes fit into `usize`.
    let byte = thresholds.get((bucket / BUCKETS_PER_BYTE) as usize).copied().unwrap_or(u8::MAX);
    byte >> (bucket % BUCKETS_PER_BYTE * 2) & NOTHING_BUMPED
}

/// Returns whether the keys with this start were bumped; `None` after the end of `bytes`.
///
/// The thresholds begin at `bytes[at]`. Keys are bumped if their class is at least the threshold.
pub(super) fn bumped(bytes: &[u8], at: usize, start: u64) -> Option<bool> {
    let bucket = start / BUCKET_STARTS;
    let byte = *bytes.get(at.wrapping_add((bucket / BUCKETS_PER_BYTE) as usize))?;
    let first_kept = FIRST_KEPT[(bucket % BUCKETS_PER_BYTE) as usize][byte as usize];
    Some(((start % BUCKET_STARTS) as u8) < first_kept)
}

/// The value of [`first_kept`] for each value of a byte and each of the byte's four buckets.
///
/// A table keeps the latency low: a lookup must know the value before it can choose a layer.
static FIRST_KEPT: [[u8; 256]; BUCKETS_PER_BYTE as usize] = {
    let mut all = [[0; 256]; BUCKETS_PER_BYTE as usize];
    let mut at = 0;
    while at < all.len() * 256 {
        let (bucket, byte) = (at / 256, at % 256);
        all[bucket][byte] = first_kept((byte >> (2 * bucket)) as u64);
        at += 1;
    }
    all
};

/// Prefetches the threshold of the bucket of a start. The thresholds begin at `bytes[at]`.
#[inline]
pub(super) fn prefetch(bytes: &[u8], at: usize, start: u64) {
    kernel::prefetch_at(
        bytes,
        at.wrapping_add((start / BUCKET_STARTS / BUCKETS_PER_BYTE) as usize),
    );
}

/// Returns the first start in a bucket whose keys were not bumped; 128 if all were bumped.
///
/// Only the lowest two bits of `threshold` count.
pub(super) const fn first_kept(threshold: u64) -> u8 {
    const FIRST_KEPT: [u8; 4] = [BUCKET_STARTS as u8, CLASS_0 as u8, CLASS_1 as u8, 0];
    FIRST_KEPT[(threshold & NOTHING_BUMPED as u64) as usize]
}
