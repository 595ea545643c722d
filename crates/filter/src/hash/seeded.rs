//! Keys of filters, and hashes of keys that know their seed.
//!
//! ```text
//! "row1" ──filter's seed──▶ KeyHash ──▶ lookup
//! SeededHash ──its seed = filter's seed?──▶ KeyHash ──▶ lookup
//!                 └ no: panic. A lookup with another seed would deny the keys of the filter.
//! ```

use alloc::vec::Vec;

use super::key::{KeyHash, Seed};

/// A key of a filter: bytes, text, or the [`SeededHash`] of a key.
///
/// References to bytes and text are keys: `b"row1"`, `"row1"`, `&string`, `&vec`. A filter hashes
/// them with its seed. Other crates cannot implement this trait.
pub trait Key {
    /// Returns the hash for a filter with this seed.
    ///
    /// # Panics
    ///
    /// If the key is a [`SeededHash`] with another seed.
    #[doc(hidden)]
    fn hash_with(self, seed: Seed) -> KeyHash;
}

impl<T: AsRef<[u8]> + ?Sized> Key for &T {
    #[inline]
    fn hash_with(self, seed: Seed) -> KeyHash {
        KeyHash::new(seed, self.as_ref())
    }
}

impl Key for SeededHash {
    #[inline]
    fn hash_with(self, seed: Seed) -> KeyHash {
        check_seed(self.seed, seed);
        self.hash
    }
}

impl Key for KeyHash {
    #[inline]
    fn hash_with(self, _: Seed) -> KeyHash {
        self
    }
}

/// Checks that hashes have the seed of a filter.
///
/// # Panics
///
/// If the seeds differ.
#[inline]
fn check_seed(hashes: Seed, filter: Seed) {
    assert_eq!(
        hashes, filter,
        "a hash has another seed than the filter, which would deny its keys"
    );
}

/// The hash of a key, with the seed that it was made with.
///
/// Hash a key once if you look it up in several filters with one seed. A filter with another seed
/// panics: it never answers "no" because of the seed.
///
/// ```
/// use filter::{Blocked, Seed, SeededHash, Sizing};
///
/// let (sizing, seed) = (Sizing::error_rate(0.01)?, Seed::random());
/// let mut days = Vec::new();
/// for day in 0..7 {
///     let mut visitors = Blocked::with_seed(sizing, 1_000, seed)?;
///     visitors.insert(&format!("visitor of day {day}"))?;
///     days.push(visitors);
/// }
/// let visitor = SeededHash::new(seed, "visitor of day 3");
/// assert!(days.iter().any(|day| day.may_contain(visitor)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct SeededHash {
    seed: Seed,
    hash: KeyHash,
}

impl SeededHash {
    /// Hashes a key with XXH3-64, which gives the same output on every platform.
    ///
    /// # Panics
    ///
    /// If `key` is a [`SeededHash`] with another seed.
    pub fn new(seed: Seed, key: impl Key) -> Self {
        Self { seed, hash: key.hash_with(seed) }
    }

    /// Creates a hash from the output of another hash function, for filters with this seed.
    ///
    /// Its 64 bits must be well mixed, because filters do not mix them again. Consecutive numbers
    /// or memory addresses, for example, cause far more false positives than the filter's error
    /// rate. Pass such a filter only hashes, because it hashes bytes with XXH3-64.
    pub const fn from_u64(seed: Seed, hash: u64) -> Self {
        Self { seed, hash: KeyHash::from_u64(hash) }
    }

    /// Returns the seed.
    pub const fn seed(self) -> Seed {
        self.seed
    }

    /// Returns the hash as a number.
    pub const fn get(self) -> u64 {
        self.hash.get()
    }
}

/// Hashes of many keys with one seed, in eight bytes each.
///
/// Filters are built from them, and look them up in a batch.
///
/// ```
/// use filter::{Ribbon, Seed, SeededHashes, Sizing};
///
/// let members = SeededHashes::new(Seed::random(), ["ann", "bob", "zoe"]);
/// let filter = Ribbon::build(Sizing::error_rate(0.01)?, &members)?;
/// assert!(filter.may_contain("bob"));
///
/// let asked = SeededHashes::new(filter.seed(), ["zoe", "ann"]);
/// let mut answers = [false; 2];
/// filter.may_contain_batch(&asked, &mut answers);
/// assert_eq!(answers, [true; 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SeededHashes {
    seed: Seed,
    hashes: Vec<KeyHash>,
}

impl SeededHashes {
    /// Hashes keys with a seed.
    ///
    /// # Panics
    ///
    /// If a key is a [`SeededHash`] with another seed.
    pub fn new(seed: Seed, keys: impl IntoIterator<Item: Key>) -> Self {
        Self { seed, hashes: keys.into_iter().map(|key| key.hash_with(seed)).collect() }
    }

    /// Starts without keys.
    pub const fn empty(seed: Seed) -> Self {
        Self { seed, hashes: Vec::new() }
    }

    /// Adds a key.
    ///
    /// # Panics
    ///
    /// If `key` is a [`SeededHash`] with another seed.
    pub fn push(&mut self, key: impl Key) {
        self.hashes.push(key.hash_with(self.seed));
    }

    /// Returns the number of keys.
    pub const fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Returns whether there are no keys.
    pub const fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Returns the seed.
    pub const fn seed(&self) -> Seed {
        self.seed
    }

    /// Returns the hashes without their seed.
    pub(crate) fn hashes(&self) -> &[KeyHash] {
        &self.hashes
    }

    /// Returns the hashes for a filter with this seed.
    ///
    /// # Panics
    ///
    /// If the hashes have another seed.
    pub(crate) fn hashes_with(&self, seed: Seed) -> &[KeyHash] {
        check_seed(self.seed, seed);
        &self.hashes
    }
}
