//! How many columns, from what the user asked for.
//!
//! Which keys are bumped does not depend on the columns; so the equations come first, and then, with
//! every slot counted, the widest columns that fit, or the narrowest that err seldom enough.

use alloc::vec::Vec;

use super::base;
use super::equation::LAYERS;
use super::layer;
use super::layout::{COLUMN_LEN, COLUMNS_MAX, Layout};
use super::thresholds::{self, BUCKET_STARTS};
use crate::error::BuildError;
use crate::header::HEADER_LEN;
use crate::membership::FilterStats;
use crate::sizing::Sizing;

/// Up to so many keys go into the base at once: with more, a layer pays.
const BASE_KEYS: u64 = 768;

/// Slots of a layer for each key: fewer than keys, so that hardly one stays empty.
const SLOTS_PER_KEY: f64 = 0.945;

/// What share of a layer's keys is bumped, as measured.
const BUMPED: f64 = 0.056;

/// How much above the error rate that is asked for a sum may be, as a share of it: sums over so many
/// blocks are not exact, by half a unit in the last place for each block at worst. Were it taken for an
/// error, a filter of 2^−8 got a single wide block beside equal ones, and paid for it at every lookup.
const ROUNDING: f64 = 1e-8;

/// Returns how many blocks the layer of that index has for so many keys; without any, they all go
/// to the base.
pub(super) fn blocks(layer: usize, keys: u64) -> u64 {
    if layer >= LAYERS || keys <= BASE_KEYS {
        return 0;
    }
    // An odd number, so that the last bucket has 40 starts and not 104: if so many keys were too many
    // for what slots are left, nearly all of them would be bumped. (Up to 2^53 keys are exact.)
    let blocks = (keys as f64 * SLOTS_PER_KEY / 64.0 + 0.5) as u64;
    blocks - u64::from(blocks.is_multiple_of(2))
}

/// Blocks that absent keys ask equally often.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) blocks: u64,
    /// How large a share of all absent keys ends in each of these blocks.
    pub(super) share: f64,
}

/// What is known of a filter before its columns are: where absent keys end, and its slots.
#[derive(Clone, Debug, Default)]
pub(super) struct Census {
    /// The blocks of all layers, in order.
    pub(super) runs: Vec<Run>,
    /// How large a share of all absent keys goes on after the last layer.
    pub(super) base_share: f64,
    pub(super) thresholds_len: u64,
    pub(super) base_slots: u64,
    /// That of the base, or the mark of a list.
    pub(super) base_seed: u8,
}

impl Census {
    /// Foresees a filter of so many keys.
    pub(super) fn expected(keys: u64) -> Self {
        let mut census = Self { base_share: 1.0, ..Self::default() };
        let mut left = keys;
        for layer in 0..LAYERS {
            let blocks = blocks(layer, left);
            if blocks == 0 {
                break;
            }
            let share = census.base_share * (1.0 - BUMPED) / blocks as f64;
            census.runs.push(Run { blocks, share });
            census.thresholds_len += thresholds::len(layer::starts(blocks));
            census.base_share *= BUMPED;
            left = (left as f64 * BUMPED) as u64;
        }
        census.base_slots = base::slots(left, 0);
        census
    }

    /// Adds a layer, as its thresholds describe it.
    pub(super) fn add_layer(&mut self, starts: u64, thresholds: &[u8]) {
        self.base_share = for_each_run(starts, thresholds, self.base_share, |run| {
            self.runs.push(run);
        });
        self.thresholds_len += thresholds.len() as u64;
    }

    fn blocks(&self) -> u64 {
        self.runs.iter().map(|run| run.blocks).sum()
    }

    /// Returns how many bytes a filter of that layout takes.
    pub(super) fn len(&self, layout: Layout) -> u64 {
        let base = base::len(self.base_slots, layout.base_columns(), self.base_seed);
        layout.len().saturating_add(self.thresholds_len).saturating_add(base)
    }

    /// Returns how often a filter of that layout lets an absent key pass.
    pub(super) fn error_rate(&self, layout: Layout) -> f64 {
        let mut tally = Tally::new(layout);
        self.runs.iter().for_each(|run| tally.add(*run));
        tally.error_rate(self.base_share, self.base_slots, self.base_seed)
    }

    /// Chooses the columns.
    pub(super) fn layout(&self, sizing: Sizing, keys: u64) -> Result<Layout, BuildError> {
        match sizing {
            Sizing::ErrorRate(rate) => {
                self.for_error_rate(rate.get()).ok_or(BuildError::ErrorRate(rate.get()))
            }
            Sizing::BitsPerKey(bits) if bits > 0.0 && bits.is_finite() => {
                let len = (bits * keys as f64 / 8.0) as u64;
                // Only a handful of keys takes more than it should: a bit each, in whole bytes.
                let smallest = Layout { columns: 1, narrow: 0, blocks: 0 };
                let smallest = self.runs.is_empty().then_some(smallest);
                self.in_bytes(len).or(smallest).ok_or(BuildError::Full)
            }
            Sizing::BitsPerKey(bits) => Err(BuildError::BitsPerKey(bits)),
            Sizing::Bytes(budget) => {
                let needed = HEADER_LEN as u64 + 1;
                if budget < needed {
                    return Err(BuildError::Budget { needed, budget });
                }
                self.in_bytes(budget - HEADER_LEN as u64).ok_or(BuildError::Full)
            }
        }
    }

