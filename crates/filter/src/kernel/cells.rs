//! Where the eight cells of a bucket lie, as a vector of eight lanes needs to know it.
//!
//! Cell i of c bits begins at bit c·i of its bucket. With the bits that come before it in its first
//! byte it takes 37 bits at most, and so finds room in a lane of 64.

/// A bucket to look into: where in the table it begins, and the remainder that is looked for.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct CellTarget {
    pub(crate) at: usize,
    pub(crate) remainder: u32,
}

/// How the bits of a cell are shared out: 30 at most, of which each bucket has as many bytes.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(all(target_arch = "x86_64", feature = "std")),
    expect(dead_code, reason = "only vector code looks at lanes")
)]
pub(crate) struct CellLanes {
    pub(super) cell_bits: u32,
    pub(super) remainder_bits: u32,
    pub(super) counter_bits: u32,
}

impl CellLanes {
    pub(crate) const fn new(remainder_bits: u32, counter_bits: u32) -> Self {
        let cell_bits = remainder_bits + counter_bits;
        assert!(cell_bits <= CELL_BITS_MAX as u32, "a cell has 30 bits at most");
        Self { cell_bits, remainder_bits, counter_bits }
    }
}

const CELL_BITS_MAX: usize = 30;

/// Returns how many of its first bytes, and how many of its last, a bucket of so many is loaded as: half
/// a vector that has room for all.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[inline]
pub(super) const fn cell_half(bucket_len: usize) -> usize {
    if bucket_len <= 16 { 8 } else { 16 }
}

/// For cells of so many bits, and for each lane: where the eight bytes from the one in which its cell
/// begins stand in a bucket that is loaded as two [halves](cell_half), and at which bit of the first the
/// cell begins.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
pub(super) static LANES: [([u64; 8], [u64; 8]); CELL_BITS_MAX + 1] = {
    let mut table = [([0; 8], [0; 8]); CELL_BITS_MAX + 1];
    let mut cell_bits = 0;
    while cell_bits <= CELL_BITS_MAX {
        let mut lane = 0;
        while lane < 8 {
            // A bucket has as many bytes as a cell has bits.
            let (half, bit) = (cell_half(cell_bits), cell_bits * lane);
            let (mut places, mut byte) = ([0; 8], 0);
            while byte < 8 {
                let at = bit / 8 + byte;
                let is_first = at < half || cell_bits < half;
                places[byte] = if is_first { at } else { at + 2 * half - cell_bits } as u8;
                byte += 1;
            }
            table[cell_bits].0[lane] = u64::from_le_bytes(places);
            table[cell_bits].1[lane] = (bit % 8) as u64;
            lane += 1;
        }
        cell_bits += 1;
    }
    table
};
