//! Building a binary fuse filter by peeling.
//!
//! A key can be removed if no other key uses one of its slots. Removing keys one by one frees the
//! slots of others. If all keys can be removed, their slots are assigned in the reverse order: the
//! slot that only this key used is still free, and makes the key's slots match its fingerprint.

use alloc::vec::Vec;

use super::shape::{KeySlots, Shape};
use crate::error::BuildError;
use crate::hash::KeyHash;
use crate::memory::{AlignedBytes, allocate};
use crate::partition::partition;

/// The number of seeds tried for a shape. The first succeeds for nearly all sets of keys.
const SEEDS_PER_SHAPE: u64 = 16;
/// The number of shapes tried, each about a sixteenth larger than the last.
const SHAPES: u64 = 8;
/// The approximate number of keys in a partition.
///
/// Keys are added by partition, so that the slots in use fit into the CPU caches.
const PARTITION_KEYS: usize = 1 << 14;
/// 2^64 divided by the golden ratio, as an odd number, so that seeds spread over all numbers.
const SEED_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns a shape and a seed with which the keys can be peeled, and the assigned slots as bytes.
pub(super) fn build<const ARITY: usize>(
    mut shape: Shape,
    keys: &[KeyHash],
) -> Result<(Shape, u64, AlignedBytes), BuildError> {
    let mut distinct: Option<Vec<KeyHash>> = None;
    for attempt in 0..SEEDS_PER_SHAPE * SHAPES {
        if attempt > 0 && attempt.is_multiple_of(SEEDS_PER_SHAPE) {
            shape = shape.enlarged();
        }
        let seed = attempt.wrapping_mul(SEED_STEP);
        let keys = distinct.as_deref().unwrap_or(keys);
        if let Some(bytes) = Peeling::<ARITY>::new(shape, seed)?.run(keys)? {
            return Ok((shape, seed, bytes));
        }
        // Copies of a key use the same slots and can never be peeled. They are removed only after a
        // failure, because most sets have none.
        if distinct.is_none() {
            let mut sorted = allocate(keys.len() as u64, KeyHash::from_u64(0))?;
            sorted.copy_from_slice(keys);
            sorted.sort_unstable();
            sorted.dedup();
            distinct = Some(sorted);
        }
    }
    Err(BuildError::Full)
}

/// The keys that use each slot, in a form that supports adding and removing a key.
struct Peeling<const ARITY: usize> {
    shape: Shape,
    seed: u64,
    /// The number of slots that can be the first slot of a key.
    first_slots: u64,
    /// For each slot: the number of its keys in the upper 30 bits, and the exclusive or of the
    /// slot's indexes among the slots of these keys in the lower 2 bits.
    counts: Vec<u32>,
    /// For each slot: the exclusive or of the hashes of its keys.
    hashes: Vec<u64>,
}

/// A removed key, and the index of the slot that no other key used when the key was removed.
#[derive(Clone, Copy)]
struct Peeled {
    hash: KeyHash,
    own_index: u8,
}

impl<const ARITY: usize> Peeling<ARITY> {
    fn new(shape: Shape, seed: u64) -> Result<Self, BuildError> {
        let slots = shape.slots();
        Ok(Self {
            shape,
            seed,
            first_slots: shape.first_segments << shape.segment_bits,
            counts: allocate(slots, 0)?,
            hashes: allocate(slots, 0)?,
        })
    }

    fn key_slots(&self, hash: KeyHash) -> KeySlots<ARITY> {
        KeySlots::new(hash, self.seed, self.shape.segment_len(), self.first_slots)
    }

    /// Returns the assigned slots, or `None` if not all keys can be peeled.
    fn run(mut self, keys: &[KeyHash]) -> Result<Option<AlignedBytes>, BuildError> {
        let partitions = (keys.len() / PARTITION_KEYS).max(1) as u64;
        let slots_per_partition = self.first_slots.div_ceil(partitions);
        let (sorted, _) =
            partition(keys, partitions, |key| self.key_slots(key).slots[0] / slots_per_partition)?;
        for key in sorted {
            self.add(key);
        }
        let peeled = self.peel(keys.len())?;
        if peeled.len() < keys.len() {
            return Ok(None);
        }
        // Free this memory before the slots are allocated.
        self.counts = Vec::new();
        self.hashes = Vec::new();
        let mut bytes = AlignedBytes::zeroed(self.shape.len())?;
        for key in peeled.iter().rev() {
            self.assign(&mut bytes, *key);
        }
        Ok(Some(bytes))
    }

    fn add(&mut self, hash: KeyHash) {
        for (index, slot) in self.key_slots(hash).slots.into_iter().enumerate() {
            let count = &mut self.counts[slot as usize];
            *count = count.wrapping_add(4) ^ index as u32;
            self.hashes[slot as usize] ^= hash.get();
        }
    }

    /// Removes all keys that can be removed, and returns them in the order of removal.
    fn peel(&mut self, key_count: usize) -> Result<Vec<Peeled>, BuildError> {
        let mut peeled = Vec::new();
        peeled.try_reserve_exact(key_count).map_err(|_| BuildError::Memory)?;
        let mut pending = Vec::new();
        for slot in 0..self.counts.len() {
            pending.push(slot);
            while let Some(slot) = pending.pop() {
                // The second condition keeps `peeled` within its capacity even if a count wrapped.
                if self.counts[slot] / 4 != 1 || peeled.len() == key_count {
                    continue;
                }
                let hash = KeyHash::from_u64(self.hashes[slot]);
                let own_index = (self.counts[slot] % 4) as u8;
                peeled.push(Peeled { hash, own_index });
                for (index, key_slot) in self.key_slots(hash).slots.into_iter().enumerate() {
                    let count = &mut self.counts[key_slot as usize];
                    *count = count.wrapping_sub(4) ^ index as u32;
                    self.hashes[key_slot as usize] ^= hash.get();
                    if *count / 4 == 1 {
                        pending.push(key_slot as usize);
                    }
                }
            }
        }
        Ok(peeled)
    }

    /// Assigns a key's own slot, so that the exclusive or of its slots is its fingerprint.
    fn assign(&self, bytes: &mut [u8], key: Peeled) {
        let key_slots = self.key_slots(key.hash);
        let own_slot = key_slots.slots[usize::from(key.own_index)] as usize;
        let is_u16 = self.shape.bits.len() == 2;
        // A fingerprint of eight bits is computed in the upper half of the value.
        let value = key_slots.slots.iter().fold(0_u16, |value, slot| {
            let slot = *slot as usize;
            value ^ if is_u16 { read_u16(bytes, slot) } else { u16::from(bytes[slot]) << 8 }
        });
        let value = value ^ (key_slots.fingerprint >> 48) as u16;
        if is_u16 {
            bytes[own_slot * 2..][..2].copy_from_slice(&value.to_le_bytes());
        } else {
            bytes[own_slot] = (value >> 8) as u8;
        }
    }
}

fn read_u16(bytes: &[u8], slot: usize) -> u16 {
    u16::from_le_bytes([bytes[slot * 2], bytes[slot * 2 + 1]])
}
