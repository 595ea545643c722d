//! The ribbon filter's inner loop in AVX-512: eight columns in a register.
//!
//! ```text
//! load        the columns of both blocks, as many as there are; the other lanes stay 0
//! shift       both as one number in each lane, so that bit 0 is the slot at which the key starts
//! and         the slots that count
//! count       the bits of each lane
//! compare     the lowest bits with the fingerprint's
//! ```
//!
//! A function with such instructions is inlined only into one that has them too, so that lookups stand here as
//! a whole; for the one that is inlined anywhere see [`avx512_inlined`](super::avx512_inlined).
#![allow(unsafe_code, reason = "vector loads take pointers")]

use core::arch::x86_64::{
    __m512i, _mm512_and_si512, _mm512_loadu_si512, _mm512_maskz_loadu_epi64, _mm512_popcnt_epi64,
    _mm512_set1_epi64, _mm512_shrdv_epi64, _mm512_test_epi64_mask,
};

use super::columns::{ColumnLookup, Columns, FewColumns, Usual, all, usual};
use super::x86::Avx512;
use crate::KeyHash;

impl Avx512 {
    /// As [`Vector::look_up`](super::Vector::look_up), where it is called, for keys of the first layer.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "assembly looks larger to the compiler than it is")]
    pub(super) fn look_up_inlined(
        self,
        filter: &impl ColumnLookup,
        body: &[u8],
        hash: KeyHash,
    ) -> bool {
        match usual(filter, body, hash) {
            Usual::Columns(columns) => self.columns_match(&columns),
            // SAFETY: the processor has these features, or there would be no `self`.
            Usual::Bumped => unsafe { look_up_bumped(filter, body, hash) },
            // SAFETY: likewise.
            Usual::Unusual => unsafe { look_up_any(filter, body, hash) },
        }
    }

    /// As [`Vector::look_up_all`](super::Vector::look_up_all).
    #[expect(clippy::unused_self, reason = "`self` is the proof that the call is sound")]
    pub(super) fn look_up_all(
        self,
        filter: &impl ColumnLookup,
        body: &[u8],
        hashes: &[KeyHash],
        answers: &mut [bool],
    ) {
        // SAFETY: the processor has these features, or there would be no `self`.
        unsafe { look_up_all(filter, body, hashes, answers) }
    }
}

#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq,bmi2"
)]
fn look_up_all(filter: &impl ColumnLookup, body: &[u8], hashes: &[KeyHash], answers: &mut [bool]) {
    all(filter, body, hashes, answers, |hash, usual| match usual {
        Usual::Columns(columns) => matches_few(&columns),
        Usual::Bumped => look_up_bumped(filter, body, hash),
        Usual::Unusual => look_up_any(filter, body, hash),
    });
}

#[cold]
#[inline(never)]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq,bmi2"
)]
fn look_up_bumped(filter: &impl ColumnLookup, body: &[u8], hash: KeyHash) -> bool {
    match filter.usual::<true>(1, body, hash) {
        Usual::Columns(columns) => matches_few(&columns),
        Usual::Bumped | Usual::Unusual => look_up_any(filter, body, hash),
    }
}

#[cold]
#[inline(never)]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq,bmi2"
)]
fn look_up_any(filter: &impl ColumnLookup, body: &[u8], hash: KeyHash) -> bool {
    filter.look_up(body, hash, |columns| matches(columns))
}

#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq,bmi2"
)]
fn matches(columns: &Columns<'_>) -> bool {
    let Columns { low, high, shift, coefficients, fingerprint } = *columns;
    let mut wrong = 0;
    for ((low, high), chunk) in low.chunks(64).zip(high.chunks(64)).zip(0..) {
        let count = low.len().min(high.len()) / 8;
        let there = !(u64::MAX << count) as u8;
        // SAFETY: eight bytes for each of the first `count` lanes are in both slices, and a lane
        // whose bit is clear is not read. The loads take any alignment.
        let (low, high) = unsafe {
            (
                _mm512_maskz_loadu_epi64(there, low.as_ptr().cast()),
                _mm512_maskz_loadu_epi64(there, high.as_ptr().cast()),
            )
        };
        let odd = odd(low, high, shift, coefficients);
        wrong |= (odd ^ (fingerprint >> (8 * chunk)) as u8) & there;
    }
    wrong == 0
}

#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq,bmi2"
)]
fn matches_few(columns: &FewColumns<'_>) -> bool {
    let [low, high] = columns.low_and_high();
    // SAFETY: the references are to 64 readable bytes, and the loads take any alignment.
    let (low, high) = unsafe {
        (_mm512_loadu_si512(low.as_ptr().cast()), _mm512_loadu_si512(high.as_ptr().cast()))
    };
    let odd = odd(low, high, columns.shift, columns.coefficients);
    (odd ^ columns.fingerprint as u8) & columns.there.bits == 0
}

/// Returns which of eight columns have an odd number of the slots that count.
#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq,bmi2"
)]
fn odd(low: __m512i, high: __m512i, shift: u32, coefficients: u64) -> u8 {
    let slots = _mm512_shrdv_epi64(low, high, _mm512_set1_epi64(shift.into()));
    let slots = _mm512_and_si512(slots, _mm512_set1_epi64(coefficients.cast_signed()));
    _mm512_test_epi64_mask(_mm512_popcnt_epi64(slots), _mm512_set1_epi64(1))
}
