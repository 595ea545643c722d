//! The number and length of the segments of a binary fuse filter, and the slots of a key.

use crate::error::BuildError;
use crate::hash::KeyHash;
use crate::header::HEADER_LEN;
use crate::membership::FilterStats;
use crate::sizing::Sizing;
use crate::theory;
pub(super) use crate::theory::static_filters::FuseArity;

/// The length of a fingerprint.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum FuseBits {
    /// Eight bits: an error rate of 1 in 256.
    Eight,
    /// Sixteen bits: an error rate of 1 in 65,536.
    Sixteen,
}

impl FuseBits {
    /// Returns the number of bytes of a fingerprint.
    pub(super) const fn len(self) -> u64 {
        match self {
            Self::Eight => 1,
            Self::Sixteen => 2,
        }
    }

    /// Returns the number of bits of a fingerprint.
    pub(crate) const fn bits(self) -> u32 {
        match self {
            Self::Eight => 8,
            Self::Sixteen => 16,
        }
    }
}

/// Relative tolerance above the requested error rate, for collisions of 64-bit hashes.
///
/// So that rates of exactly 2^−8 and 2^−16 are possible, up to 10^10 keys.
const COLLISIONS: f64 = 1e-4;

/// The binary logarithm of the maximum length of a segment.
///
/// With 18 bits per offset, the offsets of three slots fit into one 64-bit number.
pub(super) const SEGMENT_BITS_MAX: u32 = 18;

/// The number and length of the segments, the slots per key, and the length of a fingerprint.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Shape {
    pub(super) arity: FuseArity,
    pub(super) bits: FuseBits,
    /// The binary logarithm of the slots of a segment.
    pub(super) segment_bits: u32,
    /// Number of segments that can hold the first slot of a key; 0 without keys.
    ///
    /// One segment follows for each further slot of a key: two or three segments.
    pub(super) first_segments: u64,
}

impl Shape {
    /// Returns a shape for `keys` keys. Peeling nearly always succeeds with the first seed.
    ///
    /// The authors of the paper found the formulas for the segment length by experiment.
    pub(super) fn new(arity: FuseArity, bits: FuseBits, keys: u64) -> Self {
        if keys == 0 {
            return Self { arity, bits, segment_bits: 0, first_segments: 0 };
        }
        let keys = keys as f64;
        let ln = libm::log(keys.max(2.0));
        let segment_bits = match arity {
            FuseArity::Three => ln / libm::log(3.33) + 2.25,
            FuseArity::Four => ln / libm::log(2.91) - 0.5,
        };
        let slots = keys * theory::binary_fuse_slots_per_key(arity, keys);
        let segment_bits = (segment_bits.max(0.0) as u32).min(SEGMENT_BITS_MAX);
        let segments = (slots as u64).div_ceil(1 << segment_bits);
        let first_segments = segments.saturating_sub(arity.slots() as u64 - 1).max(1);
        Self { arity, bits, segment_bits, first_segments }
    }

    /// Returns the smaller of the shapes with three and with four slots per key.
    fn smallest(bits: FuseBits, keys: u64) -> Self {
        let [three, four] =
            [FuseArity::Three, FuseArity::Four].map(|arity| Self::new(arity, bits, keys));
        if three.len() < four.len() { three } else { four }
    }

