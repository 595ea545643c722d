//! The inner loop of the ribbon filter: whether the slots that count for a key give its fingerprint,
//! all columns at once and without a branch.
//!
//! ```text
//! for each column j    parity((low[j] & low_slots) | (high[j] & high_slots)) == bit j of f
//! ```
//!
//! A stranger fails at the second column on average; but a loop that stops there is mispredicted for
//! every key, which costs more than all columns together.

use super::Vector;
use crate::KeyHash;
use crate::membership::PREFETCH_DISTANCE;

/// What one key wants to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns<'a> {
    /// The columns of the block in which the key starts, 64 bits LE each; and after them as many of
    /// the next block, unless there is none.
    pub(crate) blocks: &'a [u8],
    /// How many columns of a block count.
    pub(crate) count: u32,
    /// Which slots of either block count. They have no bit in common.
    pub(crate) low_slots: u64,
    pub(crate) high_slots: u64,
    /// What the columns should give; bits without a column do not count.
    pub(crate) fingerprint: u32,
}

impl<'a> Columns<'a> {
    /// Returns the columns of both blocks, equally many. If there is no next block, it is the first
    /// again, of whose slots none counts.
    #[inline]
    pub(super) fn low_and_high(&self) -> Option<(&'a [u8], &'a [u8])> {
        let len = self.count as usize * COLUMN_LEN;
        let high = self.blocks.get(self.blocks.len().checked_sub(len)?..)?;
        Some((self.blocks.get(..len)?, high))
    }
}

/// A filter whose lookups somewhere ask whether columns match. A lookup is compiled once for each
/// kind of vector, as a whole: a kernel that is called for each key would cost as much again as it
/// does.
pub(crate) trait ColumnLookup {
    /// Looks a key up; must be inlined into its caller.
    fn look_up(&self, body: &[u8], hash: KeyHash, matches: impl Fn(&Columns<'_>) -> bool) -> bool;

    /// Asks for what the lookup will read first.
    fn prefetch(&self, body: &[u8], hash: KeyHash);
}

impl Vector {
    /// Looks a key up with the vectors that there are.
    #[inline]
    pub(crate) fn look_up(self, filter: &impl ColumnLookup, body: &[u8], hash: KeyHash) -> bool {
        match self {
            Self::Portable => filter.look_up(body, hash, matches),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Avx2(avx2) => avx2.look_up(filter, body, hash),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Avx512(avx512) => avx512.look_up(filter, body, hash),
        }
    }

    /// Looks many keys up.
    pub(crate) fn look_up_all(
        self,
        filter: &impl ColumnLookup,
        body: &[u8],
        hashes: &[KeyHash],
        answers: &mut [bool],
    ) {
        match self {
            Self::Portable => all(filter, body, hashes, answers, matches),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Avx2(avx2) => avx2.look_up_all(filter, body, hashes, answers),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Avx512(avx512) => avx512.look_up_all(filter, body, hashes, answers),
        }
    }
}

/// Looks many keys up, with what later ones will read on its way.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a vector kernel must be inlined into its own loop")]
pub(super) fn all(
    filter: &impl ColumnLookup,
    body: &[u8],
    hashes: &[KeyHash],
    answers: &mut [bool],
    matches: impl Fn(&Columns<'_>) -> bool,
) {
    assert_eq!(hashes.len(), answers.len(), "one answer for each hash");
    for (index, (hash, answer)) in hashes.iter().zip(answers).enumerate() {
        if let Some(later) = hashes.get(index + PREFETCH_DISTANCE) {
            filter.prefetch(body, *later);
        }
        *answer = filter.look_up(body, *hash, &matches);
    }
}

/// Columns whose parities are found together.
pub(crate) const LANES: usize = 8;

/// Bytes of a column of a block.
const COLUMN_LEN: usize = 8;

/// Returns whether all columns give their bits of the fingerprint; if there are too few, they do.
#[inline]
pub(super) fn matches(columns: &Columns<'_>) -> bool {
    let Some((low, high)) = columns.low_and_high() else { return true };
    let low = low.as_chunks::<COLUMN_LEN>().0.chunks(LANES);
    let high = high.as_chunks::<COLUMN_LEN>().0.chunks(LANES);
    let mut wrong = 0;
    let mut fingerprint = columns.fingerprint;
    for (low, high) in low.zip(high) {
        let mut words = [0; LANES];
        for (word, (low, high)) in words.iter_mut().zip(low.iter().zip(high)) {
            *word = u64::from_le_bytes(*low) & columns.low_slots
                | u64::from_le_bytes(*high) & columns.high_slots;
        }
        let there = !(u32::MAX << low.len()) as u8;
        wrong |= (parities(words) ^ fingerprint as u8) & there;
        fingerprint >>= LANES;
    }
    wrong == 0
}

/// Returns the parity of each word, the first in bit 0.
///
/// Not every processor counts bits. Words are folded two by two into one instead, so that eight take
/// little more than one: two words of 64 bits become one with a half of 32 bits for each, four become
/// one with four quarters, and so on.
#[inline]
pub(crate) fn parities(words: [u64; LANES]) -> u8 {
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
mod tests {
    use alloc::vec::Vec;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// What the columns give, bit by bit.
    fn give(columns: &Columns<'_>) -> u32 {
        let words: Vec<u64> =
            columns.blocks.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let count = columns.count as usize;
        let slots = words[..count].iter().zip(&words[words.len() - count..]);
        slots.enumerate().fold(0, |fingerprint, (column, (low, high))| {
            let both =
                (low & columns.low_slots).count_ones() + (high & columns.high_slots).count_ones();
            fingerprint | (both & 1) << column
        })
    }

    proptest! {
        /// Every kind of vector says of any columns, from none to 32, what counting bits says: of the
        /// fingerprint that they give, of one with a wrong bit, and of any.
        #[test]
        fn columns_are_read_alike(
            bytes in vec(any::<u8>(), 2 * 32 * COLUMN_LEN + 1),
            count in 0..=32_u32,
            last: bool,
            coefficients: u64,
            shift in 0..64_u32,
            wrong in 0..32_u32,
            other: u32,
        ) {
            let blocks = if last { 1 } else { 2 };
            let mut columns = Columns {
                blocks: &bytes[1..=count as usize * COLUMN_LEN * blocks],
                count,
                low_slots: coefficients << shift,
                high_slots: if last { 0 } else { coefficients >> 1 >> (63 - shift) },
                fingerprint: 0,
            };
            let given = give(&columns);
            let beyond = u32::MAX.checked_shl(count).unwrap_or(0);
            for vector in Vector::all() {
                for fingerprint in [given, given | beyond, given ^ 1 << wrong, other] {
                    columns.fingerprint = fingerprint;
                    let matches = (fingerprint ^ given) & !beyond == 0;
                    let asks = Asks(columns);
                    let hash = KeyHash::from_u64(0);
                    prop_assert_eq!(vector.look_up(&asks, &[], hash), matches, "{:?}", vector);
                    let mut answers = [!matches];
                    vector.look_up_all(&asks, &[], &[hash], &mut answers);
                    prop_assert_eq!(answers, [matches], "{:?}", vector);
                }
            }
        }
    }

    struct Asks<'a>(Columns<'a>);

    impl ColumnLookup for Asks<'_> {
        fn look_up(&self, _: &[u8], _: KeyHash, matches: impl Fn(&Columns<'_>) -> bool) -> bool {
            matches(&self.0)
        }

        fn prefetch(&self, _: &[u8], _: KeyHash) {}
    }
}
