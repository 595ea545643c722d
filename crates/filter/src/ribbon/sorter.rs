//! Sorting the keys of a layer into its buckets.
//!
//! The start of a key is the first slot of its equation. Elimination adds the keys in the order of
//! their starts, so that consecutive keys touch rows that are close in memory.
//!
//! One pass partitions all keys into windows by the upper bits of their hashes. A counting sort
//! then sorts each window just before its elimination, while the window is in the caches.

use alloc::vec::Vec;
use core::ops::Range;

use super::equation::Shuffle;
use super::thresholds::BUCKET_STARTS;
use crate::hash::KeyHash;

/// Binary logarithm of the minimum number of starts in a window.
///
/// The keys and rows of a window of this size fit into L2.
const WINDOW_BITS_MIN: u32 = 13;
/// Half the maximum number of windows.
///
/// The number is limited because partitioning writes to all windows alternately. Rounding the
/// length of a window down to a power of two at most doubles the number of windows.
const WINDOWS_MAX: u64 = 512;

/// The division of the starts of a layer into windows of `1 << bits` starts.
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

    /// Returns the number of starts of a window.
    const fn starts(self) -> u64 {
        1 << self.bits
    }

    /// Returns the number of buckets of a window.
    pub(super) const fn buckets(self) -> u64 {
        self.starts() / BUCKET_STARTS
    }
}

/// Sorts the keys of a window: by ascending bucket, within a bucket by descending start.
///
/// The rank of a key is the position of its start in this order. Buckets are filled from their
/// right ends, so the greatest start of a bucket has its lowest rank.
#[derive(Debug)]
pub(super) struct Sorter {
    windows: Windows,
    pub(super) sorted: Vec<KeyHash>,
    /// The index in `sorted` after the last key of each rank.
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

    /// Returns the range of a bucket's keys in `sorted`.
    pub(super) fn bucket(&self, bucket: u64) -> Range<usize> {
        let end =
            |rank: u64| rank.checked_sub(1).map_or(0, |rank| self.ends[rank as usize] as usize);
        end(bucket * BUCKET_STARTS)..end((bucket + 1) * BUCKET_STARTS)
    }
}
