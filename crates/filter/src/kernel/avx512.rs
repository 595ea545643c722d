//! The inner loops in AVX-512: a whole cache line in one register, all fields of a key at once.
//!
//! ```text
//! seeds       even  odd   even  odd   …       32 bits each of the mixed hash
//! × powers    ─────────────────────────       one multiplication for sixteen probes
//! products    wwww bbbbb …                    w: which word of the line, b: which bit of it
//! permute     the word that each probe wants, out of the sixteen of the line
//! shift       1 << b, or 15 << the counter at b
//! test        no wanted field is zero
//! ```
//!
//! Loops stand written out: the compiler does not inline a closure with these instructions into an
//! iterator's or an option's method, which must run without them.
#![allow(unsafe_code, reason = "vector loads take pointers")]

use core::arch::x86_64::{
    __m256i, __m512i, _mm_loadu_si128, _mm_set_epi64x, _mm256_loadu_si256, _mm256_mullo_epi32,
    _mm256_rolv_epi32, _mm256_set_m128i, _mm256_set1_epi32, _mm256_srli_epi32, _mm256_testc_si256,
    _mm512_and_si512, _mm512_castsi128_si512, _mm512_castsi256_si512, _mm512_loadu_si512,
    _mm512_mask_test_epi64_mask, _mm512_mask_testn_epi32_mask, _mm512_mullo_epi32,
    _mm512_permutexvar_epi8, _mm512_permutexvar_epi32, _mm512_rolv_epi32, _mm512_set1_epi32,
    _mm512_set1_epi64, _mm512_srli_epi32, _mm512_srlv_epi64, _mm512_testn_epi64_mask,
    _mm512_xor_si512,
};

use super::cells::{CellLanes, CellTarget, LANES, cell_half};
use super::portable::{
    BLOCK_SALTS, Block, LINE_MULTIPLIERS, Line, Probes, block_index, line_index, line_seeds,
};
use super::x86::Avx512;
use crate::hash::KeyHash;

#[expect(clippy::unused_self, reason = "`self` is the proof that the call is sound")]
impl Avx512 {
    /// As [`portable::line_contains`](super::portable::line_contains), for any number of probes; not
    /// inlined, as [`line_contains`](Self::line_contains) is.
    pub(super) fn line_contains_out_of_line<const FIELD_BITS: u32>(
        self,
        line: &Line,
        hash: u64,
        probes: Probes,
    ) -> bool {
        // SAFETY: the processor has these features, or there would be no `self`.
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
        // SAFETY: the processor has these features, or there would be no `self`.
        unsafe { lines_contain::<FIELD_BITS>(lines, hashes, probes, answers) }
    }

    /// As [`Vector::cells_contain`](super::vector::Vector::cells_contain).
    #[inline]
    pub(super) fn cells_contain(
        self,
        table: &[u8],
        targets: &[CellTarget],
        lanes: &CellLanes,
    ) -> bool {
        // SAFETY: the processor has these features, or there would be no `self`.
        unsafe { cells_contain(table, targets, lanes) }
    }

