//! The ribbon filter's inner loop in vectors: four or eight columns in a register.
//!
//! ```text
//! load        the columns of both blocks, as many as there are; the other lanes stay 0
//! and, or     the slots that count
//! count       AVX-512 counts the bits of each lane, AVX2 folds them into one
//! compare     the lowest bits with the fingerprint's
//! ```
#![allow(unsafe_code, reason = "vector loads take pointers")]

use core::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_castsi256_pd, _mm256_cmpgt_epi64, _mm256_maskload_epi64,
    _mm256_movemask_pd, _mm256_or_si256, _mm256_set1_epi64x, _mm256_setr_epi64x, _mm256_slli_epi64,
    _mm256_xor_si256, _mm512_and_si512, _mm512_maskz_loadu_epi64, _mm512_or_si512,
    _mm512_popcnt_epi64, _mm512_set1_epi64, _mm512_test_epi64_mask,
};

use super::columns::{ColumnLookup, Columns, all};
use super::x86::{Avx2, Avx512};
use crate::KeyHash;

#[expect(clippy::unused_self, reason = "`self` is the proof that the call is sound")]
impl Avx512 {
    /// As [`Vector::look_up`](super::Vector::look_up).
    #[inline]
    pub(super) fn look_up(self, filter: &impl ColumnLookup, body: &[u8], hash: KeyHash) -> bool {
        // SAFETY: the processor has these features, or there would be no `self`.
        unsafe { look_up_512(filter, body, hash) }
    }

    /// As [`Vector::look_up_all`](super::Vector::look_up_all).
    pub(super) fn look_up_all(
        self,
        filter: &impl ColumnLookup,
        body: &[u8],
        hashes: &[KeyHash],
        answers: &mut [bool],
    ) {
        // SAFETY: the processor has these features, or there would be no `self`.
        unsafe { look_up_all_512(filter, body, hashes, answers) }
    }
}

#[expect(clippy::unused_self, reason = "`self` is the proof that the call is sound")]
impl Avx2 {
    /// As [`Vector::look_up`](super::Vector::look_up).
    #[inline]
    pub(super) fn look_up(self, filter: &impl ColumnLookup, body: &[u8], hash: KeyHash) -> bool {
        // SAFETY: the processor has AVX2, or there would be no `self`.
        unsafe { look_up_256(filter, body, hash) }
    }

