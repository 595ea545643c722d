//! The 64-bit hash of a key, of which the filters compute the positions of the key, and its seed.

#[cfg(feature = "std")]
use std::hash::{BuildHasher, Hasher, RandomState};

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The seed with which a filter hashes its keys.
///
/// A random seed, so that an attacker cannot choose keys that collide in the filter. Filters that
/// share a seed share the hash of a key ([`SeededHash`](crate::SeededHash)).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Seed(u64);

impl Seed {
    /// Creates a seed from its number.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Draws a random seed from the operating system.
    ///
    /// Needs the feature `std`. A stored filter has the seed in its header.
    #[cfg(feature = "std")]
    pub fn random() -> Self {
        // The standard library's only source of random numbers: the keys of its hash maps.
        Self(RandomState::new().build_hasher().finish())
    }

    /// Returns the seed's number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// The 64-bit hash of a key, without its seed.
///
/// For storage engines, which keep one seed for all filters and hash a key once for all of them.
/// A lookup with the hash of another seed denies members;
/// [`SeededHash`](crate::SeededHash) is checked.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct KeyHash(u64);

impl KeyHash {
    /// Hashes a key with XXH3-64, which gives the same output on every platform.
    pub fn new(seed: Seed, key: &[u8]) -> Self {
        Self(xxh3_64_with_seed(key, seed.0))
    }

    /// Creates a key hash from the output of another hash function.
    ///
    /// Its 64 bits must be well mixed, because filters do not mix them again. Consecutive numbers
    /// or memory addresses, for example, cause far more false positives than the filter's error
    /// rate.
    pub const fn from_u64(hash: u64) -> Self {
        Self(hash)
    }

    /// Returns the hash as a number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Maps the hash evenly to `0..count`: hash·count / 2^64, rounded down.
    ///
    /// The upper bits of the hash determine the slot. The computation needs no division.
    ///
    /// Lemire: "Fast random integer generation in an interval", 2019.
    pub(crate) const fn slot(self, count: u64) -> u64 {
        ((self.0 as u128 * count as u128) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_xxh3_as_published() {
        // The reference implementation's hash of the empty input.
        assert_eq!(KeyHash::new(Seed::new(0), b"").get(), 0x2D06_8005_38D3_94C2);
    }

    #[test]
    fn a_slot_is_below_the_count_for_counts_of_up_to_64_bits() {
        for count in [1, 2, 3, 1_000, 1 << 32, (1 << 32) + 1, u64::MAX] {
            assert_eq!(KeyHash::from_u64(0).slot(count), 0);
            assert_eq!(KeyHash::from_u64(u64::MAX).slot(count), count - 1);
        }
    }
}
