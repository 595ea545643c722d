//! The stored form of a binary fuse filter, and the lookup in it.
//!
//! | parameter | bits | meaning                                                                  |
//! |----------:|-----:|--------------------------------------------------------------------------|
//! |         0 |    8 | number of slots of a key, 3 or 4; 0 in a filter without keys             |
//! |           |    8 | bits of a fingerprint, 8 or 16; 0 in a filter without keys               |
//! |           |    8 | base-2 logarithm of the number of slots in a segment, 0 to 18            |
//! |         1 |   64 | number of segments that can hold the first slot of a key                 |
//! |         2 |   64 | seed that derives slots and fingerprint from the hash of a key           |
//!
//! Parameter 0 holds its three fields from the lowest bit on. A filter without keys has three zero
//! parameters and no body.
//!
//! The body is an array of slots of 8 bits, or of 16 bits LE. It has one segment for each first
//! segment of parameter 1, plus the number of slots of a key, minus one. A key is probably in the
//! set if the exclusive or of its slots equals its fingerprint. The computation of both from the
//! hash is part of the format: see `KeySlots`.

use core::ops::BitXorAssign;

use super::shape::{FuseArity, FuseBits, KeySlots, SEGMENT_BITS_MAX, Shape};
use crate::error::FormatError;
use crate::hash::KeyHash;
use crate::header::Header;
use crate::kernel::{self, CACHED_LEN};
use crate::membership::FilterStats;
use crate::stored_view::StoredView;

/// A view of a stored binary fuse filter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FuseView {
    shape: Shape,
    seed: u64,
    /// The number of slots in a segment, a power of two.
    segment_len: u64,
    /// The number of slots that can be the first slot of a key.
    first_slots: u64,
}

impl StoredView for FuseView {
    const CODE: u8 = 8;

    fn parse(header: &Header, body: &[u8]) -> Result<Self, FormatError> {
        let wrong = |reason| Err(FormatError::Parameters(reason));
        let [small, first_segments, seed] = header.parameters;
        let (arity, bits) = match (small & 0xff, small >> 8 & 0xff) {
            (0, 0) if header.parameters == [0; 3] => (FuseArity::Three, FuseBits::Eight),
            (3, 8) => (FuseArity::Three, FuseBits::Eight),
            (3, 16) => (FuseArity::Three, FuseBits::Sixteen),
            (4, 8) => (FuseArity::Four, FuseBits::Eight),
            (4, 16) => (FuseArity::Four, FuseBits::Sixteen),
            _ => return wrong("a key must have 3 or 4 slots of 8 or 16 bits"),
        };
        let segment_bits = small >> 16;
        if segment_bits > SEGMENT_BITS_MAX.into() {
            return wrong("a segment must have at most 2^18 slots");
        }
        let segment_bits = u32::try_from(segment_bits).expect("at most 18");
        let shape = Shape { arity, bits, segment_bits, first_segments };
        if usize::try_from(shape.len()) != Ok(body.len()) {
            return wrong("the length of the body is not that of the segments");
        }
        if body.is_empty() != (header.keys == 0) {
            return wrong("there are keys without segments, or segments without keys");
        }
        Ok(Self::new(shape, seed))
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as reading a slot")]
    fn may_contain(&self, body: &[u8], hash: KeyHash) -> bool {
        match (self.shape.bits, self.shape.arity) {
            (FuseBits::Eight, FuseArity::Three) => matches_u8(body, &self.key_slots::<3>(hash)),
            (FuseBits::Eight, FuseArity::Four) => matches_u8(body, &self.key_slots::<4>(hash)),
            (FuseBits::Sixteen, _) => self.may_contain_u16(body, hash),
        }
    }

    fn may_contain_batch(&self, body: &[u8], hashes: &[KeyHash], answers: &mut [bool]) {
        match (self.shape.bits, self.shape.arity) {
            (FuseBits::Eight, FuseArity::Three) => {
                self.look_up_batch::<3>(body, hashes, answers, matches_u8);
            }
            (FuseBits::Eight, FuseArity::Four) => {
                self.look_up_batch::<4>(body, hashes, answers, matches_u8);
            }
            (FuseBits::Sixteen, FuseArity::Three) => {
                self.look_up_batch::<3>(body, hashes, answers, matches_u16);
            }
            (FuseBits::Sixteen, FuseArity::Four) => {
                self.look_up_batch::<4>(body, hashes, answers, matches_u16);
            }
        }
    }

    #[inline]
    fn prefetch(&self, body: &[u8], hash: KeyHash) {
        match self.shape.arity {
            FuseArity::Three => self.prefetch_slots(body, &self.key_slots::<3>(hash)),
            FuseArity::Four => self.prefetch_slots(body, &self.key_slots::<4>(hash)),
        }
    }

    fn stats(&self, _: &[u8], keys: u64) -> FilterStats {
        self.shape.stats(keys)
    }
}

impl FuseView {
    pub(super) fn new(shape: Shape, seed: u64) -> Self {
        debug_assert!(
            shape.segment_bits <= SEGMENT_BITS_MAX,
            "checked when it was parsed or sized"
        );
        let first_slots = shape.first_segments.wrapping_shl(shape.segment_bits);
        Self { shape, seed, segment_len: shape.segment_len(), first_slots }
    }

