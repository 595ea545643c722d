//! The inner loop of the ribbon filter: whether the slots that count for a key give its fingerprint,
//! all columns at once and without a branch.
//!
//! ```text
//! slots of column j    64 from the key's start on: (high[j] : low[j]) >> shift
//! for each column j    parity(slots & coefficients) == bit j of the fingerprint
//! ```
//!
//! A stranger fails at the second column on average; but a loop that stops there is mispredicted for
//! every key, which costs more than all columns together.

#[cfg(all(target_arch = "x86_64", not(miri)))]
use super::columns_sse2::columns_match as baseline_columns_match;
use super::{Vector, prefetch_at};
use crate::KeyHash;
use crate::membership::CACHED_LEN;

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
use matches_few as baseline_columns_match;

/// What one key wants to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns<'a> {
    /// The columns of the block in which the key starts, 64 bits LE each.
    pub(crate) low: &'a [u8],
    /// As many columns of the next block; anything as long where none of its slots counts.
    pub(crate) high: &'a [u8],
    /// Where in its block the key starts, below 64.
    pub(crate) shift: u32,
    /// Which of the 64 slots from there on count.
    pub(crate) coefficients: u64,
    /// What the columns should give; bits without a column do not count.
    pub(crate) fingerprint: u32,
}

/// The same in the usual case: at most [`LANES`] columns, with other bytes after them.
///
/// What a lookup costs is how many instructions it takes, so that none is spent on the end of blocks:
/// whole vectors are read, and what is no column does not count in the end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FewColumns<'a> {
    /// The block in which the key starts, and what follows it.
    pub(crate) window: &'a Window,
    /// After how many bytes the next block begins.
    pub(crate) next: u8,
    /// Which columns there are.
    pub(crate) there: &'a There,
    /// As of [`Columns`]; of this number the lowest six bits count.
    pub(crate) shift: u32,
    /// As of [`Columns`].
    pub(crate) coefficients: u64,
    pub(crate) fingerprint: u32,
}

/// Which of [`LANES`] columns there are, in the forms in which lookups take it; and what else they
/// compare with, so that it takes one register to find all of that.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct There {
    /// The bit of a number of bits that says whether the number is odd.
    pub(super) one: u64,
    /// A bit for each column.
    pub(super) bits: u8,
    /// The same of the first four columns, and of the others.
    pub(super) first_bits: u8,
    pub(super) second_bits: u8,
    /// The uppermost bit of a lane for each column.
    pub(super) lanes: [u16; LANES],
}

impl There {
    /// That many columns, the first ones; or all, if there are more.
    pub(crate) fn new(count: u32) -> Self {
        let bits = !u32::MAX.checked_shl(count).unwrap_or(0) as u8;
        let lanes = core::array::from_fn(|lane| u16::from(bits >> lane) << 15);
        Self { one: 1, bits, first_bits: bits & 0x0f, second_bits: bits & 0xf0, lanes }
    }
}

/// A vector of columns after as many bytes as [`FewColumns::next`] can be.
type Window = [u8; 256 + LANES * COLUMN_LEN];

/// Returns what begins at a byte. Where the compiler knows that this is not near the largest number
/// there is, it takes one comparison to know that all of it is there.
#[inline]
pub(crate) fn window(body: &[u8], begin: usize) -> Option<&Window> {
    body.get(begin..begin.wrapping_add(size_of::<Window>()))?.first_chunk()
}

impl<'a> FewColumns<'a> {
    /// Returns a vector of columns of either block.
    #[inline]
    pub(super) fn low_and_high(&self) -> [&'a [u8; LANES * COLUMN_LEN]; 2] {
        let from = |at: usize| {
            let columns = self.window.get(at..).and_then(<[u8]>::first_chunk);
            columns.expect("the window has a vector after as many bytes")
        };
        [from(0), from(self.next.into())]
    }

    /// Asks the processor to load all columns, and does not wait for them.
    #[inline]
    fn prefetch(&self) {
        prefetch_columns(self.window, 0, self.next.into());
    }
}

/// Asks the processor to load a block of so many bytes and what is read of the next, a vector at least,
/// and does not wait for them.
#[inline]
pub(crate) fn prefetch_columns(bytes: &[u8], begin: usize, len: usize) {
    const LINE_LEN: usize = 64;
    let last = len + len.max(LANES * COLUMN_LEN) - 1;
    for at in (0..last).step_by(LINE_LEN) {
        prefetch_at(bytes, begin.wrapping_add(at));
    }
    prefetch_at(bytes, begin.wrapping_add(last));
}

/// What a key comes to in a layer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Usual<'a> {
    /// The usual case.
    Columns(FewColumns<'a>),
    /// It was sent on to the next layer.
    Bumped,
    /// Something that takes a longer look.
    Unusual,
}

