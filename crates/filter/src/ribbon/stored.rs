//! The stored form of a ribbon filter, and the lookup in it.
//!
//! The header's parameters, from their lowest bits up:
//!
//! | parameter | bits | meaning                                                                   |
//! |----------:|-----:|---------------------------------------------------------------------------|
//! |         0 |    6 | columns of a narrow block, 0 to 32                                        |
//! |           |    6 | seed of the base; 63: the base is a list of hashes                        |
//! |           |   20 | slots of the base, or hashes in the list                                  |
//! |         1 |   32 | blocks of the first layer                                                 |
//! |           |   32 | blocks of the second layer                                                |
//! |         2 |   32 | blocks of the third layer                                                 |
//! |           |   32 | narrow blocks in all layers; all other blocks have one column more        |
//!
//! The body:
//!
//! | bytes                        | content                                                      |
//! |-----------------------------:|--------------------------------------------------------------|
//! | 8 · columns, for each block  | the blocks of all layers, see `layout`                       |
//! | starts / 512, rounded up,    | the thresholds, see `thresholds`; a layer of b blocks has    |
//! | for each layer               | 64·b − 24 starts                                             |
//! | slots · columns / 8, rounded | the base, see `base`; it has as many columns as the widest   |
//! | up; or 8 · hashes            | block                                                        |
//!
//! The format also fixes how starts, coefficients and fingerprints are computed from a hash, see
//! `equation`.

use super::equation::{Equation, LAYERS, Shuffle};
use super::layout::{BLOCK_SLOTS, COLUMN_LEN, COLUMNS_MAX, Layout};
use super::shape::{self, ErrorRateSum};
use super::{base, layer, thresholds};
use crate::error::FormatError;
use crate::hash::KeyHash;
use crate::header::{Header, widened};
use crate::kernel::{
    self, BlockEquation, ColumnLookup, ColumnMask, ColumnWindow, Columns, FastPath, InstructionSet,
};
use crate::membership::FilterStats;
use crate::stored_view::StoredView;

/// The header's parameters.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parameters {
    pub(super) blocks: [u64; LAYERS],
    pub(super) layout: Layout,
    pub(super) base_seed: u8,
    pub(super) base_slots: u64,
}

impl Parameters {
    /// Packs the parameters into the header's numbers.
    ///
    /// # Panics
    ///
    /// If a number of blocks exceeds 32 bits. Filters that were built have fewer blocks.
    pub(super) fn to_header(self) -> [u64; 3] {
        let [first, second, third] = self.blocks;
        let base = u64::from(self.base_seed) << 6 | self.base_slots << 12;
        let pair = |low: u64, high: u64| {
            let small = |number| u32::try_from(number).expect("a builder makes fewer blocks");
            u64::from(small(low)) | u64::from(small(high)) << 32
        };
        [
            u64::from(self.layout.narrow_columns) | base,
            pair(first, second),
            pair(third, self.layout.narrow_blocks),
        ]
    }

    fn from_header(header: &Header) -> Result<Self, FormatError> {
        let [small, first_pair, second_pair] = header.parameters;
        let (low, high) = (|pair: u64| pair & u64::from(u32::MAX), |pair: u64| pair >> 32);
        let blocks = [low(first_pair), high(first_pair), low(second_pair)];
        let six_bits = |number: u64| u8::try_from(number & 63).expect("six bits");
        let all = blocks.iter().try_fold(0_u64, |sum, blocks| sum.checked_add(*blocks));
        let layout = Layout {
            narrow_columns: six_bits(small).into(),
            narrow_blocks: high(second_pair),
            block_count: all.expect("three numbers of 32 bits"),
        };
        if layout.narrow_blocks > layout.block_count || layout.base_columns() > COLUMNS_MAX {
            return Err(FormatError::Parameters(
                "a block has more than 32 columns, or too many blocks are narrow",
            ));
        }
        Ok(Self { blocks, layout, base_seed: six_bits(small >> 6), base_slots: small >> 12 })
    }
}

