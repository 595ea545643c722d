//! The comparison of a key's columns: whether the slots that count for a key give its fingerprint,
//! all columns at once and without a branch.
//!
//! ```text
//! slots of column j    64 from the key's start on: (high[j] : low[j]) >> shift
//! for each column j    parity(slots & coefficients) == bit j of the fingerprint
//! ```
//!
//! An absent key fails at the second column on average; but a loop that stops there is mispredicted for
//! every key, which costs more than all columns together. Columns are compared eight by eight, by the vectors
//! of the processor or in plain Rust.

use crate::kernel::prefetch::prefetch_at;

/// What one key wants to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns<'a> {
    /// The columns of the block in which the key starts, 64 bits LE each.
    pub(crate) low: &'a [u8],
    /// As many columns of the next block; anything as long where none of its slots counts.
    pub(crate) high: &'a [u8],
    pub(crate) key: Key,
}

/// What a key asks of columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    /// Where in its block the key starts; of this number the lowest six bits count.
    pub(crate) shift: u32,
    /// Which of the 64 slots from there on count.
    pub(crate) coefficients: u64,
    /// What the columns should give; bits without a column do not count.
    pub(crate) fingerprint: u32,
}

/// The same in the usual case, of the first [`LANES`] columns, with other bytes after them.
///
/// What a lookup costs is how many instructions it takes, so that none is spent on the end of blocks:
/// whole vectors are read, and what is no column does not count in the end. Where there are more columns,
/// hardly an absent key comes to them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FewColumns<'a> {
    /// The block in which the key starts, and what follows it.
    pub(crate) window: &'a Window,
    /// After how many bytes the next block begins.
    pub(crate) next: u8,
    /// Which columns there are of the first vector and of the second.
    pub(crate) masks: &'a [ColumnMask; 2],
    pub(crate) key: Key,
}

/// A vector of columns of both blocks.
#[derive(Clone, Copy, Debug)]
pub(in crate::kernel) struct Vectors<'a> {
    pub(in crate::kernel) low: &'a [u8; VECTOR_LEN],
    pub(in crate::kernel) high: &'a [u8; VECTOR_LEN],
}

/// Bytes of a vector of columns.
const VECTOR_LEN: usize = LANES * COLUMN_LEN;

/// Which of [`LANES`] columns there are, in the forms in which lookups take it; and what else they
/// compare with, so that it takes one register to find all of that.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct ColumnMask {
    /// The bit of a number of bits that says whether the number is odd.
    pub(in crate::kernel) one: u64,
    /// A bit for each column.
    pub(in crate::kernel) bits: u8,
    /// The same of the first four columns, and of the others.
    pub(in crate::kernel) first_bits: u8,
    pub(in crate::kernel) second_bits: u8,
    /// The uppermost bit of a lane for each column.
    pub(in crate::kernel) lanes: [u16; LANES],
    /// Whether there are others than these.
    pub(in crate::kernel) has_more: bool,
}

impl ColumnMask {
    /// Those of that many columns that are in the first vector, and in the second.
    pub(crate) fn of(count: u32) -> [Self; 2] {
        [Self::new(count), Self::new(count.saturating_sub(LANES as u32))]
    }

    /// The first of that many columns.
    fn new(count: u32) -> Self {
        let bits = !u32::MAX.checked_shl(count).unwrap_or(0) as u8;
        let lanes = core::array::from_fn(|lane| u16::from(bits >> lane) << 15);
        let (first_bits, second_bits) = (bits & 0x0f, bits & 0xf0);
        Self { one: 1, bits, first_bits, second_bits, lanes, has_more: count > LANES as u32 }
    }
}

/// Two vectors of columns after as many bytes as [`FewColumns::next`] can be.
pub(super) type Window = [u8; 256 + 2 * VECTOR_LEN];

/// Returns what begins at a byte. Where the compiler knows that this is not near the largest number
/// there is, it takes one comparison to know that all of it is there.
#[inline]
pub(crate) fn window(body: &[u8], begin: usize) -> Option<&Window> {
    body.get(begin..begin.wrapping_add(size_of::<Window>()))?.first_chunk()
}

impl<'a> FewColumns<'a> {
    /// Returns whether the first columns match.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "assembly looks larger to the compiler than it is")]
    pub(in crate::kernel) fn first_match(&self, matching: impl MatchColumns) -> bool {
        let [mask, _] = self.masks;
        matching(self.vectors(0), mask, self.key)
    }

    /// Returns whether there are others after them.
    #[inline]
    pub(in crate::kernel) fn has_second(&self) -> bool {
        let [mask, _] = self.masks;
        mask.has_more
    }

    /// Returns whether the second columns match.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "assembly looks larger to the compiler than it is")]
    pub(in crate::kernel) fn second_match(&self, matching: impl MatchColumns) -> bool {
        let ([_, mask], key) = (self.masks, self.key);
        let key = Key { fingerprint: key.fingerprint >> LANES, ..key };
        matching(self.vectors(VECTOR_LEN), mask, key)
    }

    /// Returns whether there are others after these.
    #[inline]
    pub(in crate::kernel) fn has_third(&self) -> bool {
        let [_, mask] = self.masks;
        mask.has_more
    }

