//! Guava's `BloomFilter`: the same size, the same bits, the same serialised form.
//!
//! `create(funnel, expectedInsertions, fpp)` takes
//! `m = (long) (-n · ln p / (ln 2)²)` bits, rounded up to whole 64-bit words, and
//! `k = max(1, round(-ln p / ln 2))` probes, as Guava does today. Older versions took `k` from
//! `m / n`, which differs for a handful of keys; either reads the other's filters, since the
//! number of probes is in the serialised form.
//!
//! Both strategies hash the key with `MurmurHash3_x64_128` and seed 0:
//!
//! | ordinal | strategy             | h1, h2                    | probe i                              |
//! |--------:|----------------------|---------------------------|--------------------------------------|
//! |       0 | `MURMUR128_MITZ_32`  | low, high 32 bits of word 0 | h1 + (i+1)·h2 as `int`, `~` if negative |
//! |       1 | `MURMUR128_MITZ_64`  | word 0, word 1            | h1 + i·h2 as `long`, without its sign bit |
//!
//! and take each probe modulo m. The serialised form (`writeTo`, `readFrom`):
//!
//! | at | bytes | field         | encoding and meaning                                              |
//! |---:|------:|---------------|-------------------------------------------------------------------|
//! |  0 |     1 | strategy      | its ordinal                                                       |
//! |  1 |     1 | hash count    | u8, 1 ..= 255                                                     |
//! |  2 |     4 | word count    | i32 BE, at least 1                                                |
//! |  6 |   8·w | words         | i64 BE each; bit `p` is bit `p mod 64` of word `p / 64`           |
//!
//! What is hashed is what the funnel sends: bytes as they are; text as UTF-8 (`stringFunnel`) or as
//! UTF-16 little-endian (`unencodedCharsFunnel`); an `int` or `long` as 4 or 8 bytes, little-endian.

#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

use alloc::vec;
use alloc::vec::Vec;
use core::f64::consts::LN_2;
use core::num::NonZeroU8;

use crate::sizing::ErrorRate;

/// How probes are made from a key's hash. The names are Guava's.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum GuavaStrategy {
    /// `MURMUR128_MITZ_32`: what Guava wrote before version 12; errs more often above 2^31 bits.
    Mitz32,
    /// `MURMUR128_MITZ_64`: what `create` makes.
    #[default]
    Mitz64,
}