/// A view of a stored ribbon filter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RibbonView {
    pub(super) layout: Layout,
    pub(super) layers: [LayerView; LAYERS],
    base_seed: u8,
    base_slots: u64,
    base_at: usize,
    /// The first wide block if there are narrow and wide blocks; otherwise `u64::MAX`.
    wide_from: u64,
    /// Bytes of a narrow block, or of each block if all are equally long. Only for the fast path.
    narrow_len: u8,
    narrow_masks: [ColumnMask; 2],
    wide_masks: [ColumnMask; 2],
    /// The expected error rate, without the probability that two keys have the same hash.
    error_rate: f64,
    pub(super) instructions: InstructionSet,
}

/// The position of a layer.
///
/// If a layer has no starts, the filter has neither this layer nor later layers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LayerView {
    pub(super) starts: u64,
    pub(super) first_block: u64,
    pub(super) thresholds_at: usize,
    /// Starts below this number have the [fast path](ColumnLookup::fast_path).
    ///
    /// The number of starts before the last block; 0 if this number exceeds 32 bits, or if a block
    /// exceeds 255 bytes.
    fast_starts: u32,
}

impl StoredView for RibbonView {
    const CODE: u8 = 9;

    fn parse(header: &Header, body: &[u8]) -> Result<Self, FormatError> {
        let parameters = Parameters::from_header(header)?;
        let view = Self::new(&parameters, body)?;
        let nothing = parameters.layout.block_count == 0 && parameters.base_slots == 0;
        if nothing != (header.keys == 0) {
            return Err(FormatError::Parameters("keys without slots, or slots without keys"));
        }
        Ok(view)
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs a quarter of a cached lookup")]
    fn may_contain(&self, body: &[u8], hash: KeyHash) -> bool {
        self.instructions.look_up(self, body, hash)
    }

    fn may_contain_batch(&self, body: &[u8], hashes: &[KeyHash], answers: &mut [bool]) {
        self.instructions.look_up_all(self, body, hashes, answers);
    }

    /// Prefetches the key's blocks in the body's first layer, and in the next for a bumped key.
    ///
    /// The next layer matters if several filters are probed for one key: each first layer bumps
    /// about 5 % of all keys, so one or two of 32 filters have bumped the key.
    #[inline]
    fn prefetch(&self, body: &[u8], hash: KeyHash) {
        for (index, layer) in self.layers.iter().enumerate().take(2) {
            let start = Shuffle::layer(index).start(hash, layer.starts);
            thresholds::prefetch(body, layer.thresholds_at, start);
            let block = layer.first_block.wrapping_add(start / BLOCK_SLOTS);
            let begin = self.layout.columns_before(block).wrapping_mul(COLUMN_LEN);
            let len = u64::from(self.layout.columns_of(block)).wrapping_mul(COLUMN_LEN);
            if let (Ok(begin), Ok(len)) = (usize::try_from(begin), usize::try_from(len)) {
                kernel::prefetch_columns(body, begin, len);
            }
            if thresholds::bumped(body, layer.thresholds_at, start) != Some(true) {
                break;
            }
        }
    }

    fn stats(&self, body: &[u8], keys: u64) -> FilterStats {
        let bytes = widened(body.len());
        if keys == 0 {
            return FilterStats { keys, bytes, error_rate: 0.0 };
        }
        shape::stats(keys, bytes, self.error_rate)
    }
}

impl RibbonView {
    pub(super) fn new(parameters: &Parameters, body: &[u8]) -> Result<Self, FormatError> {
        let Parameters { blocks, layout, base_seed, base_slots } = *parameters;
        let invalid =
            FormatError::Parameters("the length of the body does not match its layers and base");
        let base_len = base::len(base_slots, layout.base_columns(), base_seed);
        let add = |end: u64, len: u64| end.checked_add(len).ok_or(invalid);
        // Cannot wrap: a block has at most 32 columns of 8 bytes.
        let column_bytes = |columns: u32| u64::from(columns).wrapping_mul(COLUMN_LEN);
        let widest = column_bytes(layout.base_columns());
        let is_fast = widest <= u8::MAX.into();
        let mut end = layout.len();
        let (mut layers, mut first_block) = ([LayerView::default(); LAYERS], 0_u64);
        for (view, blocks) in layers.iter_mut().zip(blocks) {
            let starts = layer::starts(blocks);
            let thresholds_at = usize::try_from(end).map_err(|_| invalid)?;
            // A layer has no fast path if the number of its starts exceeds 32 bits.
            let fast_starts = if is_fast { before_last(starts) } else { 0 };
            let fast_starts = u32::try_from(fast_starts).unwrap_or(0);
            *view = LayerView { starts, first_block, thresholds_at, fast_starts };
            end = add(end, thresholds::len(starts))?;
            first_block = add(first_block, blocks)?;
        }
        let base_at = usize::try_from(end).map_err(|_| invalid)?;
        if add(end, base_len)? != widened(body.len()) {
            return Err(invalid);
        }

        let is_mixed = layout.narrow_blocks < layout.block_count && layout.narrow_blocks > 0;
        let wide_from = if is_mixed { layout.narrow_blocks } else { u64::MAX };
        let narrow = if is_mixed { layout.narrow_columns } else { layout.base_columns() };
        let narrow_len = column_bytes(narrow);
        let (mut sum, mut base_share) = (ErrorRateSum::new(layout), 1.0);
        for layer in layers.iter().take_while(|layer| layer.starts > 0) {
            let (_, thresholds) = body.split_at(layer.thresholds_at);
            base_share = shape::for_each_run(layer.starts, thresholds, base_share, |run| {
                sum.add(run);
            });
        }
        let error_rate = sum.error_rate(base_share, base_slots, base_seed);
        let instructions = InstructionSet::detect();
        Ok(Self {
            layout,
            layers,
            base_seed,
            base_slots,
            base_at,
            wide_from,
            // Above 255 bytes there is no fast path, and `narrow_len` is unused.
            narrow_len: u8::try_from(narrow_len).unwrap_or(u8::MAX),
            narrow_masks: ColumnMask::of(narrow),
            wide_masks: ColumnMask::of(narrow.wrapping_add(1)),
            error_rate,
            instructions,
        })
    }

