//! What a family map says about one row: the files that may have it.

/// The answer of a family map about one row, for the first 64 files of a list.
///
/// Bit `i` stands for the file at index `i`. A map never leaves out a file that has the row, but it
/// may name a file that does not have it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct MapAnswer {
    /// The files that the map covers. The filters of the others are asked.
    pub covered: u64,
    /// The files that may have the row. Bits of files that are not covered have no meaning.
    pub named: u64,
}

impl MapAnswer {
    /// Returns whether the map covers the file at `index`.
    #[inline]
    pub(super) const fn covers(&self, index: usize) -> bool {
        index < 64 && self.covered >> index & 1 == 1
    }

    /// Returns how many successive files, from `index` on, the map denies.
    #[inline]
    pub(super) fn denied_run(&self, index: usize) -> usize {
        (self.covered & !self.named).checked_shr(index as u32).map_or(0, u64::trailing_ones)
            as usize
    }
}
