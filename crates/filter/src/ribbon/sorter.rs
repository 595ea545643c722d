//! Sorting the keys of a layer into its buckets.
//!
//! Rows that are added in the order of their starts are near each other in memory. Keys are partitioned
//! into windows by the upper bits of their hashes, one pass over all; a window is then sorted by counting,
//! just before it is eliminated, and stays in the caches meanwhile.

use alloc::vec::Vec;
use core::ops::Range;

use super::equation::Shuffle;
use super::thresholds::BUCKET_STARTS;
use crate::hash::KeyHash;

/// Windows of at least so many starts, as a power of two: their keys and rows fit the second cache.
const WINDOW_BITS_MIN: u32 = 13;
/// About how many windows there are at most: each is written to in turn while keys are partitioned.
const WINDOWS_MAX: u64 = 512;

/// Neighbouring starts, of which each so many are sorted on their own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Windows {
    pub(super) bits: u32,
    pub(super) count: u64,
}

impl Windows {
    pub(super) fn new(starts: u64) -> Self {
        let bits = (starts / WINDOWS_MAX).max(1).ilog2().max(WINDOW_BITS_MIN);
        Self { bits, count: starts.div_ceil(1 << bits) }
    }

    /// Returns how many starts a window has.
    const fn starts(self) -> u64 {
        1 << self.bits
    }

    /// Returns how many buckets a window has.
    pub(super) const fn buckets(self) -> u64 {
        self.starts() / BUCKET_STARTS
    }
}

/// Sorts the keys of one window: bucket by bucket from the left, in a bucket from the right.
#[derive(Debug)]
pub(super) struct Sorter {
    windows: Windows,
    pub(super) sorted: Vec<KeyHash>,
    /// Where the keys of each rank end.
    ends: Vec<u32>,
}

impl Sorter {
    pub(super) fn new(windows: Windows) -> Self {
        Self { windows, sorted: Vec::new(), ends: Vec::new() }
    }

    pub(super) fn sort(&mut self, shuffle: Shuffle, starts: u64, window: u64, keys: &[KeyHash]) {
        let first = window << self.windows.bits;
        let rank =
            |key: &KeyHash| ((shuffle.start(*key, starts) - first) ^ (BUCKET_STARTS - 1)) as usize;
        self.ends.clear();
        self.ends.resize(self.windows.starts() as usize, 0);
        for key in keys {
            self.ends[rank(key)] += 1;
        }
        let mut begin = 0;
        for end in &mut self.ends {
            begin += core::mem::replace(end, begin);
        }
        self.sorted.resize(keys.len(), KeyHash::from_u64(0));
        for key in keys {
            let end = &mut self.ends[rank(key)];
            self.sorted[*end as usize] = *key;
            *end += 1;
        }
    }

    /// Returns where the keys of a bucket of the window stand.
    pub(super) fn bucket(&self, bucket: u64) -> Range<usize> {
        let end =
            |rank: u64| rank.checked_sub(1).map_or(0, |rank| self.ends[rank as usize] as usize);
        end(bucket * BUCKET_STARTS)..end((bucket + 1) * BUCKET_STARTS)
    }
}
