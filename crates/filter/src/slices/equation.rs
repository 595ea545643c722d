//! Bit-sliced equations: the filters in which the exclusive or of a key's slots is its fingerprint.
//!
//! ```text
//! row      a slot; each bit of its fingerprint is a field
//! sum      the exclusive or of the key's rows, computed for eight fields at a time
//! answer   a filter may hold the key if each field of the sum equals that bit of the fingerprint
//! ```

use super::rows::{Rows, word};

/// The number of fields summed at a time: eight fields are as many 64-bit words as a field has
/// bytes.
const FIELDS: usize = 8;

impl Rows {
    /// Returns a bit for each filter of a stripe in which the rows do not sum to `value`.
    ///
    /// The lowest bit of `value` belongs to the first field. `last` has a bit for each filter whose
    /// last field is compared; in the others that field is unused.
    #[inline]
    pub(crate) fn mismatches<const FIELD_LEN: usize>(
        &self,
        rows: &(impl Iterator<Item = usize> + Clone),
        stripe: usize,
        value: u32,
        last: u64,
    ) -> u64 {
        let fields = self.field_count();
        let mut mismatches = 0;
        for first in (0..fields).step_by(FIELDS) {
            let sums = self.sums::<FIELD_LEN>(rows.clone(), stripe, first).map(u64::to_le_bytes);
            let sums = sums.as_flattened().chunks_exact(FIELD_LEN).map(word::<FIELD_LEN>);
            for (field, sum) in (first..fields).zip(sums) {
                let expected = 0_u64.wrapping_sub(u64::from(value >> field & 1));
                let compared = if field + 1 == fields { last } else { u64::MAX };
                mismatches |= (sum ^ expected) & compared;
            }
        }
        mismatches
    }

    /// Returns the exclusive or of eight fields of the rows, from field `first` on.
    ///
    /// If the rows have fewer fields left, the rest of the sum is undefined.
    #[inline]
    fn sums<const FIELD_LEN: usize>(
        &self,
        rows: impl Iterator<Item = usize>,
        stripe: usize,
        first: usize,
    ) -> [u64; FIELD_LEN] {
        let mut sums = [0; FIELD_LEN];
        for row in rows {
            let fields = self.fields_from::<FIELD_LEN>(row, stripe, first);
            for (sum, word) in sums.iter_mut().zip(fields) {
                *sum ^= u64::from_le_bytes(*word);
            }
        }
        sums
    }
}
