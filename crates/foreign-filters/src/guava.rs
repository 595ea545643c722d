//! Guava's `BloomFilter`: the same size, bits and serialised form.
//!
//! For `n` expected keys and the error rate `p`, Guava's `create(funnel, n, p)` chooses
//! `m = (long) (-n · ln p / (ln 2)²)` bits, rounded up to whole 64-bit words, and
//! `k = max(1, round(-ln p / ln 2))` probes, the bits that each key sets. Old versions of Guava
//! derived `k` from `m / n`, which can give another `k` if very few keys are expected. All versions
//! read each other's filters, because the serialised form contains `k`.
//!
//! A strategy derives the probes from the `MurmurHash3_x64_128` of the key, with seed 0:
//!
//! | ordinal | strategy            | h1, h2           | probe i, from i = 0                     |
//! |--------:|---------------------|------------------|-----------------------------------------|
//! |       0 | `MURMUR128_MITZ_32` | word 0: its low, | h1 + (i+1)·h2 as `int`, `~` if negative |
//! |         |                     | its high 32 bits |                                         |
//! |       1 | `MURMUR128_MITZ_64` | word 0, word 1   | h1 + i·h2 as `long`, sign bit cleared   |
//!
//! Each probe is then reduced modulo `m`. The serialised form (`writeTo`, `readFrom`):
//!
//! | at | bytes | field         | encoding and meaning                                           |
//! |---:|------:|---------------|----------------------------------------------------------------|
//! |  0 |     1 | strategy      | the ordinal of the strategy, as in the table above             |
//! |  1 |     1 | hash count    | u8, 1 ..= 255                                                  |
//! |  2 |     4 | word count    | i32 BE, at least 1                                             |
//! |  6 |   8·w | words         | i64 BE each; bit `p` is bit `p mod 64` of word `p / 64`        |
//!
//! A `Funnel` of Guava turns an object into the bytes to hash, which are the keys here: byte arrays
//! unchanged; text as UTF-8 (`stringFunnel`) or as UTF-16 little-endian (`unencodedCharsFunnel`);
//! an `int` or `long` as 4 or 8 bytes, little-endian.

use alloc::vec;
use alloc::vec::Vec;
use core::f64::consts::LN_2;
use core::num::NonZeroU8;

use filter::ErrorRate;

/// How the positions of a key's bits are derived from its hash. The names are Guava's.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum GuavaStrategy {
    /// `MURMUR128_MITZ_32`: used by old versions of Guava; its error rate is too high above 2^31
    /// bits.
    Mitz32,
    /// `MURMUR128_MITZ_64`: the default of `create`.
    #[default]
    Mitz64,
}

/// A Bloom filter of byte strings with the same size and bits as Guava's `BloomFilter`.
///
/// ```
/// use filter::ErrorRate;
/// use foreign_filters::{GuavaBloom, GuavaStrategy};
///
/// let mut filter = GuavaBloom::new(1_000, ErrorRate::new(0.01)?, GuavaStrategy::Mitz64)?;
/// filter.insert(b"row1");
/// assert!(filter.may_contain(b"row1"));
/// assert_eq!((filter.bits(), filter.hash_count()), (9_600, 7));
///
/// let bytes = filter.to_bytes(); // Java reads these with `BloomFilter.readFrom`.
/// assert_eq!(GuavaBloom::from_bytes(&bytes)?, filter);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GuavaBloom {
    strategy: GuavaStrategy,
    hash_count: NonZeroU8,
    /// At least one.
    words: Vec<u64>,
}

impl GuavaBloom {
    /// Creates an empty filter of the size that Guava's `create` chooses.
    ///
    /// # Errors
    ///
    /// [`TooLarge`] if the filter exceeds Guava's limits: 255 probes and 2^31 − 1 words.
    pub fn new(
        expected_insertions: u64,
        error_rate: ErrorRate,
        strategy: GuavaStrategy,
    ) -> Result<Self, TooLarge> {
        let expected = expected_insertions.max(1);
        let bits = optimal_bits(expected, error_rate);
        let hash_count = u8::try_from(optimal_hash_count(error_rate))
            .ok()
            .and_then(NonZeroU8::new)
            .ok_or(TooLarge { expected_insertions })?;
        let word_count = usize::try_from(bits.div_ceil(64).max(1))
            .ok()
            .filter(|&words| i32::try_from(words).is_ok())
            .ok_or(TooLarge { expected_insertions })?;
        Ok(Self { strategy, hash_count, words: vec![0; word_count] })
    }

