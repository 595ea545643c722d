//! The number of columns for a size or an error rate.
//!
//! Which keys are bumped does not depend on the columns. So the layers are filled first. Once the
//! number of slots is known, the most columns that fit, or the fewest for the error rate, are
//! chosen.

use alloc::vec::Vec;

use super::equation::LAYERS;
use super::layout::{BLOCK_SLOTS, COLUMN_LEN, COLUMNS_MAX, Layout};
use super::thresholds::{self, BUCKET_STARTS};
use super::{base, layer};
use crate::bisect::least;
use crate::error::BuildError;
use crate::membership::FilterStats;
use crate::sizing::{Demand, Sizing};

/// Maximum number of keys that go directly into the base; more keys get a layer.
const BASE_KEYS: u64 = 768;

/// Slots of a layer per key: fewer than 1, so that nearly all slots are used.
const SLOTS_PER_KEY: f64 = 0.945;

/// Slots of a layer that no key uses (measured): a constant number at its ends, and one in a thousand.
const UNUSED_AT_ENDS: u64 = 16;
const SLOTS_PER_UNUSED: u64 = 1_000;

/// Relative tolerance above the requested error rate, for the rounding errors of the sum.
///
/// The sum over all blocks may be off by half a unit in the last place per block. Without the
/// tolerance, a filter of error rate 2^−8 could get a single wide block, which slows all lookups.
const ROUNDING: f64 = 1e-8;

/// Returns the number of blocks of a layer for `keys` keys; 0 if all keys go to the base.
pub(super) fn blocks(layer: usize, keys: u64) -> u64 {
    if layer >= LAYERS || keys <= BASE_KEYS {
        return 0;
    }
    // An odd number, so that the last bucket has 40 starts, not 104: if its keys do not fit, nearly
    // all of them are bumped. (Exact up to 2^53 keys.)
    let blocks = (keys as f64 * SLOTS_PER_KEY / 64.0 + 0.5) as u64;
    blocks - u64::from(blocks.is_multiple_of(2))
}

/// Returns the expected number of keys that a layer of `blocks` blocks keeps. It bumps the others.
///
/// A share of the keys would not do: `blocks` rounds the slots of a layer by up to 96, so that a small
/// layer may have room for far fewer of its keys.
fn kept(blocks: u64) -> u64 {
    let slots = blocks.saturating_mul(BLOCK_SLOTS);
    slots.saturating_sub(slots / SLOTS_PER_UNUSED + UNUSED_AT_ENDS)
}

/// Adjacent blocks that absent keys reach equally often.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) blocks: u64,
    /// Share of all absent keys whose lookup ends in each of these blocks.
    pub(super) share: f64,
}

/// The sizes of a filter's parts before the columns are chosen, and where absent keys end.
#[derive(Clone, Debug, Default)]
pub(super) struct FilterPlan {
    /// The blocks of all layers, in order.
    pub(super) runs: Vec<Run>,
    /// Share of all absent keys that reach the base.
    pub(super) base_share: f64,
    pub(super) thresholds_len: u64,
    pub(super) base_slots: u64,
    /// Seed of the base, or [`base::SEEDS`] for a list.
    pub(super) base_seed: u8,
}

impl FilterPlan {
    /// Estimates a filter of `keys` keys.
    pub(super) fn expected(keys: u64) -> Self {
        let mut plan = Self { base_share: 1.0, ..Self::default() };
        let mut left = keys;
        for layer in 0..LAYERS {
            let blocks = blocks(layer, left);
            if blocks == 0 {
                break;
            }
            let bumped = left.saturating_sub(kept(blocks));
            let bumped_share = bumped as f64 / left as f64;
            let share = plan.base_share * (1.0 - bumped_share) / blocks as f64;
            plan.runs.push(Run { blocks, share });
            plan.thresholds_len += thresholds::len(layer::starts(blocks));
            plan.base_share *= bumped_share;
            left = bumped;
        }
        plan.base_slots = base::slots(left, 0);
        plan
    }

    /// Adds a layer with these thresholds.
    pub(super) fn add_layer(&mut self, starts: u64, thresholds: &[u8]) {
        self.base_share = for_each_run(starts, thresholds, self.base_share, |run| {
            self.runs.push(run);
        });
        self.thresholds_len += thresholds.len() as u64;
    }

    fn blocks(&self) -> u64 {
        self.runs.iter().map(|run| run.blocks).sum()
    }

    /// Returns the bytes of the body with this layout.
    pub(super) fn len(&self, layout: Layout) -> u64 {
        let base = base::len(self.base_slots, layout.base_columns(), self.base_seed);
        layout.len().saturating_add(self.thresholds_len).saturating_add(base)
    }

    /// Returns the error rate with this layout.
    pub(super) fn error_rate(&self, layout: Layout) -> f64 {
        let mut sum = ErrorRateSum::new(layout);
        self.runs.iter().for_each(|run| sum.add(*run));
        sum.error_rate(self.base_share, self.base_slots, self.base_seed)
    }

