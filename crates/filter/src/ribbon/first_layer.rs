//! Splits a ribbon filter into its first layer and its later layers, for the bit-sliced form.
//!
//! The bit-sliced form interleaves filters of the same shape, so that one lookup probes them all
//! ([`sliced`](crate::sliced)). It can contain the first layers of filters, which have 95 % of the
//! keys: the equation of a key in the first layer depends only on the number of blocks, so filters
//! with equally many blocks have the same shape there. The sizes of the later layers depend on
//! which keys were bumped (moved to the next layer because they did not fit). Each filter therefore
//! keeps its own later layers.
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

/// The equation of a key in the first layer, and the block and the class of its start.
#[derive(Clone, Copy, Debug)]
pub(super) struct FirstLayerQuery {
    /// The first of the 64 slots of the equation.
    pub(super) start: usize,
    /// The block of the start.
    pub(super) block: usize,
    /// The class of the start in its bucket, below [`RibbonView::CLASSES`].
    pub(super) class: usize,
    /// Bit i is set if slot `start + i` is part of the equation.
    pub(super) coefficients: u64,
    /// If the key is a member, the exclusive or of the slots in `coefficients`.
    pub(super) fingerprint: u32,
}

impl RibbonView {
    /// Slots of a block.
    #[expect(clippy::as_conversions, reason = "sixty-four")]
    pub(super) const BLOCK_SLOTS: usize = BLOCK_SLOTS as usize;
    /// The number of classes into which the starts of a bucket are divided.
    ///
    /// All keys of a class are bumped, or none of them.
    pub(super) const CLASSES: usize = CLASSES;

    /// Returns the number of blocks of the first layer; 0 in a small filter, which is only a base.
    pub(super) const fn first_layer_blocks(&self) -> u64 {
        let [_, second, _] = self.layers;
        second.first_block
    }

    /// Returns the number of columns of the widest block.
    pub(super) const fn columns(&self) -> u32 {
        self.layout.base_columns()
    }

    /// Returns whether a block has all [`columns`](Self::columns): other blocks lack the last one.
    pub(super) const fn has_last_column(&self, block: u64) -> bool {
        self.layout.columns_of(block) == self.columns()
    }

    /// Returns the query of a key in the first layer.
    #[inline]
    pub(super) fn first_layer_query(&self, hash: KeyHash) -> FirstLayerQuery {
        let [first, ..] = self.layers;
        let Equation { start, coefficients, fingerprint } =
            Shuffle::layer(0).equation(hash, first.starts);
        let class = usize::from(thresholds::class(start));
        let start = usize::try_from(start).expect("a slot of a body in memory");
        let block = start.wrapping_div(Self::BLOCK_SLOTS);
        FirstLayerQuery { start, block, class, coefficients, fingerprint }
    }

    /// Returns a mask of the bumped classes in a block's bucket, for a block of the first layer.
    ///
    /// Bit i is class i.
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

    /// Returns eight slots of a column of a block, from slot 8 · `eighth` on.
    ///
    /// Returns 0 if the block does not have the column.
    pub(super) fn slots_of(&self, body: &[u8], block: u64, column: usize, eighth: usize) -> u8 {
        let (columns, _) = self.block(body, block).expect("the body has all blocks");
        let (columns, _) = columns.as_chunks::<{ size_of::<u64>() }>();
        columns.get(column).and_then(|slots| slots.get(eighth)).copied().unwrap_or(0)
    }

    /// Copies the later layers and the base out of the body.
    pub(super) fn later_layers(&self, body: &[u8]) -> Result<LaterLayers, BuildError> {
        let blocks = self.layout.column_at(self.first_layer_blocks());
        let omitted_len = blocks.checked_mul(COLUMN_LEN).expect("checked when it was parsed");
        let omitted_len = usize::try_from(omitted_len).expect("a part of a body in memory");
        let (_, later) = body.split_at(omitted_len);
        let bytes = AlignedBytes::copy_of(later)?;
        Ok(LaterLayers { view: self.without_first_layer(omitted_len), bytes })
    }
}

/// The later layers and the base of a filter, for the keys that the first layer bumped.
#[derive(Clone, Debug)]
pub(super) struct LaterLayers {
    view: RibbonView,
    bytes: AlignedBytes,
}

impl LaterLayers {
    /// Returns the size in bytes.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Prefetches the blocks and thresholds of a key in the second and third layers.
    pub(super) fn prefetch(&self, hash: KeyHash) {
        self.view.prefetch(&self.bytes, hash);
    }

    /// Returns whether the filter may hold a key that the first layer bumped.
    pub(super) fn may_contain(&self, hash: KeyHash) -> bool {
        self.view.instructions.look_up(self, &self.bytes, hash)
    }
}

/// Lookups begin at the second layer: layer 0 of a lookup is layer 1 of the view.
impl ColumnLookup for LaterLayers {
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
        self.view.fast_path::<MIXED>(layer.wrapping_add(1), body, hash)
    }

    #[inline]
    fn is_mixed(&self) -> bool {
        self.view.is_mixed()
    }

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "the compiler optimizes a lookup together with its caller"
    )]
    fn look_up(&self, body: &[u8], hash: KeyHash, matches: impl Fn(&Columns<'_>) -> bool) -> bool {
        self.view.look_up(body, hash, matches)
    }
}