    /// Returns the view with another instruction set.
    pub(super) fn with(self, instructions: InstructionSet) -> Self {
        Self { instructions, ..self }
    }

    /// Returns a block and the bytes after it; `None` if the body ends before the block does.
    pub(super) fn block<'a>(&self, body: &'a [u8], block: u64) -> Option<(&'a [u8], &'a [u8])> {
        let begin = self.layout.columns_before(block).wrapping_mul(COLUMN_LEN);
        let begin = usize::try_from(begin).ok()?;
        let len = u64::from(self.layout.columns_of(block)).wrapping_mul(COLUMN_LEN);
        body.get(begin..)?.split_at_checked(usize::try_from(len).ok()?)
    }

    /// Returns a block, and the same number of columns of the next block.
    ///
    /// If a wide block follows a narrow one, this cuts the wide block's last column. No narrow
    /// block follows a wide one.
    fn blocks<'a>(&self, body: &'a [u8], block: u64) -> Option<(&'a [u8], &'a [u8])> {
        let (low, rest) = self.block(body, block)?;
        Some((low, rest.get(..low.len())?))
    }

    /// Returns offset, length and column masks of a block of at most 255 bytes.
    ///
    /// The values agree with [`Layout`]. `MIXED` may be false if all blocks are equally long, which
    /// takes fewer instructions.
    fn block_range<const MIXED: bool>(&self, block: u64) -> (u64, u8, &[ColumnMask; 2]) {
        let begin = block.wrapping_mul(self.narrow_len.into());
        if !MIXED {
            return (begin, self.narrow_len, &self.narrow_masks);
        }
        // Branchless: a branch would be unpredictable.
        let beyond = block.saturating_sub(self.wide_from).wrapping_mul(COLUMN_LEN);
        let is_wide = block >= self.wide_from;
        let len = self.narrow_len.wrapping_add(u8::from(is_wide) << 3);
        let mask = if is_wide { &self.wide_masks } else { &self.narrow_masks };
        (begin.wrapping_add(beyond), len, mask)
    }
}

