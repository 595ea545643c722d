//! Bit-sliced Bloom filters: a row is the bit at one position, of every filter.
//!
//! ```text
//! hash ──▶ k positions ──▶ k rows ──and──▶ the filters that have all k bits
//! ```
//!
//! How high counters are does not matter here: a row says which filters have a counter above zero, in a quarter of
//! the memory.

use core::fmt::Debug;

use super::rows::{Rows, for_field_len};
use super::sliced_form::SlicedForm;
use crate::error::BuildError;
use crate::hash::KeyHash;
use crate::header::Header;

/// Rows that are read together: all that a key has at 1 %, and mostly enough to know the answer where it has
/// more.
const BATCH: usize = 8;

/// A view of a Bloom filter: where the bits of a key are in a body.
pub(crate) trait BitPositions: Copy + Debug {
    /// Returns the positions of a key's bits, or counters, in a body of so many bytes.
    fn positions(self, body_len: usize, hash: KeyHash) -> impl Iterator<Item = usize>;

    /// Returns how many bytes the bits at all positions take.
    fn bits_len(body_len: usize) -> usize {
        body_len
    }

    /// Returns eight bits, from position 8 · `index` on, the first in the lowest bit.
    fn bits(body: &[u8], index: usize) -> u8 {
        body[index]
    }
}

/// Bloom filters of one kind, with equally many bits, and equally many of them for a key.
#[derive(Clone, Debug)]
pub(crate) struct BitSlices<V> {
    view: V,
    /// Bytes of each filter's bits or counters.
    body_len: usize,
    rows: Rows,
}

impl<V: BitPositions> SlicedForm for BitSlices<V> {
    type View = V;

    fn shape(_: &V, header: &Header, body: &[u8]) -> Option<[u64; 3]> {
        let [probes, ..] = header.parameters;
        Some([probes, body.len() as u64, 0])
    }

    fn new(members: &[(V, &[u8])]) -> Result<Self, BuildError> {
        let [(view, first), ..] = *members else { panic!("a group has members") };
        let body_len = first.len();
        assert!(members.iter().all(|(_, body)| body.len() == body_len), "equal shapes");
        let bytes = V::bits_len(body_len);
        let row_count = bytes.checked_mul(8).ok_or(BuildError::Memory)?;
        let mut rows = Rows::zeroed(row_count, 1, members.len())?;
        for byte in 0..bytes {
            rows.write(|filter| V::bits(members[filter].1, byte), |bit| (byte * 8 + bit, 0));
        }
        Ok(Self { view, body_len, rows })
    }

    fn rows(&self) -> &Rows {
        &self.rows
    }

    #[inline]
    fn prefetch(&self, hash: KeyHash) {
        for row in self.view.positions(self.body_len, hash).take(BATCH) {
            self.rows.prefetch(row);
        }
    }

    #[inline]
    fn candidates(&self, hash: KeyHash, stripe: usize) -> u64 {
        let positions = self.view.positions(self.body_len, hash);
        for_field_len!(self.rows.field_len(), FIELD_LEN => self.all_set::<FIELD_LEN>(positions, stripe))
    }
}

impl<V> BitSlices<V> {
    /// Reads batch after batch while a filter is left. Within a batch all loads are independent: a branch for
    /// each row would be mispredicted more often than it saves a row.
    #[inline]
    fn all_set<const FIELD_LEN: usize>(
        &self,
        mut positions: impl Iterator<Item = usize>,
        stripe: usize,
    ) -> u64 {
        let mut left = u64::MAX;
        let mut batch = [0; BATCH];
        loop {
            let mut count = 0;
            for (row, position) in batch.iter_mut().zip(&mut positions) {
                *row = position;
                count += 1;
            }
            for row in &batch[..count] {
                left &= self.rows.field::<FIELD_LEN>(*row, stripe, 0);
            }
            if left == 0 || count < BATCH {
                return left;
            }
        }
    }
}