/// A set of byte strings that answers as Guava's `BloomFilter` does, bit for bit.
///
/// ```
/// use filter::ErrorRate;
/// use filter::bloom::{GuavaBloom, GuavaStrategy};
///
/// let mut filter = GuavaBloom::create(1_000, ErrorRate::new(0.01)?, GuavaStrategy::Mitz64)?;
/// filter.insert(b"row1");
/// assert!(filter.may_contain(b"row1"));
/// assert_eq!((filter.bits(), filter.hash_count()), (9_600, 7));
///
/// let bytes = filter.to_bytes(); // `BloomFilter.readFrom` in Java takes them.
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
    /// Makes an empty filter, as large as Guava's `create` would for as many keys and that rate.
    ///
    /// # Errors
    ///
    /// [`TooLarge`] if Guava could not hold or write it either: more than 255 probes, or more than
    /// 2^31 − 1 words.
    pub fn create(
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

    /// Adds a key. Returns whether a bit changed: if so, the key was certainly not there before.
    pub fn insert(&mut self, key: &[u8]) -> bool {
        let mut changed = false;
        for bit in self.probes(key) {
            let (word, mask) = place(bit);
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
            let (word, mask) = place(bit);
            self.words.get(word).is_some_and(|word| word & mask != 0)
        })
    }

    /// Adds all keys of a filter of the same strategy, size and number of probes, as `putAll` does.
    ///
    /// # Errors
    ///
    /// [`Incompatible`] if they differ in one of these; this filter is then as it was.
    pub fn union(&mut self, other: &Self) -> Result<(), Incompatible> {
        let same = self.strategy == other.strategy
            && self.hash_count == other.hash_count
            && self.words.len() == other.words.len();
        if !same {
            return Err(Incompatible);
        }
        for (word, theirs) in self.words.iter_mut().zip(&other.words) {
            *word |= theirs;
        }
        Ok(())
    }

    /// Returns how many bits the filter has.
    pub fn bits(&self) -> u64 {
        bit_count(&self.words)
    }

    /// Returns how many bits each key sets.
    pub const fn hash_count(&self) -> u8 {
        self.hash_count.get()
    }

    /// Returns how probes are made.
    pub const fn strategy(&self) -> GuavaStrategy {
        self.strategy
    }

    /// Returns what `expectedFpp` returns: the share of bits that are set, to the power of the
    /// number of probes.
    pub fn error_rate(&self) -> f64 {
        let set =
            self.words.iter().map(|word| u64::from(word.count_ones())).fold(0, u64::saturating_add);
        (to_f64(set) / to_f64(self.bits())).powi(self.hash_count.get().into())
    }

    /// Returns the serialised form, as `writeTo` does.
    #[expect(clippy::missing_panics_doc, reason = "the number of words was checked at the start")]
    pub fn to_bytes(&self) -> Vec<u8> {
        let word_count = i32::try_from(self.words.len()).expect("checked when it was made");
        let strategy = match self.strategy {
            GuavaStrategy::Mitz32 => 0,
            GuavaStrategy::Mitz64 => 1,
        };
        let mut bytes = vec![strategy, self.hash_count.get()];
        bytes.extend_from_slice(&word_count.to_be_bytes());
        bytes.extend(self.words.iter().flat_map(|word| word.to_be_bytes()));
        bytes
    }

    /// Reads the serialised form, as `readFrom` does.
    ///
    /// # Errors
    ///
    /// [`NotGuava`] if a field has a value that Guava never writes, or if the words are fewer or
    /// more than were announced.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NotGuava> {
        let ([strategy, hash_count], rest) = bytes.split_first_chunk().ok_or(NotGuava::Cut)?;
        let (word_count, words) = rest.split_first_chunk().ok_or(NotGuava::Cut)?;
        let strategy = match strategy {
            0 => GuavaStrategy::Mitz32,
            1 => GuavaStrategy::Mitz64,
            other => return Err(NotGuava::Strategy(*other)),
        };
        let hash_count = NonZeroU8::new(*hash_count).ok_or(NotGuava::NoProbes)?;
        let (words, left_over) = words.as_chunks::<8>();
        let announced = i32::from_be_bytes(*word_count);
        if announced < 1 || usize::try_from(announced) != Ok(words.len()) || !left_over.is_empty() {
            return Err(NotGuava::WordCount { announced, bytes: bytes.len() });
        }
        let words = words.iter().map(|word| u64::from_be_bytes(*word)).collect();
        Ok(Self { strategy, hash_count, words })
    }

    /// The bits of a key, in the order in which Guava looks at them.
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

/// `optimalNumOfBits`: as Java computes it, cut off to a whole number.
fn optimal_bits(expected: u64, error_rate: ErrorRate) -> u64 {
    let bits = -to_f64(expected) * error_rate.get().ln() / (LN_2 * LN_2);
    saturating_u64(bits)
}

/// `optimalNumOfHashFunctions`: as Java computes it; `Math.round` rounds halves up.
fn optimal_hash_count(error_rate: ErrorRate) -> u64 {
    saturating_u64((-error_rate.get().ln() / LN_2 + 0.5).floor()).max(1)
}

#[expect(clippy::as_conversions, reason = "Java's (double) of a long rounds in the same way")]
const fn to_f64(number: u64) -> f64 {
    number as f64
}

#[expect(clippy::as_conversions, reason = "Java's (long) of a double cuts off and saturates too")]
const fn saturating_u64(number: f64) -> u64 {
    number as u64
}

/// The bit at `index`, as a word and a mask.
#[expect(clippy::as_conversions, reason = "a word's index fits usize, as its filter is in memory")]
const fn place(index: u64) -> (usize, u64) {
    ((index >> 6) as usize, 1_u64.rotate_left((index & 63) as u32))
}

#[expect(clippy::as_conversions, reason = "the words are in memory, so their number fits")]
const fn bit_count(words: &[u64]) -> u64 {
    (words.len() as u64).saturating_mul(64)
}

