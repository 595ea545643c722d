//! The inner loops in AVX2: all fields of a key at once, without a branch for each.
//!
//! ```text
//! seeds       even  odd   even  odd   …       32 bits each of the mixed hash
//! × powers    ─────────────────────────       one multiplication for eight probes
//! products    wwww bbbbb …                    w: which word of the line, b: which bit of it
//! permute     the word that each probe wants, out of the sixteen of the line
//! shift       1 << b, or 15 << the counter at b
//! test        no wanted field is zero
//! ```
#![allow(unsafe_code, reason = "vector loads take pointers")]

use core::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_blendv_ps, _mm256_castps_si256, _mm256_castsi256_ps,
    _mm256_cmpeq_epi32, _mm256_loadu_si256, _mm256_movemask_ps, _mm256_mullo_epi32,
    _mm256_permutevar8x32_epi32, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setzero_si256,
    _mm256_sllv_epi32, _mm256_srli_epi32, _mm256_testc_si256,
};

use super::portable::{
    BLOCK_SALTS, Block, LINE_MULTIPLIERS, Line, Probes, block_index, line_index, line_seeds,
};
use super::x86::Avx2;
use crate::hash::KeyHash;

#[expect(clippy::unused_self, reason = "`self` is the proof that the call is sound")]
impl Avx2 {
    /// As [`portable::line_contains`](super::portable::line_contains).
    #[inline]
    pub(super) fn line_contains<const FIELD_BITS: u32>(
        self,
        line: &Line,
        hash: u64,
        probes: Probes,
    ) -> bool {
        // SAFETY: the processor has AVX2, or there would be no `self`.
        unsafe { line_contains::<FIELD_BITS>(line, hash, probes) }
    }

    /// As [`Vector::lines_contain`](super::vector::Vector::lines_contain).
    pub(super) fn lines_contain<const FIELD_BITS: u32>(
        self,
        lines: &[Line],
        hashes: &[KeyHash],
        probes: Probes,
        answers: &mut [bool],
    ) {
        // SAFETY: the processor has AVX2, or there would be no `self`.
        unsafe { lines_contain::<FIELD_BITS>(lines, hashes, probes, answers) }
    }

    /// As [`portable::block_contains`](super::portable::block_contains).
    #[inline]
    pub(super) fn block_contains(self, block: &Block, hash: u64) -> bool {
        // SAFETY: the processor has AVX2, or there would be no `self`.
        unsafe { block_contains(block, hash) }
    }

    /// As [`Vector::blocks_contain`](super::vector::Vector::blocks_contain).
    pub(super) fn blocks_contain(self, blocks: &[Block], hashes: &[KeyHash], answers: &mut [bool]) {
        // SAFETY: the processor has AVX2, or there would be no `self`.
        unsafe { blocks_contain(blocks, hashes, answers) }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn lines_contain<const FIELD_BITS: u32>(
    lines: &[Line],
    hashes: &[KeyHash],
    probes: Probes,
    answers: &mut [bool],
) {
    super::batch::in_batches(lines, hashes, answers, line_index, |line, hash| {
        line_contains::<FIELD_BITS>(line, hash, probes)
    });
}

#[inline]
#[target_feature(enable = "avx2")]
fn line_contains<const FIELD_BITS: u32>(line: &Line, hash: u64, probes: Probes) -> bool {
    let seeds = _mm256_set1_epi64x(line_seeds(hash).cast_signed());
    let ([low, high], _) = line.as_chunks() else { unreachable!("a line has two halves") };
    let (low, high) = (load(low), load(high));
    let wanted = probes.mask();
    let field = _mm256_set1_epi32((1 << FIELD_BITS) - 1);
    let within_word = _mm256_set1_epi32((u32::BITS - FIELD_BITS).cast_signed());

    // Which of eight probes find a field that is zero.
    let missing = |multipliers| {
        let products = _mm256_mullo_epi32(seeds, load_words(multipliers));
        // The upper four bits name the word; its first three pick it out of each half, and the
        // uppermost one, which is the sign, picks the half.
        let place = _mm256_srli_epi32::<28>(products);
        let words = _mm256_castps_si256(_mm256_blendv_ps(
            _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, place)),
            _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, place)),
            _mm256_castsi256_ps(products),
        ));
        let bit = _mm256_and_si256(_mm256_srli_epi32::<23>(products), within_word);
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
fn blocks_contain(blocks: &[Block], hashes: &[KeyHash], answers: &mut [bool]) {
    super::batch::in_batches(blocks, hashes, answers, block_index, |block, hash| {
        block_contains(block, hash)
    });
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
