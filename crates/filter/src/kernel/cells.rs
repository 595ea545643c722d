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

/// How the cells of a bucket are spread over lanes.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(all(target_arch = "x86_64", feature = "std")),
    expect(dead_code, reason = "only vector code looks at lanes")
)]
pub(crate) struct CellLanes {
    /// Bits of a cell, at most 30, which are the bytes of a bucket as well.
    pub(super) cell_bits: u32,
    pub(super) remainder_bits: u32,
    pub(super) counter_bits: u32,
    /// For each lane, the numbers of the eight bytes from the one in which its cell begins.
    pub(super) bytes: [u64; 8],
    /// For each lane, at which bit of that byte.
    pub(super) shifts: [u64; 8],
}

impl CellLanes {
    pub(crate) const fn new(remainder_bits: u32, counter_bits: u32) -> Self {
        let cell_bits = remainder_bits + counter_bits;
        let (mut bytes, mut shifts, mut lane) = ([0; 8], [0; 8], 0);
        while lane < 8 {
            let bit = cell_bits as u64 * lane as u64;
            bytes[lane] = 0x0706_0504_0302_0100 + bit / 8 * 0x0101_0101_0101_0101;
            shifts[lane] = bit % 8;
            lane += 1;
        }
        Self { cell_bits, remainder_bits, counter_bits, bytes, shifts }
    }
}