    /// Returns the shape for a sizing and a number of keys.
    pub(super) fn for_sizing(sizing: Sizing, keys: u64) -> Result<Self, BuildError> {
        let [eight, sixteen] =
            [FuseBits::Eight, FuseBits::Sixteen].map(|bits| Self::smallest(bits, keys));
        let largest = |len| [sixteen, eight].into_iter().find(|shape| shape.len() <= len);
        match sizing {
            Sizing::ErrorRate(rate) => [eight, sixteen]
                .into_iter()
                .find(|shape| shape.stats(keys).error_rate <= rate.get() * (1.0 + COLLISIONS))
                .ok_or(BuildError::ErrorRate(rate.get())),
            Sizing::BitsPerKey(bits) if bits > 0.0 && bits.is_finite() => {
                // A small set of keys needs more slots per key than a large set. If `bits` is
                // enough for a large set, a small set may exceed `bits`.
                let large_set = Self::smallest(FuseBits::Eight, 1 << 40);
                let bits_min = large_set.len() as f64 * 8.0 / libm::exp2(40.0);
                let fallback = (bits >= bits_min).then_some(eight);
                largest((bits * keys as f64 / 8.0) as u64).or(fallback).ok_or(BuildError::Full)
            }
            Sizing::BitsPerKey(bits) => Err(BuildError::BitsPerKey(bits)),
            Sizing::Bytes(budget) => {
                let needed = (HEADER_LEN as u64).saturating_add(eight.len());
                let len = budget.saturating_sub(HEADER_LEN as u64);
                largest(len)
                    .filter(|_| budget >= HEADER_LEN as u64)
                    .ok_or(BuildError::Budget { needed, budget })
            }
        }
    }

    /// Returns a shape with about a sixteenth more segments, for keys that could not be peeled.
    pub(super) fn enlarged(self) -> Self {
        let more = self.first_segments.div_ceil(16);
        Self { first_segments: self.first_segments + more, ..self }
    }

    /// Returns the number of slots of a segment.
    pub(super) const fn segment_len(self) -> u64 {
        1 << self.segment_bits
    }

    /// Returns the number of slots, or `u64::MAX` if it exceeds 64 bits.
    pub(super) const fn slots(self) -> u64 {
        if self.first_segments == 0 {
            return 0;
        }
        let segments = self.first_segments.saturating_add(self.arity.slots() as u64 - 1);
        segments.saturating_mul(1 << self.segment_bits)
    }

    /// Returns the size and expected error rate of a filter of `keys` keys.
    pub(super) fn stats(self, keys: u64) -> FilterStats {
        let error_rate = theory::fingerprint_error_rate(keys, self.bits.bits());
        FilterStats { keys, bytes: self.len(), error_rate }
    }

    /// Returns the bytes of the slots, or `u64::MAX` if they exceed 64 bits.
    pub(super) const fn len(self) -> u64 {
        self.slots().saturating_mul(self.bits.len())
    }
}

/// The slots of a key, and the fingerprint that their exclusive or must equal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct KeySlots<const ARITY: usize> {
    pub(super) slots: [u64; ARITY],
    /// The fingerprint in the upper 16 or 8 bits. The lower bits are unused.
    pub(super) fingerprint: u64,
}

impl<const ARITY: usize> KeySlots<ARITY> {
    /// Computes the slots of a key from its hash and a seed.
    ///
    /// `segment_len` is a power of two, and `first_slots` the number of slots that can be a first
    /// slot. The upper bits of the shuffled hash choose the first slot. The slot in each following
    /// segment has the same offset, changed by an exclusive or with other bits of the hash.
    #[inline]
    pub(super) const fn new(hash: KeyHash, seed: u64, segment_len: u64, first_slots: u64) -> Self {
        let shuffled = (hash.get() ^ seed).wrapping_mul(0x3f84_d5b5_b547_0917);
        let mixed = (shuffled ^ shuffled >> 32).wrapping_mul(0x9216_d5d9_8979_fb1b);
        let mixed = mixed ^ mixed >> 32;
        let mut slot = KeyHash::from_u64(shuffled).slot(first_slots);
        let mut slots = [slot; ARITY];
        let mut index = 1;
        while index < ARITY {
            let moved = mixed >> ((index as u32 - 1) * SEGMENT_BITS_MAX) & (segment_len - 1);
            slot = slot.wrapping_add(segment_len);
            slots[index] = slot ^ moved;
            index += 1;
        }
        Self { slots, fingerprint: mixed.wrapping_mul(0xd131_0ba6_98df_b5ad) }
    }
}