/// The 128-bit hash as Guava's two `long`s: its first eight bytes, its last eight.
#[expect(clippy::as_conversions, reason = "each half is meant to be cut off")]
const fn halves(hash: u128) -> [u64; 2] {
    [hash as u64, (hash >> 64) as u64]
}

/// A `long` as two `int`s, the low one first.
#[expect(clippy::as_conversions, reason = "each half is meant to be cut off")]
const fn quarters(half: u64) -> [u32; 2] {
    [half as u32, (half >> 32) as u32]
}

/// A filter that Guava could not make either: it asks for too many bits or probes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a filter for {expected_insertions} keys at that error rate is more than Guava can hold")]
pub struct TooLarge {
    /// How many keys were expected.
    pub expected_insertions: u64,
}

/// Two filters that differ in strategy, size or number of probes cannot be united.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the filters differ in strategy, size or number of probes")]
pub struct Incompatible;

/// Bytes that Guava never writes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NotGuava {
    /// They end within the first six.
    #[error("ends in the header of a Guava filter")]
    Cut,
    /// The first byte names no strategy.
    #[error("unknown Guava strategy {0}")]
    Strategy(u8),
    /// A filter without probes.
    #[error("a Guava filter without probes")]
    NoProbes,
    /// The words are fewer or more than announced.
    #[error("a Guava filter of {bytes} bytes announces {announced} words")]
    WordCount {
        /// What the header says.
        announced: i32,
        /// How many bytes there are in all.
        bytes: usize,
    },
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    fn filter(strategy: GuavaStrategy, keys: u64, rate: f64) -> GuavaBloom {
        let rate = ErrorRate::new(rate).expect("in range");
        GuavaBloom::create(keys, rate, strategy).expect("small enough")
    }

    #[test]
    fn sizes_are_those_that_guava_documents() {
        // BloomFilterTest.java: optimalBits and optimalHashes, spot checks.
        assert_eq!(optimal_bits(1, ErrorRate::HBASE), 9);
        assert_eq!(optimal_bits(1_000_000, ErrorRate::new(0.03).expect("in range")), 7_298_440);
        assert_eq!(optimal_hash_count(ErrorRate::new(0.03).expect("in range")), 5);
        assert_eq!(optimal_hash_count(ErrorRate::new(0.99).expect("in range")), 1);
    }

    #[test]
    fn no_key_is_lost_and_the_bytes_read_back() {
        for strategy in [GuavaStrategy::Mitz32, GuavaStrategy::Mitz64] {
            let mut filter = filter(strategy, 1_000, 0.01);
            let keys: alloc::vec::Vec<_> =
                (0..1_000).map(|number| format!("key{number}")).collect();
            assert!(!filter.may_contain(b"key1"));
            for key in &keys {
                filter.insert(key.as_bytes());
            }
            assert!(!filter.insert(b"key1"), "a second time changes nothing");
            assert!(keys.iter().all(|key| filter.may_contain(key.as_bytes())));
            let strangers = (0..20_000).map(|number| format!("stranger{number}"));
            let maybe = strangers.filter(|key| filter.may_contain(key.as_bytes())).count();
            // 1 % of 20,000 is 200, and 3 σ are 42.
            assert!((158..=242).contains(&maybe), "{strategy:?}: {maybe} of 20,000");
            assert!((filter.error_rate() - 0.01).abs() < 0.001, "{}", filter.error_rate());
            assert_eq!(GuavaBloom::from_bytes(&filter.to_bytes()), Ok(filter));
        }
    }

    #[test]
    fn every_cut_and_every_wrong_header_is_refused() {
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
        assert!(GuavaBloom::from_bytes(&none).is_err(), "no words would divide by nothing");
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
    fn what_guava_could_not_hold_is_refused() {
        let rate = ErrorRate::new(1e-300).expect("in range");
        assert!(GuavaBloom::create(10, rate, GuavaStrategy::Mitz64).is_err(), "997 probes");
        let huge = GuavaBloom::create(u64::MAX, ErrorRate::HBASE, GuavaStrategy::Mitz64);
        assert!(huge.is_err());
    }
}
