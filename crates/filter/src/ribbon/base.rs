//! The base: the last part of a ribbon filter, which accepts every key that reaches it.
//!
//! A layer moves (*bumps*) the keys that do not fit to the next layer. The base holds the keys that
//! all three layers bumped, and all keys of a small filter. The base itself bumps no key, so it has
//! no thresholds.
//!
//! If the equations of the keys have no solution, the next seed is tried. After [`SEEDS_PER_SIZE`]
//! failed seeds, the number of slots grows. With at most 64 slots, each equation covers all slots;
//! then hardly more slots than keys are needed. Some hundred keys need 1 to 2 % more slots than
//! keys. The solution is stored column by column, without padding between the columns:
//!
//! ```text
//! | column 0: one bit per slot | column 1 | … | column r−1 | up to 7 bits of padding |
//! ```
//!
//! If no seed works, for example because an attacker chose the hashes, the base is a sorted list of
//! the 64-bit hashes.

use alloc::vec::Vec;

use super::banding::{Banding, Inserted};
use super::equation::{Equation, Shuffle};
use super::solution;
use crate::error::BuildError;
use crate::hash::KeyHash;

/// The number of seeds that are tried before the number of slots grows.
///
/// A seed succeeds with a probability of at least 1/4, so one of the eight usually succeeds and
/// saves the memory of further slots.
const SEEDS_PER_SIZE: u8 = 8;
/// The number of seeds, which are 0 to 62. A stored seed of 63 marks a list.
pub(super) const SEEDS: u8 = 63;
/// Maximum number of slots, or of hashes in a list: 20 bits in the header.
pub(super) const SLOTS_MAX: u64 = (1 << 20) - 1;

/// The keys of the base, as equations or as a list.
#[derive(Debug)]
pub(super) enum Base {
    /// Equations that have a solution.
    Solvable {
        /// The seed of the [`Shuffle`], which gives the equations.
        seed: u8,
        /// The equations after Gaussian elimination.
        banding: Banding,
    },
    /// The hashes of the keys, in ascending order.
    List(Vec<KeyHash>),
}

impl Base {
    /// Finds a seed and a number of slots for which the equations of all keys have a solution.
    ///
    /// If no attempt succeeds, keeps a list of the hashes.
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

    /// Returns the stored form with `columns` columns.
    pub(super) fn to_bytes(&self, columns: u32) -> Vec<u8> {
        match self {
            Self::Solvable { banding, .. } => {
                let slots = self.slots();
                let mut bytes = alloc::vec![0; len(slots, columns, 0) as usize];
                for (slot, values) in solution::slots(banding).enumerate() {
                    // The iterator returns the last slot first.
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

/// Returns the number of slots for `keys` keys after `failed` smaller numbers of slots have failed.
///
/// The slots exceed the keys by 1/80, 2/80, 4/80 and so on; fewer than 80 keys get `failed` more
/// slots. The first number is usually enough for up to some hundred keys: one seed in four gives a
/// system with a solution (measured).
pub(super) const fn slots(keys: u64, failed: u8) -> u64 {
    let more = (keys / 80) << failed;
    keys + if more == 0 { failed as u64 } else { more }
}

/// Returns the number of bytes of a stored base: of `slots` slots, or of a list of `slots` hashes.
pub(super) const fn len(slots: u64, columns: u32, seed: u8) -> u64 {
    if seed >= SEEDS {
        slots.saturating_mul(8)
    } else {
        slots.saturating_mul(columns as u64).div_ceil(8)
    }
}

/// Returns the equation of a key.
///
/// With at most 64 slots, all equations start at slot 0.
fn equation(shuffle: Shuffle, key: KeyHash, slots: u64) -> Equation {
    let starts = slots.saturating_sub(u64::BITS.into()) + 1;
    shuffle.equation(key, starts).within(slots)
}

/// Returns whether the base may hold a key.
///
/// Not inlined, because few lookups in a large filter reach the base.
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

/// Returns the 64 bits that begin at bit `at`, padded with zeros after the end.
fn bits(bytes: &[u8], at: u64) -> u64 {
    let rest = usize::try_from(at / 8).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
    let window = rest.first_chunk().copied().unwrap_or_else(|| {
        let mut window = [0; 16];
        window[..rest.len()].copy_from_slice(rest);
        window
    });
    (u128::from_le_bytes(window) >> (at % 8)) as u64
}