    /// Inserts a key, and returns whether a bit changed.
    ///
    /// If true, the key was certainly not in the filter before.
    pub fn insert(&mut self, key: &[u8]) -> bool {
        let mut changed = false;
        for bit in self.probes(key) {
            let (word, mask) = word_and_mask(bit);
            if let Some(word) = self.words.get_mut(word) {
                changed |= *word & mask == 0;
                *word |= mask;
            }
        }
        changed
    }

    /// Returns false if the key was certainly never inserted, true if it may have been.
    pub fn may_contain(&self, key: &[u8]) -> bool {
        self.probes(key).all(|bit| {
            let (word, mask) = word_and_mask(bit);
            self.words.get(word).is_some_and(|word| word & mask != 0)
        })
    }

    /// Adds all keys of a filter of the same strategy, size and number of probes, as `putAll` does.
    ///
    /// # Errors
    ///
    /// [`Incompatible`] if the filters differ in one of these. This filter is then unchanged.
    pub fn union(&mut self, other: &Self) -> Result<(), Incompatible> {
        let same = self.strategy == other.strategy
            && self.hash_count == other.hash_count
            && self.words.len() == other.words.len();
        if !same {
            return Err(Incompatible);
        }
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= other;
        }
        Ok(())
    }

    /// Returns the number of bits of the filter.
    pub fn bits(&self) -> u64 {
        bit_count(&self.words)
    }

    /// Returns the number of bits that a key sets.
    pub const fn hash_count(&self) -> u8 {
        self.hash_count.get()
    }

    /// Returns how the positions of a key's bits are derived from its hash.
    pub const fn strategy(&self) -> GuavaStrategy {
        self.strategy
    }

    /// Returns the expected error rate, as `expectedFpp` does.
    ///
    /// This is the fraction of set bits to the power of the number of probes.
    pub fn error_rate(&self) -> f64 {
        let set =
            self.words.iter().map(|word| u64::from(word.count_ones())).fold(0, u64::saturating_add);
        (to_f64(set) / to_f64(self.bits())).powi(self.hash_count.get().into())
    }

    /// Returns the serialised form, as `writeTo` does.
    #[expect(clippy::missing_panics_doc, reason = "constructors check the number of words")]
    pub fn to_bytes(&self) -> Vec<u8> {
        let word_count = i32::try_from(self.words.len()).expect("constructors check the count");
        let strategy = match self.strategy {
            GuavaStrategy::Mitz32 => 0,
            GuavaStrategy::Mitz64 => 1,
        };
        let mut bytes = vec![strategy, self.hash_count.get()];
        bytes.extend_from_slice(&word_count.to_be_bytes());
        bytes.extend(self.words.iter().flat_map(|word| word.to_be_bytes()));
        bytes
    }

    /// Parses the serialised form, as `readFrom` does.
    ///
    /// # Errors
    ///
    /// [`NotGuava`] if a field has a value that Guava never writes, or the number of words differs
    /// from the header.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NotGuava> {
        let ([strategy, hash_count], rest) = bytes.split_first_chunk().ok_or(NotGuava::Cut)?;
        let (word_count, words) = rest.split_first_chunk().ok_or(NotGuava::Cut)?;
        let strategy = match strategy {
            0 => GuavaStrategy::Mitz32,
            1 => GuavaStrategy::Mitz64,
            other => return Err(NotGuava::Strategy(*other)),
        };
        let hash_count = NonZeroU8::new(*hash_count).ok_or(NotGuava::NoProbes)?;
        let (words, rest) = words.as_chunks::<8>();
        let announced = i32::from_be_bytes(*word_count);
        if announced < 1 || usize::try_from(announced) != Ok(words.len()) || !rest.is_empty() {
            return Err(NotGuava::WordCount { announced, bytes: bytes.len() });
        }
        let words = words.iter().map(|word| u64::from_be_bytes(*word)).collect();
        Ok(Self { strategy, hash_count, words })
    }

    /// Returns the positions of a key's bits, in Guava's order.
    fn probes(&self, key: &[u8]) -> impl Iterator<Item = u64> + use<> {
        let mut source = key;
        let hash = murmur3::murmur3_x64_128(&mut source, 0).expect("reading a slice does not fail");
        let [first, second] = halves(hash);
        let bits = self.bits();
        let strategy = self.strategy;
        (0..u64::from(self.hash_count.get())).map(move |index| {
            let combined = match strategy {
                GuavaStrategy::Mitz64 => {
                    first.wrapping_add(index.wrapping_mul(second)) & i64::MAX.cast_unsigned()
                }
                GuavaStrategy::Mitz32 => {
                    let [low, high] = quarters(first);
                    let [step, _] = quarters(index.wrapping_add(1));
                    let sum = low.wrapping_add(step.wrapping_mul(high)).cast_signed();
                    u64::from(if sum < 0 { !sum } else { sum }.cast_unsigned())
                }
            };
            combined.checked_rem(bits).expect("a filter has at least one word")
        })
    }
}

