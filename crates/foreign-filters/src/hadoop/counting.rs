//! `CountingBloomFilter`: a 4-bit counter per position, so that keys can be removed.

use alloc::vec::Vec;

use filter::{Absent, BuildError};

use super::bits::error_rate_from_fill;
use super::shape::{EmptyKey, NotHadoop, Shape, expect_end, take_slice};
use crate::allocate::allocate;

/// The value at which a counter saturates. Removals do not lower a saturated counter, because its
/// true count is unknown.
const COUNTER_MAX: u64 = 15;

/// Hadoop's `CountingBloomFilter`: the same counters and serialised form.
///
/// ```
/// use filter::ErrorRate;
/// use foreign_filters::hadoop::{CountingBloomFilter, Hash, Shape};
///
/// let shape = Shape::for_keys(1_000, ErrorRate::new(0.01)?, Hash::Murmur)?;
/// let mut filter = CountingBloomFilter::new(shape)?;
/// filter.insert(b"row1")?;
/// filter.insert(b"row1")?;
/// assert_eq!(filter.copies(b"row1"), 2);
/// filter.remove(b"row1")?;
/// filter.remove(b"row1")?;
/// assert!(!filter.may_contain(b"row1"));
/// assert_eq!(CountingBloomFilter::from_bytes(&filter.to_bytes())?, filter);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CountingBloomFilter {
    shape: Shape,
    /// The counters, 16 per word, the first in the lowest bits.
    words: Vec<u64>,
}

impl CountingBloomFilter {
    /// Creates an empty filter.
    ///
    /// # Errors
    ///
    /// [`BuildError::Memory`] if its counters do not fit into memory.
    pub fn new(shape: Shape) -> Result<Self, BuildError> {
        Ok(Self { shape, words: allocate(shape.bits().div_ceil(16).into(), 0)? })
    }

    /// Inserts a key, or one more copy of a key (Hadoop's `add`).
    ///
    /// If two hashes of the key give the same position, its counter is raised twice. Counters
    /// saturate at 15.
    ///
    /// # Errors
    ///
    /// [`EmptyKey`], as in Hadoop.
    pub fn insert(&mut self, key: &[u8]) -> Result<(), EmptyKey> {
        if key.is_empty() {
            return Err(EmptyKey);
        }
        for position in self.shape.probes(key) {
            let (word, shift) = self.word_and_shift_mut(position);
            if *word >> shift & COUNTER_MAX < COUNTER_MAX {
                *word = word.wrapping_add(1_u64.wrapping_shl(shift));
            }
        }
        Ok(())
    }

    /// Returns false if the key is certainly not in the filter, true if it may be.
    ///
    /// Hadoop's `membershipTest`. Returns false for the empty key.
    pub fn may_contain(&self, key: &[u8]) -> bool {
        self.copies(key) > 0
    }

    /// Removes one copy of a key (Hadoop's `delete`).
    ///
    /// Removing a key that was never inserted can make the filter deny other keys.
    ///
    /// # Errors
    ///
    /// [`Absent`] if the filter certainly does not hold the key. The filter is then unchanged.
    pub fn remove(&mut self, key: &[u8]) -> Result<(), Absent> {
        if !self.may_contain(key) {
            return Err(Absent);
        }
        for position in self.shape.probes(key) {
            let (word, shift) = self.word_and_shift_mut(position);
            if (1..COUNTER_MAX).contains(&(*word >> shift & COUNTER_MAX)) {
                *word = word.wrapping_sub(1_u64.wrapping_shl(shift));
            }
        }
        Ok(())
    }

    /// Returns an estimate of the number of copies of a key: its lowest counter.
    ///
    /// Hadoop's `approximateCount`. The estimate is never too low; 15 means 15 or more.
    pub fn copies(&self, key: &[u8]) -> u64 {
        if key.is_empty() {
            return 0;
        }
        let counters = self.shape.probes(key).map(|position| self.counter(position));
        counters.min().unwrap_or_default().into()
    }

    /// Returns the parameters, where [`bits`](Shape::bits) is the number of counters.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the error rate: f^k, where f is the fraction of nonzero counters and k the number of
    /// hashes.
    pub fn error_rate(&self) -> f64 {
        const LOWEST_BITS: u64 = 0x1111_1111_1111_1111;
        let nonzero = |word: u64| (word | word >> 1 | word >> 2 | word >> 3) & LOWEST_BITS;
        let count = self.words.iter().map(|word| u64::from(nonzero(*word).count_ones())).sum();
        error_rate_from_fill(count, self.shape)
    }

    /// Returns the serialised form, as Hadoop's `write` produces it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.shape.write_header(&mut bytes);
        bytes.extend(self.words.iter().flat_map(|word| word.to_be_bytes()));
        bytes
    }

    /// Parses the serialised form as Hadoop's `readFields` does.
    ///
    /// The old form without a version is accepted too.
    ///
    /// # Errors
    ///
    /// [`NotHadoop`] if the length does not match the header, or a field has a value that Hadoop
    /// never writes.
    pub fn from_bytes(mut bytes: &[u8]) -> Result<Self, NotHadoop> {
        let shape = Shape::read_header(&mut bytes)?;
        let word_count = shape.bits().div_ceil(16);
        let len = usize::try_from(word_count).ok().and_then(|count| count.checked_mul(8));
        let body = take_slice(&mut bytes, len.ok_or(NotHadoop::Cut)?)?;
        expect_end(bytes)?;
        let (words, _) = body.as_chunks();
        let words: Vec<u64> = words.iter().map(|word| u64::from_be_bytes(*word)).collect();
        // The last word may have room for more counters than the filter has; these must be zero.
        let last_len = shape.bits().checked_rem(16).expect("the divisor is not zero");
        let unused =
            if last_len == 0 { 0 } else { u64::MAX.wrapping_shl(last_len.wrapping_mul(4)) };
        if words.last().is_some_and(|last| last & unused != 0) {
            return Err(NotHadoop::StrayBit(shape.bits()));
        }
        Ok(Self { shape, words })
    }

    fn counter(&self, position: usize) -> u32 {
        let word =
            self.words.get(position >> 4).expect("positions are below the number of counters");
        u32::try_from(word >> shift(position) & COUNTER_MAX).expect("a counter has four bits")
    }

    fn word_and_shift_mut(&mut self, position: usize) -> (&mut u64, u32) {
        let word =
            self.words.get_mut(position >> 4).expect("positions are below the number of counters");
        (word, shift(position))
    }
}

/// Returns by how many bits a counter is shifted in its word.
fn shift(position: usize) -> u32 {
    u32::try_from((position & 15) << 2).expect("the shift is below 64")
}
