//! The operations in AVX2: vectors of 256 bits, eight fields of a key without a branch for each.
//!
//! ```text
//! seeds       even  odd   even  odd   …       32 bits each of the mixed hash
//! × powers    ─────────────────────────       one multiplication for eight probes
//! products    wwww bbbbb …                    w: which word of the line, b: which bit of the word
//! permute     the word of each probe, out of the sixteen of the line
//! shift       1 << b, or 15 << the counter at b
//! test        no field is zero
//! ```
//!
//! Columns are compared in SSE2, which is inlined into the caller. AVX2 cannot count bits, so back
//! substitution is faster in plain Rust.

use core::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_blendv_ps, _mm256_castps_si256, _mm256_castsi256_ps,
    _mm256_cmpeq_epi32, _mm256_loadu_si256, _mm256_movemask_ps, _mm256_mullo_epi32,
    _mm256_permutevar8x32_epi32, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setzero_si256,
    _mm256_sllv_epi32, _mm256_srli_epi32, _mm256_testc_si256,
};

use super::block::{BLOCK_SALTS, Block};
use super::column_vectors::{BlockEquation, ColumnMask, ColumnVectors};
use super::line::{LINE_MULTIPLIERS, Line, Probes, line_seeds};
use super::operations::Operations;
use super::sse2::Sse2;

/// Proof that the processor has AVX2: only [`Avx2::detect`] makes one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Avx2(Sse2);

impl Avx2 {
    /// Returns the proof if the processor has AVX2.
    ///
    /// Without std, only what every processor of the target has is known.
    pub(super) fn detect() -> Option<Self> {
        #[cfg(feature = "std")]
        let is_present = std::arch::is_x86_feature_detected!("avx2");
        #[cfg(not(feature = "std"))]
        let is_present = cfg!(target_feature = "avx2");
        Sse2::detect().filter(|_| is_present).map(Self)
    }
}

impl Operations for Avx2 {
    #[inline]
    fn call<A, B, C, R>(self, a: A, b: B, c: C, function: impl FnOnce(A, B, C) -> R) -> R {
        #[inline(never)]
        #[target_feature(enable = "avx2")]
        fn call<A, B, C, R>(a: A, b: B, c: C, function: impl FnOnce(A, B, C) -> R) -> R {
            function(a, b, c)
        }
        // SAFETY: the processor has AVX2, or there would be no `self`.
        unsafe { call(a, b, c, function) }
    }

    #[inline]
    fn line_contains<const FIELD_BITS: u32>(self, line: &Line, hash: u64, probes: Probes) -> bool {
        // SAFETY: the processor has AVX2, or there would be no `self`.
        unsafe { line_contains::<FIELD_BITS>(line, hash, probes) }
    }

    #[inline]
    fn block_contains(self, block: &Block, hash: u64) -> bool {
        // SAFETY: the processor has AVX2, or there would be no `self`.
        unsafe { block_contains(block, hash) }
    }

    #[inline]
    fn columns_match(
        self,
        columns: ColumnVectors<'_>,
        mask: &ColumnMask,
        equation: BlockEquation,
    ) -> bool {
        let Self(sse2) = self;
        sse2.columns_match(columns, mask, equation)
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn line_contains<const FIELD_BITS: u32>(line: &Line, hash: u64, probes: Probes) -> bool {
    let seeds = _mm256_set1_epi64x(line_seeds(hash).cast_signed());
    let ([low, high], _) = line.as_chunks() else { unreachable!("a line has two halves") };
    let (low, high) = (load(low), load(high));
    let wanted = probes.mask();
    let field = _mm256_set1_epi32((1 << FIELD_BITS) - 1);
    let bit_in_word = _mm256_set1_epi32((u32::BITS - FIELD_BITS).cast_signed());

    // Returns a bit for each of eight probes whose field is zero.
    let missing = |multipliers| {
        let products = _mm256_mullo_epi32(seeds, load_words(multipliers));
        // The highest four bits are the word's index: the lower three of them select a word of each
        // half, and the highest, the sign, selects the half.
        let place = _mm256_srli_epi32::<28>(products);
        let words = _mm256_castps_si256(_mm256_blendv_ps(
            _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, place)),
            _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, place)),
            _mm256_castsi256_ps(products),
        ));
        let bit = _mm256_and_si256(_mm256_srli_epi32::<23>(products), bit_in_word);
        let fields = _mm256_and_si256(words, _mm256_sllv_epi32(field, bit));
        let are_zero = _mm256_cmpeq_epi32(fields, _mm256_setzero_si256());
        _mm256_movemask_ps(_mm256_castsi256_ps(are_zero)).cast_unsigned()
    };
    let ([first, later @ ..], _) = LINE_MULTIPLIERS.as_chunks() else { unreachable!("32 numbers") };
    if missing(first) & wanted != 0 {
        return false;
    }
    let mut wanted = wanted >> 8;
    for eight in later {
        if wanted == 0 {
            break;
        }
        if missing(eight) & wanted != 0 {
            return false;
        }
        wanted >>= 8;
    }
    true
}

#[inline]
#[target_feature(enable = "avx2")]
fn block_contains(block: &Block, hash: u64) -> bool {
    let products = _mm256_mullo_epi32(_mm256_set1_epi32(hash as i32), load_words(&BLOCK_SALTS));
    let masks = _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32::<27>(products));
    _mm256_testc_si256(load(block), masks) != 0
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: the reference is to 32 readable bytes, and the load takes any alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_words(words: &[u32; 8]) -> __m256i {
    // SAFETY: the reference is to 32 readable bytes, and the load takes any alignment.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}
