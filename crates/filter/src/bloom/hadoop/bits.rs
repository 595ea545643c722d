//! `BloomFilter`: one bit a position.

#![expect(clippy::missing_panics_doc, reason = "positions are below the number of bits")]

use alloc::vec::Vec;

use super::shape::{EmptyKey, NotHadoop, Shape, ShapesDiffer, expect_end, take_slice};
use crate::error::BuildError;
use crate::memory::allocate;

/// Hadoop's `BloomFilter`: the same bits, the same serialised form.
///
/// ```
/// use filter::ErrorRate;
/// use filter::bloom::hadoop::{BloomFilter, Hash, Shape};
///
/// let shape = Shape::for_keys(1_000, ErrorRate::new(0.01)?, Hash::Murmur)?;
/// let mut filter = BloomFilter::new(shape)?;
/// filter.insert(b"row1")?;
/// assert!(filter.may_contain(b"row1"));
///
/// let bytes = filter.to_bytes(); // `readFields` in Java takes them.
/// assert_eq!(BloomFilter::from_bytes(&bytes)?, filter);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BloomFilter {
    shape: Shape,
    /// ⌈bits / 8⌉ of them.
    bytes: Vec<u8>,
}

impl BloomFilter {
    /// Makes an empty filter.
    ///
    /// # Errors
    ///
    /// [`BuildError::Memory`] if its bits do not fit into memory.
    pub fn new(shape: Shape) -> Result<Self, BuildError> {
        Ok(Self { shape, bytes: allocate(shape.bits().div_ceil(8).into(), 0)? })
    }

    /// Adds a key (`add`).
    ///
    /// # Errors
    ///
    /// [`EmptyKey`], which Hadoop refuses too.
    pub fn insert(&mut self, key: &[u8]) -> Result<(), EmptyKey> {
        if key.is_empty() {
            return Err(EmptyKey);
        }
        for position in self.shape.probes(key) {
            let (byte, mask) = place(position);
            *self.bytes.get_mut(byte).expect("positions are below the bits") |= mask;
        }
        Ok(())
    }

    /// Returns false if the key was certainly never inserted, true if it may have been
    /// (`membershipTest`). The empty key never was.
    pub fn may_contain(&self, key: &[u8]) -> bool {
        !key.is_empty()
            && self.shape.probes(key).all(|position| {
                let (byte, mask) = place(position);
                self.bytes.get(byte).expect("positions are below the bits") & mask != 0
            })
    }

    /// Adds all keys of a filter of the same shape (`or`).
    ///
    /// # Errors
    ///
    /// [`ShapesDiffer`] if the filters differ in bits, probes or hash; this filter is then as it was.
    pub fn union(&mut self, other: &Self) -> Result<(), ShapesDiffer> {
        if self.shape != other.shape {
            return Err(ShapesDiffer);
        }
        for (byte, theirs) in self.bytes.iter_mut().zip(&other.bytes) {
            *byte |= theirs;
        }
        Ok(())
    }

    /// Returns the parameters.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns how many bits are set.
    pub fn ones(&self) -> u64 {
        self.bytes.iter().map(|byte| u64::from(byte.count_ones())).sum()
    }

    /// Returns how often an absent key passes: the share of set bits to the power of the probes.
    pub fn error_rate(&self) -> f64 {
        error_rate_from_fill(self.ones(), self.shape)
    }

    /// Returns the serialised form, as `write` does.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        bytes
    }

    /// Reads the serialised form, as `readFields` does; including the older form without a version.
    ///
    /// # Errors
    ///
    /// [`NotHadoop`] if the bytes are fewer or more than announced, or hold what Hadoop never writes.
    pub fn from_bytes(mut bytes: &[u8]) -> Result<Self, NotHadoop> {
        let filter = Self::read(&mut bytes)?;
        expect_end(bytes).map(|()| filter)
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        self.shape.write_header(bytes);
        bytes.extend_from_slice(&self.bytes);
    }

    /// Reads a filter and takes it off `bytes`.
    pub(super) fn read(bytes: &mut &[u8]) -> Result<Self, NotHadoop> {
        let shape = Shape::read_header(bytes)?;
        // A length that fits no `usize` is more than there can be.
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

/// The byte of a bit, and the bit in it.
#[expect(clippy::as_conversions, reason = "below eight")]
const fn place(position: usize) -> (usize, u8) {
    (position >> 3, 1_u8.rotate_left((position & 7) as u32))
}

/// How often an absent key passes if this share of the positions is taken.
pub(super) fn error_rate_from_fill(taken: u64, shape: Shape) -> f64 {
    let taken = f64::from(u32::try_from(taken).expect("2^31 at most"));
    libm::pow(taken / f64::from(shape.bits()), f64::from(shape.hash_count()))
}
