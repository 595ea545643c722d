//! The stash of a family map: the hashes whose lines were all full.
//!
//! A hash table of fixed size with linear probing, at most half full. One writer inserts while
//! readers look up. That is correct because, as in a line, nothing is moved or removed.

use filter::engine::KeyHash;

use super::slots::Slots;
use crate::sync::atomic::{AtomicU64, Ordering};

/// A table of hashes, each with the slots of its rows.
#[derive(Debug)]
pub(super) struct Stash(Box<[StashEntry]>);

/// A hash and its slots.
#[derive(Debug)]
struct StashEntry {
    /// 0 if the place is free.
    hash: AtomicU64,
    slots: AtomicU64,
}

impl Stash {
    /// The size of a place, in bytes.
    const PLACE_LEN: u64 = 16;

    /// Returns the number of places for `hashes` hashes.
    const fn places(hashes: u64) -> u64 {
        hashes.next_power_of_two().saturating_mul(2)
    }

    /// Returns the bytes of a stash for `hashes` hashes.
    pub(super) const fn bytes(hashes: u64) -> u64 {
        Self::places(hashes).saturating_mul(Self::PLACE_LEN)
    }

    pub(super) fn new(hashes: u64) -> Self {
        let place = |_| StashEntry { hash: AtomicU64::new(0), slots: AtomicU64::new(0) };
        Self((0..Self::places(hashes)).map(place).collect())
    }

    /// Returns the slots of a hash; empty if the stash does not have the hash.
    #[cold]
    pub(super) fn slots(&self, hash: KeyHash) -> Slots {
        Slots::from_bits(self.find(hash).slots.load(Ordering::Relaxed))
    }

    /// Adds slots to a hash. Returns `false` if the stash is full.
    ///
    /// `used` is the number of hashes in the stash. Only the writer of the map may call this.
    pub(super) fn insert(&self, hash: KeyHash, slots: Slots, used: &mut u64) -> bool {
        let place = self.find(hash);
        if place.hash.load(Ordering::Relaxed) == 0 {
            if *used * 2 >= self.0.len() as u64 {
                return false;
            }
            *used += 1;
            place.hash.store(stored(hash), Ordering::Relaxed);
        }
        let before = place.slots.load(Ordering::Relaxed);
        place.slots.store(before | slots.bits(), Ordering::Relaxed);
        true
    }

    /// Returns the place of a hash, or the free place where an insert would put it.
    fn find(&self, hash: KeyHash) -> &StashEntry {
        let (hash, mask) = (stored(hash), self.0.len() - 1);
        let mut at = hash.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32) as usize & mask;
        // Half of the places are free, so the loop ends.
        loop {
            let place = &self.0[at];
            let found = place.hash.load(Ordering::Relaxed);
            if found == hash || found == 0 {
                return place;
            }
            at = (at + 1) & mask;
        }
    }

    /// Returns all hashes with their slots.
    pub(super) fn iter(&self) -> impl Iterator<Item = (KeyHash, Slots)> {
        self.0.iter().filter_map(|place| {
            let hash = place.hash.load(Ordering::Relaxed);
            let slots = Slots::from_bits(place.slots.load(Ordering::Relaxed));
            (hash != 0).then_some((KeyHash::from_u64(hash), slots))
        })
    }
}

/// Returns the form in which the table stores a hash: 0 marks a free place, so 0 is stored as 1.
///
/// The hashes 0 and 1 thus share their slots, which can only cause false positives.
const fn stored(hash: KeyHash) -> u64 {
    if hash.get() == 0 { 1 } else { hash.get() }
}
