//! The stored form of a ribbon filter, and the lookup in it.
//!
//! The header's parameters, from their lowest bits up:
//!
//! | parameter | bits | what                                                                       |
//! |----------:|-----:|----------------------------------------------------------------------------|
//! |         0 |    6 | columns of a narrow block, 0 to 32                                         |
//! |           |    6 | seed of the base; 63: the base is a list of hashes                         |
//! |           |   20 | slots of the base, or hashes in the list                                   |
//! |         1 |   32 | blocks of the first layer                                                  |
//! |           |   32 | blocks of the second                                                       |
//! |         2 |   32 | blocks of the third                                                        |
//! |           |   32 | narrow blocks, of those of all layers; the others have one column more     |
//!
//! The body:
//!
//! | bytes                        | what                                                         |
//! |-----------------------------:|--------------------------------------------------------------|
//! | 8 · columns, for each block  | the blocks of all layers, see `layout`                       |
//! | starts / 512, rounded up,    | the thresholds, see `thresholds`; b blocks have 64·b − 24    |
//! | for each layer               | starts                                                       |
//! | slots · columns / 8, rounded | the base, see `base`; its columns are those of the widest    |
//! | up; or 8 · hashes            | blocks                                                       |
//!
//! How starts, coefficients and fingerprints follow from a hash is part of the format: see
//! `equation`.
#![warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)]

use super::LAYERS;
use super::base;
use super::equation::{Equation, Shuffle};
use super::layer;
use super::layout::{BLOCK_SLOTS, COLUMN_LEN, COLUMNS_MAX, Layout};
use super::shape::{self, Tally};
use super::thresholds;
use crate::format::Header;
use crate::kernel::{self, ColumnLookup, Columns, Vector};
use crate::{FilterStats, FormatError, KeyHash};

/// What the header says.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parameters {
    pub(super) blocks: [u64; LAYERS],
    pub(super) layout: Layout,
    pub(super) base_seed: u8,
    pub(super) base_slots: u64,
}

impl Parameters {
    /// Packs them into the header's numbers.
    ///
    /// # Panics
    ///
    /// If there are more blocks than a builder makes.
    pub(super) fn to_header(self) -> [u64; 3] {
        let [first, second, third] = self.blocks;
        let base = u64::from(self.base_seed) << 6 | self.base_slots << 12;
        let pair = |low: u64, high: u64| {
            let small = |number| u32::try_from(number).expect("a builder makes fewer blocks");
            u64::from(small(low)) | u64::from(small(high)) << 32
        };
        [
            u64::from(self.layout.columns) | base,
            pair(first, second),
            pair(third, self.layout.narrow),
        ]
    }

    fn from_header(header: &Header) -> Result<Self, FormatError> {
        let [small, first_pair, second_pair] = header.parameters;
        let (low, high) = (|pair: u64| pair & u64::from(u32::MAX), |pair: u64| pair >> 32);
        let blocks = [low(first_pair), high(first_pair), low(second_pair)];
        let columns = u32::try_from(small & 63).unwrap_or(u32::MAX);
        let layout = Layout {
            columns,
            narrow: high(second_pair),
            blocks: blocks.iter().fold(0, |sum, blocks| sum.saturating_add(*blocks)),
        };
        if layout.narrow > layout.blocks || layout.base_columns() > COLUMNS_MAX {
            return Err(FormatError::Parameters("no block has more than 32 columns"));
        }
        let base_seed = u8::try_from(small >> 6 & 63).unwrap_or(base::SEEDS);
        Ok(Self { blocks, layout, base_seed, base_slots: small >> 12 })
    }
}

/// A ribbon filter in bytes that are not ours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RibbonView {
    layout: Layout,
    layers: [LayerView; LAYERS],
    base_seed: u8,
    base_slots: u64,
    base_at: usize,
    /// But for two keys with the same hash.
    error_rate: f64,
    vector: Vector,
}

/// Where a layer is; one without starts is not there, nor are those after it.
#[derive(Clone, Copy, Debug, Default)]
struct LayerView {
    starts: u64,
    first_block: u64,
    thresholds_at: usize,
}

impl RibbonView {
    /// Checks what the header says against the length of the body.
    pub(crate) fn parse(header: &Header, body: &[u8]) -> Result<Self, FormatError> {
        let parameters = Parameters::from_header(header)?;
        let view = Self::new(&parameters, body)?;
        let nothing = parameters.layout.blocks == 0 && parameters.base_slots == 0;
        if nothing != (header.keys == 0) {
            return Err(FormatError::Parameters("there are slots if and only if there are keys"));
        }
        Ok(view)
    }

