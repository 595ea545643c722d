//! Back substitution in vectors: eight columns in a register.
//!
//! A shift, an and, a count of bits, and one operation that takes the count's lowest bit and moves it
//! in: six cycles from slot to slot. AVX2 does not count bits, and folding them takes it longer than
//! plain numbers do.
#![allow(unsafe_code, reason = "vector loads and stores take pointers")]

use core::arch::x86_64::{
    _mm512_and_si512, _mm512_loadu_si512, _mm512_popcnt_epi64, _mm512_set1_epi64,
    _mm512_setr_epi64, _mm512_slli_epi64, _mm512_srlv_epi64, _mm512_storeu_si512,
    _mm512_ternarylogic_epi64,
};

use super::substitution::Slots;
use super::x86::Avx512;

#[expect(clippy::unused_self, reason = "`self` is the proof that the call is sound")]
impl Avx512 {
    /// As [`Vector::substitute`](super::vector::Vector::substitute), for the columns from that one on.
    pub(super) fn substitute(
        self,
        slots: &mut Slots,
        coefficients: &[u64],
        fingerprints: &[u32],
        first_column: u32,
    ) {
        // SAFETY: the processor has these features, or there would be no `self`.
        unsafe { substitute_512(slots, coefficients, fingerprints, first_column) }
    }
}

#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn substitute_512(
    slots: &mut Slots,
    coefficients: &[u64],
    fingerprints: &[u32],
    first_column: u32,
) {
    /// a ^ b & c
    const XOR_AND: i32 = 0b0111_1000;
    let one = _mm512_set1_epi64(1);
    let columns = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    // SAFETY: the reference is to 64 readable bytes, and the load takes any alignment.
    let mut present = unsafe { _mm512_loadu_si512(slots.as_ptr().cast()) };
    for (coefficients, fingerprint) in coefficients.iter().zip(fingerprints).rev() {
        let fingerprint = i64::from(fingerprint >> first_column);
        let fingerprint = _mm512_srlv_epi64(_mm512_set1_epi64(fingerprint), columns);
        let moved = _mm512_slli_epi64::<1>(present);
        let count = _mm512_and_si512(moved, _mm512_set1_epi64(coefficients.cast_signed()));
        let count = _mm512_popcnt_epi64(count);
        let moved = _mm512_ternarylogic_epi64::<XOR_AND>(moved, fingerprint, one);
        present = _mm512_ternarylogic_epi64::<XOR_AND>(moved, count, one);
    }
    // SAFETY: the reference is to 64 writable bytes, and the store takes any alignment.
    unsafe { _mm512_storeu_si512(slots.as_mut_ptr().cast(), present) };
}
