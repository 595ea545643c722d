//! The end of all bumping: a ribbon that takes every key, for the few that three layers left over, and
//! for filters that have only a few keys in all.
//!
//! It has no thresholds. If the rows have no solution, another seed shuffles the keys anew, and if
//! some seeds have failed, there are more slots. Up to 64 slots are one dense system of equations,
//! which needs hardly a slot more than there are keys; some hundred keys need one or two per cent. The
//! solution lies column by column, packed to the bit:
//!
//! ```text
//! | column 0: one bit a slot | column 1 | … | column r−1 | up to 7 bits of padding |
//! ```
//!
//! Keys whose hashes were chosen to contradict each other under every seed are kept as what they
//! are: a sorted list of 64-bit hashes. It always succeeds.

use alloc::vec::Vec;

use super::banding::{Banding, Inserted};
use super::equation::{Equation, Shuffle};
use super::solution;
use crate::error::BuildError;
use crate::hash::KeyHash;

/// Seeds that are tried for one number of slots. Each then succeeds with one chance in four or
/// better, and trying is cheaper than slots are.
const SEEDS_PER_SIZE: u8 = 8;
/// Seeds there are; the number after them marks a list.
pub(super) const SEEDS: u8 = 63;
/// The most slots, and the most hashes of a list: what the header has room for.
pub(super) const SLOTS_MAX: u64 = (1 << 20) - 1;
/// Keys that were not bumped any further.
#[derive(Debug)]
pub(super) enum Base {
    /// Equations that can be solved.
    Solvable {
        /// With which [`Shuffle`].
        seed: u8,
        /// The rows, one slot each.
        banding: Banding,
    },
    /// Hashes, ascending.
    List(Vec<KeyHash>),
}

impl Base {
    /// Finds a seed and a number of slots with which the equations of all keys can be solved.
    pub(super) fn new(mut keys: Vec<KeyHash>) -> Result<Self, BuildError> {
        keys.sort_unstable();
        keys.dedup();
        let count = keys.len() as u64;
        for attempt in 0..SEEDS {
            let slots = slots(count, attempt / SEEDS_PER_SIZE);
            if slots > SLOTS_MAX {
                break;
            }
            let mut banding = Banding::new(slots)?;
            let shuffle = Shuffle::base(attempt);
            let fits =
                |key: &KeyHash| banding.insert(&equation(shuffle, *key, slots)) != Inserted::Failed;
            if keys.iter().all(fits) {
                return Ok(Self::Solvable { seed: attempt, banding });
            }
        }
        if count > SLOTS_MAX { Err(BuildError::Full) } else { Ok(Self::List(keys)) }
    }

    /// Returns the number of slots, or of hashes in the list.
    pub(super) fn slots(&self) -> u64 {
        match self {
            Self::Solvable { banding, .. } => banding.coefficients.len() as u64,
            Self::List(keys) => keys.len() as u64,
        }
    }

    /// Returns the seed, or [`SEEDS`] for a list.
    pub(super) fn seed(&self) -> u8 {
        match self {
            Self::Solvable { seed, .. } => *seed,
            Self::List(_) => SEEDS,
        }
    }

    /// Returns the bytes, with so many columns.
    pub(super) fn to_bytes(&self, columns: u32) -> Vec<u8> {
        match self {
            Self::Solvable { banding, .. } => {
                let slots = self.slots();
                let mut bytes = alloc::vec![0; len(slots, columns, 0) as usize];
                for (slot, values) in solution::slots(banding).enumerate() {
                    // Slots come from the right.
                    let slot = slots - 1 - slot as u64;
                    for column in 0..columns {
                        let bit = u64::from(column) * slots + slot;
                        bytes[(bit / 8) as usize] |= ((values >> column & 1) as u8) << (bit % 8);
                    }
                }
                bytes
            }
            Self::List(keys) => keys.iter().flat_map(|key| key.get().to_le_bytes()).collect(),
        }
    }
}

/// Returns how many slots so many keys take, if seeds have failed with so many numbers before: one
/// eightieth more than keys, two eightieths, four, and so on. The first mostly does up to some hundred
/// keys; as measured, one random system in four has a solution then.
pub(super) const fn slots(keys: u64, failed: u8) -> u64 {
    let more = (keys / 80) << failed;
    keys + if more == 0 { failed as u64 } else { more }
}

/// Returns how many bytes so many slots or hashes take.
pub(super) const fn len(slots: u64, columns: u32, seed: u8) -> u64 {
    if seed >= SEEDS {
        slots.saturating_mul(8)
    } else {
        slots.saturating_mul(columns as u64).div_ceil(8)
    }
}

/// Returns the equation of a key in a base of so many slots: where there are fewer than 64, all
/// start at the first.
fn equation(shuffle: Shuffle, key: KeyHash, slots: u64) -> Equation {
    let starts = slots.saturating_sub(u64::BITS.into()) + 1;
    shuffle.equation(key, starts).within(slots)
}

/// Returns whether a base of so many slots and columns may hold a key. Not inlined: hardly a key of a
/// large filter comes here.
#[inline(never)]
pub(super) fn may_contain(bytes: &[u8], seed: u8, slots: u64, columns: u32, key: KeyHash) -> bool {
    if slots == 0 {
        return false;
    }
    if seed >= SEEDS {
        let (hashes, _) = bytes.as_chunks::<8>();
        return hashes.binary_search_by_key(&key.get(), |hash| u64::from_le_bytes(*hash)).is_ok();
    }
    let equation = equation(Shuffle::base(seed), key, slots);
    (0..columns).all(|column| {
        let slots = bits(bytes, u64::from(column) * slots + equation.start);
        let odd = (slots & equation.coefficients).count_ones() & 1;
        odd == equation.fingerprint >> column & 1
    })
}

/// Returns 64 bits from any bit on, zeros after the end.
fn bits(bytes: &[u8], at: u64) -> u64 {
    let rest = usize::try_from(at / 8).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
    let window = rest.first_chunk().copied().unwrap_or_else(|| {
        let mut window = [0; 16];
        window[..rest.len()].copy_from_slice(rest);
        window
    });
    (u128::from_le_bytes(window) >> (at % 8)) as u64
}
