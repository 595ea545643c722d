//! Bit-sliced buckets: whether any cell of a bucket holds what a key would have there.
//!
//! ```text
//! row      a bucket                  bit 0 of cell 0 │ bit 0 of cell 1 │ … ║ bit 1 of cell 0 │ …
//! key      bit 0, bit 1, …           compared with all cells of all filters at once
//! answer   a filter may hold the key if some cell of it differs in no bit
//! ```

use super::rows::{Rows, word};

/// What is looked for in a bucket: a row of the table, and a number of so many bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellQuery {
    pub(crate) row: usize,
    pub(crate) value: u32,
}

impl Rows {
    /// Returns a bit for each filter of a stripe that has what is wanted in some cell of one of the
    /// buckets. All cells of a bit take so many words.
    #[inline]
    pub(crate) fn filters_with_cell<const FIELD_LEN: usize, const WORDS: usize>(
        &self,
        wanted: impl Iterator<Item = CellQuery>,
        stripe: usize,
    ) -> u64 {
        let mut missing = [u32::MAX; WORDS];
        for wanted in wanted {
            let unequal = self.unequal::<WORDS>(wanted, stripe);
            for (missing, unequal) in missing.iter_mut().zip(unequal) {
                *missing &= unequal;
            }
        }
        let cells = missing.map(u32::to_le_bytes);
        let cells = cells.as_flattened().chunks_exact(FIELD_LEN).map(word::<FIELD_LEN>);
        cells.fold(0, |found, missing| found | !missing)
    }

    /// Says of each cell of a bucket in which filters of a stripe it holds something else.
    #[inline]
    fn unequal<const WORDS: usize>(&self, wanted: CellQuery, stripe: usize) -> [u32; WORDS] {
        let (words, _) = self.stripe(wanted.row, stripe).as_chunks();
        let (bits, _) = words.as_chunks::<WORDS>();
        let mut unequal = [0; WORDS];
        for (bit, cells) in bits.iter().enumerate() {
            let expected = 0_u32.wrapping_sub(wanted.value >> bit & 1);
            for (unequal, cell) in unequal.iter_mut().zip(cells) {
                *unequal |= u32::from_le_bytes(*cell) ^ expected;
            }
        }
        unequal
    }
}
