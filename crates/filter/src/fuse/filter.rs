//! [`BinaryFuse`], the filter in memory.

use alloc::vec::Vec;

use super::peel;
use super::shape::{FuseArity, FuseBits, Shape};
use super::stored::FuseView;
use crate::error::BuildError;
use crate::hash::{KeyHash, Seed, SeededHashes};
use crate::header::{HEADER_LEN, Header};
use crate::membership::FilterStats;
use crate::memory::AlignedBytes;
use crate::methods::filter_methods;
use crate::sizing::Sizing;
use crate::stored_view::{StoredView, membership_of_view};

/// A binary fuse filter in memory.
///
/// The filter is static: it is built from all keys, and no key can be added or removed.
/// [`build`](Self::build) chooses fingerprints of 8 or 16 bits. With few keys, the filter may exceed
/// the bits per key.
///
/// ```
/// use filter::{BinaryFuse, FuseArity, FuseBits, Seed, SeededHashes};
///
/// let names: Vec<String> = (0..100_000).map(|number| format!("user {number}")).collect();
/// let keys = SeededHashes::new(Seed::random(), &names);
/// let filter = BinaryFuse::build_with(FuseArity::Four, FuseBits::Eight, &keys)?;
/// assert!(names.iter().all(|name| filter.may_contain(name)));
/// assert!(filter.stats().bits_per_key() < 9.1);
/// # Ok::<(), filter::BuildError>(())
/// ```
#[derive(Debug)]
pub struct BinaryFuse {
    keys: u64,
    seed: Seed,
    shape: Shape,
    body: AlignedBytes,
    view: FuseView,
}

impl BinaryFuse {
    /// Builds the filter that fits the sizing best, from hashes with a seed.
    ///
    /// For an error rate, builds the smallest filter that has at most this rate. For a size, builds
    /// the filter with the lowest error rate that fits. With few keys, the filter may exceed the
    /// bits per key.
    pub(crate) fn from_hashes(
        sizing: Sizing,
        seed: Seed,
        keys: &[KeyHash],
    ) -> Result<Self, BuildError> {
        let filter = Self::with_shape(Shape::for_sizing(sizing, keys.len() as u64)?, seed, keys)?;
        match sizing {
            // Building very rarely enlarges the shape: if no seed works for the planned one.
            Sizing::Bytes(budget) if Self::stored_len(filter.shape) > budget => {
                Err(BuildError::Full)
            }
            _ => Ok(filter),
        }
    }

    /// Builds a filter with this number of slots per key and this fingerprint width.
    ///
    /// [`build`](Self::build) chooses both for an error rate or a size. Duplicate keys are allowed,
    /// but slow down building.
    ///
    /// # Errors
    ///
    /// [`BuildError::Full`] if no slots can be assigned with any seed that building tries. This
    /// happens only with hashes chosen for that purpose. [`BuildError::Memory`] if the filter does
    /// not fit into memory.
    pub fn build_with(
        arity: FuseArity,
        bits: FuseBits,
        keys: &SeededHashes,
    ) -> Result<Self, BuildError> {
        let shape = Shape::new(arity, bits, keys.len() as u64);
        Self::with_shape(shape, keys.seed(), keys.hashes())
    }

    fn with_shape(shape: Shape, seed: Seed, keys: &[KeyHash]) -> Result<Self, BuildError> {
        let (shape, slot_seed, body) = match shape.arity {
            _ if keys.is_empty() => (shape, 0, AlignedBytes::zeroed(0)?),
            FuseArity::Three => peel::build::<3>(shape, keys)?,
            FuseArity::Four => peel::build::<4>(shape, keys)?,
        };
        let view = FuseView::new(shape, slot_seed);
        Ok(Self { keys: keys.len() as u64, seed, shape, body, view })
    }

    /// Returns the bytes of the stored form, including the header.
    fn stored_len(shape: Shape) -> u64 {
        shape.len() + HEADER_LEN as u64
    }

    /// Returns the expected size and error rate of a filter of `keys` distinct keys.
    pub(crate) fn plan(sizing: Sizing, keys: u64) -> Result<FilterStats, BuildError> {
        let shape = Shape::for_sizing(sizing, keys)?;
        Ok(shape.stats(keys))
    }

    /// Returns the number of slots per key.
    pub const fn arity(&self) -> FuseArity {
        self.shape.arity
    }

    /// Returns the number of bits of a fingerprint.
    pub const fn bits(&self) -> FuseBits {
        self.shape.bits
    }

    /// Returns the stored form, which [`StoredFilter`](crate::StoredFilter) reads.
    pub fn to_stored(&self) -> Vec<u8> {
        let header = Header {
            kind: FuseView::CODE,
            seed: self.seed,
            keys: self.keys,
            parameters: self.view.to_header(),
        };
        header.write(&[&self.body])
    }
}

filter_methods!(BinaryFuse, builds);
membership_of_view!(BinaryFuse);
