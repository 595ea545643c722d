//! Compares columns of a ribbon filter with the equation of a key.
//!
//! A block is 64 slots, stored column by column: column j holds bit j of each slot. The equation of
//! a key covers 64 slots from any slot on. It can therefore extend from its first block (`low`) into the next block
//! (`high`). A key matches if for each column j:
//!
//! ```text
//! slots  =  lower 64 bits of (high[j] : low[j]) >> shift
//! parity(slots & coefficients)  ==  bit j of the fingerprint
//! ```
//!
//! A column matches an absent key with probability 1/2, so the key fails at the second column on
//! average. A loop that stops at the first mismatch would be mispredicted for nearly every key,
//! which costs more than comparing all columns. Columns are therefore compared in groups of eight.

use crate::kernel::column_vectors::{
    BlockEquation, COLUMN_LEN, ColumnMask, ColumnVectors, LANES, VECTOR_LEN,
};
use crate::kernel::operations::Operations;
use crate::kernel::prefetch::prefetch_at;

/// The columns of two adjacent blocks, and the equation of a key to compare them with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns<'a> {
    /// The columns of the equation's first block, 64 bits each, little-endian.
    pub(crate) low: &'a [u8],
    /// The same number of columns of the next block; any bytes if the equation has no slot in it.
    pub(crate) high: &'a [u8],
    pub(crate) equation: BlockEquation,
}

/// The columns of the fast path: two adjacent blocks, followed by enough bytes for whole vectors.
///
/// The number of instructions decides the cost of a lookup, so the fast path does not test where a
/// block ends. It reads whole vectors, which can extend past the end of the block, and a mask
/// ignores the lanes that are not columns. The first [`LANES`] columns reject nearly all absent
/// keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnWindow<'a> {
    /// The equation's first block, and the bytes after it.
    pub(crate) window: &'a Window,
    /// The offset of the next block in the window: the length of the first block in bytes.
    pub(crate) next: u8,
    /// The lanes that are columns, in the first and in the second vector of a block.
    pub(crate) masks: &'a [ColumnMask; 2],
    pub(crate) equation: BlockEquation,
}

/// The bytes that the fast path may read, from the start of the first block on.
///
/// This is the longest block that [`ColumnWindow::next`] can express, and two vectors after it.
pub(super) type Window = [u8; 256 + 2 * VECTOR_LEN];

/// Returns the window that begins at byte `begin`; `None` if the body ends before the window does.
///
/// If the compiler knows that `begin` is far below `usize::MAX`, this is a single comparison.
#[inline]
pub(crate) fn window(body: &[u8], begin: usize) -> Option<&Window> {
    body.get(begin..begin.wrapping_add(size_of::<Window>()))?.first_chunk()
}

impl<'a> ColumnWindow<'a> {
    /// Returns whether the columns of the first vector match.
    #[inline(always)]
    pub(super) fn first_match(&self, operations: impl Operations) -> bool {
        let [mask, _] = self.masks;
        operations.columns_match(self.vectors(0), mask, self.equation)
    }

    /// Returns whether there are columns after the first vector.
    #[inline]
    pub(super) const fn has_second(&self) -> bool {
        let [mask, _] = self.masks;
        mask.has_more
    }

    /// Returns whether the columns of the second vector match.
    #[inline(always)]
    pub(super) fn second_match(&self, operations: impl Operations) -> bool {
        let ([_, mask], equation) = (self.masks, self.equation);
        let fingerprint = equation.fingerprint >> LANES;
        let equation = BlockEquation { fingerprint, ..equation };
        operations.columns_match(self.vectors(VECTOR_LEN), mask, equation)
    }

    /// Returns whether there are columns after the second vector.
    #[inline]
    pub(super) const fn has_third(&self) -> bool {
        let [_, mask] = self.masks;
        mask.has_more
    }

    /// Returns a vector of each block, `at` bytes after the start of the block.
    ///
    /// `at` must not exceed the length of one vector.
    #[inline]
    fn vectors(&self, at: usize) -> ColumnVectors<'a> {
        let from = |at: usize| {
            let columns = self.window.get(at..).and_then(<[u8]>::first_chunk);
            columns.expect("the window has two vectors after the longest block")
        };
        ColumnVectors { low: from(at), high: from(at + usize::from(self.next)) }
    }

    /// Prefetches the columns of both blocks.
    #[inline]
    pub(super) fn prefetch(&self) {
        prefetch_columns(self.window, 0, self.next.into());
    }
}

/// Prefetches a block of `len` bytes at `begin`, and the bytes of the next block to be compared.
///
/// A lookup compares `len` bytes of the next block, but reads at least one vector of it.
#[inline]
pub(crate) fn prefetch_columns(bytes: &[u8], begin: usize, len: usize) {
    const LINE_LEN: usize = 64;
    let last = len + len.max(VECTOR_LEN) - 1;
    for at in (0..last).step_by(LINE_LEN) {
        prefetch_at(bytes, begin.wrapping_add(at));
    }
    prefetch_at(bytes, begin.wrapping_add(last));
}

/// Returns whether all columns match; unlike the fast path, takes any number of columns.
pub(super) fn all_match(columns: &Columns<'_>, operations: impl Operations) -> bool {
    let Columns { low, high, mut equation } = *columns;
    for (low, high) in low.chunks(VECTOR_LEN).zip(high.chunks(VECTOR_LEN)) {
        if !vector_matches(low, high, equation, operations) {
            return false;
        }
        equation.fingerprint >>= LANES;
    }
    true
}

/// Returns whether the columns match, which are at most one vector.
fn vector_matches(
    low: &[u8],
    high: &[u8],
    equation: BlockEquation,
    operations: impl Operations,
) -> bool {
    let mask = ColumnMask::new((low.len() / COLUMN_LEN) as u32);
    if let (Some(low), Some(high)) = (low.first_chunk(), high.first_chunk()) {
        return operations.columns_match(ColumnVectors { low, high }, &mask, equation);
    }
    let [low, high] = [low, high].map(|bytes| {
        let mut vector = [0; VECTOR_LEN];
        let len = bytes.len().min(VECTOR_LEN);
        vector[..len].copy_from_slice(&bytes[..len]);
        vector
    });
    operations.columns_match(ColumnVectors { low: &low, high: &high }, &mask, equation)
}
