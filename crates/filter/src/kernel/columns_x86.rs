//! The ribbon filter's inner loop in vectors: four or eight columns in a register.
//!
//! ```text
//! load        the columns of both blocks, as many as there are; the other lanes stay 0
//! shift       both as one number in each lane, so that bit 0 is the slot at which the key starts
//! and         the slots that count
//! count       AVX-512 counts the bits of each lane, AVX2 folds them into one
//! compare     the lowest bits with the fingerprint's
//! ```
#![allow(unsafe_code, reason = "vector loads take pointers")]

use core::arch::x86_64::{
    __m256i, __m512i, _mm256_and_si256, _mm256_castsi256_pd, _mm256_cmpgt_epi64,
    _mm256_loadu_si256, _mm256_maskload_epi64, _mm256_movemask_pd, _mm256_or_si256,
    _mm256_set1_epi64x, _mm256_setr_epi64x, _mm256_slli_epi64, _mm256_sllv_epi64,
    _mm256_srlv_epi64, _mm256_xor_si256, _mm512_and_si512, _mm512_loadu_si512,
    _mm512_maskz_loadu_epi64, _mm512_popcnt_epi64, _mm512_set1_epi64, _mm512_shrdv_epi64,
    _mm512_test_epi64_mask,
};

use super::columns::{ColumnLookup, Columns, FewColumns, Usual, usual};
use super::x86::{Avx2, Avx512};
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
            Usual::Bumped => unsafe { avx512::look_up_bumped(filter, body, hash) },
            // SAFETY: likewise.
            Usual::Unusual => unsafe { avx512::look_up_any(filter, body, hash) },
        }
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
}

#[target_feature(enable = "avx2")]
fn look_up_256(filter: &impl ColumnLookup, body: &[u8], hash: KeyHash) -> bool {
    avx2::answer(filter, body, hash, usual(filter, body, hash))
}

/// The lookups with the vectors of one kind. What a function with such instructions calls is inlined
/// into it only if it has them too; so each step stands once for each kind.
macro_rules! look_ups {
    ($vectors:ident, $module:ident, $features:literal, $matches:ident, $matches_few:ident) => {
        impl $vectors {
            /// As [`Vector::look_up_all`](super::Vector::look_up_all).
            pub(super) fn look_up_all(
                self,
                filter: &impl ColumnLookup,
                body: &[u8],
                hashes: &[KeyHash],
                answers: &mut [bool],
            ) {
                // SAFETY: the processor has these features, or there would be no `self`.
                unsafe { $module::look_up_all(filter, body, hashes, answers) }
            }
        }

        mod $module {
            use super::{$matches, $matches_few};
            use crate::KeyHash;
            use crate::kernel::columns::{ColumnLookup, Usual, all};

            /// Answers with what a key came to in the first layer.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn answer(
                filter: &impl ColumnLookup,
                body: &[u8],
                hash: KeyHash,
                usual: Usual<'_>,
            ) -> bool {
                match usual {
                    Usual::Columns(columns) => $matches_few(&columns),
                    Usual::Bumped => look_up_bumped(filter, body, hash),
                    Usual::Unusual => look_up_any(filter, body, hash),
                }
            }

            #[cold]
            #[inline(never)]
            #[target_feature(enable = $features)]
            pub(super) fn look_up_bumped(
                filter: &impl ColumnLookup,
                body: &[u8],
                hash: KeyHash,
            ) -> bool {
                match filter.usual::<true>(1, body, hash) {
                    Usual::Columns(columns) => $matches_few(&columns),
                    Usual::Bumped | Usual::Unusual => look_up_any(filter, body, hash),
                }
            }

            #[cold]
            #[inline(never)]
            #[target_feature(enable = $features)]
            pub(super) fn look_up_any(
                filter: &impl ColumnLookup,
                body: &[u8],
                hash: KeyHash,
            ) -> bool {
                filter.look_up(body, hash, |columns| $matches(columns))
            }

            #[target_feature(enable = $features)]
            pub(super) fn look_up_all(
                filter: &impl ColumnLookup,
                body: &[u8],
                hashes: &[KeyHash],
                answers: &mut [bool],
            ) {
                all(filter, body, hashes, answers, |hash, usual| answer(filter, body, hash, usual));
            }
        }
    };
}

