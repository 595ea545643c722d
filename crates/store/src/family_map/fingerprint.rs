//! Computes the fingerprint of a row, and the lines of a family map that may have its entry.
//!
//! | bits of the hash | use                                                       |
//! |------------------|-----------------------------------------------------------|
//! | 63 … 20          | the first line: hash × number of lines / 2^64             |
//! | 35 … 20          | the extension of the fingerprint in a wide map            |
//! | 19 … 16          | the overflow bit                                          |
//! | 15 … 6           | the fingerprint; 0 is taken as 1                          |
//!
//! The five further lines are computed from the rotated hash times an odd constant, so that rows
//! that share their first line are spread over all other lines. The bits of the extension decide the
//! first line only in maps of more than 2^28 lines.

use filter::engine::KeyHash;

/// The number of lines that may have a row's entry; a row that fits into none is in the stash.
pub(super) const LINES_MAX: u32 = 6;

/// The number of bits of an entry that hold the slot number.
pub(super) const SLOT_BITS: u32 = 6;

/// The fingerprint of a row with its extension, and the overflow bit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Fingerprint {
    /// 1 to 1023.
    pub(super) value: u16,
    /// One of the 16 overflow bits, 0 to 15.
    pub(super) overflow: u32,
    /// In a wide map, 16 more bits of the fingerprint.
    pub(super) extension: u16,
}

impl Fingerprint {
    pub(super) const fn of(hash: KeyHash) -> Self {
        let low = hash.get() as u16 >> SLOT_BITS;
        let value = if low == 0 { 1 } else { low };
        let overflow = (hash.get() >> 16) as u32 & 15;
        Self { value, overflow, extension: (hash.get() >> 20) as u16 }
    }
}

/// Returns the index of a row's line number `step`, 0 to 5.
pub(super) const fn line_index(hash: KeyHash, step: u32, lines: usize) -> usize {
    let hash = match step {
        0 => hash.get(),
        _ => hash.get().rotate_left(11 * step + 18).wrapping_mul(0x9E37_79B9_7F4A_7C15),
    };
    ((hash as u128 * lines as u128) >> 64) as usize
}
