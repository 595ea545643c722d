//! The inner loops in AVX2: all bits of a key at once, without a branch for each.
//!
//! ```text
//! seeds       even  odd   even  odd   …       32 bits each of the mixed hash
//! × powers    ─────────────────────────       one multiplication for eight probes
//! products    wwww bbbbb …                    w: which word of the line, b: which bit of it
//! permute     the word that each probe wants, out of the sixteen of the line
//! shift       1 << b
//! test        no wanted bit is clear
//! ```
#![allow(unsafe_code, reason = "vector loads take pointers")]

use core::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_blendv_ps, _mm256_castps_si256, _mm256_castsi256_ps,
    _mm256_cmpgt_epi32, _mm256_loadu_si256, _mm256_mullo_epi32, _mm256_permutevar8x32_epi32,
    _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setr_epi32, _mm256_slli_epi32, _mm256_sllv_epi32,
    _mm256_srli_epi32, _mm256_testc_si256,
};

use super::portable::{BLOCK_SALTS, Block, LINE_MULTIPLIERS, Line, line_seeds};
use super::x86::Avx2;
use crate::KeyHash;

#[expect(clippy::unused_self, reason = "`self` is the proof that the call is sound")]
impl Avx2 {
    /// As [`portable::line_contains`](super::portable::line_contains).
    #[inline]
    pub(super) fn line_contains(self, line: &Line, hash: u64, probes: u32) -> bool {
        // SAFETY: the processor has AVX2, or there would be no `self`.
        unsafe { line_contains(line, hash, probes) }
    }

    /// As [`Vector::lines_contain`](super::Vector::lines_contain).
    pub(super) fn lines_contain(
        self,
        lines: &[Line],
        hashes: &[KeyHash],
        probes: u32,
        answers: &mut [bool],
    ) {
        // SAFETY: the processor has AVX2, or there would be no `self`.
        unsafe { lines_contain(lines, hashes, probes, answers) }
    }

    /// As [`portable::block_contains`](super::portable::block_contains).
    #[inline]
    pub(super) fn block_contains(self, block: &Block, hash: u64) -> bool {
        // SAFETY: the processor has AVX2, or there would be no `self`.
        unsafe { block_contains(block, hash) }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn lines_contain(lines: &[Line], hashes: &[KeyHash], probes: u32, answers: &mut [bool]) {
    super::in_batches(lines, hashes, answers, |line, hash| line_contains(line, hash, probes));
}

#[inline]
#[target_feature(enable = "avx2")]
fn line_contains(line: &Line, hash: u64, probes: u32) -> bool {
    let seeds = _mm256_set1_epi64x(line_seeds(hash).cast_signed());
    let ([low, high], _) = line.as_chunks() else { unreachable!("a line has two halves") };
    let (low, high) = (load(low), load(high));
    let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);

    // What eight probes find in the line, and what they want to find there.
    let probe = |multipliers, wanted: u32| {
        let products = _mm256_mullo_epi32(seeds, load_words(multipliers));
        // The upper four bits name the word; its first three pick it out of each half, and the
        // uppermost one, which is the sign, picks the half.
        let place = _mm256_srli_epi32::<28>(products);
        let words = _mm256_castps_si256(_mm256_blendv_ps(
            _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, place)),
            _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, place)),
            _mm256_castsi256_ps(products),
        ));
        let bit = _mm256_srli_epi32::<27>(_mm256_slli_epi32::<4>(products));
        let masks = _mm256_sllv_epi32(_mm256_set1_epi32(1), bit);
        let lanes_wanted = _mm256_cmpgt_epi32(_mm256_set1_epi32(wanted.cast_signed()), lanes);
        _mm256_testc_si256(words, _mm256_and_si256(masks, lanes_wanted)) != 0
    };
    let ([first, later @ ..], _) = LINE_MULTIPLIERS.as_chunks() else { unreachable!("32 numbers") };
    if probes <= 8 {
        return probe(first, probes); // As good as always; without a loop it is one test.
    }
    let wanted = (0..4).map(|eights| probes.saturating_sub(8 * eights)).skip(1);
    probe(first, 8) && later.iter().zip(wanted).all(|(eight, wanted)| probe(eight, wanted))
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
