//! Compares columns of a ribbon filter with the equation of a key.
//!
//! A block is 64 slots, stored column by column: column j holds bit j of each slot. The equation of
//! a key covers 64 slots from any slot on. It can therefore extend from the block in which it
//! starts (`low`) into the next block (`high`). A key matches if for each column j:
//!
//! ```text
//! slots  =  lower 64 bits of (high[j] : low[j]) >> shift
//! parity(slots & coefficients)  ==  bit j of the fingerprint
//! ```
//!
//! A column matches an absent key with probability 1/2, so the key fails at the second column on
//! average. A loop that stops at the first mismatch would be mispredicted for nearly every key,
//! which costs more than comparing all columns. Columns are therefore compared in groups of eight.

use crate::kernel::operations::Operations;
use crate::kernel::prefetch::prefetch_at;

/// The columns of two adjacent blocks, and the equation of a key to compare them with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns<'a> {
    /// The columns of the block in which the equation starts, 64 bits each, little-endian.
    pub(crate) low: &'a [u8],
    /// The same number of columns of the next block; any bytes if the equation has no slot in it.
    pub(crate) high: &'a [u8],
    pub(crate) equation: BlockEquation,
}

/// The equation of a key: the coefficients of 64 slots, and the parities that they must give.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockEquation {
    /// The slot at which the equation starts. Modulo 64 it is the position in the block.
    pub(crate) shift: u32,
    /// Bit i is set if the parity includes slot `shift + i`.
    pub(crate) coefficients: u64,
    /// Bit j is the expected parity of column j. Bits without a column are ignored.
    pub(crate) fingerprint: u32,
}

impl BlockEquation {
    /// Returns the coefficients as masks of the slots of the first block and of the next block.
    #[inline]
    pub(in crate::kernel) const fn slots(self) -> (u64, u64) {
        let low = self.coefficients.wrapping_shl(self.shift);
        // The bits shifted out of `low`. A shift by `64 - shift` would wrap for a `shift` of 0, so
        // it is split into a shift by 1 and a shift by `63 - shift`.
        let high = (self.coefficients >> 1).wrapping_shr(!self.shift);
        (low, high)
    }
}

/// The columns of the fast path: two adjacent blocks, followed by enough bytes for whole vectors.
///
/// The number of instructions decides the cost of a lookup, so the fast path does not test where a
/// block ends. It reads whole vectors, which can extend past the end of the block, and a mask
/// ignores the lanes that are not columns. The first [`LANES`] columns reject nearly all absent
/// keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnWindow<'a> {
    /// The block in which the equation starts, and the bytes after it.
    pub(crate) window: &'a Window,
    /// The offset of the next block in the window: the length of the first block in bytes.
    pub(crate) next: u8,
    /// The lanes that are columns, in the first and in the second vector of a block.
    pub(crate) masks: &'a [ColumnMask; 2],
    pub(crate) equation: BlockEquation,
}

/// One vector of columns from each of the two blocks.
#[derive(Clone, Copy, Debug)]
pub(in crate::kernel) struct ColumnVectors<'a> {
    pub(in crate::kernel) low: &'a [u8; VECTOR_LEN],
    pub(in crate::kernel) high: &'a [u8; VECTOR_LEN],
}

/// The length of a vector of columns in bytes.
const VECTOR_LEN: usize = LANES * COLUMN_LEN;

/// The lanes of a vector that are columns, in a form for each instruction set.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(all(target_arch = "x86_64", target_feature = "sse2")),
    expect(dead_code, reason = "vector code takes bits, portable code lanes")
)]
pub(crate) struct ColumnMask {
    /// A set bit for each lane that is a column.
    pub(in crate::kernel) bits: u8,
    /// The first four of `bits`, for vectors of four columns.
    pub(in crate::kernel) first_bits: u8,
    /// The last four of `bits`, in the same positions.
    pub(in crate::kernel) second_bits: u8,
    /// Whether the block has columns after this vector.
    has_more: bool,
    /// 0x8000 for each lane that is a column, 0 for the others.
    pub(in crate::kernel) lanes: [u16; LANES],
}

impl ColumnMask {
    /// Returns the masks of the first two vectors of a block of `count` columns.
    pub(crate) fn of(count: u32) -> [Self; 2] {
        [Self::new(count), Self::new(count.saturating_sub(LANES as u32))]
    }

    /// Returns the mask of a vector; `count` columns remain, this vector included.
    fn new(count: u32) -> Self {
        let bits = !u32::MAX.checked_shl(count).unwrap_or(0) as u8;
        let lanes = core::array::from_fn(|lane| u16::from(bits >> lane) << 15);
        let (first_bits, second_bits) = (bits & 0x0f, bits & 0xf0);
        Self { bits, first_bits, second_bits, has_more: count > LANES as u32, lanes }
    }
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

/// The number of columns in a vector, which are compared together.
pub(crate) const LANES: usize = 8;

/// The length of a block's column in bytes: one bit for each of 64 slots.
pub(in crate::kernel) const COLUMN_LEN: usize = 8;

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
