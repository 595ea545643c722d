//! The equation of a ribbon filter's key, and the vectors of columns that are compared with it.

/// The equation of a key: the coefficients of 64 slots, and the parities that they must give.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockEquation {
    /// The slot at which the equation starts. Modulo 64 it is the position in the block.
    pub(crate) shift: u32,
    /// Bit i is set if the parity includes slot `shift + i`.
    pub(crate) coefficients: u64,
    /// Bit j is the expected parity of column j. Bits without a column are ignored.
    pub(crate) fingerprint: u32,
}

impl BlockEquation {
    /// Returns the coefficients as masks of the slots of the first block and of the next block.
    #[inline]
    pub(super) const fn slots(self) -> (u64, u64) {
        let low = self.coefficients.wrapping_shl(self.shift);
        // The bits shifted out of `low`. A shift by `64 - shift` would wrap for a `shift` of 0, so
        // it is split into a shift by 1 and a shift by `63 - shift`.
        let high = (self.coefficients >> 1).wrapping_shr(!self.shift);
        (low, high)
    }
}

/// One vector of columns from each of the two blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct ColumnVectors<'a> {
    pub(super) low: &'a [u8; VECTOR_LEN],
    pub(super) high: &'a [u8; VECTOR_LEN],
}

/// The length of a vector of columns in bytes.
pub(super) const VECTOR_LEN: usize = LANES * COLUMN_LEN;

/// The lanes of a vector that are columns, in a form for each instruction set.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(all(target_arch = "x86_64", target_feature = "sse2")),
    expect(dead_code, reason = "vector code takes bits, portable code lanes")
)]
pub(crate) struct ColumnMask {
    /// A set bit for each lane that is a column.
    pub(super) bits: u8,
    /// The first four of `bits`, for vectors of four columns.
    pub(super) first_bits: u8,
    /// The last four of `bits`, in the same positions.
    pub(super) second_bits: u8,
    /// Whether the block has columns after this vector.
    pub(super) has_more: bool,
    /// 0x8000 for each lane that is a column, 0 for the others.
    pub(super) lanes: [u16; LANES],
}

impl ColumnMask {
    /// Returns the masks of the first two vectors of a block of `count` columns.
    pub(crate) fn of(count: u32) -> [Self; 2] {
        [Self::new(count), Self::new(count.saturating_sub(LANES as u32))]
    }

    /// Returns the mask of a vector; `count` columns remain, this vector included.
    pub(super) fn new(count: u32) -> Self {
        let bits = !u32::MAX.checked_shl(count).unwrap_or(0) as u8;
        let lanes = core::array::from_fn(|lane| u16::from(bits >> lane) << 15);
        let (first_bits, second_bits) = (bits & 0x0f, bits & 0xf0);
        Self { bits, first_bits, second_bits, has_more: count > LANES as u32, lanes }
    }
}

/// The number of columns in a vector, which are compared together.
pub(crate) const LANES: usize = 8;

/// The length of a block's column in bytes: one bit for each of 64 slots.
pub(super) const COLUMN_LEN: usize = 8;
