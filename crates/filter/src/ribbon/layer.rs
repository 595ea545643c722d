//! A layer: its rows and its thresholds.

use alloc::vec::Vec;

use super::banding::Banding;
use super::layout::BLOCK_SLOTS;
use super::thresholds;
use crate::error::BuildError;
use crate::memory::allocate;

/// A layer of a filter that is being built.
#[derive(Debug)]
pub(super) struct Layer {
    pub(super) starts: u64,
    pub(super) banding: Banding,
    pub(super) thresholds: Vec<u8>,
}

impl Layer {
    /// Creates an empty layer.
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

/// Slots at the end of a layer at which no key starts.
///
/// Keys that start in the 39 slots before have 25 to 63 coefficients. If all keys had 64, the
/// end of a layer would be half empty, which is noticeable in a layer of a thousand keys.
const SLOTS_WITHOUT_START: u64 = 24;

/// Returns the number of starts of a layer with `blocks` blocks.
pub(super) const fn starts(blocks: u64) -> u64 {
    (blocks * BLOCK_SLOTS).saturating_sub(SLOTS_WITHOUT_START)
}
