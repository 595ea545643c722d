//! A cache line of a blocked filter: the positions of a key's fields, and their updates.
//!
//! A blocked filter keeps each key in one cache line. A field is a bit of a Bloom filter or a 4-bit
//! counter of a counting filter. Each probe of a key selects a field.

use crate::hash::KeyHash;

/// A cache line: 512 bits, or 128 counters of 4 bits.
pub(crate) type Line = [u8; 64];

/// The maximum number of probes of a key in a line.
pub(crate) const LINE_PROBES_MAX: u32 = 32;

/// The number of probes of a key in a line, 1 to 32.
///
/// Stored as a mask for the vector code: bit `n` is set if there is a probe `n`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Probes(u32);

impl Probes {
    /// Creates the mask of `count` probes.
    ///
    /// # Panics
    ///
    /// If the count is 0 or exceeds [`LINE_PROBES_MAX`].
    pub(crate) const fn new(count: u32) -> Self {
        assert!(count >= 1 && count <= LINE_PROBES_MAX, "a key has 1 to 32 positions in a line");
        Self(u32::MAX >> (LINE_PROBES_MAX - count))
    }

    /// Returns the number of probes.
    pub(crate) const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns the mask, whose bit `n` is set if there is a probe `n`.
    #[inline]
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    pub(super) const fn mask(self) -> u32 {
        self.0
    }
}

/// The first 32 powers of M = 2^32 / golden ratio, modulo 2^32. Multiples of M are evenly spread.
pub(crate) const LINE_MULTIPLIERS: [u32; LINE_PROBES_MAX as usize] = {
    let mut powers = [0x9e37_79b9_u32; LINE_PROBES_MAX as usize];
    let mut index = 1;
    while index < powers.len() {
        powers[index] = powers[index - 1].wrapping_mul(0x9e37_79b9);
        index += 1;
    }
    powers
};

/// Returns the index of a key's line among `count` lines, from the upper bits of the key's hash.
#[inline]
pub(crate) const fn line_index(hash: KeyHash, count: usize) -> usize {
    // The cast is exact: the slot is below `count`, a `usize`.
    hash.slot(count as u64) as usize
}

/// Returns, for each probe of a key, the bit offset of the field in the line.
///
/// A field has `field_bits` bits, 1 or 4. Several probes can select the same field.
///
/// `RocksDB`'s `FastLocalBloom` multiplies, for each probe, 32 bits of the hash by a power of the
/// golden ratio. The upper nine bits of the product are one of 512 positions. Here even and odd
/// probes multiply different 32-bit seeds, so that the positions depend on all 64 bits of the hash,
/// which matters for error rates below 1e-7. Both seeds are odd, because a product modulo 2^32
/// loses a bit of the seed for each factor of two.
pub(crate) fn line_positions(
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

/// Returns the 32-bit seed of even probes in the lower half, and of odd probes in the upper half.
///
/// The hash is multiplied, because keys of the same line have similar upper bits in their hashes.
pub(crate) const fn line_seeds(hash: u64) -> u64 {
    /// 2^64 divided by the golden ratio.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    /// A mask of the lowest bit of each half, which makes both seeds odd.
    const ODD: u64 = 0x1_0000_0001;
    hash.wrapping_mul(FACTOR) | ODD
}

/// Sets all bits of a key in a line.
pub(crate) fn line_insert(line: &mut Line, hash: u64, probes: Probes) {
    for bit in line_positions(1, hash, probes) {
        line[bit / 8] |= 1 << (bit % 8);
    }
}

/// Adds one to each counter of a key in a line of counters of 4 bits.
///
/// A counter that several probes select is raised once. A counter at 15 is saturated: it stays.
pub(crate) fn counters_raise(line: &mut Line, hash: u64, probes: Probes) {
    change_counters(line, hash, probes, |word, open| word + open);
}

/// Subtracts one from each counter of a key; no counter may be zero.
///
/// Reverses [`counters_raise`], except for saturated counters.
pub(crate) fn counters_lower(line: &mut Line, hash: u64, probes: Probes) {
    change_counters(line, hash, probes, |word, open| word - open);
}

/// Changes the counters of a key, in words of sixteen counters.
///
/// Calls `change` with each word and a word that has a 1 in each counter to change. Saturated
/// counters are not changed, and callers lower no counter at zero. So a carry or borrow never
/// reaches the next counter.
#[inline]
fn change_counters(line: &mut Line, hash: u64, probes: Probes, change: impl Fn(u64, u64) -> u64) {
    let mut ones = [0_u64; 8];
    for bit in line_positions(4, hash, probes) {
        ones[bit / 64] |= 1 << (bit % 64);
    }
    for (bytes, ones) in line.as_chunks_mut().0.iter_mut().zip(ones) {
        let word = u64::from_le_bytes(*bytes);
        let full = word & (word >> 1) & (word >> 2) & (word >> 3);
        *bytes = change(word, ones & !full).to_le_bytes();
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use alloc::vec::Vec;

    use super::*;

    #[test]
    #[should_panic(expected = "1 to 32 positions")]
    fn a_key_without_a_place_in_its_line_is_a_broken_invariant() {
        let _ = Probes::new(0);
    }

    #[test]
    #[should_panic(expected = "1 to 32 positions")]
    fn a_key_with_33_places_in_its_line_is_a_broken_invariant() {
        let _ = Probes::new(33);
    }

    proptest! {
        /// Adding to a word of 16 counters has the same result as adding to each of the counters.
        #[test]
        fn a_word_of_counters_changes_as_its_counters_one_by_one(
            bytes in vec(any::<u8>(), 64),
            hash in any::<u64>(),
            probes in (1..=LINE_PROBES_MAX).prop_map(Probes::new),
        ) {
            let before: Line = bytes.try_into().expect("64 bytes");
            let mut expected = before;
            let mut places: Vec<usize> = line_positions(4, hash, probes).collect();
            places.sort_unstable();
            places.dedup();
            for bit in places {
                let byte = &mut expected[bit / 8];
                *byte += u8::from(*byte >> (bit % 8) & 15 != 15) << (bit % 8);
            }
            let mut line = before;
            counters_raise(&mut line, hash, probes);
            prop_assert_eq!(line, expected);

            // Lowering restores all counters but the saturated ones.
            counters_lower(&mut line, hash, probes);
            for (at, (after, before)) in line.iter().zip(before).enumerate() {
                for shift in [0, 4] {
                    let (raised, before) = (expected[at] >> shift & 15, before >> shift & 15);
                    let is_restored = after >> shift & 15 == before;
                    prop_assert!(is_restored || raised == 15 && after >> shift & 15 == 15);
                }
            }
        }
    }
}
