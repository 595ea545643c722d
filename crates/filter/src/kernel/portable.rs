//! The inner loops in plain Rust: right on every machine, and what vector code must agree with.

use crate::hash::KeyHash;

/// A cache line: 512 bits, or 128 counters of 4 bits.
pub(crate) type Line = [u8; 64];

/// The most fields that a key can have in a line.
pub(crate) const LINE_PROBES_MAX: u32 = 32;

/// How many fields a key has in a line, 1 to 32.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Probes(u32);

impl Probes {
    /// Takes a count.
    ///
    /// # Panics
    ///
    /// If it is 0 or more than [`LINE_PROBES_MAX`].
    pub(crate) const fn new(count: u32) -> Self {
        assert!(count >= 1 && count <= LINE_PROBES_MAX, "a key has 1 to 32 places in a line");
        Self(u32::MAX >> (LINE_PROBES_MAX - count))
    }

    /// How many they are.
    pub(crate) const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether they are sixteen at most, as those of nearly all filters are.
    #[inline]
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    pub(super) const fn count_is_small(self) -> bool {
        self.0 <= 0xffff
    }

    /// One bit for each, the lowest for the first: what a lookup needs, and so how they are kept.
    #[inline]
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    pub(super) const fn mask(self) -> u32 {
        self.0
    }
}

/// 2^32 divided by the golden ratio, whose multiples spread most evenly, to the powers 1 to 32.
pub(crate) const LINE_MULTIPLIERS: [u32; LINE_PROBES_MAX as usize] = {
    let mut powers = [0x9e37_79b9_u32; LINE_PROBES_MAX as usize];
    let mut index = 1;
    while index < powers.len() {
        powers[index] = powers[index - 1].wrapping_mul(0x9e37_79b9);
        index += 1;
    }
    powers
};

/// Picks the line of a key out of `count`, by the upper bits of its hash.
#[inline]
pub(crate) const fn line_index(hash: KeyHash, count: usize) -> usize {
    // A slot is below the count, which is a `usize`.
    hash.slot(count as u64) as usize
}

/// Returns where the fields of a key begin in a line of fields of so many bits, 1 or 4.
///
/// `RocksDB`'s `FastLocalBloom` multiplies 32 bits of the hash by a power of the golden ratio for
/// each probe, and takes the upper bits of the product, nine for one of 512 places. Here even and odd
/// probes start from different 32 bits, so that the whole hash counts, which matters below an error
/// rate of 1e-7; both are odd numbers, whose products do not run out of bits.
pub(crate) fn line_places(
    field_bits: u32,
    hash: u64,
    probes: Probes,
) -> impl Iterator<Item = usize> {
    let seeds = line_seeds(hash);
    let (even, odd) = (seeds as u32, (seeds >> 32) as u32);
    let multipliers = LINE_MULTIPLIERS.iter().take(probes.count() as usize);
    multipliers.enumerate().map(move |(index, multiplier)| {
        let seed = if index.is_multiple_of(2) { even } else { odd };
        (seed.wrapping_mul(*multiplier) >> 23 & !(field_bits - 1)) as usize
    })
}

/// Returns the numbers that even and odd probes start from, in the lower and the upper half. The hash
/// is multiplied once more, since its upper bits have already picked the line.
pub(crate) const fn line_seeds(hash: u64) -> u64 {
    hash.wrapping_mul(LINE_SEED_FACTOR) | LINE_SEED_BITS
}

/// 2^64 divided by the golden ratio.
pub(super) const LINE_SEED_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The lowest bit of both halves.
pub(super) const LINE_SEED_BITS: u64 = 0x1_0000_0001;

/// Returns whether no field of a key is zero in a line of fields of so many bits, 1 or 4.
#[inline]
pub(crate) fn line_contains<const FIELD_BITS: u32>(line: &Line, hash: u64, probes: Probes) -> bool {
    line_places(FIELD_BITS, hash, probes)
        .all(|bit| line[bit / 8] >> (bit % 8) & ((1 << FIELD_BITS) - 1) != 0)
}

/// Sets all bits of a key in a line.
pub(crate) fn line_insert(line: &mut Line, hash: u64, probes: Probes) {
    for bit in line_places(1, hash, probes) {
        line[bit / 8] |= 1 << (bit % 8);
    }
}

/// Adds one to each counter of a key in a line of counters of 4 bits, once where two probes meet,
/// and to those at 15 not at all.
pub(crate) fn counters_raise(line: &mut Line, hash: u64, probes: Probes) {
    change_counters(line, hash, probes, |word, open| word + open);
}

/// Takes one from each counter of a key, as [`counters_raise`] added it; none of them may be zero.
pub(crate) fn counters_lower(line: &mut Line, hash: u64, probes: Probes) {
    change_counters(line, hash, probes, |word, open| word - open);
}

/// Changes the counters of a key, sixteen in a word at once; `open` has a 1 in those that are to
/// change. Since a counter at 15 stays, and zero is not lowered, no carry leaves its counter.
#[inline]
fn change_counters(line: &mut Line, hash: u64, probes: Probes, change: impl Fn(u64, u64) -> u64) {
    let mut ones = [0_u64; 8];
    for bit in line_places(4, hash, probes) {
        ones[bit / 64] |= 1 << (bit % 64);
    }
    for (bytes, ones) in line.as_chunks_mut().0.iter_mut().zip(ones) {
        let word = u64::from_le_bytes(*bytes);
        let full = word & (word >> 1) & (word >> 2) & (word >> 3);
        *bytes = change(word, ones & !full).to_le_bytes();
    }
}

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

/// Picks the block of a key as the format says: ((hash >> 32) · count) >> 32.
#[inline]
pub(crate) const fn block_index(hash: KeyHash, count: usize) -> usize {
    // There are at most 2^31 blocks, so the product fits; the result is below the count.
    (((hash.get() >> 32) * count as u64) >> 32) as usize
}

/// Returns which bit a key has in each word of its block: the upper five bits of the lower half of the
/// hash times the word's number.
#[inline]
fn block_bits(hash: u64) -> [u32; 8] {
    BLOCK_SALTS.map(|salt| (hash as u32).wrapping_mul(salt) >> 27)
}

/// Returns where the bits of a key are in its block.
#[inline]
pub(crate) fn block_places(hash: u64) -> impl Iterator<Item = usize> {
    let bits = block_bits(hash).into_iter();
    bits.zip((0..).step_by(32)).map(|(bit, first)| first + bit as usize)
}

/// Returns the bit of a key in each word of its block.
fn block_masks(hash: u64) -> [u32; 8] {
    block_bits(hash).map(|bit| 1 << bit)
}

/// Returns whether a block has all eight bits of a key.
pub(crate) fn block_contains(block: &Block, hash: u64) -> bool {
    let words = block.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
    let missing = words.zip(block_masks(hash)).fold(0, |all, (word, mask)| all | (!word & mask));
    missing == 0
}

/// Sets all eight bits of a key in a block.
pub(crate) fn block_insert(block: &mut Block, hash: u64) {
    for (word, mask) in block.as_chunks_mut().0.iter_mut().zip(block_masks(hash)) {
        *word = (u32::from_le_bytes(*word) | mask).to_le_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "1 to 32 places")]
    fn a_key_without_a_place_in_its_line_is_a_broken_invariant() {
        let _ = Probes::new(0);
    }

    #[test]
    #[should_panic(expected = "1 to 32 places")]
    fn a_key_with_33_places_in_its_line_is_a_broken_invariant() {
        let _ = Probes::new(33);
    }
}