look_ups!(
    Avx512,
    avx512,
    "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq,bmi2",
    matches_512,
    matches_few_512
);
look_ups!(Avx2, avx2, "avx2", matches_256, matches_few_256);

#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq,bmi2"
)]
fn matches_512(columns: &Columns<'_>) -> bool {
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
        let odd = odd_512(low, high, shift, coefficients);
        wrong |= (odd ^ (fingerprint >> (8 * chunk)) as u8) & there;
    }
    wrong == 0
}

#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq,bmi2"
)]
fn matches_few_512(columns: &FewColumns<'_>) -> bool {
    let [low, high] = columns.low_and_high();
    // SAFETY: the references are to 64 readable bytes, and the loads take any alignment.
    let (low, high) = unsafe {
        (_mm512_loadu_si512(low.as_ptr().cast()), _mm512_loadu_si512(high.as_ptr().cast()))
    };
    let odd = odd_512(low, high, columns.shift, columns.coefficients);
    (odd ^ columns.fingerprint as u8) & columns.there.bits == 0
}

/// Returns which of eight columns have an odd number of the slots that count.
#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq,bmi2"
)]
fn odd_512(low: __m512i, high: __m512i, shift: u32, coefficients: u64) -> u8 {
    let slots = _mm512_shrdv_epi64(low, high, _mm512_set1_epi64(shift.into()));
    let slots = _mm512_and_si512(slots, _mm512_set1_epi64(coefficients.cast_signed()));
    _mm512_test_epi64_mask(_mm512_popcnt_epi64(slots), _mm512_set1_epi64(1))
}

#[inline]
#[target_feature(enable = "avx2")]
fn matches_256(columns: &Columns<'_>) -> bool {
    let Columns { low, high, shift, coefficients, mut fingerprint } = *columns;
    let mut wrong = 0;
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
        wrong |= (odd_256(low, high, shift, coefficients) ^ fingerprint as u8) & !(0xff << count);
        fingerprint >>= 4;
    }
    wrong == 0
}

#[inline]
#[target_feature(enable = "avx2")]
fn matches_few_256(columns: &FewColumns<'_>) -> bool {
    let [low, high] = columns.low_and_high().map(|bytes| bytes.as_chunks::<32>().0);
    let ([low, low_rest], [high, high_rest]) = (low, high) else { unreachable!("two halves") };
    let odd = |low: &[u8; 32], high: &[u8; 32]| {
        // SAFETY: the references are to 32 readable bytes, and the loads take any alignment.
        let (low, high) = unsafe {
            (_mm256_loadu_si256(low.as_ptr().cast()), _mm256_loadu_si256(high.as_ptr().cast()))
        };
        odd_256(low, high, columns.shift, columns.coefficients)
    };
    let odd = odd(low, high) | odd(low_rest, high_rest) << 4;
    (odd ^ columns.fingerprint as u8) & columns.there.bits == 0
}

/// Returns which of four columns have an odd number of the slots that count.
#[inline]
#[target_feature(enable = "avx2")]
fn odd_256(low: __m256i, high: __m256i, shift: u32, coefficients: u64) -> u8 {
    let shift = i64::from(shift % u64::BITS);
    // A shift by 64 leaves nothing.
    let slots = _mm256_or_si256(
        _mm256_srlv_epi64(low, _mm256_set1_epi64x(shift)),
        _mm256_sllv_epi64(high, _mm256_set1_epi64x(64 - shift)),
    );
    let slots = _mm256_and_si256(slots, _mm256_set1_epi64x(coefficients.cast_signed()));
    odd_lanes(slots) as u8
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