    pub(super) fn new(parameters: &Parameters, body: &[u8]) -> Result<Self, FormatError> {
        let Parameters { blocks, layout, base_seed, base_slots } = *parameters;
        let wrong = FormatError::Parameters("the body is not as long as its parts");
        let base_len = base::len(base_slots, layout.base_columns(), base_seed);
        let mut end = layout.len();
        let (mut layers, mut first_block) = ([LayerView::default(); LAYERS], 0_u64);
        for (view, blocks) in layers.iter_mut().zip(blocks) {
            let starts = layer::starts(blocks);
            let thresholds_at = usize::try_from(end).map_err(|_| wrong)?;
            *view = LayerView { starts, first_block, thresholds_at };
            end = end.saturating_add(thresholds::len(starts));
            first_block = first_block.saturating_add(blocks);
        }
        let base_at = usize::try_from(end).map_err(|_| wrong)?;
        if usize::try_from(end.saturating_add(base_len)) != Ok(body.len()) {
            return Err(wrong);
        }

        let (mut tally, mut base_share) = (Tally::new(layout), 1.0);
        for layer in layers.iter().take_while(|layer| layer.starts > 0) {
            let thresholds = body.get(layer.thresholds_at..).unwrap_or_default();
            base_share = shape::for_each_run(layer.starts, thresholds, base_share, |run| {
                tally.add(run);
            });
        }
        let error_rate = tally.error_rate(base_share, base_slots, base_seed);
        let vector = Vector::detect();
        Ok(Self { layout, layers, base_seed, base_slots, base_at, error_rate, vector })
    }

    #[inline]
    pub(crate) fn may_contain(&self, body: &[u8], hash: KeyHash) -> bool {
        self.vector.look_up(self, body, hash)
    }

    pub(crate) fn may_contain_batch(&self, body: &[u8], hashes: &[KeyHash], answers: &mut [bool]) {
        self.vector.look_up_all(self, body, hashes, answers);
    }

    /// Returns the block of a start with the one after it, unless it is the last; how many columns
    /// of both count; and whether there is one after it.
    ///
    /// A narrow block may stand before a wide one, of which then not all columns count; never the
    /// other way round.
    #[inline]
    fn blocks<'a>(
        &self,
        body: &'a [u8],
        layer: &LayerView,
        start: u64,
    ) -> Option<(&'a [u8], u32, bool)> {
        let block = layer.first_block.wrapping_add(start / BLOCK_SLOTS);
        let columns = self.layout.columns_of(block);
        // The last start lies in the last block.
        let next_there = start / BLOCK_SLOTS < layer.starts / BLOCK_SLOTS;
        let begin = self.layout.column_at(block).wrapping_mul(COLUMN_LEN);
        let len = u64::from(columns) << (COLUMN_LEN.ilog2());
        let end = begin.wrapping_add(len << u32::from(next_there));
        let range = usize::try_from(begin).ok()?..usize::try_from(end).ok()?;
        Some((body.get(range)?, columns, next_there))
    }

    pub(crate) fn stats(&self, body: &[u8], keys: u64) -> FilterStats {
        let bytes = u64::try_from(body.len()).unwrap_or(u64::MAX);
        if keys == 0 {
            return FilterStats { keys, bytes, error_rate: 0.0 };
        }
        shape::stats(keys, bytes, self.error_rate)
    }
}

impl ColumnLookup for RibbonView {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it must be compiled for the vectors of its caller")]
    fn look_up(&self, body: &[u8], hash: KeyHash, matches: impl Fn(&Columns<'_>) -> bool) -> bool {
        for (index, layer) in self.layers.iter().enumerate() {
            if layer.starts == 0 {
                break;
            }
            let equation = Shuffle::layer(index).equation(hash, layer.starts);
            if thresholds::bumped(body, layer.thresholds_at, equation.start) {
                continue;
            }
            let Equation { start, coefficients, fingerprint } = equation;
            let Some((blocks, count, next_there)) = self.blocks(body, layer, start) else {
                return true;
            };
            let shift = u32::try_from(start % BLOCK_SLOTS).unwrap_or_default();
            let high = if next_there { coefficients } else { 0 };
            return matches(&Columns {
                blocks,
                count,
                low_slots: coefficients << shift,
                // What was shifted out: `64 - shift` in two shifts, of which none is by 64.
                high_slots: high >> 1 >> (shift ^ 63),
                fingerprint,
            });
        }
        let base = body.get(self.base_at..).unwrap_or_default();
        base::may_contain(base, self.base_seed, self.base_slots, self.layout.base_columns(), hash)
    }

    /// Asks for the blocks that the key has in the first layer.
    #[inline]
    fn prefetch(&self, body: &[u8], hash: KeyHash) {
        let [layer, ..] = &self.layers;
        if layer.starts > 0 {
            let start = Shuffle::layer(0).start(hash, layer.starts);
            if let Some((blocks, ..)) = self.blocks(body, layer, start) {
                kernel::prefetch_all(blocks);
            }
        }
    }
}
