//! Bit-sliced Bloom filters: a row has the bits of all filters at one position.
//!
//! ```text
//! hash ──▶ k positions ──▶ k rows ──and──▶ the filters that have all k bits
//! ```
//!
//! Of a counting filter the rows have one bit per counter, "above zero", which takes a quarter of
//! the memory.

use core::fmt::Debug;

use super::rows::{Rows, for_field_len};
use super::sliced_form::SlicedForm;
use crate::error::BuildError;
use crate::hash::KeyHash;
use crate::header::Header;

/// The number of rows read per batch: all rows of a key at 1 %, and mostly enough to deny an absent
/// key at lower rates.
const BATCH: usize = 8;

/// A view of a Bloom filter that computes the positions of a key's bits.
pub(crate) trait BitPositions: Copy + Debug {
    /// Returns the positions of a key's bits (or counters) in a body of `body_len` bytes.
    fn positions(self, body_len: usize, hash: KeyHash) -> impl Iterator<Item = usize>;

    /// Returns the bytes of a bitmap with one bit per position.
    fn bits_len(body_len: usize) -> usize {
        body_len
    }

    /// Returns byte `index` of that bitmap: positions 8 · `index` and up, the first in the lowest
    /// bit.
    fn bits(body: &[u8], index: usize) -> u8 {
        body[index]
    }
}

/// Bit-sliced Bloom filters of one kind, size and number of probes.
#[derive(Clone, Debug)]
pub(crate) struct BitSlices<V> {
    view: V,
    /// Bytes of the body of each filter.
    body_len: usize,
    rows: Rows,
}

impl<V: BitPositions> SlicedForm for BitSlices<V> {
    type View = V;

    fn shape(_: &V, header: &Header, body: &[u8]) -> Option<[u64; 3]> {
        let [probes, ..] = header.parameters;
        Some([probes, body.len() as u64, 0])
    }

    fn new(filters: &[(V, &[u8])]) -> Result<Self, BuildError> {
        let [(view, first), ..] = *filters else { panic!("a group has filters") };
        let body_len = first.len();
        assert!(filters.iter().all(|(_, body)| body.len() == body_len), "equal shapes");
        let bytes = V::bits_len(body_len);
        let row_count = bytes.checked_mul(8).ok_or(BuildError::Memory)?;
        let mut rows = Rows::zeroed(row_count, 1, filters.len())?;
        for byte in 0..bytes {
            rows.write(|filter| V::bits(filters[filter].1, byte), |bit| (byte * 8 + bit, 0));
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
    /// Returns the filters in which all positions are set.
    ///
    /// Stops after the batch that rules out the last filter. There is no branch within a batch: the
    /// loads are independent, and a branch per row would cost more mispredictions than it saves
    /// loads.
    #[inline]
    fn all_set<const FIELD_LEN: usize>(
        &self,
        mut positions: impl Iterator<Item = usize>,
        stripe: usize,
    ) -> u64 {
        let mut candidates = u64::MAX;
        let mut batch = [0; BATCH];
        loop {
            let mut count = 0;
            for (row, position) in batch.iter_mut().zip(&mut positions) {
                *row = position;
                count += 1;
            }
            for row in &batch[..count] {
                candidates &= self.rows.field::<FIELD_LEN>(*row, stripe, 0);
            }
            if candidates == 0 || count < BATCH {
                return candidates;
            }
        }
    }
}
