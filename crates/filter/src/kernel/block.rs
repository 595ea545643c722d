//! Blocks of a split-block Bloom filter: where the bits of a key are.

use crate::hash::KeyHash;

/// A block of a split-block Bloom filter: eight little-endian words.
pub(crate) type Block = [u8; 32];

/// The odd numbers of the Parquet format, one for each word of a block.
pub(crate) const BLOCK_SALTS: [u32; 8] = [
    0x47b6_137b,
    0x4497_4d91,
    0x8824_ad5b,
    0xa2b7_289d,
    0x7054_95c7,
    0x2df1_424b,
    0x9efc_4947,
    0x5c6b_fb31,
];

/// Returns the block of a key as the format says: ((hash >> 32) · count) >> 32.
#[inline]
pub(crate) const fn block_index(hash: KeyHash, count: usize) -> usize {
    // There are at most 2^31 blocks, so the product fits; the result is below the count.
    (((hash.get() >> 32) * count as u64) >> 32) as usize
}

/// Returns the bit of a key in each word of its block.
///
/// A bit is the upper five bits of the product of the hash's lower half with the word's salt.
#[inline]
fn block_bits(hash: u64) -> [u32; 8] {
    BLOCK_SALTS.map(|salt| (hash as u32).wrapping_mul(salt) >> 27)
}

/// Returns each word of a block with only the bit of a key set.
#[inline]
pub(super) fn block_masks(hash: u64) -> [u32; 8] {
    block_bits(hash).map(|bit| 1 << bit)
}

/// Sets all eight bits of a key in a block.
pub(crate) fn block_insert(block: &mut Block, hash: u64) {
    for (word, mask) in block.as_chunks_mut().0.iter_mut().zip(block_masks(hash)) {
        *word = (u32::from_le_bytes(*word) | mask).to_le_bytes();
    }
}
