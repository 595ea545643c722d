//! What all filters have in common.

use crate::error::{Absent, BuildError, Full};
use crate::hash::KeyHash;
use crate::kernel::PREFETCH_DISTANCE;

/// A set that can tell which keys it does not hold.
///
/// The one law: a key that was inserted is never denied. A key that was not may be let through, as
/// often as [`FilterStats::error_rate`] says.
pub trait Membership {
    /// Returns false if the key was certainly never inserted, true if it may have been.
    fn may_contain(&self, hash: KeyHash) -> bool;

    /// Asks the processor to load what [`may_contain`](Self::may_contain) will look at, and returns
    /// at once. Worth it when other filters can be prefetched before this one is asked.
    fn prefetch(&self, _hash: KeyHash) {}

    /// Returns false if what [`prefetch`](Self::prefetch) asked for is enough to deny the key; else asks
    /// the processor to load what [`may_contain`](Self::may_contain) will look at beyond that. Worth it
    /// between the two, when other filters stand in the same place: see [`probe_many`](crate::probe_many).
    ///
    /// Default: true, since `prefetch` asked for all.
    fn prefetch_next(&self, _hash: KeyHash) -> bool {
        true
    }

    /// Answers for many keys at once: `answers[i]` becomes `may_contain(hashes[i])`. Faster than
    /// one by one where the filter is larger than the caches, since the loads overlap.
    ///
    /// # Panics
    ///
    /// If the slices differ in length.
    fn may_contain_batch(&self, hashes: &[KeyHash], answers: &mut [bool]) {
        answer_batch(hashes, answers, |hash| self.prefetch(hash), |hash| self.may_contain(hash));
    }

    /// Returns what the filter costs and how often it errs.
    fn stats(&self) -> FilterStats;

    /// Returns the share of cells or slots in use, from 0 to 1; `None` for a filter that has none.
    ///
    /// Default: `None`.
    fn occupancy(&self) -> Option<f64> {
        None
    }
}

/// Answers one key after the other, while what later keys read is prefetched.
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

/// Inserts all keys, while the places of later keys are prefetched.
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

    fn prefetch_next(&self, hash: KeyHash) -> bool {
        (**self).prefetch_next(hash)
    }

    fn may_contain_batch(&self, hashes: &[KeyHash], answers: &mut [bool]) {
        (**self).may_contain_batch(hashes, answers);
    }

    fn stats(&self) -> FilterStats {
        (**self).stats()
    }

    fn occupancy(&self) -> Option<f64> {
        (**self).occupancy()
    }
}

/// A filter that takes keys one by one.
pub trait Insert: Membership {
    /// Adds a key.
    ///
    /// # Errors
    ///
    /// [`Full`] if the filter cannot hold another key; it is then exactly as it was before.
    fn insert(&mut self, hash: KeyHash) -> Result<(), Full>;
}

/// A filter that gives keys up again.
pub trait Remove: Insert {
    /// Takes one copy of a key out. Only a key that was inserted may be removed: a filter cannot
    /// always tell an absent key from a member, and removing an absent key may deny a member later.
    ///
    /// # Errors
    ///
    /// [`Absent`] if the filter can tell that it does not hold the key; it is then as it was.
    fn remove(&mut self, hash: KeyHash) -> Result<(), Absent>;
}

/// What a filter costs and how often it errs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilterStats {
    /// How many keys were inserted, copies counted.
    pub keys: u64,
    /// How many bytes its bits take, without the header of its stored form.
    pub bytes: u64,
    /// How often it is expected to say "maybe" about an absent key, from 0 for an empty filter to 1.
    pub error_rate: f64,
}

impl FilterStats {
    /// Returns how many bits each key takes; 0 for a filter without keys.
    pub fn bits_per_key(&self) -> f64 {
        if self.keys == 0 { 0.0 } else { self.bytes as f64 * 8.0 / self.keys as f64 }
    }
}
