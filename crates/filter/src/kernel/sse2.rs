//! The comparison of a ribbon filter's columns in SSE2, the 128-bit vectors of x86-64.
//!
//! A key matches a column if the parity of the equation's slots in that column is the column's bit
//! of the fingerprint. These steps compute the parities of four columns:
//!
//! ```text
//! and, or     selects the slots of the equation from both blocks: one 64-bit word per column
//! fold        halves each word by exclusive or, then reduces each 4 bits to one: 8 bits remain
//! add         multiplies by 0x1111 and adds, so that bit 15 is the parity of the 8 bits
//! compare     with the fingerprint; if the columns match, the same for the other four columns
//! ```
//!
//! The other operations gain nothing from 128-bit vectors.

use core::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_and_si128, _mm_castps_si128, _mm_castsi128_ps, _mm_loadu_si128,
    _mm_madd_epi16, _mm_movemask_ps, _mm_or_si128, _mm_set1_epi16, _mm_set1_epi32, _mm_set1_epi64x,
    _mm_shuffle_ps, _mm_slli_epi32, _mm_xor_si128,
};

use super::column_vectors::{BlockEquation, ColumnMask, ColumnVectors};
use super::operations::Operations;

/// Proof that the processor has SSE2, as all processors of this target have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Sse2(());

impl Sse2 {
    #[expect(clippy::unnecessary_wraps, reason = "as the other sets, which may be absent")]
    pub(super) const fn detect() -> Option<Self> {
        Some(Self(()))
    }
}

impl Operations for Sse2 {
    /// Compares four columns, and the other four only if these match.
    ///
    /// For 15 of 16 absent keys the branch skips the second half.
    #[inline(always)]
    fn columns_match(
        self,
        columns: ColumnVectors<'_>,
        mask: &ColumnMask,
        equation: BlockEquation,
    ) -> bool {
        let fingerprint = equation.fingerprint as u8;
        let (low_slots, high_slots) = equation.slots();
        let slots = [broadcast(low_slots), broadcast(high_slots)];
        let (low, high) = (columns.low.as_chunks().0, columns.high.as_chunks().0);
        let ([low_0, low_1], [high_0, high_1]) = (low, high) else { unreachable!("two halves") };
        let first = parities(low_0, high_0, slots);
        if (first ^ fingerprint) & mask.first_bits != 0 {
            return false;
        }
        let second = parities(low_1, high_1, slots);
        (second << 4 ^ fingerprint) & mask.second_bits == 0
    }
}

#[inline(always)]
fn broadcast(word: u64) -> __m128i {
    // SAFETY: the processor has SSE2, as all processors of this target have.
    unsafe { _mm_set1_epi64x(word.cast_signed()) }
}

/// Returns the parities of an equation's slots in four columns, the first column in bit 0.
///
/// `low` and `high` are the columns of the two adjacent blocks. `low_slots` and `high_slots` mark
/// the slots of the equation in each block.
#[inline(always)]
fn parities(low: &[u8; 32], high: &[u8; 32], [low_slots, high_slots]: [__m128i; 2]) -> u8 {
    // SAFETY: the processor has SSE2, as all processors of this target have. The loads are of 16
    // bytes each, from byte 0 and 16 of references to 32 readable bytes, and take any alignment.
    unsafe {
        let words = |at: usize| {
            let low = _mm_loadu_si128(low.as_ptr().add(at).cast());
            let high = _mm_loadu_si128(high.as_ptr().add(at).cast());
            let words =
                _mm_or_si128(_mm_and_si128(low, low_slots), _mm_and_si128(high, high_slots));
            _mm_castsi128_ps(words)
        };
        let (first, second) = (words(0), words(16));
        let low_halves = _mm_castps_si128(_mm_shuffle_ps::<0x88>(first, second));
        let high_halves = _mm_castps_si128(_mm_shuffle_ps::<0xdd>(first, second));
        // Stores the parity of each four bits in the highest of them.
        let folded = _mm_xor_si128(low_halves, high_halves);
        let folded = _mm_xor_si128(folded, _mm_add_epi32(folded, folded));
        let folded = _mm_xor_si128(folded, _mm_slli_epi32::<2>(folded));
        let folded = _mm_and_si128(folded, _mm_set1_epi32(0x8888_8888_u32.cast_signed()));
        // Bit 15 of each sum is the parity of the eight remaining bits.
        let sums = _mm_slli_epi32::<16>(_mm_madd_epi16(folded, _mm_set1_epi16(0x1111)));
        _mm_movemask_ps(_mm_castsi128_ps(sums)) as u8
    }
}