/// A filter whose lookups somewhere ask whether columns match. A lookup is compiled once for each
/// kind of vector, as a whole: a kernel that is called for each key would cost as much again as it
/// does.
pub(crate) trait ColumnLookup {
    /// Finds what a key asks of a layer, without a loop; must be inlined into its caller.
    fn usual<'a, const MIXED: bool>(
        &'a self,
        layer: usize,
        body: &'a [u8],
        hash: KeyHash,
    ) -> Usual<'a>;

    /// Returns whether blocks differ in how many columns they have, which takes some more steps.
    fn is_mixed(&self) -> bool;

    /// Looks any key up, the usual ones too; must be inlined into its caller.
    fn look_up(&self, body: &[u8], hash: KeyHash, matches: impl Fn(&Columns<'_>) -> bool) -> bool;

    /// Asks the processor to load what a lookup will read.
    fn prefetch(&self, body: &[u8], hash: KeyHash);
}

impl Vector {
    /// Looks a key up with the vectors that there are.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "assembly looks larger to the compiler than it is")]
    pub(crate) fn look_up(self, filter: &impl ColumnLookup, body: &[u8], hash: KeyHash) -> bool {
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        if let Self::Avx512(avx512) = self {
            return avx512.look_up_inlined(filter, body, hash);
        }
        if filter.is_mixed() || self.is_twin() {
            return self.look_up_apart(filter, body, hash);
        }
        let usual = filter.usual::<false>(0, body, hash);
        answer(filter, body, hash, usual, baseline_columns_match)
    }

    /// As [`look_up`](Self::look_up), for what would be in the way of what is shorter.
    #[inline(never)]
    fn look_up_apart(self, filter: &impl ColumnLookup, body: &[u8], hash: KeyHash) -> bool {
        let usual = usual(filter, body, hash);
        if self.is_twin() {
            answer(filter, body, hash, usual, matches_few)
        } else {
            answer(filter, body, hash, usual, baseline_columns_match)
        }
    }

    /// Returns whether these are not the best that every processor of this target has.
    #[inline]
    fn is_twin(self) -> bool {
        self == Self::Portable && Self::baseline() != Self::Portable
    }

    /// Looks many keys up.
    pub(crate) fn look_up_all(
        self,
        filter: &impl ColumnLookup,
        body: &[u8],
        hashes: &[KeyHash],
        answers: &mut [bool],
    ) {
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        if let Self::Avx512(avx512) = self {
            return avx512.look_up_all(filter, body, hashes, answers);
        }
        if self.is_twin() {
            return all(filter, body, hashes, answers, |hash, usual| {
                answer(filter, body, hash, usual, matches_few)
            });
        }
        all(filter, body, hashes, answers, |hash, usual| {
            answer(filter, body, hash, usual, baseline_columns_match)
        });
    }
}

/// Keys of which a batch finds the columns before it looks into them.
const BATCH: usize = 32;

/// Looks many keys up; `answer` says what follows from what a key came to in the first layer.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a vector kernel must be inlined into its own loop")]
pub(super) fn all(
    filter: &impl ColumnLookup,
    body: &[u8],
    hashes: &[KeyHash],
    answers: &mut [bool],
    answer: impl Fn(KeyHash, Usual<'_>) -> bool,
) {
    assert_eq!(hashes.len(), answers.len(), "one answer for each hash");
    if body.len() <= CACHED_LEN {
        for (hash, to) in hashes.iter().zip(answers) {
            *to = answer(*hash, filter.usual::<true>(0, body, *hash));
        }
        return;
    }
    // Where a key's columns are is found once, and remembered until they are there.
    let mut found = [Usual::Unusual; BATCH];
    for (hashes, answers) in hashes.chunks(BATCH).zip(answers.chunks_mut(BATCH)) {
        for (found, hash) in found.iter_mut().zip(hashes) {
            *found = filter.usual::<true>(0, body, *hash);
            if let Usual::Columns(columns) = found {
                columns.prefetch();
            }
        }
        for ((found, hash), to) in found.iter().zip(hashes).zip(answers) {
            *to = answer(*hash, *found);
        }
    }
}

/// Finds what a key asks of the first layer.
#[inline(always)]
#[expect(clippy::inline_always, reason = "it must be compiled for the vectors of its caller")]
pub(super) fn usual<'a>(filter: &'a impl ColumnLookup, body: &'a [u8], hash: KeyHash) -> Usual<'a> {
    if filter.is_mixed() {
        filter.usual::<true>(0, body, hash)
    } else {
        filter.usual::<false>(0, body, hash)
    }
}

/// Answers with what a key came to in the first layer; `few` says whether columns match in the usual case.
#[inline(always)]
#[expect(clippy::inline_always, reason = "assembly looks larger to the compiler than it is")]
fn answer(
    filter: &impl ColumnLookup,
    body: &[u8],
    hash: KeyHash,
    usual: Usual<'_>,
    few: impl Fn(&FewColumns<'_>) -> bool,
) -> bool {
    match usual {
        Usual::Columns(columns) => few(&columns),
        Usual::Bumped => look_up_bumped(filter, body, hash, few),
        Usual::Unusual => look_up_any(filter, body, hash),
    }
}

/// Looks a key up that the first layer bumped. Not inlined, so that what comes first stays short.
#[cold]
#[inline(never)]
fn look_up_bumped(
    filter: &impl ColumnLookup,
    body: &[u8],
    hash: KeyHash,
    few: impl Fn(&FewColumns<'_>) -> bool,
) -> bool {
    match filter.usual::<true>(1, body, hash) {
        Usual::Columns(columns) => few(&columns),
        Usual::Bumped | Usual::Unusual => look_up_any(filter, body, hash),
    }
}

#[cold]
#[inline(never)]
fn look_up_any(filter: &impl ColumnLookup, body: &[u8], hash: KeyHash) -> bool {
    filter.look_up(body, hash, matches)
}

/// Columns whose parities are found together.
pub(crate) const LANES: usize = 8;

/// Bytes of a column of a block.
const COLUMN_LEN: usize = 8;

/// Returns whether all columns give their bits of the fingerprint.
fn matches(columns: &Columns<'_>) -> bool {
    let Columns { low, high, shift, coefficients, fingerprint } = *columns;
    let [low, high] = [low, high].map(|bytes| bytes.as_chunks::<COLUMN_LEN>().0.chunks(LANES));
    let mut wrong = 0;
    for ((low, high), chunk) in low.zip(high).zip(0..) {
        let odd = odd(low, high, shift, coefficients);
        let there = !(u32::MAX << low.len()) as u8;
        wrong |= (odd ^ (fingerprint >> (chunk * LANES)) as u8) & there;
    }
    wrong == 0
}

/// The same in the usual case.
///
/// Words are folded to half their length until there is a lane of 16 bits for each; what a product of
/// such a lane has at the top is the sum of four of its bits, so that the last two steps are one. Written as
/// arrays, each step is one for all columns, which a compiler turns into the vectors that every
/// processor of its target has.
#[inline]
fn matches_few(columns: &FewColumns<'_>) -> bool {
    let [low, high] = columns.low_and_high().map(|bytes| bytes.as_chunks::<COLUMN_LEN>().0);
    let words = words(low, high, columns.shift, columns.coefficients);
    let halves = words.map(|word| (word ^ word >> 32) as u32);
    // With its sign, as the instruction that makes eight lanes of twice four does it.
    let mut lanes = halves.map(|half| ((half ^ half << 16).cast_signed() >> 16) as u16);
    for (column, lane) in lanes.iter_mut().enumerate() {
        // One bit more where the fingerprint has one: none may be odd then.
        *lane ^= columns.fingerprint as u16 & 1 << column;
    }
    let lanes = lanes.map(|lane| lane ^ lane << 1);
    let lanes = lanes.map(|lane| lane ^ lane << 2);
    let mut lanes = lanes.map(|lane| (lane & 0x8888).wrapping_mul(0x1111));
    for (lane, there) in lanes.iter_mut().zip(columns.there.lanes) {
        *lane &= there;
    }
    lanes.into_iter().fold(0, |all, lane| all | lane) == 0
}

/// Returns for each of at most [`LANES`] columns whether an odd number of the slots that count is
/// set.
#[inline]
fn odd(low: &[[u8; COLUMN_LEN]], high: &[[u8; COLUMN_LEN]], shift: u32, coefficients: u64) -> u8 {
    parities(words(low, high, shift, coefficients))
}

/// Returns of each of at most [`LANES`] columns the slots that count, in any order.
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

/// Returns the parity of each word, the first in bit 0.
///
/// Not every processor counts bits. Words are folded two by two into one instead, so that eight take
/// little more than one: two words of 64 bits become one with a half of 32 bits for each, four become
/// one with four quarters, and so on.
#[inline]
pub(super) fn parities(words: [u64; LANES]) -> u8 {
    /// Folds both words, the first into those bits that are set in the mask.
    const fn fold(first: u64, second: u64, bits: u32, mask: u64) -> u64 {
        ((first ^ first >> bits) & mask) | ((second ^ second << bits) & !mask)
    }
    let half = |first: usize| fold(words[first], words[first + 4], 32, 0x0000_0000_ffff_ffff);
    let quarter = |first: usize| fold(half(first), half(first + 2), 16, 0x0000_ffff_0000_ffff);
    let bytes = fold(quarter(0), quarter(1), 8, 0x00ff_00ff_00ff_00ff);
    // A byte for each word, in their order.
    let bits = bytes ^ bytes >> 4;
    let bits = bits ^ bits >> 2;
    let bits = (bits ^ bits >> 1) & 0x0101_0101_0101_0101;
    // Gathers the lowest bits of the bytes in the uppermost byte.
    (bits.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

#[cfg(test)]
mod tests;
