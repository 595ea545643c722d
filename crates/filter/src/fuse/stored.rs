//! The stored form of a binary fuse filter, and the lookup in it.
//!
//! | parameter | bits | what                                                                       |
//! |----------:|-----:|----------------------------------------------------------------------------|
//! |         0 |    8 | slots of a key, 3 or 4; 0 without keys                                     |
//! |           |    8 | bits of a fingerprint, 8 or 16; 0 without keys                             |
//! |           |    8 | slots of a segment, as a power of two, 0 to 18                             |
//! |         1 |   64 | segments in which the first slot of a key can be                           |
//! |         2 |   64 | the seed that the keys came off with                                       |
//!
//! The body is the slots, fingerprints of 8 bits or 16 bits LE: as many segments as parameter 1
//! says, and one fewer than a key has slots. Which slots and what fingerprint a hash has is part of
//! the format: see `Places`.
#![warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)]

use super::shape::{FuseArity, FuseBits, Places, SEGMENT_BITS_MAX, Shape};
use crate::format::Header;
use crate::{FilterStats, FormatError, KeyHash, kernel, theory};

/// A binary fuse filter in bytes that are not ours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FuseView {
    shape: Shape,
    seed: u64,
    /// Slots in which the first of a key can be.
    first_slots: u64,
}

impl FuseView {
    pub(super) fn new(shape: Shape, seed: u64) -> Self {
        let first_slots = shape.first_segments.checked_shl(shape.segment_bits).unwrap_or_default();
        Self { shape, seed, first_slots }
    }

    /// Returns what the header says of the filter.
    pub(super) fn to_header(self) -> [u64; 3] {
        let Shape { arity, bits, segment_bits, first_segments } = self.shape;
        if first_segments == 0 {
            return [0; 3];
        }
        let slots = match arity {
            FuseArity::Three => 3,
            FuseArity::Four => 4,
        };
        let bits = bits.len() << 3;
        [slots | bits << 8 | u64::from(segment_bits) << 16, first_segments, self.seed]
    }

    /// Checks what the header says against the length of the body.
    pub(crate) fn parse(header: &Header, body: &[u8]) -> Result<Self, FormatError> {
        let wrong = |what| Err(FormatError::Parameters(what));
        let [small, first_segments, seed] = header.parameters;
        let (arity, bits) = match (small & 0xff, small >> 8 & 0xff) {
            (0, 0) if header.parameters == [0; 3] => (FuseArity::Three, FuseBits::Eight),
            (3, 8) => (FuseArity::Three, FuseBits::Eight),
            (3, 16) => (FuseArity::Three, FuseBits::Sixteen),
            (4, 8) => (FuseArity::Four, FuseBits::Eight),
            (4, 16) => (FuseArity::Four, FuseBits::Sixteen),
            _ => return wrong("a key has 3 or 4 slots of 8 or 16 bits"),
        };
        let segment_bits = u32::try_from(small >> 16).unwrap_or(u32::MAX);
        if segment_bits > SEGMENT_BITS_MAX {
            return wrong("a segment has at most 2^18 slots");
        }
        let shape = Shape { arity, bits, segment_bits, first_segments };
        if usize::try_from(shape.len()) != Ok(body.len()) {
            return wrong("the body is not as long as its segments");
        }
        if body.is_empty() != (header.keys == 0) {
            return wrong("there are segments if and only if there are keys");
        }
        Ok(Self::new(shape, seed))
    }

    #[inline]
    fn places<const ARITY: usize>(self, hash: KeyHash) -> Places<ARITY> {
        Places::new(hash, self.seed, self.shape.segment_bits, self.first_slots)
    }

    #[inline]
    pub(crate) fn may_contain(self, body: &[u8], hash: KeyHash) -> bool {
        match (self.shape.arity, self.shape.bits) {
            (FuseArity::Three, FuseBits::Eight) => self.matches::<3, 1>(body, hash),
            (FuseArity::Four, FuseBits::Eight) => self.matches::<4, 1>(body, hash),
            (FuseArity::Three, FuseBits::Sixteen) => self.matches::<3, 2>(body, hash),
            (FuseArity::Four, FuseBits::Sixteen) => self.matches::<4, 2>(body, hash),
        }
    }

    /// Compares a fingerprint of so many bytes. Slots that are not there match no key.
    #[inline]
    fn matches<const ARITY: usize, const LEN: usize>(self, body: &[u8], hash: KeyHash) -> bool {
        let (fingerprints, _) = body.as_chunks::<LEN>();
        let places = self.places::<ARITY>(hash);
        let mut value = [0; LEN];
        for slot in places.slots {
            // A slot of a body is a `usize`.
            let Some(fingerprint) =
                usize::try_from(slot).ok().and_then(|slot| fingerprints.get(slot))
            else {
                return false;
            };
            value.iter_mut().zip(fingerprint).for_each(|(value, byte)| *value ^= byte);
        }
        let wanted = places.fingerprint.to_be_bytes();
        value.iter().rev().eq(wanted.iter().take(LEN))
    }

    #[inline]
    pub(crate) fn prefetch(self, body: &[u8], hash: KeyHash) {
        let one = |slot: u64| {
            let at = usize::try_from(slot.saturating_mul(self.shape.bits.len())).ok();
            if let Some(first) = at.and_then(|at| body.get(at..)).and_then(<[u8]>::first_chunk::<1>)
            {
                kernel::prefetch(first);
            }
        };
        match self.shape.arity {
            FuseArity::Three => self.places::<3>(hash).slots.into_iter().for_each(one),
            FuseArity::Four => self.places::<4>(hash).slots.into_iter().for_each(one),
        }
    }

    pub(crate) fn stats(self, keys: u64) -> FilterStats {
        FilterStats {
            keys,
            bytes: self.shape.len(),
            error_rate: theory::fingerprint_error_rate(keys, self.shape.bits.bits()),
        }
    }
}
