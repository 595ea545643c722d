//! The first layer of a filter and all that comes after it, each by itself: for many filters whose first
//! layers lie side by side, see [`sliced`](crate::sliced).
//!
//! Nineteen keys of twenty end in the first layer, and where they are there depends on nothing but the
//! number of its blocks. How large the later layers are depends on which keys were bumped, so that they
//! differ from filter to filter, and each filter keeps its own.
#![warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)]

use super::equation::{Equation, Shuffle};
use super::layout::{BLOCK_SLOTS, COLUMN_LEN};
use super::stored::RibbonView;
use super::thresholds::{self, BUCKET_STARTS, CLASSES};
use crate::kernel::{ColumnLookup, Columns, Usual};
use crate::{AlignedBytes, BuildError, KeyHash};

/// What a key asks of the first layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstLook {
    /// The slot from which on 64 may count.
    pub(crate) start: usize,
    /// The block of that slot.
    pub(crate) block: usize,
    /// Which of the block's classes of starts it is in, of [`RibbonView::CLASSES`].
    pub(crate) class: usize,
    /// Which slots count, the lowest bit for the first.
    pub(crate) coefficients: u64,
    /// What their exclusive or must be.
    pub(crate) fingerprint: u32,
}

impl RibbonView {
    /// Slots of a block.
    #[expect(clippy::as_conversions, reason = "sixty-four")]
    pub(crate) const BLOCK_SLOTS: usize = BLOCK_SLOTS as usize;
    /// Classes of starts, of which each is bumped as a whole.
    pub(crate) const CLASSES: usize = CLASSES;

    /// Returns the number of blocks of the first layer; none if there are only a few keys.
    pub(crate) const fn first_layer_blocks(&self) -> u64 {
        let [_, second, _] = self.layers;
        second.first_block
    }

    /// Returns the number of columns of the widest block.
    pub(crate) const fn columns(&self) -> u32 {
        self.layout.base_columns()
    }

    /// Returns whether a block has the last of these columns.
    pub(crate) const fn has_last_column(&self, block: u64) -> bool {
        self.layout.columns_of(block) == self.columns()
    }

    /// Returns what a key asks of the first layer.
    #[inline]
    pub(crate) fn first_look(&self, hash: KeyHash) -> FirstLook {
        let [first, ..] = self.layers;
        let Equation { start, coefficients, fingerprint } =
            Shuffle::layer(0).equation(hash, first.starts);
        let class = usize::from(thresholds::class(start));
        // A slot of a body is a `usize`.
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        let block = start.wrapping_div(Self::BLOCK_SLOTS);
        FirstLook { start, block, class, coefficients, fingerprint }
    }

    /// Returns a bit for each class of starts of a block of the first layer that was bumped.
    pub(crate) fn bumped_classes(&self, body: &[u8], block: u64) -> u8 {
        let [first, ..] = self.layers;
        let first_start = block.wrapping_mul(BLOCK_SLOTS);
        let bucket = first_start.wrapping_sub(first_start % BUCKET_STARTS);
        (0..CLASSES).fold(0, |all, class| {
            let start = bucket.wrapping_add(thresholds::first_start(class));
            let bumped = thresholds::bumped(body, first.thresholds_at, start) == Some(true);
            all | u8::from(bumped) << class
        })
    }

    /// Returns eight slots of a block in one of its columns; nought if it has not so many.
    pub(crate) fn slots_of(&self, body: &[u8], block: u64, column: usize, eighth: usize) -> u8 {
        let columns = self.block(body, block).map_or(&[][..], |(columns, _)| columns);
        let (columns, _) = columns.as_chunks::<{ size_of::<u64>() }>();
        columns.get(column).and_then(|slots| slots.get(eighth)).copied().unwrap_or(0)
    }

    /// Copies all but the first layer.
    pub(crate) fn later_layers(&self, body: &[u8]) -> Result<LaterLayers, BuildError> {
        let blocks = self.layout.column_at(self.first_layer_blocks());
        let left_out = usize::try_from(blocks.wrapping_mul(COLUMN_LEN)).unwrap_or(usize::MAX);
        let bytes = AlignedBytes::copy_of(body.get(left_out..).unwrap_or_default())?;
        Ok(LaterLayers { view: self.without_first_layer(left_out), bytes })
    }
}

/// All but the first layer: what is asked of the keys that it bumped.
#[derive(Clone, Debug)]
pub(crate) struct LaterLayers {
    view: RibbonView,
    bytes: AlignedBytes,
}

impl LaterLayers {
    /// Returns how many bytes it takes.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Asks the processor to load what a key has in the second layer, or in the third.
    pub(crate) fn prefetch(&self, hash: KeyHash) {
        self.view.prefetch(&self.bytes, hash);
    }

    /// Returns whether the filter may hold a key that the first layer bumped.
    pub(crate) fn may_contain(&self, hash: KeyHash) -> bool {
        self.view.vector.look_up(self, &self.bytes, hash)
    }
}

/// A lookup that begins with the second layer, as if that were the first.
impl ColumnLookup for LaterLayers {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a lookup stands as a whole where it is asked")]
    fn usual<'a, const MIXED: bool>(
        &'a self,
        layer: usize,
        body: &'a [u8],
        hash: KeyHash,
    ) -> Usual<'a> {
        self.view.usual::<MIXED>(layer.wrapping_add(1), body, hash)
    }

    #[inline]
    fn is_mixed(&self) -> bool {
        self.view.is_mixed()
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a lookup stands as a whole where it is asked")]
    fn look_up(&self, body: &[u8], hash: KeyHash, matches: impl Fn(&Columns<'_>) -> bool) -> bool {
        self.view.look_up(body, hash, matches)
    }

    #[inline]
    fn prefetch(&self, body: &[u8], hash: KeyHash) {
        self.view.prefetch(body, hash);
    }
}