/// Computes Guava's `optimalNumOfBits`, truncated to a whole number as in Java.
fn optimal_bits(expected: u64, error_rate: ErrorRate) -> u64 {
    let bits = -to_f64(expected) * error_rate.get().ln() / (LN_2 * LN_2);
    saturating_u64(bits)
}

/// Computes Guava's `optimalNumOfHashFunctions`. Java's `Math.round` rounds halves up.
fn optimal_hash_count(error_rate: ErrorRate) -> u64 {
    saturating_u64((-error_rate.get().ln() / LN_2 + 0.5).floor()).max(1)
}

#[expect(clippy::as_conversions, reason = "Java rounds in the same way")]
const fn to_f64(number: u64) -> f64 {
    number as f64
}

#[expect(clippy::as_conversions, reason = "Java truncates and saturates in the same way")]
const fn saturating_u64(number: f64) -> u64 {
    number as u64
}

/// Returns the index of the word of a bit, and the mask of the bit in the word.
#[expect(clippy::as_conversions, reason = "the words are in memory, so their indices fit")]
const fn word_and_mask(bit: u64) -> (usize, u64) {
    ((bit >> 6) as usize, 1_u64.rotate_left((bit & 63) as u32))
}

#[expect(clippy::as_conversions, reason = "the words are in memory, so their number fits")]
const fn bit_count(words: &[u64]) -> u64 {
    (words.len() as u64).saturating_mul(64)
}

/// Splits a 128-bit hash into Guava's two `long`s, the low one first.
#[expect(clippy::as_conversions, reason = "truncation is intended")]
const fn halves(hash: u128) -> [u64; 2] {
    [hash as u64, (hash >> 64) as u64]
}

/// Splits a `long` into two `int`s, the low one first.
#[expect(clippy::as_conversions, reason = "truncation is intended")]
const fn quarters(half: u64) -> [u32; 2] {
    [half as u32, (half >> 32) as u32]
}

/// The filter would exceed Guava's limits of bits or probes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a filter for {expected_insertions} keys at that error rate exceeds Guava's limits")]
pub struct TooLarge {
    /// The number of expected keys passed to `create`.
    pub expected_insertions: u64,
}

/// Two filters cannot be united because they differ in strategy, size or number of probes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the filters differ in strategy, size or number of probes")]
pub struct Incompatible;

