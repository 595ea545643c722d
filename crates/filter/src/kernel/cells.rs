//! What a lookup in a d-left filter's buckets takes: eight cells of one size each.

/// A bucket to search: its first byte in the table, and the remainder to find.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct CellTarget {
    pub(crate) at: usize,
    pub(crate) remainder: u32,
}

/// The bits of a cell: a remainder, then a counter, [`CELL_BITS_MAX`] at most.
///
/// A bucket has as many bytes as a cell has bits.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(all(target_arch = "x86_64", target_feature = "sse2")),
    expect(dead_code, reason = "only vector code reads them")
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

/// The most bits of a cell.
pub(super) const CELL_BITS_MAX: usize = 30;