    /// Returns the three parameters of the header, in the layout of the module docs.
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

    fn key_slots<const ARITY: usize>(self, hash: KeyHash) -> KeySlots<ARITY> {
        KeySlots::new(hash, self.seed, self.segment_len, self.first_slots)
    }

    /// Looks up a key in slots of 16 bits.
    ///
    /// Not inlined: the lookup in slots of 8 bits is more common, and its inlined code stays small.
    #[inline(never)]
    fn may_contain_u16(&self, body: &[u8], hash: KeyHash) -> bool {
        match self.shape.arity {
            FuseArity::Three => matches_u16(body, &self.key_slots::<3>(hash)),
            FuseArity::Four => matches_u16(body, &self.key_slots::<4>(hash)),
        }
    }

    /// Looks up a batch of keys.
    ///
    /// Prefetches the slots of up to `BATCH` keys, then looks these keys up. A body of at most
    /// `CACHED_LEN` bytes needs no prefetch.
    #[inline]
    fn look_up_batch<const ARITY: usize>(
        self,
        body: &[u8],
        hashes: &[KeyHash],
        answers: &mut [bool],
        matches: impl Fn(&[u8], &KeySlots<ARITY>) -> bool,
    ) {
        assert_eq!(hashes.len(), answers.len(), "one answer for each hash");
        if body.len() <= CACHED_LEN {
            for (hash, answer) in hashes.iter().zip(answers) {
                *answer = matches(body, &self.key_slots(*hash));
            }
            return;
        }
        let mut key_slots = [KeySlots { slots: [0; ARITY], fingerprint: 0 }; BATCH];
        for (hashes, answers) in hashes.chunks(BATCH).zip(answers.chunks_mut(BATCH)) {
            for (key_slots, hash) in key_slots.iter_mut().zip(hashes) {
                *key_slots = self.key_slots(*hash);
                self.prefetch_slots(body, key_slots);
            }
            for (key_slots, answer) in key_slots.iter().zip(answers) {
                *answer = matches(body, key_slots);
            }
        }
    }

    fn prefetch_slots<const ARITY: usize>(self, body: &[u8], key_slots: &KeySlots<ARITY>) {
        for slot in key_slots.slots {
            let at = usize::try_from(slot.wrapping_mul(self.shape.bits.len()));
            let at = at.expect("a slot of a body in memory");
            kernel::prefetch_at(body, at);
        }
    }
}

/// The number of keys whose slots are prefetched before the first of these keys is looked up.
const BATCH: usize = 32;

/// Returns whether slots of 8 bits match the fingerprint of the key.
fn matches_u8<const ARITY: usize>(body: &[u8], key_slots: &KeySlots<ARITY>) -> bool {
    let [fingerprint, ..] = key_slots.fingerprint.to_be_bytes();
    matches(body, key_slots, fingerprint, |slot: &u8| *slot)
}

/// Returns whether slots of 16 bits match the fingerprint of the key.
fn matches_u16<const ARITY: usize>(body: &[u8], key_slots: &KeySlots<ARITY>) -> bool {
    let ([high, low, ..], (slots, _)) = (key_slots.fingerprint.to_be_bytes(), body.as_chunks());
    let fingerprint = u16::from_be_bytes([high, low]);
    matches(slots, key_slots, fingerprint, |slot| u16::from_le_bytes(*slot))
}

/// Returns whether the exclusive or of the slots is the fingerprint; false if a slot is out of
/// bounds.
///
/// Generic over the type of the slots, so that reading a slot compiles to a single instruction.
fn matches<const ARITY: usize, Slot, Bits: BitXorAssign + Default + PartialEq>(
    slots: &[Slot],
    key_slots: &KeySlots<ARITY>,
    fingerprint: Bits,
    bits: impl Fn(&Slot) -> Bits,
) -> bool {
    let mut rest = fingerprint;
    for slot in key_slots.slots {
        match usize::try_from(slot).ok().and_then(|slot| slots.get(slot)) {
            Some(slot) => rest ^= bits(slot),
            None => return false,
        }
    }
    rest == Bits::default()
}
