//! One layer: its rows, and which of its keys were bumped.

use alloc::vec::Vec;

use super::banding::Banding;
use super::layout::BLOCK_SLOTS;
use super::thresholds;
use crate::error::BuildError;
use crate::memory::allocate;

/// A layer while it is filled, and once it has its keys.
#[derive(Debug)]
pub(super) struct Layer {
    pub(super) starts: u64,
    pub(super) banding: Banding,
    pub(super) thresholds: Vec<u8>,
}

impl Layer {
    /// Makes a layer of so many blocks without keys.
    pub(super) fn new(blocks: u64) -> Result<Self, BuildError> {
        let starts = starts(blocks);
        Ok(Self {
            starts,
            banding: Banding::new(blocks * BLOCK_SLOTS)?,
            thresholds: allocate(thresholds::len(starts), u8::MAX)?,
        })
    }

    /// Returns the number of blocks.
    pub(super) fn blocks(&self) -> u64 {
        self.slots() / BLOCK_SLOTS
    }

    /// Returns the number of slots.
    pub(super) fn slots(&self) -> u64 {
        self.banding.coefficients.len() as u64
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
