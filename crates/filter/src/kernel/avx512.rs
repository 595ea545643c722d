//! The operations in AVX-512, where one register holds a cache line or eight ribbon columns.
//!
//! The lookup in a cache line tests sixteen probes of a key together, one in each 32-bit lane:
//!
//! ```text
//! seeds       even  odd   even  odd   …       32 bits each of the mixed hash
//! × powers    ─────────────────────────       one multiplication for sixteen probes
//! products    wwww bbbbb …                    w: which word of the line, b: which bit of the word
//! permute     word w of the line              the word that the probe tests
//! rotate      1 << b, or 15 << b              the mask of the bit, or of the counter at bit b
//! test        word & mask                     zero in no lane: the line may contain the key
//! ```
//!
//! An operation first computes everything that does not depend on the filter's memory. Instructions
//! that depend on it wait for a cache miss in the processor's reorder buffer. The fewer they are,
//! the more lookups fit into that buffer, and the more cache misses overlap.
//!
//! Loops are `for` loops: the methods of iterators and options are compiled without AVX-512, so the
//! compiler does not inline a closure with AVX-512 instructions into them.

use core::arch::x86_64::{
    __m256i, __m512i, _mm256_loadu_si256, _mm256_mullo_epi32, _mm256_rolv_epi32, _mm256_set1_epi32,
    _mm256_srli_epi32, _mm256_testc_si256, _mm512_and_si512, _mm512_loadu_si512,
    _mm512_mask_testn_epi32_mask, _mm512_mullo_epi32, _mm512_permutexvar_epi32,
    _mm512_popcnt_epi64, _mm512_rolv_epi32, _mm512_set1_epi32, _mm512_set1_epi64,
    _mm512_setr_epi64, _mm512_shrdv_epi64, _mm512_slli_epi64, _mm512_srli_epi32, _mm512_srlv_epi64,
    _mm512_storeu_si512, _mm512_ternarylogic_epi64, _mm512_test_epi64_mask,
};

use super::block::{BLOCK_SALTS, Block};
use super::column_vectors::{BlockEquation, ColumnMask, ColumnVectors};
use super::line::{LINE_MULTIPLIERS, Line, Probes, line_seeds};
use super::operations::Operations;
use super::substitution::Slots;

/// Proof that the processor has the features of AVX-512 that the operations use.
///
/// Only [`Avx512::detect`] creates a value. Intel's server processors have these features since Ice
/// Lake, AMD's processors since Zen 4.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Avx512(());

/// Returns whether the processor has all features.
///
/// Without `std` there is no detection at run time: only the features that every processor of the
/// target has are known.
macro_rules! have_all {
    ($($feature:tt)*) => {{
        #[cfg(feature = "std")]
        let have_all = $(std::arch::is_x86_feature_detected!($feature))&&*;
        #[cfg(not(feature = "std"))]
        let have_all = $(cfg!(target_feature = $feature))&&*;
        have_all
    }};
}

impl Avx512 {
    /// Returns the proof if the processor has all features that the operations use.
    pub(super) fn detect() -> Option<Self> {
        have_all!(
            "avx512f" "avx512bw" "avx512dq" "avx512vl" "avx512vbmi2"
            "avx512vpopcntdq" "bmi2"
        )
        .then_some(Self(()))
    }
}