/// Why bytes are not a serialised Guava filter.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NotGuava {
    /// The bytes end within the header of six bytes.
    #[error("ends in the header of a Guava filter")]
    Cut,
    /// The strategy is unknown.
    #[error("unknown Guava strategy {0}")]
    Strategy(u8),
    /// The number of probes is zero.
    #[error("a Guava filter without probes")]
    NoProbes,
    /// The number of words differs from the header.
    #[error("a Guava filter of {bytes} bytes announces {announced} words")]
    WordCount {
        /// The number of words in the header.
        announced: i32,
        /// The number of bytes, header included.
        bytes: usize,
    },
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    fn filter(strategy: GuavaStrategy, keys: u64, rate: f64) -> GuavaBloom {
        let rate = ErrorRate::new(rate).expect("in range");
        GuavaBloom::new(keys, rate, strategy).expect("small enough")
    }

    #[test]
    fn sizes_are_those_of_guava() {
        // Values from BloomFilterTest.java: optimalBits and optimalHashes.
        assert_eq!(optimal_bits(1, ErrorRate::HBASE), 9);
        assert_eq!(optimal_bits(1_000_000, ErrorRate::new(0.03).expect("in range")), 7_298_440);
        assert_eq!(optimal_hash_count(ErrorRate::new(0.03).expect("in range")), 5);
        assert_eq!(optimal_hash_count(ErrorRate::new(0.99).expect("in range")), 1);
    }

    #[test]
    fn no_member_is_denied_and_the_bytes_round_trip() {
        for strategy in [GuavaStrategy::Mitz32, GuavaStrategy::Mitz64] {
            let mut filter = filter(strategy, 1_000, 0.01);
            let keys: alloc::vec::Vec<_> =
                (0..1_000).map(|number| format!("key{number}")).collect();
            assert!(!filter.may_contain(b"key1"));
            for key in &keys {
                filter.insert(key.as_bytes());
            }
            assert!(!filter.insert(b"key1"), "a second insert changes no bit");
            assert!(keys.iter().all(|key| filter.may_contain(key.as_bytes())));
            let absent_keys = (0..20_000).map(|number| format!("absent{number}"));
            let false_positives =
                absent_keys.filter(|key| filter.may_contain(key.as_bytes())).count();
            // 200 are expected, and three standard deviations are 42.
            assert!((158..=242).contains(&false_positives), "{strategy:?}: {false_positives}");
            assert!((filter.error_rate() - 0.01).abs() < 0.001, "{}", filter.error_rate());
            assert_eq!(GuavaBloom::from_bytes(&filter.to_bytes()), Ok(filter));
        }
    }

    #[test]
    fn truncated_bytes_and_wrong_headers_are_refused() {
        let bytes = filter(GuavaStrategy::Mitz64, 10, 0.1).to_bytes();
        for len in 0..bytes.len() {
            assert!(GuavaBloom::from_bytes(&bytes[..len]).is_err(), "cut at {len}");
        }
        for (at, wrong) in [(0, 2), (1, 0), (2, 0x80), (5, 9)] {
            let mut damaged = bytes.clone();
            damaged[at] = wrong;
            assert!(GuavaBloom::from_bytes(&damaged).is_err(), "byte {at} is {wrong}");
        }
        let none = [1, 1, 0, 0, 0, 0];
        assert!(GuavaBloom::from_bytes(&none).is_err(), "a filter without words");
    }

    #[test]
    fn a_union_holds_the_keys_of_both() {
        let mut left = filter(GuavaStrategy::Mitz64, 100, 0.01);
        let mut right = left.clone();
        left.insert(b"left");
        right.insert(b"right");
        assert_eq!(left.union(&right), Ok(()));
        assert!(left.may_contain(b"left") && left.may_contain(b"right"));
        let before = left.clone();
        assert_eq!(left.union(&filter(GuavaStrategy::Mitz32, 100, 0.01)), Err(Incompatible));
        assert_eq!(left, before);
    }

    #[test]
    fn a_filter_beyond_the_limits_of_guava_is_refused() {
        let rate = ErrorRate::new(1e-300).expect("in range");
        assert!(GuavaBloom::new(10, rate, GuavaStrategy::Mitz64).is_err(), "997 probes");
        let huge = GuavaBloom::new(u64::MAX, ErrorRate::HBASE, GuavaStrategy::Mitz64);
        assert!(huge.is_err());
    }
}
