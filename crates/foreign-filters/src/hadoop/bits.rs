//! Hadoop's `BloomFilter`: an array of bits.

use alloc::vec::Vec;

use filter::BuildError;

use super::shape::{EmptyKey, NotHadoop, Shape, ShapesDiffer, expect_end, take_slice};
use crate::allocate::allocate;

/// A Bloom filter with the bits and the serialised form of Hadoop's `BloomFilter`.
///
/// ```
/// use filter::ErrorRate;
/// use foreign_filters::hadoop::{BloomFilter, Hash, Shape};
///
/// let shape = Shape::for_keys(1_000, ErrorRate::new(0.01)?, Hash::Murmur)?;
/// let mut filter = BloomFilter::new(shape)?;
/// filter.insert(b"row1")?;
/// assert!(filter.may_contain(b"row1"));
///
/// let bytes = filter.to_bytes(); // Java reads these with `readFields`.
/// assert_eq!(BloomFilter::from_bytes(&bytes)?, filter);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BloomFilter {
    shape: Shape,
    /// ⌈bits / 8⌉ bytes; bit `p` of the filter is bit `p mod 8` of byte `p / 8`.
    bytes: Vec<u8>,
}

impl BloomFilter {
    /// Creates an empty filter.
    ///
    /// # Errors
    ///
    /// [`BuildError::Memory`] if the memory for the bits cannot be allocated.
    pub fn new(shape: Shape) -> Result<Self, BuildError> {
        Ok(Self { shape, bytes: allocate(shape.bits().div_ceil(8).into(), 0)? })
    }

    /// Inserts a key, as Hadoop's `add` does.
    ///
    /// # Errors
    ///
    /// [`EmptyKey`] if the key is empty, which Hadoop refuses too.
    pub fn insert(&mut self, key: &[u8]) -> Result<(), EmptyKey> {
        if key.is_empty() {
            return Err(EmptyKey);
        }
        for position in self.shape.probes(key) {
            let (byte, mask) = byte_and_mask(position);
            *self.bytes.get_mut(byte).expect("positions are below the bits") |= mask;
        }
        Ok(())
    }

    /// Returns false if the key was certainly never inserted, true if it may have been.
    ///
    /// This is Hadoop's `membershipTest`. The empty key cannot be inserted; the answer is false.
    pub fn may_contain(&self, key: &[u8]) -> bool {
        !key.is_empty()
            && self.shape.probes(key).all(|position| {
                let (byte, mask) = byte_and_mask(position);
                self.bytes.get(byte).expect("positions are below the bits") & mask != 0
            })
    }

    /// Adds all keys of another filter of the same shape, as Hadoop's `or` does.
    ///
    /// # Errors
    ///
    /// [`ShapesDiffer`] if the filters differ in bits, probes or hash. This filter is then
    /// unchanged.
    pub fn union(&mut self, other: &Self) -> Result<(), ShapesDiffer> {
        if self.shape != other.shape {
            return Err(ShapesDiffer);
        }
        for (byte, other) in self.bytes.iter_mut().zip(&other.bytes) {
            *byte |= other;
        }
        Ok(())
    }

    /// Returns the number of bits, the number of probes per key, and the hash.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the number of set bits.
    pub fn ones(&self) -> u64 {
        self.bytes.iter().map(|byte| u64::from(byte.count_ones())).sum()
    }

    /// Returns the error rate: the fraction of set bits to the power of the number of probes.
    pub fn error_rate(&self) -> f64 {
        error_rate_from_fill(self.ones(), self.shape)
    }

    /// Returns the serialised form that Hadoop's `write` produces.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        bytes
    }

    /// Parses what Hadoop's `readFields` reads, including the old form without a version.
    ///
    /// # Errors
    ///
    /// [`NotHadoop`] if the length does not match the header, or a field has a value that Hadoop
    /// never writes.
    pub fn from_bytes(mut bytes: &[u8]) -> Result<Self, NotHadoop> {
        let filter = Self::read(&mut bytes)?;
        expect_end(bytes).map(|()| filter)
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        self.shape.write_header(bytes);
        bytes.extend_from_slice(&self.bytes);
    }

    /// Parses a filter and advances `bytes` past it.
    pub(super) fn read(bytes: &mut &[u8]) -> Result<Self, NotHadoop> {
        let shape = Shape::read_header(bytes)?;
        // A length that does not fit a `usize` exceeds the length of `bytes`.
        let len = usize::try_from(shape.bits().div_ceil(8)).map_err(|_| NotHadoop::Cut)?;
        let body = take_slice(bytes, len)?;
        let in_last = shape.bits().checked_rem(8).expect("eight is not zero");
        let stray = if in_last == 0 { 0 } else { u8::MAX.wrapping_shl(in_last) };
        if body.last().is_some_and(|last| last & stray != 0) {
            return Err(NotHadoop::StrayBit(shape.bits()));
        }
        Ok(Self { shape, bytes: body.to_vec() })
    }
}

/// Returns the index of the byte that contains a bit, and the mask of the bit in that byte.
#[expect(clippy::as_conversions, reason = "below eight")]
const fn byte_and_mask(position: usize) -> (usize, u8) {
    (position >> 3, 1_u8.rotate_left((position & 7) as u32))
}

/// Returns the error rate of a filter with `used` bits that are set, or `used` nonzero counters.
pub(super) fn error_rate_from_fill(used: u64, shape: Shape) -> f64 {
    let used = f64::from(u32::try_from(used).expect("at most 2^31"));
    libm::pow(used / f64::from(shape.bits()), f64::from(shape.hash_count()))
}
