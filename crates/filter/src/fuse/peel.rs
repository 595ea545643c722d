//! Building: keys are peeled off, one slot that is theirs alone each, and set in the opposite order.

use alloc::vec::Vec;

use super::shape::{KeySlots, Shape};
use crate::error::BuildError;
use crate::hash::KeyHash;
use crate::memory::{AlignedBytes, allocate};
use crate::partition::partition;

/// Seeds that are tried for one shape. The first does for nearly all sets of keys.
const SEEDS_PER_SHAPE: u64 = 16;
/// Shapes that are tried, each a sixteenth larger than the one before.
const SHAPES: u64 = 8;
/// About how many keys a partition has, so that their slots are in the caches when they are added.
const PARTITION_KEYS: usize = 1 << 14;

/// Finds a shape and a seed for the keys, and returns them with the bytes of the slots.
pub(super) fn build<const ARITY: usize>(
    mut shape: Shape,
    keys: &[KeyHash],
) -> Result<(Shape, u64, AlignedBytes), BuildError> {
    let mut distinct: Option<Vec<KeyHash>> = None;
    for attempt in 0..SEEDS_PER_SHAPE * SHAPES {
        if attempt > 0 && attempt.is_multiple_of(SEEDS_PER_SHAPE) {
            shape = shape.enlarged();
        }
        let seed = attempt.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let keys = distinct.as_deref().unwrap_or(keys);
        if let Some(bytes) = Peeling::<ARITY>::new(shape, seed)?.run(keys)? {
            return Ok((shape, seed, bytes));
        }
        // Two copies of a key use the same slots and never come off. Mostly there are none.
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

/// What is known of each slot while keys are added and taken off.
struct Peeling<const ARITY: usize> {
    shape: Shape,
    seed: u64,
    first_slots: u64,
    /// How many keys use the slot, times four, plus the exclusive or of which of their slots it is.
    counts: Vec<u32>,
    /// The exclusive or of their hashes: of a single key, its hash.
    hashes: Vec<u64>,
}

/// A key with the slot that was its alone.
#[derive(Clone, Copy)]
struct Peeled {
    hash: KeyHash,
    index: u8,
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

    /// Returns the slots, if all keys come off.
    fn run(mut self, keys: &[KeyHash]) -> Result<Option<AlignedBytes>, BuildError> {
        let partitions = (keys.len() / PARTITION_KEYS).max(1) as u64;
        let slots_each = self.first_slots.div_ceil(partitions);
        let (sorted, _) =
            partition(keys, partitions, |key| self.key_slots(key).slots[0] / slots_each)?;
        for key in sorted {
            self.add(key);
        }
        let peeled = self.peel(keys.len())?;
        if peeled.len() < keys.len() {
            return Ok(None);
        }
        // Their room is wanted for the slots.
        self.counts = Vec::new();
        self.hashes = Vec::new();
        let mut bytes = AlignedBytes::zeroed(self.shape.len())?;
        for key in peeled.iter().rev() {
            self.set(&mut bytes, *key);
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

    /// Takes off all keys that come off.
    fn peel(&mut self, keys: usize) -> Result<Vec<Peeled>, BuildError> {
        let mut peeled = Vec::new();
        peeled.try_reserve_exact(keys).map_err(|_| BuildError::Memory)?;
        let mut alone = Vec::new();
        for slot in 0..self.counts.len() {
            alone.push(slot);
            while let Some(slot) = alone.pop() {
                if self.counts[slot] / 4 != 1 || peeled.len() == keys {
                    continue;
                }
                let hash = KeyHash::from_u64(self.hashes[slot]);
                let index = (self.counts[slot] % 4) as u8;
                peeled.push(Peeled { hash, index });
                for (index, slot) in self.key_slots(hash).slots.into_iter().enumerate() {
                    let count = &mut self.counts[slot as usize];
                    *count = count.wrapping_sub(4) ^ index as u32;
                    self.hashes[slot as usize] ^= hash.get();
                    if *count / 4 == 1 {
                        alone.push(slot as usize);
                    }
                }
            }
        }
        Ok(peeled)
    }

    /// Gives a key's own slot the value with which all its slots give its fingerprint.
    fn set(&self, bytes: &mut [u8], key: Peeled) {
        let key_slots = self.key_slots(key.hash);
        let own = key_slots.slots[usize::from(key.index)] as usize;
        let wide = self.shape.bits.len() == 2;
        let value = key_slots.slots.iter().fold(0_u16, |value, slot| {
            let slot = *slot as usize;
            value ^ if wide { read(bytes, slot) } else { u16::from(bytes[slot]) << 8 }
        });
        let value = value ^ (key_slots.fingerprint >> 48) as u16;
        if wide {
            bytes[own * 2..][..2].copy_from_slice(&value.to_le_bytes());
        } else {
            bytes[own] = (value >> 8) as u8;
        }
    }
}

fn read(bytes: &[u8], slot: usize) -> u16 {
    u16::from_le_bytes([bytes[slot * 2], bytes[slot * 2 + 1]])
}