    /// Finds the fewest columns that err no more often than `rate`.
    fn for_error_rate(&self, rate: f64) -> Option<Layout> {
        let blocks = self.blocks();
        let narrow = |columns, narrow| Layout { columns, narrow, blocks };
        let allowed = rate * (1.0 + ROUNDING);
        let columns = (0..=COLUMNS_MAX)
            .find(|columns| self.error_rate(narrow(*columns, blocks)) <= allowed)?;
        if columns == 0 || blocks == 0 {
            return Some(narrow(columns.max(1), blocks));
        }
        // With one column fewer it errs too often; so many blocks may have that.
        let (mut enough, mut too_many) = (0, blocks);
        while too_many - enough > 1 {
            let middle = enough + (too_many - enough) / 2;
            if self.error_rate(narrow(columns - 1, middle)) <= allowed {
                enough = middle;
            } else {
                too_many = middle;
            }
        }
        Some(if enough == 0 { narrow(columns, blocks) } else { narrow(columns - 1, enough) })
    }

    /// Finds the most columns that fit into so many bytes.
    fn in_bytes(&self, len: u64) -> Option<Layout> {
        let blocks = self.blocks();
        let uniform = |columns| Layout { columns, narrow: blocks, blocks };
        let columns = (0..=COLUMNS_MAX).rev().find(|columns| self.len(uniform(*columns)) <= len)?;
        let mut layout = uniform(columns);
        if columns < COLUMNS_MAX && blocks > 0 {
            let wider = Layout { narrow: blocks - 1, ..layout };
            if let Some(rest) = len.checked_sub(self.len(wider)) {
                layout.narrow = (blocks - 1).saturating_sub(rest / COLUMN_LEN);
            }
        }
        (layout.base_columns() > 0).then_some(layout)
    }

    /// What a filter of that layout costs and how often it errs.
    pub(super) fn stats(&self, layout: Layout, keys: u64) -> FilterStats {
        stats(keys, self.len(layout), self.error_rate(layout))
    }
}

/// Adds to the error rate that an absent key may have the hash of a member.
pub(super) fn stats(keys: u64, bytes: u64, error_rate: f64) -> FilterStats {
    let error_rate = (error_rate + keys as f64 * libm::exp2(-64.0)).min(1.0);
    FilterStats { keys, bytes, error_rate }
}

/// Adds up how often absent keys pass, block after block.
pub(super) struct Tally {
    layout: Layout,
    blocks: u64,
    /// The sum of their shares, of wide blocks the half.
    weight: f64,
}

impl Tally {
    pub(super) const fn new(layout: Layout) -> Self {
        Self { layout, blocks: 0, weight: 0.0 }
    }

    pub(super) fn add(&mut self, run: Run) {
        let narrow = self.layout.narrow.saturating_sub(self.blocks).min(run.blocks);
        self.weight += run.share * (narrow as f64 + (run.blocks - narrow) as f64 / 2.0);
        self.blocks += run.blocks;
    }

    /// Returns the error rate, with a base that so large a share of all absent keys comes to.
    pub(super) fn error_rate(&self, base_share: f64, base_slots: u64, base_seed: u8) -> f64 {
        let rate = self.weight * libm::exp2(-f64::from(self.layout.columns));
        if base_slots == 0 || base_seed >= base::SEEDS {
            return rate; // There are no equations that an absent key could fulfil.
        }
        rate + base_share * libm::exp2(-f64::from(self.layout.base_columns()))
    }
}

/// Iterates over the blocks of a layer to which so large a share of all absent keys comes, and returns how
/// large a share goes on.
pub(super) fn for_each_run(
    starts: u64,
    thresholds: &[u8],
    share: f64,
    mut each: impl FnMut(Run),
) -> f64 {
    const HALF: u64 = BUCKET_STARTS / 2;
    let (mut kept_in_all, share_of_start) = (0, share / starts as f64);
    for bucket in 0..starts.div_ceil(BUCKET_STARTS) {
        let threshold = thresholds::get(thresholds, bucket);
        let first_kept = u64::from(thresholds::first_kept(threshold.into()));
        let there = (starts - bucket * BUCKET_STARTS).min(BUCKET_STARTS);
        // Where the last bucket has only one start more than blocks before it, it is half a bucket.
        for half in [0, HALF].into_iter().filter(|half| *half < there) {
            let kept = (half + HALF).min(there).saturating_sub(half.max(first_kept));
            each(Run { blocks: 1, share: share_of_start * kept as f64 });
            kept_in_all += kept;
        }
    }
    share * (starts - kept_in_all) as f64 / starts as f64
}