    /// Chooses the columns.
    pub(super) fn layout(&self, sizing: Sizing, keys: u64) -> Result<Layout, BuildError> {
        let len = match sizing.demand(keys, 1)? {
            Demand::ErrorRate(rate) => {
                return self.for_error_rate(rate, keys).ok_or(BuildError::ErrorRate(rate));
            }
            Demand::Bytes(len) => len,
        };
        // A handful of keys may exceed bits per key: at least one bit a key, in whole bytes.
        let may_exceed = matches!(sizing, Sizing::BitsPerKey(_)) && self.runs.is_empty();
        let smallest =
            may_exceed.then_some(Layout { narrow_columns: 1, narrow_blocks: 0, block_count: 0 });
        self.in_bytes(len).or(smallest).ok_or(BuildError::Full)
    }

    /// Finds the fewest columns with an error rate of at most `rate`.
    ///
    /// The columns have what the collisions of hashes leave of it.
    fn for_error_rate(&self, rate: f64, keys: u64) -> Option<Layout> {
        let blocks = self.blocks();
        let narrow = |narrow_columns, narrow_blocks| Layout {
            narrow_columns,
            narrow_blocks,
            block_count: blocks,
        };
        let allowed = rate * (1.0 + ROUNDING) - collision_rate(keys);
        let columns = (0..=COLUMNS_MAX)
            .find(|columns| self.error_rate(narrow(*columns, blocks)) <= allowed)?;
        if columns == 0 || blocks == 0 {
            return Some(narrow(columns.max(1), blocks));
        }
        // `columns - 1` in all blocks errs too often: find how many blocks may be that narrow.
        let errs_too_often = |blocks| self.error_rate(narrow(columns - 1, blocks)) > allowed;
        let enough = least(0, blocks, errs_too_often) - 1;
        Some(if enough == 0 { narrow(columns, blocks) } else { narrow(columns - 1, enough) })
    }

    /// Finds the most columns that fit into `len` bytes.
    fn in_bytes(&self, len: u64) -> Option<Layout> {
        let blocks = self.blocks();
        let uniform = |columns| Layout {
            narrow_columns: columns,
            narrow_blocks: blocks,
            block_count: blocks,
        };
        let columns = (0..=COLUMNS_MAX).rev().find(|columns| self.len(uniform(*columns)) <= len)?;
        let mut layout = uniform(columns);
        if columns < COLUMNS_MAX && blocks > 0 {
            let wider = Layout { narrow_blocks: blocks - 1, ..layout };
            if let Some(rest) = len.checked_sub(self.len(wider)) {
                layout.narrow_blocks = (blocks - 1).saturating_sub(rest / COLUMN_LEN);
            }
        }
        (layout.base_columns() > 0).then_some(layout)
    }

    /// Returns size and error rate with this layout.
    pub(super) fn stats(&self, layout: Layout, keys: u64) -> FilterStats {
        stats(keys, self.len(layout), self.error_rate(layout))
    }
}

/// Returns the statistics; adds to the error rate that an absent key may have a member's hash.
pub(super) fn stats(keys: u64, bytes: u64, error_rate: f64) -> FilterStats {
    let error_rate = (error_rate + collision_rate(keys)).min(1.0);
    FilterStats { keys, bytes, error_rate }
}

/// Returns the probability that an absent key has the 64-bit hash of a member.
fn collision_rate(keys: u64) -> f64 {
    keys as f64 * libm::exp2(-64.0)
}

/// The sum of the error rates of the blocks.
pub(super) struct ErrorRateSum {
    layout: Layout,
    blocks: u64,
    /// Sum of the shares of absent keys; wide blocks count half.
    weight: f64,
}

impl ErrorRateSum {
    pub(super) const fn new(layout: Layout) -> Self {
        Self { layout, blocks: 0, weight: 0.0 }
    }

    pub(super) fn add(&mut self, run: Run) {
        let narrow = self.layout.narrow_blocks.saturating_sub(self.blocks).min(run.blocks);
        self.weight += run.share * (narrow as f64 + (run.blocks - narrow) as f64 / 2.0);
        self.blocks += run.blocks;
    }

    /// Returns the error rate; `base_share` is the share of absent keys that reach the base.
    pub(super) fn error_rate(&self, base_share: f64, base_slots: u64, base_seed: u8) -> f64 {
        let rate = self.weight * libm::exp2(-f64::from(self.layout.narrow_columns));
        if base_slots == 0 || base_seed >= base::SEEDS {
            return rate; // Without equations no absent key passes the base.
        }
        rate + base_share * libm::exp2(-f64::from(self.layout.base_columns()))
    }
}

/// Calls `each` for the blocks of a layer that the share `share` of all absent keys reaches.
///
/// Returns the share of absent keys that the layer bumps.
pub(super) fn for_each_run(
    starts: u64,
    thresholds: &[u8],
    share: f64,
    mut each: impl FnMut(Run),
) -> f64 {
    const HALF: u64 = BUCKET_STARTS / 2;
    let (mut kept_total, share_of_start) = (0, share / starts as f64);
    for bucket in 0..starts.div_ceil(BUCKET_STARTS) {
        let threshold = thresholds::get(thresholds, bucket);
        let first_kept = u64::from(thresholds::first_kept(threshold.into()));
        let bucket_starts = (starts - bucket * BUCKET_STARTS).min(BUCKET_STARTS);
        // The last bucket of a layer may be only half a bucket: one block.
        for half in [0, HALF].into_iter().filter(|half| *half < bucket_starts) {
            let kept = (half + HALF).min(bucket_starts).saturating_sub(half.max(first_kept));
            each(Run { blocks: 1, share: share_of_start * kept as f64 });
            kept_total += kept;
        }
    }
    share * (starts - kept_total) as f64 / starts as f64
}