    /// Returns the columns of either block that begin after so many bytes, at most one vector.
    #[inline]
    fn vectors(&self, at: usize) -> Vectors<'a> {
        let from = |at: usize| {
            let columns = self.window.get(at..).and_then(<[u8]>::first_chunk);
            columns.expect("the window has two vectors after as many bytes")
        };
        Vectors { low: from(at), high: from(at + usize::from(self.next)) }
    }

    /// Asks the processor to load all columns, and does not wait for them.
    #[inline]
    pub(in crate::kernel) fn prefetch(&self) {
        prefetch_columns(self.window, 0, self.next.into());
    }
}

/// Asks the processor to load a block of so many bytes and what is read of the next, a vector at least,
/// and does not wait for them.
#[inline]
pub(crate) fn prefetch_columns(bytes: &[u8], begin: usize, len: usize) {
    const LINE_LEN: usize = 64;
    let last = len + len.max(VECTOR_LEN) - 1;
    for at in (0..last).step_by(LINE_LEN) {
        prefetch_at(bytes, begin.wrapping_add(at));
    }
    prefetch_at(bytes, begin.wrapping_add(last));
}

/// Columns whose parities are found together.
pub(crate) const LANES: usize = 8;

/// Bytes of a column of a block.
pub(super) const COLUMN_LEN: usize = 8;

/// Says whether the columns that are there give their lowest bits of the fingerprint.
pub(in crate::kernel) trait MatchColumns:
    Fn(Vectors<'_>, &ColumnMask, Key) -> bool + Copy
{
}

impl<F: Fn(Vectors<'_>, &ColumnMask, Key) -> bool + Copy> MatchColumns for F {}

/// Returns whether all columns match.
pub(in crate::kernel) fn all_match(columns: &Columns<'_>, matching: &impl MatchColumns) -> bool {
    let Columns { low, high, mut key } = *columns;
    let mut vectors = low.chunks(VECTOR_LEN).zip(high.chunks(VECTOR_LEN));
    vectors.all(|(low, high)| {
        let matches = some_match(low, high, low.len() / COLUMN_LEN, key, matching);
        key.fingerprint >>= LANES;
        matches
    })
}

/// Returns whether so many columns match, the first of a vector; what there is after them is anything, or not
/// there.
fn some_match(
    low: &[u8],
    high: &[u8],
    count: usize,
    key: Key,
    matching: &impl MatchColumns,
) -> bool {
    let mask = ColumnMask::new(count as u32);
    if let (Some(low), Some(high)) = (low.first_chunk(), high.first_chunk()) {
        return matching(Vectors { low, high }, &mask, key);
    }
    let [low, high] = [low, high].map(|bytes| {
        let mut vector = [0; VECTOR_LEN];
        let len = bytes.len().min(VECTOR_LEN);
        vector[..len].copy_from_slice(&bytes[..len]);
        vector
    });
    matching(Vectors { low: &low, high: &high }, &mask, key)
}

/// Returns whether columns give their bits of the fingerprint, in plain Rust.
///
/// Words are folded to half their length until there is a lane of 16 bits for each; what a product of
/// such a lane has at the top is the sum of four of its bits, so that the last two steps are one. Written as
/// arrays, each step is one for all columns, which a compiler turns into the vectors that every
/// processor of its target has.
#[inline]
pub(in crate::kernel) fn plain_match(vectors: Vectors<'_>, mask: &ColumnMask, key: Key) -> bool {
    let Vectors { low, high } = vectors;
    let words = words(low.as_chunks().0, high.as_chunks().0, key.shift, key.coefficients);
    let halves = words.map(|word| (word ^ word >> 32) as u32);
    // With its sign, as the instruction that makes eight lanes of twice four does it.
    let mut lanes = halves.map(|half| ((half ^ half << 16).cast_signed() >> 16) as u16);
    for (column, lane) in lanes.iter_mut().enumerate() {
        // One bit more where the fingerprint has one: none may be odd then.
        *lane ^= key.fingerprint as u16 & 1 << column;
    }
    let lanes = lanes.map(|lane| lane ^ lane << 1);
    let lanes = lanes.map(|lane| lane ^ lane << 2);
    let mut lanes = lanes.map(|lane| (lane & 0x8888).wrapping_mul(0x1111));
    for (lane, mask) in lanes.iter_mut().zip(mask.lanes) {
        *lane &= mask;
    }
    lanes.into_iter().fold(0, |all, lane| all | lane) == 0
}

/// Returns of each column the slots that count, in any order.
#[inline]
fn words(
    low: &[[u8; COLUMN_LEN]],
    high: &[[u8; COLUMN_LEN]],
    shift: u32,
    coefficients: u64,
) -> [u64; LANES] {
    let low_slots = coefficients.wrapping_shl(shift);
    // What was shifted out: `64 - shift` in two shifts, of which none is by 64.
    let high_slots = (coefficients >> 1).wrapping_shr(!shift);
    let mut words = [0; LANES];
    for (word, (low, high)) in words.iter_mut().zip(low.iter().zip(high)) {
        *word = u64::from_le_bytes(*low) & low_slots | u64::from_le_bytes(*high) & high_slots;
    }
    words
}
