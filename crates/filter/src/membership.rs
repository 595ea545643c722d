//! What all filters have in common.

use crate::KeyHash;

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
        batch(self, hashes, answers);
    }

    /// Returns what the filter costs and how often it errs.
    fn stats(&self) -> FilterStats;
}

/// Bytes of a filter that stays in the second cache of a core of today, one or two mebibytes, or nearly
/// so: what a core has under way at once hides that cache, and sending for its bytes costs more than
/// it saves. In unit tests so few that they come to both ways.
pub(crate) const CACHED_LEN: usize = if cfg!(test) { 1 << 12 } else { 1 << 21 };

/// How many keys a batch prefetches ahead: enough to fill the ten to sixteen line buffers that a
/// core has for outstanding loads, and few enough that nothing is evicted before it is used.
pub(crate) const PREFETCH_DISTANCE: usize = 16;

/// Answers one key after the other, with the bytes of later keys on their way.
pub(crate) fn batch<M: Membership + ?Sized>(filter: &M, hashes: &[KeyHash], answers: &mut [bool]) {
    assert_eq!(hashes.len(), answers.len(), "one answer for each hash");
    for (index, (hash, answer)) in hashes.iter().zip(answers).enumerate() {
        if let Some(later) = hashes.get(index + PREFETCH_DISTANCE) {
            filter.prefetch(*later);
        }
        *answer = filter.may_contain(*hash);
    }
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
    /// always tell a stranger from a member, and removing a stranger may deny a member later.
    ///
    /// # Errors
    ///
    /// [`Absent`] if the filter can tell that it does not hold the key; it is then as it was.
    fn remove(&mut self, hash: KeyHash) -> Result<(), Absent>;
}

/// The filter cannot take another key; it has not changed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the filter is full")]
pub struct Full;

/// The filter does not hold the key that was to be removed; it has not changed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the filter does not hold the key")]
pub struct Absent;

/// What a filter costs and how often it errs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilterStats {
    /// How many keys were inserted, copies counted.
    pub keys: u64,
    /// How many bytes its bits take, without the header of its stored form.
    pub bytes: u64,
    /// How often it is expected to say "maybe" about a stranger, from 0 for an empty filter to 1.
    pub error_rate: f64,
}

impl FilterStats {
    /// Returns how many bits each key takes; 0 for a filter without keys.
    pub fn bits_per_key(&self) -> f64 {
        if self.keys == 0 { 0.0 } else { self.bytes as f64 * 8.0 / self.keys as f64 }
    }
}