    /// As [`Vector::blocks_contain`](super::vector::Vector::blocks_contain).
    pub(super) fn blocks_contain(self, blocks: &[Block], hashes: &[KeyHash], answers: &mut [bool]) {
        // SAFETY: the processor has these features, or there would be no `self`.
        unsafe { blocks_contain(blocks, hashes, answers) }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vpopcntdq,bmi2")]
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
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vpopcntdq,bmi2")]
fn line_contains<const FIELD_BITS: u32>(line: &Line, hash: u64, probes: Probes) -> bool {
    let seeds = _mm512_set1_epi64(line_seeds(hash).cast_signed());
    let line = load(line);
    let field = _mm512_set1_epi32((1 << FIELD_BITS) - 1);
    let within_word = _mm512_set1_epi32((u32::BITS - FIELD_BITS).cast_signed());

    // Which of sixteen probes want a field that is zero. What does not need the line comes first: a
    // core has room for few instructions that wait for one, and the fewer, the more lines at once.
    let missing = |multipliers, wanted: u32| {
        let products = _mm512_mullo_epi32(seeds, load_words(multipliers));
        // The upper four bits name the word, the next ones the field; a rotation by more than the
        // word is one by the rest.
        let mut bit = _mm512_srli_epi32::<23>(products);
        if FIELD_BITS > 1 {
            bit = _mm512_and_si512(bit, within_word);
        }
        let fields = _mm512_rolv_epi32(field, bit);
        let words = _mm512_permutexvar_epi32(_mm512_srli_epi32::<28>(products), line);
        _mm512_mask_testn_epi32_mask(wanted as u16, words, fields)
    };
    let ([first, second], _) = LINE_MULTIPLIERS.as_chunks() else { unreachable!("32 numbers") };
    let mask = probes.mask();
    // Hardly any filter has so many; the later ones come first, so that what all do stands last.
    if mask > 0xffff && missing(second, mask >> 16) != 0 {
        return false;
    }
    missing(first, mask) == 0
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vpopcntdq,bmi2")]
fn blocks_contain(blocks: &[Block], hashes: &[KeyHash], answers: &mut [bool]) {
    super::batch::in_batches(blocks, hashes, answers, block_index, |block, hash| {
        block_contains(block, hash)
    });
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vpopcntdq,bmi2")]
fn block_contains(block: &Block, hash: u64) -> bool {
    let products = _mm256_mullo_epi32(_mm256_set1_epi32(hash as i32), load_eight(&BLOCK_SALTS));
    let masks = _mm256_rolv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32::<27>(products));
    _mm256_testc_si256(load_block(block), masks) != 0
}

/// Spreads the eight cells of a bucket over the eight lanes, whatever their size: a permutation brings
/// the bytes that a cell lies in into its lane, and a shift its lowest bit to the lane's.
///
/// A bucket is loaded as its first bytes and its last ones, which overlap. One load under a mask would
/// wait for the next line too, wherever the vector reaches into it, even if no byte of the bucket does.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vpopcntdq,bmi2")]
fn cells_contain(table: &[u8], targets: &[CellTarget], lanes: &CellLanes) -> bool {
    let bucket_len = lanes.cell_bits as usize;
    let (bytes, shifts) = &LANES[bucket_len];
    let (bytes, shifts) = (load_lanes(bytes), load_lanes(shifts));
    let remainders = _mm512_set1_epi64((1 << lanes.remainder_bits) - 1);
    let counters = _mm512_set1_epi64(((1 << lanes.counter_bits) - 1) << lanes.remainder_bits);
    let mut found = 0;
    for target in targets {
        let Some((_, rest)) = table.split_at_checked(target.at) else { continue };
        let Some((bucket, _)) = rest.split_at_checked(bucket_len) else { continue };
        let Some(bucket) = load_bucket(bucket) else { continue };
        let cells = _mm512_permutexvar_epi8(bytes, bucket);
        let cells = _mm512_srlv_epi64(cells, shifts);
        let differ = _mm512_xor_si512(cells, _mm512_set1_epi64(target.remainder.into()));
        let alike = _mm512_testn_epi64_mask(differ, remainders);
        found |= _mm512_mask_test_epi64_mask(alike, cells, counters);
    }
    found != 0
}

/// Loads a bucket's first bytes and its last ones, one half of a vector's lowest bytes each. A bucket of
/// fewer bytes than a half stands in both, with zeros behind it. The vector's other bytes are anything.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_bucket(bucket: &[u8]) -> Option<__m512i> {
    if cell_half(bucket.len()) == 8 {
        let word = |bytes: Option<&[u8; 8]>| {
            bytes.map_or_else(|| short_word(bucket), |bytes| i64::from_le_bytes(*bytes))
        };
        let (first, last) = (word(bucket.first_chunk()), word(bucket.last_chunk()));
        return Some(_mm512_castsi128_si512(_mm_set_epi64x(last, first)));
    }
    let (first, last) = (bucket.first_chunk::<16>()?, bucket.last_chunk::<16>()?);
    // SAFETY: the references are to 16 readable bytes, and the loads take any alignment.
    let (first, last) =
        unsafe { (_mm_loadu_si128(first.as_ptr().cast()), _mm_loadu_si128(last.as_ptr().cast())) };
    Some(_mm512_castsi256_si512(_mm256_set_m128i(last, first)))
}

/// A bucket of fewer than eight bytes: cells of 6 or 7 bits.
#[cold]
fn short_word(bucket: &[u8]) -> i64 {
    let mut bytes = [0; 8];
    for (place, byte) in bytes.iter_mut().zip(bucket) {
        *place = *byte;
    }
    i64::from_le_bytes(bytes)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(line: &Line) -> __m512i {
    // SAFETY: the reference is to 64 readable bytes, and the load takes any alignment.
    unsafe { _mm512_loadu_si512(line.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_words(words: &[u32; 16]) -> __m512i {
    // SAFETY: the reference is to 64 readable bytes, and the load takes any alignment.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
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

#[inline]
#[target_feature(enable = "avx512f")]
fn load_lanes(lanes: &[u64; 8]) -> __m512i {
    // SAFETY: the reference is to 64 readable bytes, and the load takes any alignment.
    unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
}
