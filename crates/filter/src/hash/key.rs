//! The 64-bit hash of a key, which all filters take instead of the key, and its seed.

#[cfg(feature = "std")]
use std::hash::{BuildHasher, Hasher, RandomState};

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The seed of a store's key hashes.
///
/// A store draws a random seed when it is created, so that an attacker cannot choose keys that
/// collide in its filters. All files of the store share the seed, so a lookup hashes its key once.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Seed(u64);

impl Seed {
    /// Creates a seed from its number.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Draws a random seed from the operating system.
    ///
    /// Needs the feature `std`. Save the seed with the filter: a stored filter has it in its header.
    ///
    /// ```
    /// use filter::engine::{Insert, KeyHash, Membership};
    /// use filter::{ErrorRate, Seed, Sizing, StoredFilter, Blocked};
    ///
    /// let seed = Seed::random();
    /// let mut known = Blocked::new(Sizing::ErrorRate(ErrorRate::new(0.01)?), 1_000)?;
    /// known.insert(KeyHash::new(seed, b"ada"))?;
    ///
    /// let loaded = StoredFilter::parse(known.to_stored(seed))?;
    /// assert!(loaded.may_contain(KeyHash::new(loaded.seed(), b"ada")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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

/// The 64-bit hash of a key, computed once per lookup and passed to all filters.
///
/// ```
/// use filter::engine::KeyHash;
/// use filter::Seed;
///
/// let seed = Seed::new(7);
/// assert_eq!(KeyHash::new(seed, b"row1"), KeyHash::new(seed, b"row1"));
/// assert_ne!(KeyHash::new(seed, b"row1"), KeyHash::new(Seed::new(8), b"row1"));
/// ```
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
