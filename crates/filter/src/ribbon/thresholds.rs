//! Which keys of a bucket were bumped: two bits for each bucket of 128 starts.
//!
//! ```text
//! start in its bucket   0          16             36                                         127
//!                       ├─ class 2 ─┼── class 1 ──┼──────────────── class 0 ──────────────────┤
//!                         filled last                                             filled first
//! ```
//!
//! A bucket is filled from its right end, so keys that do not fit are at its left end, mostly in
//! class 2. The first key that fails bumps all keys of its class and of higher classes. The
//! bucket's threshold is that class, or 3 if no key failed.

use crate::kernel;

/// Starts of a bucket.
pub(super) const BUCKET_STARTS: u64 = 128;

/// The first starts of a bucket's classes 1 and 0.
const CLASS_1: u64 = 16;
const CLASS_0: u64 = 36;

/// The threshold of a bucket that bumped no key.
pub(super) const NOTHING_BUMPED: u8 = 3;

/// Buckets in a byte.
const BUCKETS_PER_BYTE: u64 = 4;

/// Returns the class of a start.
pub(super) const fn class(start: u64) -> u8 {
    let offset = start % BUCKET_STARTS;
    (offset < CLASS_1) as u8 + (offset < CLASS_0) as u8
}

/// Classes of a bucket.
pub(super) const CLASSES: usize = 3;

/// Returns the first start of a class, counted from the left end of its bucket.
pub(super) const fn first_start(class: usize) -> u64 {
    [CLASS_0, CLASS_1, 0][class]
}

/// Returns the bytes of the thresholds of `starts` starts.
pub(super) const fn len(starts: u64) -> u64 {
    starts.div_ceil(BUCKET_STARTS).div_ceil(BUCKETS_PER_BYTE)
}

/// Sets the threshold of a bucket, which must be [`NOTHING_BUMPED`] before.
pub(super) fn set(thresholds: &mut [u8], bucket: u64, threshold: u8) {
    let shift = bucket % BUCKETS_PER_BYTE * 2;
    thresholds[(bucket / BUCKETS_PER_BYTE) as usize] &= !((NOTHING_BUMPED ^ threshold) << shift);
}

/// Returns the threshold of a bucket; [`NOTHING_BUMPED`] after the end.
#[inline]
pub(super) fn get(thresholds: &[u8], bucket: u64) -> u8 {
    // The index of a bucket in memory fits into `usize`.
    let byte = thresholds.get((bucket / BUCKETS_PER_BYTE) as usize).copied().unwrap_or(u8::MAX);
    byte >> (bucket % BUCKETS_PER_BYTE * 2) & NOTHING_BUMPED
}

/// Returns whether the keys of a start were bumped; `None` after the end of `bytes`.
///
/// The thresholds begin at `bytes[at]`. Bumped are the keys whose class is at least the threshold.
#[inline]
pub(super) fn bumped(bytes: &[u8], at: usize, start: u64) -> Option<bool> {
    let bucket = start / BUCKET_STARTS;
    let byte = *bytes.get(at.wrapping_add((bucket / BUCKETS_PER_BYTE) as usize))?;
    let first_kept = FIRST_KEPT[(bucket % BUCKETS_PER_BYTE) as usize][byte as usize];
    Some(((start % BUCKET_STARTS) as u8) < first_kept)
}

/// [`first_kept`] for each bucket of a byte and each value of the byte.
///
/// A table, because a lookup cannot choose its layer before it knows this.
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

/// Prefetches the threshold of a start.
#[inline]
pub(super) fn prefetch(bytes: &[u8], at: usize, start: u64) {
    kernel::prefetch_at(
        bytes,
        at.wrapping_add((start / BUCKET_STARTS / BUCKETS_PER_BYTE) as usize),
    );
}

/// Returns the first start of a bucket, from its left end, that was not bumped.
///
/// The lowest two bits of the argument are the threshold.
#[inline]
pub(super) const fn first_kept(threshold: u64) -> u8 {
    const FIRST_KEPT: [u8; 4] = [BUCKET_STARTS as u8, CLASS_0 as u8, CLASS_1 as u8, 0];
    FIRST_KEPT[(threshold & NOTHING_BUMPED as u64) as usize]
}