impl ColumnLookup for RibbonView {
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "the compiler optimizes a lookup together with its caller"
    )]
    fn fast_path<'a, const MIXED: bool>(
        &'a self,
        layer: usize,
        body: &'a [u8],
        hash: KeyHash,
    ) -> FastPath<'a> {
        let Some(view) = self.layers.get(layer) else { return FastPath::Slow };
        let equation = Shuffle::layer(layer).equation(hash, view.starts);
        let Equation { start, coefficients, fingerprint } = equation;
        if start >= view.fast_starts.into() {
            return FastPath::Slow;
        }
        match thresholds::bumped(body, view.thresholds_at, start) {
            Some(false) => {}
            Some(true) => return FastPath::Bumped,
            None => return FastPath::Slow,
        }
        // The first layer begins at block 0. The constant shortens nearly all lookups, because they
        // end in this layer.
        let first_block = if layer == 0 { 0 } else { view.first_block };
        let block = first_block.wrapping_add(start / BLOCK_SLOTS);
        let (begin, next, masks) = self.block_range::<MIXED>(block);
        let Ok(begin) = usize::try_from(begin) else { return FastPath::Slow };
        let Some(window) = kernel::window(body, begin) else { return FastPath::Slow };
        let shift = u32::try_from(start).expect("below a number of 32 bits");
        let equation = BlockEquation { shift, coefficients, fingerprint };
        FastPath::Columns(ColumnWindow { window, next, masks, equation })
    }

    fn is_mixed(&self) -> bool {
        self.wide_from != u64::MAX
    }

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "the compiler optimizes a lookup together with its caller"
    )]
    fn look_up(&self, body: &[u8], hash: KeyHash, matches: impl Fn(&Columns<'_>) -> bool) -> bool {
        for (index, layer) in self.layers.iter().enumerate() {
            if layer.starts == 0 {
                break;
            }
            let equation = Shuffle::layer(index).equation(hash, layer.starts);
            let Equation { start, mut coefficients, fingerprint } = equation;
            if thresholds::bumped(body, layer.thresholds_at, start) == Some(true) {
                continue;
            }
            let block = layer.first_block.wrapping_add(start / BLOCK_SLOTS);
            let shift = shift(start);
            let blocks = if start < before_last(layer.starts) {
                self.blocks(body, block)
            } else {
                // The next block belongs to another layer, so the coefficients past the end of this
                // layer are cleared.
                coefficients &= u64::MAX >> shift;
                self.block(body, block).map(|(last, _)| (last, last))
            };
            let Some((low, high)) = blocks else { return true };
            let equation = BlockEquation { shift, coefficients, fingerprint };
            return matches(&Columns { low, high, equation });
        }
        let base = body.get(self.base_at..).unwrap_or_default();
        base::may_contain(base, self.base_seed, self.base_slots, self.layout.base_columns(), hash)
    }
}

/// Returns the position of a start in its block.
fn shift(start: u64) -> u32 {
    u32::try_from(start % BLOCK_SLOTS).expect("below 64")
}

/// Returns the number of starts that are not in the last block.
const fn before_last(starts: u64) -> u64 {
    starts.wrapping_sub(starts % BLOCK_SLOTS)
}
