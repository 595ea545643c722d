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

/// What one key wants to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns<'a> {
    /// The columns of the block in which the key starts, 64 bits LE each.
    pub(crate) low: &'a [u8],
    /// As many columns of the next block.
    pub(crate) high: &'a [u8],
    /// Which slots of either count. They have no bit in common.
    pub(crate) low_slots: u64,
    pub(crate) high_slots: u64,
    /// What the columns should give; bits without a column do not count.
    pub(crate) fingerprint: u32,
}

/// A lookup that somewhere asks whether columns match. It is compiled once for each kind of vector,
/// as a whole: a kernel that is called for each key would cost as much again as it does.
pub(crate) trait ColumnLookup {
    type Answer;

    /// Looks up; must be inlined into its caller.
    fn run(self, matches: impl Fn(&Columns<'_>) -> bool) -> Self::Answer;
}

impl Vector {
    /// Runs a lookup with the vectors that there are.
    #[inline]
    pub(crate) fn look_up<L: ColumnLookup>(self, lookup: L) -> L::Answer {
        match self {
            Self::Portable => lookup.run(matches),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Avx2(avx2) => avx2.look_up(lookup),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Avx512(avx512) => avx512.look_up(lookup),
        }
    }
}

/// Columns whose parities are found together.
pub(super) const LANES: usize = 8;

/// Returns whether all columns give their bits of the fingerprint.
#[inline]
pub(super) fn matches(columns: &Columns<'_>) -> bool {
    let low = columns.low.as_chunks::<8>().0.chunks(LANES);
    let high = columns.high.as_chunks::<8>().0.chunks(LANES);
    let mut wrong = 0;
    let mut fingerprint = columns.fingerprint;
    for (low, high) in low.zip(high) {
        let mut words = [0; LANES];
        for (word, (low, high)) in words.iter_mut().zip(low.iter().zip(high)) {
            *word = u64::from_le_bytes(*low) & columns.low_slots
                | u64::from_le_bytes(*high) & columns.high_slots;
        }
        let there = !(u32::MAX << low.len().min(high.len())) as u8;
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
        let words = |bytes: &[u8]| -> Vec<u64> {
            bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
        };
        let slots = words(columns.low).into_iter().zip(words(columns.high));
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
            slots in vec(any::<u8>(), 2 * 32 * 8 + 1),
            count in 0..=32_usize,
            coefficients: u64,
            shift in 0..64_u32,
            wrong in 0..32_u32,
            other: u32,
        ) {
            let (low, high) = slots.split_at(32 * 8);
            let mut columns = Columns {
                low: &low[..count * 8],
                high: &high[1..=count * 8],
                low_slots: coefficients << shift,
                high_slots: coefficients >> 1 >> (63 - shift),
                fingerprint: 0,
            };
            let given = give(&columns);
            let beyond = u32::MAX.checked_shl(count as u32).unwrap_or(0);
            for vector in Vector::all() {
                for fingerprint in [given, given | beyond, given ^ 1 << wrong, other] {
                    columns.fingerprint = fingerprint;
                    let matches = (fingerprint ^ given) & !beyond == 0;
                    prop_assert_eq!(vector.look_up(Asks(&columns)), matches, "{:?}", vector);
                }
            }
        }
    }

    struct Asks<'a>(&'a Columns<'a>);

    impl ColumnLookup for Asks<'_> {
        type Answer = bool;

        fn run(self, matches: impl Fn(&Columns<'_>) -> bool) -> bool {
            matches(self.0)
        }
    }
}
