//! The first layer of a filter, and the later ones without it: for filters whose first layers are bit-sliced,
//! see [`sliced`](crate::sliced).
//!
//! Nineteen keys of twenty end in the first layer, and where they are there depends on nothing but the
//! number of its blocks. How large the later layers are depends on which keys were bumped, so that they
//! differ from filter to filter, and each filter keeps its own.
#![warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)]

use super::equation::{Equation, Shuffle};
use super::layout::{BLOCK_SLOTS, COLUMN_LEN};
use super::stored::RibbonView;
use super::thresholds::{self, BUCKET_STARTS, CLASSES};
use crate::error::BuildError;
use crate::hash::KeyHash;
use crate::kernel::{ColumnLookup, Columns, FastPath};
use crate::memory::AlignedBytes;
use crate::stored_view::StoredView;

/// What a key asks of the first layer.
#[derive(Clone, Copy, Debug)]
pub(super) struct FirstLook {
    /// The slot from which on 64 may count.
    pub(super) start: usize,
    /// The block of that slot.
    pub(super) block: usize,
    /// Which of the block's classes of starts it is in, of [`RibbonView::CLASSES`].
    pub(super) class: usize,
    /// Which slots count, the lowest bit for the first.
    pub(super) coefficients: u64,
    /// What their exclusive or must be.
    pub(super) fingerprint: u32,
}

impl RibbonView {
    /// Slots of a block.
    #[expect(clippy::as_conversions, reason = "sixty-four")]
    pub(super) const BLOCK_SLOTS: usize = BLOCK_SLOTS as usize;
    /// Classes of starts, of which each is bumped as a whole.
    pub(super) const CLASSES: usize = CLASSES;

    /// Returns the number of blocks of the first layer; none if there are only a few keys.
    pub(super) const fn first_layer_blocks(&self) -> u64 {
        let [_, second, _] = self.layers;
        second.first_block
    }

    /// Returns the number of columns of the widest block.
    pub(super) const fn columns(&self) -> u32 {
        self.layout.base_columns()
    }

    /// Returns whether a block has the last of these columns.
    pub(super) const fn has_last_column(&self, block: u64) -> bool {
        self.layout.columns_of(block) == self.columns()
    }

    /// Returns what a key asks of the first layer.
    #[inline]
    pub(super) fn first_look(&self, hash: KeyHash) -> FirstLook {
        let [first, ..] = self.layers;
        let Equation { start, coefficients, fingerprint } =
            Shuffle::layer(0).equation(hash, first.starts);
        let class = usize::from(thresholds::class(start));
        let start = usize::try_from(start).expect("a slot of a body in memory");
        let block = start.wrapping_div(Self::BLOCK_SLOTS);
        FirstLook { start, block, class, coefficients, fingerprint }
    }

    /// Returns a bit for each class of starts of a block of the first layer that was bumped.
    pub(super) fn bumped_classes(&self, body: &[u8], block: u64) -> u8 {
        let [first, ..] = self.layers;
        let first_start = block.wrapping_mul(BLOCK_SLOTS);
        let bucket = first_start.wrapping_sub(first_start % BUCKET_STARTS);
        (0..CLASSES).fold(0, |all, class| {
            let start = bucket.wrapping_add(thresholds::first_start(class));
            let bumped = thresholds::bumped(body, first.thresholds_at, start) == Some(true);
            all | u8::from(bumped) << class
        })
    }

    /// Returns eight slots of a block in one of its columns; zero if it has not so many.
    pub(super) fn slots_of(&self, body: &[u8], block: u64, column: usize, eighth: usize) -> u8 {
        let (columns, _) = self.block(body, block).expect("the body has all blocks");
        let (columns, _) = columns.as_chunks::<{ size_of::<u64>() }>();
        columns.get(column).and_then(|slots| slots.get(eighth)).copied().unwrap_or(0)
    }

    /// Copies all but the first layer.
    pub(super) fn later_layers(&self, body: &[u8]) -> Result<LaterLayers, BuildError> {
        let blocks = self.layout.column_at(self.first_layer_blocks());
        let left_out = blocks.checked_mul(COLUMN_LEN).expect("checked when it was parsed");
        let left_out = usize::try_from(left_out).expect("a part of a body in memory");
        let (_, later) = body.split_at(left_out);
        let bytes = AlignedBytes::copy_of(later)?;
        Ok(LaterLayers { view: self.without_first_layer(left_out), bytes })
    }
}

/// All but the first layer: what is asked of the keys that it bumped.
#[derive(Clone, Debug)]
pub(super) struct LaterLayers {
    view: RibbonView,
    bytes: AlignedBytes,
}

impl LaterLayers {
    /// Returns how many bytes it takes.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Asks the processor to load what a key has in the second layer, or in the third.
    pub(super) fn prefetch(&self, hash: KeyHash) {
        self.view.prefetch(&self.bytes, hash);
    }

    /// Returns whether the filter may hold a key that the first layer bumped.
    pub(super) fn may_contain(&self, hash: KeyHash) -> bool {
        self.view.instructions.look_up(self, &self.bytes, hash)
    }
}

/// A lookup that begins with the second layer, as if that were the first.
impl ColumnLookup for LaterLayers {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a lookup stands as a whole where it is asked")]
    fn fast_path<'a, const MIXED: bool>(
        &'a self,
        layer: usize,
        body: &'a [u8],
        hash: KeyHash,
    ) -> FastPath<'a> {
        self.view.fast_path::<MIXED>(layer.wrapping_add(1), body, hash)
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
}
