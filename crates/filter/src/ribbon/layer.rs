//! One layer: keys sorted into their buckets, bucket after bucket filled, the rest bumped.
//!
//! Sorting comes first, since rows that are added in the order of their starts are near each other in
//! memory. Keys are dealt into windows by the upper bits of their hashes, one pass over all; a
//! window is then sorted by counting and eliminated while it is in the caches. Bumped keys are put
//! back where the keys of earlier windows stood: beside the copy of the hashes and the rows, a layer
//! takes no memory that grows with its keys.

use alloc::vec::Vec;
use core::ops::Range;

use super::banding::{Banding, Inserted};
use super::equation::Shuffle;
use super::layout::BLOCK_SLOTS;
use super::thresholds::{self, BUCKET_STARTS};
use crate::deal::deal;
use crate::kind::allocate;
use crate::{BuildError, KeyHash};

/// Windows of at least so many starts, as a power of two: their keys and rows fit the second cache.
const WINDOW_BITS_MIN: u32 = 13;
/// About how many windows there are at most: each is written to in turn while keys are dealt.
const WINDOWS_MAX: u64 = 512;

/// No more slots than these can be reached from the starts of one bucket.
const BUCKET_SLOTS: usize = BUCKET_STARTS as usize + u64::BITS as usize - 1;

/// A layer that took its keys, but for those that it bumped.
#[derive(Debug)]
pub(super) struct Layer {
    pub(super) starts: u64,
    pub(super) banding: Banding,
    pub(super) thresholds: Vec<u8>,
}

impl Layer {
    /// Fills a layer of so many blocks, and returns it with the keys that it bumped.
    pub(super) fn new(
        shuffle: Shuffle,
        blocks: u64,
        keys: &[KeyHash],
    ) -> Result<(Self, Vec<KeyHash>), BuildError> {
        let starts = starts(blocks);
        let mut layer = Self {
            starts,
            banding: Banding::new(blocks * BLOCK_SLOTS)?,
            thresholds: allocate(thresholds::len(starts), u8::MAX)?,
        };
        let windows = Windows::new(starts);
        let (mut dealt, ends) =
            deal(keys, windows.count, |key| shuffle.start(key, starts) >> windows.bits)?;
        let mut sorter = Sorter::new(windows);
        let (mut bumped, mut begin) = (0, 0);
        for (window, end) in ends.into_iter().enumerate() {
            sorter.sort(shuffle, starts, window as u64, &dealt[begin..end]);
            begin = end;
            for bucket in 0..windows.starts() / BUCKET_STARTS {
                let keys = &sorter.sorted[sorter.bucket(bucket)];
                let bucket = window as u64 * (windows.starts() / BUCKET_STARTS) + bucket;
                let kept = layer.fill_bucket(shuffle, bucket, keys);
                // There were as many keys in the windows so far, and those have been copied.
                let rest = &keys[kept..];
                dealt[bumped..bumped + rest.len()].copy_from_slice(rest);
                bumped += rest.len();
            }
        }
        dealt.truncate(bumped);
        dealt.shrink_to_fit();
        Ok((layer, dealt))
    }

    /// Returns the number of blocks.
    pub(super) fn blocks(&self) -> u64 {
        self.slots() / BLOCK_SLOTS
    }

    fn slots(&self) -> u64 {
        self.banding.coefficients.len() as u64
    }

    /// Adds the keys of a bucket, which come in the order of their classes, and returns how many
    /// stay; the others are bumped.
    fn fill_bucket(&mut self, shuffle: Shuffle, bucket: u64, keys: &[KeyHash]) -> usize {
        let (mut class, mut class_begin) = (0, 0);
        let (mut class_slots, mut class_rows) = ([0; BUCKET_SLOTS], 0);
        for (index, key) in keys.iter().enumerate() {
            let equation = shuffle.equation(*key, self.starts).within(self.slots());
            let next_class = thresholds::class(equation.start);
            if next_class != class {
                (class, class_begin, class_rows) = (next_class, index, 0);
            }
            match self.banding.insert(&equation) {
                Inserted::At(slot) => {
                    class_slots[class_rows] = slot;
                    class_rows += 1;
                }
                Inserted::Redundant => {}
                Inserted::Failed => {
                    // The rows of its class are the last that were added, so they can go.
                    for slot in &class_slots[..class_rows] {
                        self.banding.remove(*slot);
                    }
                    thresholds::set(&mut self.thresholds, bucket, class);
                    return class_begin;
                }
            }
        }
        keys.len()
    }
}

/// Slots at the end of a layer at which no key starts. Keys that start in the 39 slots before these
/// have fewer than 64 coefficients, and at least 25: without them the end would be half empty, which
/// a layer of a thousand keys would feel.
const SLOTS_WITHOUT_START: u64 = 24;

/// Returns how many starts so many blocks have.
pub(super) const fn starts(blocks: u64) -> u64 {
    (blocks * BLOCK_SLOTS).saturating_sub(SLOTS_WITHOUT_START)
}

/// Stretches of starts, of which each is sorted on its own.
#[derive(Clone, Copy, Debug)]
struct Windows {
    bits: u32,
    count: u64,
}

impl Windows {
    fn new(starts: u64) -> Self {
        let bits = (starts / WINDOWS_MAX).max(1).ilog2().max(WINDOW_BITS_MIN);
        Self { bits, count: starts.div_ceil(1 << bits) }
    }

    const fn starts(self) -> u64 {
        1 << self.bits
    }
}

/// Sorts the keys of one window: bucket by bucket from the left, in a bucket from the right.
struct Sorter {
    windows: Windows,
    sorted: Vec<KeyHash>,
    /// Where the keys of each rank end.
    ends: Vec<u32>,
}

impl Sorter {
    fn new(windows: Windows) -> Self {
        Self { windows, sorted: Vec::new(), ends: Vec::new() }
    }

    fn sort(&mut self, shuffle: Shuffle, starts: u64, window: u64, keys: &[KeyHash]) {
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
    fn bucket(&self, bucket: u64) -> Range<usize> {
        let end =
            |rank: u64| rank.checked_sub(1).map_or(0, |rank| self.ends[rank as usize] as usize);
        end(bucket * BUCKET_STARTS)..end((bucket + 1) * BUCKET_STARTS)
    }
}
