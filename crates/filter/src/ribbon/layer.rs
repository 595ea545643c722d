//! One layer: keys sorted into their buckets, bucket after bucket filled, the rest bumped.
//!
//! Bumped keys are put back where the keys of earlier windows stood: beside the copy of the hashes and
//! the rows, a layer takes no memory that grows with its keys.

use alloc::vec::Vec;

use super::banding::Banding;
use super::equation::Shuffle;
use super::layout::BLOCK_SLOTS;
use super::sorter::Windows;
use super::stretch::{self, Whole};
use super::thresholds;
use crate::deal::deal;
use crate::kind::allocate;
use crate::{BuildError, KeyHash};

/// A layer that took its keys, but for those that it bumped.
#[derive(Debug)]
pub(super) struct Layer {
    pub(super) starts: u64,
    pub(super) banding: Banding,
    pub(super) thresholds: Vec<u8>,
}

impl Layer {
    /// Fills a layer of so many blocks, and returns it with the keys that it bumped.
    pub(super) fn new(
        shuffle: Shuffle,
        blocks: u64,
        keys: &[KeyHash],
    ) -> Result<(Self, Vec<KeyHash>), BuildError> {
        let starts = starts(blocks);
        let mut layer = Self {
            starts,
            banding: Banding::new(blocks * BLOCK_SLOTS)?,
            thresholds: allocate(thresholds::len(starts), u8::MAX)?,
        };
        let windows = Windows::new(starts);
        let (mut dealt, ends) =
            deal(keys, windows.count, |key| shuffle.start(key, starts) >> windows.bits)?;
        let whole = Whole { shuffle, starts, slots: layer.slots(), windows };
        let bumped = stretch::fill(whole, &mut layer, &mut dealt, &ends);
        dealt.truncate(bumped);
        dealt.shrink_to_fit();
        Ok((layer, dealt))
    }

    /// Returns the number of blocks.
    pub(super) fn blocks(&self) -> u64 {
        self.slots() / BLOCK_SLOTS
    }

    fn slots(&self) -> u64 {
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
