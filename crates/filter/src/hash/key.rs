//! From a key's bytes to the 64 bits that every filter works on.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The seed of a store's key hashes.
///
/// A store draws one at random when it is made and keeps it, so that nobody can choose keys that
/// collide in its filters; all its files share it, so that one [`KeyHash`] serves them all.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Seed(u64);

impl Seed {
    /// Takes a number as the seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// The hash of one key: 64 bits, made once per read and shown to every filter.
///
/// ```
/// use filter::{KeyHash, Seed};
///
/// let seed = Seed::new(7);
/// assert_eq!(KeyHash::new(seed, b"row1"), KeyHash::new(seed, b"row1"));
/// assert_ne!(KeyHash::new(seed, b"row1"), KeyHash::new(Seed::new(8), b"row1"));
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct KeyHash(u64);

impl KeyHash {
    /// Hashes a key with XXH3-64, whose output is the same on every platform and in every version.
    pub fn new(seed: Seed, key: &[u8]) -> Self {
        Self(xxh3_64_with_seed(key, seed.0))
    }

    /// Takes a hash made elsewhere. Its bits must be well mixed: filters use them as they are, and
    /// counters or addresses would miss the promised error rate by far.
    pub const fn from_u64(hash: u64) -> Self {
        Self(hash)
    }

    /// Returns the 64 bits.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Maps the hash to `0..count`, evenly, by its upper bits: the fast range reduction of Lemire
    /// ("Fast random integer generation in an interval", 2019) on the whole hash, so that it works
    /// for any count and needs no division.
    #[inline]
    pub(crate) const fn slot(self, count: u64) -> u64 {
        ((self.0 as u128 * count as u128) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_xxh3_as_published() {
        // From the XXH3 specification's reference implementation: the empty input.
        assert_eq!(KeyHash::new(Seed::new(0), b"").get(), 0x2D06_8005_38D3_94C2);
    }

    #[test]
    fn slots_stay_below_their_count_even_past_32_bits() {
        for count in [1, 2, 3, 1_000, 1 << 32, (1 << 32) + 1, u64::MAX] {
            assert_eq!(KeyHash::from_u64(0).slot(count), 0);
            assert_eq!(KeyHash::from_u64(u64::MAX).slot(count), count - 1);
        }
    }
}
