//! The inner loop of building a ribbon filter: back substitution, from the last slot of some to the
//! first.
//!
//! ```text
//! column j   slots after the present one, 63 of them
//!            × the coefficients of the present slot's row        their parity ^ bit j of the fingerprint
//!            → what the present slot must be                     moves in at bit 0
//! ```
//!
//! Each slot waits for the one after it; so what counts is how many steps in a row that takes.

use super::columns::LANES;
use super::vector::Vector;

/// Of each of some columns the 64 slots from the present one on, in bit 0.
pub(crate) type Slots = [u64; LANES];

impl Vector {
    /// Moves on to the left by as many slots as there are rows, in groups of columns. A slot without a
    /// row, which may be anything, has neither coefficients nor a fingerprint, and becomes 0.
    pub(crate) fn substitute(
        self,
        columns: &mut [Slots],
        coefficients: &[u64],
        fingerprints: &[u32],
    ) {
        for (group, slots) in (0..).zip(columns) {
            let first_column = group * LANES as u32;
            match self {
                #[cfg(all(target_arch = "x86_64", feature = "std"))]
                Self::Avx512(avx512) => {
                    avx512.substitute(slots, coefficients, fingerprints, first_column);
                }
                _ => substitute(slots, coefficients, fingerprints, first_column),
            }
        }
    }
}

/// The same for one group of columns, in plain Rust.
fn substitute(slots: &mut Slots, coefficients: &[u64], fingerprints: &[u32], first_column: u32) {
    for (coefficients, fingerprint) in coefficients.iter().zip(fingerprints).rev() {
        let odd = parities(slots.map(|slots| slots << 1 & coefficients));
        let present = u64::from(odd) ^ u64::from(fingerprint >> first_column);
        for (column, slots) in slots.iter_mut().enumerate() {
            *slots = *slots << 1 | present >> column & 1;
        }
    }
}

/// Returns the parity of each word, the first in bit 0.
///
/// Not every processor counts bits. Words are folded two by two into one instead, so that eight take
/// little more than one: two words of 64 bits become one with a half of 32 bits for each, four become
/// one with four quarters, and so on.
#[inline]
fn parities(words: [u64; LANES]) -> u8 {
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

    proptest! {
        /// Every kind of vector finds the slots that solve the rows, one by one and bit by bit.
        #[test]
        fn slots_solve_their_rows(
            before in vec(any::<Slots>(), 4),
            rows in vec((any::<u64>(), any::<u32>()), 0..=70),
            groups in 0..=4_usize,
        ) {
            // Bit 0 belongs to the slot itself, and nothing stands there before.
            let (coefficients, fingerprints): (Vec<u64>, Vec<u32>) =
                rows.iter().map(|(coefficients, fingerprint)| (coefficients | 1, *fingerprint)).unzip();
            for vector in Vector::all() {
                let mut columns = before[..groups].to_vec();
                for row in (0..rows.len()).rev() {
                    let last = columns.clone();
                    vector.substitute(&mut columns, &coefficients[row..=row], &fingerprints[row..=row]);
                    let pairs = columns.iter().flatten().zip(last.iter().flatten());
                    for (column, (now, then)) in pairs.enumerate() {
                        prop_assert_eq!(now & !1, then << 1);
                        let odd = (now & coefficients[row]).count_ones() & 1;
                        prop_assert_eq!(odd, fingerprints[row] >> column & 1, "{:?}", vector);
                    }
                }
                let mut at_once = before[..groups].to_vec();
                vector.substitute(&mut at_once, &coefficients, &fingerprints);
                prop_assert_eq!(&at_once, &columns, "{:?}", vector);
            }
        }
    }

    #[test]
    fn a_slot_without_a_row_becomes_zero() {
        for vector in Vector::all() {
            let mut columns = [[u64::MAX; LANES]];
            vector.substitute(&mut columns, &[0], &[0]);
            assert_eq!(columns, [[!1; LANES]], "{vector:?}");
        }
    }
}
