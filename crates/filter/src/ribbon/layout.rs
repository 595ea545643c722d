//! The layout of the solution in bytes: blocks of 64 slots, column by column.
//!
//! ```text
//! block   | column 0 | column 1 | … | column r−1 |      each column 64 bits LE, bit i for slot i
//!
//! blocks  [ r │ r │ r │ … │ r ][ r+1 │ r+1 │ … │ r+1 ]
//!           narrow blocks        wide blocks: half the error rate
//! ```
//!
//! With eight columns a block is a cache line; a lookup reads a block and the next one. Block
//! numbers run on from one layer to the next. A mix of blocks with r and with r+1 columns gives any
//! error rate between 2^-r and 2^-(r+1).

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
    pub(super) narrow_columns: u32,
    /// Number of narrow blocks, which come first.
    pub(super) narrow_blocks: u64,
    /// Number of all blocks.
    pub(super) block_count: u64,
}

impl Layout {
    /// Returns the number of columns of a block.
    pub(super) const fn columns_of(self, block: u64) -> u32 {
        self.narrow_columns + (block >= self.narrow_blocks) as u32
    }

    /// Returns the number of columns before a block.
    pub(super) const fn columns_before(self, block: u64) -> u64 {
        block
            .wrapping_mul(self.narrow_columns as u64)
            .wrapping_add(block.saturating_sub(self.narrow_blocks))
    }

    /// Returns the number of columns of the [`base`](super::base), which equals the number of columns of the widest
    /// block.
    pub(super) const fn base_columns(self) -> u32 {
        self.narrow_columns + (self.narrow_blocks < self.block_count) as u32
    }

    /// Returns the bytes of all blocks. Saturates: a planned size can exceed 64 bits, an existing filter cannot.
    pub(super) const fn len(self) -> u64 {
        debug_assert!(self.narrow_blocks <= self.block_count, "narrow blocks are blocks");
        let wide = self.block_count - self.narrow_blocks;
        let columns =
            self.block_count.saturating_mul(self.narrow_columns as u64).saturating_add(wide);
        columns.saturating_mul(COLUMN_LEN)
    }
}
