//! Bit-sliced buckets: the filters that have a given value in a cell of a bucket.
//!
//! ```text
//! row      a bucket                  bit 0 of cell 0 │ bit 0 of cell 1 │ … ║ bit 1 of cell 0 │ …
//! value    bit 0, bit 1, …           each compared with that bit of all cells of all filters
//! answer   a filter may hold the key if one of its cells equals the value in all bits
//! ```

use super::rows::{Rows, word};

/// A value to look for in the cells of a bucket, which is a row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellQuery {
    pub(crate) row: usize,
    pub(crate) value: u32,
}

impl Rows {
    /// Returns a bit for each filter of a stripe in which a cell matches one of the queries.
    ///
    /// `WORDS` is the number of 32-bit words that one bit of all cells of a bucket takes.
    #[inline]
    pub(crate) fn filters_with_cell<const FIELD_LEN: usize, const WORDS: usize>(
        &self,
        queries: impl Iterator<Item = CellQuery>,
        stripe: usize,
    ) -> u64 {
        let mut mismatches = [u32::MAX; WORDS];
        for query in queries {
            let unequal = self.unequal_cells::<WORDS>(query, stripe);
            for (mismatches, unequal) in mismatches.iter_mut().zip(unequal) {
                *mismatches &= unequal;
            }
        }
        let cells = mismatches.map(u32::to_le_bytes);
        let cells = cells.as_flattened().chunks_exact(FIELD_LEN).map(word::<FIELD_LEN>);
        cells.fold(0, |matches, mismatches| matches | !mismatches)
    }

    /// Returns, for each cell of a bucket, the filters of a stripe in which it differs from the
    /// value.
    #[inline]
    fn unequal_cells<const WORDS: usize>(&self, query: CellQuery, stripe: usize) -> [u32; WORDS] {
        let (words, _) = self.stripe(query.row, stripe).as_chunks();
        let (bits, _) = words.as_chunks::<WORDS>();
        let mut unequal = [0; WORDS];
        for (bit, cells) in bits.iter().enumerate() {
            let expected = 0_u32.wrapping_sub(query.value >> bit & 1);
            for (unequal, cell) in unequal.iter_mut().zip(cells) {
                *unequal |= u32::from_le_bytes(*cell) ^ expected;
            }
        }
        unequal
    }
}
