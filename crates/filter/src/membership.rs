//! The traits of filters for hashes without a seed: membership, inserting, removing.

use crate::error::{Absent, BuildError, Full};
use crate::hash::KeyHash;
use crate::kernel::PREFETCH_DISTANCE;

/// A filter: an approximate set of keys.
///
/// The answer for an inserted key is always "maybe". The answer for an absent key is "no", except
/// with the probability [`FilterStats::error_rate`].
#[expect(clippy::len_without_is_empty, reason = "the length matters, not whether it is zero")]
pub trait Membership {
    /// Returns false if the key was certainly never inserted, true if it may have been.
    fn may_contain(&self, hash: KeyHash) -> bool;

    /// Prefetches the cache lines that [`may_contain`](Self::may_contain) reads first.
    ///
    /// Useful if the caller prefetches several filters before it probes the first, so that their
    /// cache misses overlap.
    fn prefetch(&self, _hash: KeyHash) {}

    /// Looks up a batch of keys: sets `answers[i]` to `may_contain(hashes[i])`.
    ///
    /// Faster than single lookups if the filter is larger than the processor's caches, because the
    /// cache misses of different keys overlap.
    ///
    /// # Panics
    ///
    /// If the slices differ in length.
    fn may_contain_batch(&self, hashes: &[KeyHash], answers: &mut [bool]) {
        answer_batch(hashes, answers, |hash| self.prefetch(hash), |hash| self.may_contain(hash));
    }

    /// Returns the filter's size and expected error rate.
    fn stats(&self) -> FilterStats;

    /// Returns the number of keys in the filter; each copy of a key counts.
    fn len(&self) -> u64 {
        self.stats().keys
    }
}

/// Looks up the keys in order, and prefetches the lines of a later key before each lookup.
pub(crate) fn answer_batch(
    hashes: &[KeyHash],
    answers: &mut [bool],
    prefetch: impl Fn(KeyHash),
    may_contain: impl Fn(KeyHash) -> bool,
) {
    assert_eq!(hashes.len(), answers.len(), "one answer for each hash");
    for (index, (hash, answer)) in hashes.iter().zip(answers).enumerate() {
        if let Some(later) = hashes.get(index + PREFETCH_DISTANCE) {
            prefetch(*later);
        }
        *answer = may_contain(*hash);
    }
}

/// Inserts the keys in order, and prefetches the lines of a later key before each insert.
pub(crate) fn insert_all(filter: &mut impl Insert, keys: &[KeyHash]) -> Result<(), BuildError> {
    for (index, key) in keys.iter().enumerate() {
        if let Some(later) = keys.get(index + PREFETCH_DISTANCE) {
            filter.prefetch(*later);
        }
        filter.insert(*key).map_err(|Full| BuildError::Full)?;
    }
    Ok(())
}

impl<M: Membership + ?Sized> Membership for &M {
    fn may_contain(&self, hash: KeyHash) -> bool {
        (**self).may_contain(hash)
    }

    fn prefetch(&self, hash: KeyHash) {
        (**self).prefetch(hash);
    }

    fn may_contain_batch(&self, hashes: &[KeyHash], answers: &mut [bool]) {
        (**self).may_contain_batch(hashes, answers);
    }

    fn stats(&self) -> FilterStats {
        (**self).stats()
    }

    fn len(&self) -> u64 {
        (**self).len()
    }
}

/// A filter into which keys are inserted one by one.
pub trait Insert: Membership {
    /// Inserts a key.
    ///
    /// # Errors
    ///
    /// [`Full`] if the filter cannot hold another key. The filter is then unchanged.
    fn insert(&mut self, hash: KeyHash) -> Result<(), Full>;
}

/// A filter from which keys can be removed.
pub trait Remove: Insert {
    /// Removes one copy of a key.
    ///
    /// Remove only keys that were inserted. An absent key may look like a member to the filter. If
    /// the absent key is removed, the filter may deny that member later.
    ///
    /// # Errors
    ///
    /// [`Absent`] if the filter certainly does not hold the key. The filter is then unchanged.
    fn remove(&mut self, hash: KeyHash) -> Result<(), Absent>;

    /// Returns the share of slots in use, from 0 to 1, or `None` for a filter without slots.
    fn occupancy(&self) -> Option<f64> {
        None
    }
}

/// The size and the expected error rate of a filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilterStats {
    /// The number of inserted keys; each copy of a key counts.
    pub keys: u64,
    /// Bytes of the filter, without the header of its stored form.
    pub bytes: u64,
    /// The expected false-positive rate, from 0 (for an empty filter) to 1.
    ///
    /// The formulas and their sources are in [`theory`](crate::theory).
    pub error_rate: f64,
}

impl FilterStats {
    /// Returns the bits per key; 0 for a filter without keys.
    pub fn bits_per_key(&self) -> f64 {
        if self.keys == 0 { 0.0 } else { self.bytes as f64 * 8.0 / self.keys as f64 }
    }

    /// Returns the stats of a plan, unless no memory can hold that filter.
    ///
    /// Sizes are computed in floating point or saturate, so a plan for extreme numbers has as many
    /// bytes as 64 bits can count. Memory is limited to half of that on every target.
    pub(crate) fn if_possible(self) -> Result<Self, BuildError> {
        if i64::try_from(self.bytes).is_err() { Err(BuildError::Memory) } else { Ok(self) }
    }
}