impl Operations for Avx512 {
    #[inline]
    fn call<A, B, C, R>(self, a: A, b: B, c: C, function: impl FnOnce(A, B, C) -> R) -> R {
        #[inline(never)]
        #[target_feature(
            enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512vpopcntdq,bmi2"
        )]
        fn call<A, B, C, R>(a: A, b: B, c: C, function: impl FnOnce(A, B, C) -> R) -> R {
            function(a, b, c)
        }
        // SAFETY: the processor has these features, or there would be no `self`.
        unsafe { call(a, b, c, function) }
    }

    #[inline]
    fn line_contains<const FIELD_BITS: u32>(self, line: &Line, hash: u64, probes: Probes) -> bool {
        // SAFETY: the processor has these features, or there would be no `self`.
        unsafe { line_contains::<FIELD_BITS>(line, hash, probes) }
    }

    #[inline]
    fn block_contains(self, block: &Block, hash: u64) -> bool {
        // SAFETY: the processor has these features, or there would be no `self`.
        unsafe { block_contains(block, hash) }
    }

    #[inline]
    fn columns_match(
        self,
        columns: ColumnVectors<'_>,
        mask: &ColumnMask,
        equation: BlockEquation,
    ) -> bool {
        // SAFETY: the processor has these features, or there would be no `self`.
        unsafe { columns_match(columns, mask, equation) }
    }

    #[inline]
    fn substitute(
        self,
        slots: &mut Slots,
        coefficients: &[u64],
        fingerprints: &[u32],
        first_column: u32,
    ) {
        // SAFETY: the processor has these features, or there would be no `self`.
        unsafe { substitute(slots, coefficients, fingerprints, first_column) }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn line_contains<const FIELD_BITS: u32>(line: &Line, hash: u64, probes: Probes) -> bool {
    let seeds = _mm512_set1_epi64(line_seeds(hash).cast_signed());
    let line = load(line);
    let field = _mm512_set1_epi32((1 << FIELD_BITS) - 1);
    let bit_in_word = _mm512_set1_epi32((u32::BITS - FIELD_BITS).cast_signed());

    // Tests sixteen probes. Returns a set bit for each probe in `wanted` whose field is zero.
    let missing = |multipliers, wanted: u32| {
        let products = _mm512_mullo_epi32(seeds, load_words(multipliers));
        // The highest four bits of a product select the word, the next five the bit in the word. A
        // rotation takes its count modulo 32, so the four bits need not be masked off.
        let mut bit = _mm512_srli_epi32::<23>(products);
        if FIELD_BITS > 1 {
            bit = _mm512_and_si512(bit, bit_in_word);
        }
        let fields = _mm512_rolv_epi32(field, bit);
        let words = _mm512_permutexvar_epi32(_mm512_srli_epi32::<28>(products), line);
        _mm512_mask_testn_epi32_mask(wanted as u16, words, fields)
    };
    let ([first, second], _) = LINE_MULTIPLIERS.as_chunks() else { unreachable!("32 numbers") };
    let mask = probes.mask();
    // Skipped for nearly all filters, which have at most sixteen probes.
    if mask > 0xffff && missing(second, mask >> 16) != 0 {
        return false;
    }
    missing(first, mask) == 0
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn block_contains(block: &Block, hash: u64) -> bool {
    let products = _mm256_mullo_epi32(_mm256_set1_epi32(hash as i32), load_eight(&BLOCK_SALTS));
    let masks = _mm256_rolv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32::<27>(products));
    _mm256_testc_si256(load_block(block), masks) != 0
}

/// Compares eight columns; each lane shifts the slots of both blocks as one 128-bit number.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,avx512vpopcntdq")]
fn columns_match(columns: ColumnVectors<'_>, mask: &ColumnMask, equation: BlockEquation) -> bool {
    let shift = _mm512_set1_epi64(equation.shift.into());
    let coefficients = _mm512_set1_epi64(equation.coefficients.cast_signed());
    // Bit 0 of each lane is now the slot at which the equation starts.
    let slots = _mm512_shrdv_epi64(load(columns.low), load(columns.high), shift);
    let counts = _mm512_popcnt_epi64(_mm512_and_si512(slots, coefficients));
    let odd = _mm512_test_epi64_mask(counts, _mm512_set1_epi64(1));
    (odd ^ equation.fingerprint as u8) & mask.bits == 0
}

/// Computes the slots one after another, with a latency of six cycles each.
///
/// The next slot waits for a shift, an and, a population count, and the insertion of the count's
/// lowest bit.
#[inline]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn substitute(slots: &mut Slots, coefficients: &[u64], fingerprints: &[u32], first_column: u32) {
    /// a ^ b & c
    const XOR_AND: i32 = 0b0111_1000;
    let one = _mm512_set1_epi64(1);
    let columns = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    let mut present = load_lanes(slots);
    for (coefficients, fingerprint) in coefficients.iter().zip(fingerprints).rev() {
        let fingerprint = i64::from(fingerprint >> first_column);
        let fingerprint = _mm512_srlv_epi64(_mm512_set1_epi64(fingerprint), columns);
        let shifted = _mm512_slli_epi64::<1>(present);
        let count = _mm512_and_si512(shifted, _mm512_set1_epi64(coefficients.cast_signed()));
        let count = _mm512_popcnt_epi64(count);
        let shifted = _mm512_ternarylogic_epi64::<XOR_AND>(shifted, fingerprint, one);
        present = _mm512_ternarylogic_epi64::<XOR_AND>(shifted, count, one);
    }
    // SAFETY: the reference is to 64 writable bytes, and the store takes any alignment.
    unsafe { _mm512_storeu_si512(slots.as_mut_ptr().cast(), present) };
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: the reference is to 64 readable bytes, and the load takes any alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_words(words: &[u32; 16]) -> __m512i {
    // SAFETY: the reference is to 64 readable bytes, and the load takes any alignment.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_lanes(lanes: &[u64; 8]) -> __m512i {
    // SAFETY: the reference is to 64 readable bytes, and the load takes any alignment.
    unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512vl")]
fn load_block(block: &Block) -> __m256i {
    // SAFETY: the reference is to 32 readable bytes, and the load takes any alignment.
    unsafe { _mm256_loadu_si256(block.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512vl")]
fn load_eight(words: &[u32; 8]) -> __m256i {
    // SAFETY: the reference is to 32 readable bytes, and the load takes any alignment.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}
