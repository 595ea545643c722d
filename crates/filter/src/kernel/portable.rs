//! The operations in plain Rust, which run on every processor. The compiler vectorises them with the
//! instructions of the target.
//!
//! The vector code must return the same results.

use super::block::{Block, block_masks};
use super::column_vectors::{BlockEquation, COLUMN_LEN, ColumnMask, ColumnVectors, LANES};
use super::line::{Line, Probes, line_positions};
use super::substitution::Slots;

#[inline]
pub(super) fn line_contains<const FIELD_BITS: u32>(line: &Line, hash: u64, probes: Probes) -> bool {
    line_positions(FIELD_BITS, hash, probes)
        .all(|bit| line[bit / 8] >> (bit % 8) & ((1 << FIELD_BITS) - 1) != 0)
}

#[inline]
pub(super) fn block_contains(block: &Block, hash: u64) -> bool {
    let words = block.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
    let missing = words.zip(block_masks(hash)).fold(0, |all, (word, mask)| all | (!word & mask));
    missing == 0
}

/// Computes each column's parity by folding its word to a lane of 16 bits, then to one bit.
///
/// After the shifts by 1 and 2, bits 3, 7, 11 and 15 of a lane are the parities of its four groups
/// of four bits. The product with 0x1111 adds these four bits, and bit 15 is the lowest bit of the
/// sum: the parity of the lane. This replaces two further shifts.
///
/// Each step is applied to the array of all columns, so that the compiler vectorises it.
#[inline]
pub(super) fn columns_match(
    columns: ColumnVectors<'_>,
    mask: &ColumnMask,
    equation: BlockEquation,
) -> bool {
    let words = words(columns, equation);
    let halves = words.map(|word| (word ^ word >> 32) as u32);
    // Signed, because SSE2 can only narrow lanes from 32 to 16 bits as signed numbers.
    let mut lanes = halves.map(|half| ((half ^ half << 16).cast_signed() >> 16) as u16);
    for (column, lane) in lanes.iter_mut().enumerate() {
        // Flips one bit if the fingerprint has a 1, so that the parity of a match is always even.
        *lane ^= equation.fingerprint as u16 & 1 << column;
    }
    let lanes = lanes.map(|lane| lane ^ lane << 1);
    let lanes = lanes.map(|lane| lane ^ lane << 2);
    let mut lanes = lanes.map(|lane| (lane & 0x8888).wrapping_mul(0x1111));
    for (lane, mask) in lanes.iter_mut().zip(mask.lanes) {
        *lane &= mask;
    }
    lanes.into_iter().fold(0, |all, lane| all | lane) == 0
}

/// Returns for each column the slots that have a coefficient, in a word whose order is irrelevant.
#[inline]
fn words(columns: ColumnVectors<'_>, equation: BlockEquation) -> [u64; LANES] {
    let (low_slots, high_slots) = equation.slots();
    let (low, high) = (columns.low.as_chunks::<COLUMN_LEN>().0, columns.high.as_chunks().0);
    let mut words = [0; LANES];
    for (word, (low, high)) in words.iter_mut().zip(low.iter().zip(high)) {
        *word = u64::from_le_bytes(*low) & low_slots | u64::from_le_bytes(*high) & high_slots;
    }
    words
}

pub(super) fn substitute(
    slots: &mut Slots,
    coefficients: &[u64],
    fingerprints: &[u32],
    first_column: u32,
) {
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
/// Not every processor has a population count. Instead, a step folds two words to half their width
/// with exclusive or, and packs the results into one word. Three such steps turn eight words into
/// the eight bytes of one word. The last steps then fold all bytes together.
#[inline]
fn parities(words: [u64; LANES]) -> u8 {
    /// Folds two words by `bits`: the first into the bits of `mask`, the second into the others.
    const fn fold(first: u64, second: u64, bits: u32, mask: u64) -> u64 {
        ((first ^ first >> bits) & mask) | ((second ^ second << bits) & !mask)
    }
    let half = |first: usize| fold(words[first], words[first + 4], 32, 0x0000_0000_ffff_ffff);
    let quarter = |first: usize| fold(half(first), half(first + 2), 16, 0x0000_ffff_0000_ffff);
    let bytes = fold(quarter(0), quarter(1), 8, 0x00ff_00ff_00ff_00ff);
    // `bytes` has a byte for each word, in order.
    let bits = bytes ^ bytes >> 4;
    let bits = bits ^ bits >> 2;
    let bits = (bits ^ bits >> 1) & 0x0101_0101_0101_0101;
    // Gathers the lowest bit of each byte in the highest byte.
    (bits.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}
