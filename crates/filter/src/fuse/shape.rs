//! How many slots there are, and which of them a key has.

use crate::error::BuildError;
use crate::hash::KeyHash;
use crate::header::HEADER_LEN;
use crate::membership::FilterStats;
use crate::sizing::Sizing;
use crate::theory;
pub(super) use crate::theory::static_filters::FuseArity;

/// How long a fingerprint is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum FuseBits {
    /// Eight bits: one absent key in 256 passes.
    Eight,
    /// Sixteen bits: one absent key in 65,536 passes.
    Sixteen,
}

impl FuseBits {
    /// Returns the number of bytes.
    pub(super) const fn len(self) -> u64 {
        match self {
            Self::Eight => 1,
            Self::Sixteen => 2,
        }
    }

    /// Returns the number of bits.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Eight => 8,
            Self::Sixteen => 16,
        }
    }

    /// Returns how often an absent key passes.
    fn error_rate(self) -> f64 {
        libm::exp2(-f64::from(self.bits()))
    }
}

/// The longest a segment can be, as a power of two: three places in segments are taken from the bits
/// of one number.
pub(super) const SEGMENT_BITS_MAX: u32 = 18;

/// The segments.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Shape {
    pub(super) arity: FuseArity,
    pub(super) bits: FuseBits,
    /// Slots of a segment, as a power of two.
    pub(super) segment_bits: u32,
    /// Segments in which the first slot of a key can be; some more follow. None, no keys.
    pub(super) first_segments: u64,
}

impl Shape {
    /// Returns the shape in which so many keys can be peeled, nearly always at once.
    ///
    /// The lengths are those that the paper found by experiment.
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

    /// Returns the smaller of the shapes with three and with four slots a key.
    fn smallest(bits: FuseBits, keys: u64) -> Self {
        let [three, four] =
            [FuseArity::Three, FuseArity::Four].map(|arity| Self::new(arity, bits, keys));
        if three.len() < four.len() { three } else { four }
    }

    /// Finds the shape for so many keys.
    pub(super) fn for_sizing(sizing: Sizing, keys: u64) -> Result<Self, BuildError> {
        let [eight, sixteen] =
            [FuseBits::Eight, FuseBits::Sixteen].map(|bits| Self::smallest(bits, keys));
        let longest = |len| [sixteen, eight].into_iter().find(|shape| shape.len() <= len);
        match sizing {
            Sizing::ErrorRate(rate) => [eight, sixteen]
                .into_iter()
                .find(|shape| shape.bits.error_rate() <= rate.get())
                .ok_or(BuildError::ErrorRate(rate.get())),
            Sizing::BitsPerKey(bits) if bits > 0.0 && bits.is_finite() => {
                // Fewer keys take more slots each; only that is forgiven.
                let many = Self::smallest(FuseBits::Eight, 1 << 40);
                let few = (bits >= many.len() as f64 * 8.0 / libm::exp2(40.0)).then_some(eight);
                longest((bits * keys as f64 / 8.0) as u64).or(few).ok_or(BuildError::Full)
            }
            Sizing::BitsPerKey(bits) => Err(BuildError::BitsPerKey(bits)),
            Sizing::Bytes(budget) => {
                let needed = (HEADER_LEN as u64).saturating_add(eight.len());
                let len = budget.saturating_sub(HEADER_LEN as u64);
                longest(len)
                    .filter(|_| budget >= HEADER_LEN as u64)
                    .ok_or(BuildError::Budget { needed, budget })
            }
        }
    }

    /// Returns a shape with a sixteenth more segments.
    pub(super) fn enlarged(self) -> Self {
        let more = self.first_segments.div_ceil(16);
        Self { first_segments: self.first_segments + more, ..self }
    }

    /// Returns the number of slots of a segment.
    pub(super) const fn segment_len(self) -> u64 {
        1 << self.segment_bits
    }

    /// Returns the number of slots; `u64::MAX` for more than 64 bits count, which no memory holds.
    pub(super) const fn slots(self) -> u64 {
        if self.first_segments == 0 {
            return 0;
        }
        let segments = self.first_segments.saturating_add(self.arity.slots() as u64 - 1);
        segments.saturating_mul(1 << self.segment_bits)
    }

    /// Returns what the filter costs and how often it errs with so many keys.
    pub(super) fn stats(self, keys: u64) -> FilterStats {
        let error_rate = theory::fingerprint_error_rate(keys, self.bits.bits());
        FilterStats { keys, bytes: self.len(), error_rate }
    }

    /// Returns how many bytes the slots take; `u64::MAX` for more than 64 bits count.
    pub(super) const fn len(self) -> u64 {
        self.slots().saturating_mul(self.bits.len())
    }
}

/// Where a key's slots are, and what they must give.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct KeySlots<const ARITY: usize> {
    pub(super) slots: [u64; ARITY],
    /// The upper 16 bits count, or the upper 8.
    pub(super) fingerprint: u64,
}

impl<const ARITY: usize> KeySlots<ARITY> {
    /// Finds the places of a key in segments of so many slots, a power of two. Another seed gives it
    /// others.
    ///
    /// The upper bits of the shuffled hash pick the first slot, and so the segments. In each later
    /// segment the slot at the same place is moved by other bits.
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
