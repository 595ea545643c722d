//! Bit-sliced equations: whether the exclusive or of a key's slots is its fingerprint.
//!
//! ```text
//! row      a slot; each bit of its fingerprint is a field
//! sum      the exclusive or of the key's rows, eight fields at once
//! answer   a filter differs if any field of the sum does from the fingerprint's bit
//! ```

use super::rows::{Rows, word};

/// Fields that are added up together: as many words as a field has bytes.
const FIELDS: usize = 8;

impl Rows {
    /// Returns a bit for each filter of a stripe whose rows do not add up to `value`, the lowest bit of
    /// which is that of the first field. Of the last field only those filters count that `last` has.
    #[inline]
    pub(crate) fn mismatches<const FIELD_LEN: usize>(
        &self,
        rows: &(impl Iterator<Item = usize> + Clone),
        stripe: usize,
        value: u32,
        last: u64,
    ) -> u64 {
        let fields = self.fields();
        let mut mismatches = 0;
        for first in (0..fields).step_by(FIELDS) {
            let sums = self.sums::<FIELD_LEN>(rows.clone(), stripe, first).map(u64::to_le_bytes);
            let sums = sums.as_flattened().chunks_exact(FIELD_LEN).map(word::<FIELD_LEN>);
            for (field, sum) in (first..fields).zip(sums) {
                let expected = 0_u64.wrapping_sub(u64::from(value >> field & 1));
                let counts = if field + 1 == fields { last } else { u64::MAX };
                mismatches |= (sum ^ expected) & counts;
            }
        }
        mismatches
    }

    /// Adds rows up: eight fields from the first on, those that are there and what follows them.
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
