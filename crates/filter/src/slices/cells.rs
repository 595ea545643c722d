//! Search of bit-sliced buckets: which filters have a given value in a cell of a bucket.
//!
//! A row of the table ([`Rows`]) is one bucket of all filters. Its fields are ordered by bit, then
//! by cell. A field has that bit of that cell for each filter of the stripe:
//!
//! ```text
//! row      bit 0: cell 0 │ cell 1 │ …     bit 1: cell 0 │ cell 1 │ …     …
//! ```
//!
//! The search compares bit 0 of the value with bit 0 of all cells of all filters, then bit 1, and
//! so on. A filter may hold the key if one of its cells equals the value in all bits.

use super::rows::{Rows, word};

/// A value to look for, and the row of the bucket whose cells may have it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellQuery {
    pub(crate) row: usize,
    pub(crate) value: u32,
}

impl Rows {
    /// Returns the filters of a stripe in which a cell matches one of the queries, as set bits.
    ///
    /// `FIELD_LEN` is the number of bytes of a field. `WORDS` is the number of 32-bit words of the
    /// fields with the same bit of all cells of a bucket: `FIELD_LEN × cells / 4`.
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
        let bytes = mismatches.map(u32::to_le_bytes);
        let mismatches_by_cell =
            bytes.as_flattened().chunks_exact(FIELD_LEN).map(word::<FIELD_LEN>);
        mismatches_by_cell.fold(0, |matches, mismatches| matches | !mismatches)
    }

    /// Returns, for each cell of a bucket, the filters of a stripe in which it differs from the
    /// value.
    #[inline]
    fn unequal_cells<const WORDS: usize>(&self, query: CellQuery, stripe: usize) -> [u32; WORDS] {
        let (words, _) = self.stripe(query.row, stripe).as_chunks();
        let (words_by_bit, _) = words.as_chunks::<WORDS>();
        let mut unequal = [0; WORDS];
        for (bit, words) in words_by_bit.iter().enumerate() {
            // The bit of the value, repeated in all bits of a word.
            let expected = 0_u32.wrapping_sub(query.value >> bit & 1);
            for (unequal, word) in unequal.iter_mut().zip(words) {
                *unequal |= u32::from_le_bytes(*word) ^ expected;
            }
        }
        unequal
    }
}
