//! The stash of a d-left filter: keys that found no free cell, ascending by number.
//!
//! The stored form of a key has eight bytes: number × 2^6 + copies, little-endian.

/// Bits of the copies, below the number.
const COPIES_BITS: u32 = 6;

/// A key in the stash.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Stashed {
    /// Below 2^58.
    pub(super) number: u64,
    /// At most [`CounterBits::copies_max`](crate::CounterBits::copies_max), 60.
    pub(super) copies: u32,
}

impl Stashed {
    /// Bytes of a key in the stash.
    pub(super) const LEN: u64 = 8;

    pub(super) fn to_bytes(self) -> [u8; 8] {
        debug_assert!(
            self.copies < 1 << COPIES_BITS && self.number < 1 << (u64::BITS - COPIES_BITS)
        );
        (self.number << COPIES_BITS | u64::from(self.copies)).to_le_bytes()
    }

    pub(super) fn from_bytes(bytes: [u8; 8]) -> Self {
        let word = u64::from_le_bytes(bytes);
        let copies = u32::try_from(word & 0x3f).expect("six bits");
        Self { number: word >> COPIES_BITS, copies }
    }
}

/// Returns whether a number is in a stored stash.
#[inline]
pub(super) fn contains(stash: &[[u8; 8]], number: u64) -> bool {
    let stashed = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes) >> COPIES_BITS;
    !stash.is_empty() && stash.binary_search_by_key(&number, stashed).is_ok()
}