    /// As [`Vector::look_up_all`](super::Vector::look_up_all).
    pub(super) fn look_up_all(
        self,
        filter: &impl ColumnLookup,
        body: &[u8],
        hashes: &[KeyHash],
        answers: &mut [bool],
    ) {
        // SAFETY: the processor has AVX2, or there would be no `self`.
        unsafe { look_up_all_256(filter, body, hashes, answers) }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vpopcntdq,bmi2")]
fn look_up_512(filter: &impl ColumnLookup, body: &[u8], hash: KeyHash) -> bool {
    filter.look_up(body, hash, |columns| matches_512(columns))
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vpopcntdq,bmi2")]
fn look_up_all_512(
    filter: &impl ColumnLookup,
    body: &[u8],
    hashes: &[KeyHash],
    answers: &mut [bool],
) {
    all(filter, body, hashes, answers, |columns| matches_512(columns));
}

#[target_feature(enable = "avx2")]
fn look_up_256(filter: &impl ColumnLookup, body: &[u8], hash: KeyHash) -> bool {
    filter.look_up(body, hash, |columns| matches_256(columns))
}

#[target_feature(enable = "avx2")]
fn look_up_all_256(
    filter: &impl ColumnLookup,
    body: &[u8],
    hashes: &[KeyHash],
    answers: &mut [bool],
) {
    all(filter, body, hashes, answers, |columns| matches_256(columns));
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vpopcntdq,bmi2")]
fn matches_512(columns: &Columns<'_>) -> bool {
    let Some((low, high)) = columns.low_and_high() else { return true };
    let Columns { count, low_slots, high_slots, fingerprint, .. } = *columns;
    let slots = [low_slots, high_slots];
    if count <= 8 {
        return wrong_512(low, high, count, slots, fingerprint) == 0;
    }
    let chunks = low.chunks(64).zip(high.chunks(64)).zip(0..);
    chunks.fold(0, |wrong, ((low, high), chunk)| {
        let count = low.len() as u32 / 8;
        wrong | wrong_512(low, high, count, slots, fingerprint >> (8 * chunk))
    }) == 0
}

/// Returns which of at most eight columns do not give their bits of the fingerprint.
///
/// # Panics
///
/// If there are fewer.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vpopcntdq,bmi2")]
fn wrong_512(low: &[u8], high: &[u8], count: u32, slots: [u64; 2], fingerprint: u32) -> u8 {
    assert!(low.len().min(high.len()) >= count as usize * 8);
    let [low_slots, high_slots] = slots.map(|slots| _mm512_set1_epi64(slots.cast_signed()));
    let there = !(u32::MAX << count) as u8;
    // SAFETY: eight bytes for each of the first `count` lanes are in both slices, as was just
    // asserted, and a lane whose bit is clear is not read. The loads take any alignment.
    let (low, high) = unsafe {
        (
            _mm512_maskz_loadu_epi64(there, low.as_ptr().cast()),
            _mm512_maskz_loadu_epi64(there, high.as_ptr().cast()),
        )
    };
    let slots =
        _mm512_or_si512(_mm512_and_si512(low, low_slots), _mm512_and_si512(high, high_slots));
    let odd = _mm512_test_epi64_mask(_mm512_popcnt_epi64(slots), _mm512_set1_epi64(1));
    (odd ^ fingerprint as u8) & there
}

#[inline]
#[target_feature(enable = "avx2")]
fn matches_256(columns: &Columns<'_>) -> bool {
    let Some((low, high)) = columns.low_and_high() else { return true };
    let low_slots = _mm256_set1_epi64x(columns.low_slots.cast_signed());
    let high_slots = _mm256_set1_epi64x(columns.high_slots.cast_signed());
    let (mut wrong, mut fingerprint) = (0, columns.fingerprint);
    for (low, high) in low.chunks(32).zip(high.chunks(32)) {
        let count = low.len().min(high.len()) / 8;
        let there =
            _mm256_cmpgt_epi64(_mm256_set1_epi64x(count as i64), _mm256_setr_epi64x(0, 1, 2, 3));
        // SAFETY: eight bytes for each of the first `count` lanes are in both slices, and the lanes
        // after them are not read. The loads take any alignment.
        let (low, high) = unsafe {
            (
                _mm256_maskload_epi64(low.as_ptr().cast(), there),
                _mm256_maskload_epi64(high.as_ptr().cast(), there),
            )
        };
        let slots =
            _mm256_or_si256(_mm256_and_si256(low, low_slots), _mm256_and_si256(high, high_slots));
        wrong |= (odd_lanes(slots) ^ fingerprint as i32) & !(-1 << count);
        fingerprint >>= 4;
    }
    wrong == 0
}

/// Returns which of four lanes have an odd number of bits.
#[inline]
#[target_feature(enable = "avx2")]
fn odd_lanes(words: __m256i) -> i32 {
    let words = _mm256_xor_si256(words, _mm256_slli_epi64::<32>(words));
    let words = _mm256_xor_si256(words, _mm256_slli_epi64::<16>(words));
    let words = _mm256_xor_si256(words, _mm256_slli_epi64::<8>(words));
    let words = _mm256_xor_si256(words, _mm256_slli_epi64::<4>(words));
    let words = _mm256_xor_si256(words, _mm256_slli_epi64::<2>(words));
    let words = _mm256_xor_si256(words, _mm256_slli_epi64::<1>(words));
    // The parity has come to the top, where a sign would be.
    _mm256_movemask_pd(_mm256_castsi256_pd(words))
}
