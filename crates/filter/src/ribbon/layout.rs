//! The layout of the solution in bytes: blocks of 64 slots, column by column.
//!
//! ```text
//! block   | column 0 | column 1 | … | column r−1 |      each column 64 bits LE, bit i for slot i
//!
//! blocks  [ r │ r │ r │ … │ r ][ r+1 │ r+1 │ … │ r+1 ]
//!           narrow blocks        wide blocks: half the error rate
//! ```
//!
//! With eight columns a block is a cache line; a lookup reads a block and the next one. Blocks are
//! numbered through all layers. The share of wide blocks makes any error rate possible.

/// Slots of a block.
pub(super) const BLOCK_SLOTS: u64 = 64;

/// Bytes of a column of a block.
pub(super) const COLUMN_LEN: u64 = 8;

/// Maximum number of columns: the bits of a fingerprint.
pub(super) const COLUMNS_MAX: u32 = 32;

/// The number of columns of each block.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Layout {
    /// Columns of a narrow block; a wide one has one more.
    pub(super) columns: u32,
    /// Number of narrow blocks, which come first.
    pub(super) narrow: u64,
    /// Number of all blocks.
    pub(super) blocks: u64,
}

impl Layout {
    /// Returns the number of columns of a block.
    #[inline]
    pub(super) const fn columns_of(self, block: u64) -> u32 {
        self.columns + (block >= self.narrow) as u32
    }

    /// Returns the number of columns before a block.
    #[inline]
    pub(super) const fn column_at(self, block: u64) -> u64 {
        block.wrapping_mul(self.columns as u64).wrapping_add(block.saturating_sub(self.narrow))
    }

    /// Returns the number of columns of the base: that of the widest block.
    pub(super) const fn base_columns(self) -> u32 {
        self.columns + (self.narrow < self.blocks) as u32
    }

    /// Returns the bytes of all blocks; `u64::MAX` if they exceed 64 bits (only in plans).
    pub(super) const fn len(self) -> u64 {
        debug_assert!(self.narrow <= self.blocks, "narrow blocks are blocks");
        let wide = self.blocks - self.narrow;
        let columns = self.blocks.saturating_mul(self.columns as u64).saturating_add(wide);
        columns.saturating_mul(COLUMN_LEN)
    }
}
