//! Columns and what a key asks of them.
//!
//! ```text
//! slots of column j    64 from the key's start on: (high[j] : low[j]) >> shift
//! for each column j    parity(slots & coefficients) == bit j of the fingerprint
//! ```
//!
//! An absent key fails at the second column on average. A loop that stops there is mispredicted for
//! every key, which costs more than all columns together. Columns are therefore compared eight by
//! eight.

use crate::kernel::operations::Operations;
use crate::kernel::prefetch::prefetch_at;

/// Columns of a block and of the next one, and the equation of a key in them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns<'a> {
    /// The columns of the block in which the key starts, 64 bits LE each.
    pub(crate) low: &'a [u8],
    /// As many columns of the next block; any bytes where the equation has no slot in that block.
    pub(crate) high: &'a [u8],
    pub(crate) equation: BlockEquation,
}

/// The equation of a key, from the first slot of a block on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockEquation {
    /// The slot of the block at which the equation starts, modulo 64.
    pub(crate) shift: u32,
    /// The slots that count, of 64 from the start on.
    pub(crate) coefficients: u64,
    /// The expected parity of each column; bits without a column are ignored.
    pub(crate) fingerprint: u32,
}

impl BlockEquation {
    /// Returns the slots that count in the block of the start, and those in the next block.
    #[inline]
    pub(in crate::kernel) const fn slots(self) -> (u64, u64) {
        let low = self.coefficients.wrapping_shl(self.shift);
        // The bits shifted out: a shift by `64 - shift` in two, of which none is by 64.
        let high = (self.coefficients >> 1).wrapping_shr(!self.shift);
        (low, high)
    }
}

/// The columns of the fast path: at least two vectors of bytes follow each block.
///
/// The instructions of a lookup decide its cost, so none handles the end of a block: whole vectors
/// are read, and a mask ignores the lanes without a column. An absent key rarely reaches the
/// columns after the first [`LANES`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnWindow<'a> {
    /// The block in which the key starts, and the bytes after it.
    pub(crate) window: &'a Window,
    /// The length of the block in bytes.
    pub(crate) next: u8,
    /// The columns in the first vector and in the second.
    pub(crate) masks: &'a [ColumnMask; 2],
    pub(crate) equation: BlockEquation,
}

/// A vector of columns of both blocks.
#[derive(Clone, Copy, Debug)]
pub(in crate::kernel) struct ColumnVectors<'a> {
    pub(in crate::kernel) low: &'a [u8; VECTOR_LEN],
    pub(in crate::kernel) high: &'a [u8; VECTOR_LEN],
}

/// Bytes of a vector of columns.
const VECTOR_LEN: usize = LANES * COLUMN_LEN;

/// The lanes of a vector that are columns, in the forms that the operations take.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(all(target_arch = "x86_64", target_feature = "sse2")),
    expect(dead_code, reason = "vector code takes bits, portable code lanes")
)]
pub(crate) struct ColumnMask {
    /// A bit for each column.
    pub(in crate::kernel) bits: u8,
    /// The bits of the first four columns.
    pub(in crate::kernel) first_bits: u8,
    /// The bits of the second four columns.
    pub(in crate::kernel) second_bits: u8,
    /// Whether columns follow after this vector.
    has_more: bool,
    /// The highest bit of a lane for each column.
    pub(in crate::kernel) lanes: [u16; LANES],
}

impl ColumnMask {
    /// Returns the masks of the first vector and of the second, for `count` columns.
    pub(crate) fn of(count: u32) -> [Self; 2] {
        [Self::new(count), Self::new(count.saturating_sub(LANES as u32))]
    }

    /// Returns the mask of a vector from which on there are `count` columns.
    fn new(count: u32) -> Self {
        let bits = !u32::MAX.checked_shl(count).unwrap_or(0) as u8;
        let lanes = core::array::from_fn(|lane| u16::from(bits >> lane) << 15);
        let (first_bits, second_bits) = (bits & 0x0f, bits & 0xf0);
        Self { bits, first_bits, second_bits, has_more: count > LANES as u32, lanes }
    }
}

/// Two vectors of columns after the longest block that [`ColumnWindow::next`] can express.
pub(super) type Window = [u8; 256 + 2 * VECTOR_LEN];

/// Returns the window that begins at a byte.
///
/// Where the compiler knows that `begin` is not near `usize::MAX`, this takes one comparison.
#[inline]
pub(crate) fn window(body: &[u8], begin: usize) -> Option<&Window> {
    body.get(begin..begin.wrapping_add(size_of::<Window>()))?.first_chunk()
}

impl<'a> ColumnWindow<'a> {
    /// Returns whether the first columns match.
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

    /// Returns whether the second columns match.
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

    /// Returns the columns of both blocks from a byte on, at most one vector after their first.
    #[inline]
    fn vectors(&self, at: usize) -> ColumnVectors<'a> {
        let from = |at: usize| {
            let columns = self.window.get(at..).and_then(<[u8]>::first_chunk);
            columns.expect("the window has two vectors after the longest block")
        };
        ColumnVectors { low: from(at), high: from(at + usize::from(self.next)) }
    }

    /// Prefetches all columns.
    #[inline]
    pub(super) fn prefetch(&self) {
        prefetch_columns(self.window, 0, self.next.into());
    }
}

/// Prefetches a block of `len` bytes and what a lookup reads of the next, at least one vector.
#[inline]
pub(crate) fn prefetch_columns(bytes: &[u8], begin: usize, len: usize) {
    const LINE_LEN: usize = 64;
    let last = len + len.max(VECTOR_LEN) - 1;
    for at in (0..last).step_by(LINE_LEN) {
        prefetch_at(bytes, begin.wrapping_add(at));
    }
    prefetch_at(bytes, begin.wrapping_add(last));
}

/// Columns of a vector, which are compared together.
pub(crate) const LANES: usize = 8;

/// Bytes of a column of a block.
pub(in crate::kernel) const COLUMN_LEN: usize = 8;

/// Returns whether all columns match, however many there are.
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

/// Returns whether up to one vector of columns matches.
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
