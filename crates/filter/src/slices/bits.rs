//! Bit-sliced Bloom filters: a row has the bits of all filters at one position.
//!
//! ```text
//! hash ──▶ k positions ──▶ k rows ──and──▶ the filters that have all k bits
//! ```
//!
//! For counting filters, a bit says whether a counter of four bits is above zero. So the sliced
//! form takes a quarter of their memory.

use core::fmt::Debug;

use super::rows::{Rows, for_field_len};
use super::sliced_form::SlicedForm;
use crate::error::BuildError;
use crate::hash::KeyHash;
use crate::header::Header;

/// The number of rows read per batch.
///
/// At an error rate of 1 %, this is all rows of a key. Filters with lower rates have more rows per
/// key, but one batch is mostly enough to find that no filter holds an absent key.
const BATCH: usize = 8;

/// A view of a Bloom filter that computes the positions of a key's bits.
pub(crate) trait BitPositions: Copy + Debug {
    /// Returns the positions of a key's bits (or counters) in a body of `body_len` bytes.
    fn positions(self, body_len: usize, hash: KeyHash) -> impl Iterator<Item = usize>;

    /// Returns the bytes of the filter's bitmap, which has one bit per position.
    ///
    /// By default, the body is this bitmap.
    fn bits_len(body_len: usize) -> usize {
        body_len
    }

    /// Returns byte `index` of the bitmap.
    ///
    /// The lowest bit belongs to position 8 · `index`, the next bit to the next position.
    fn bits(body: &[u8], index: usize) -> u8 {
        body[index]
    }
}

/// Bit-sliced Bloom filters of the same kind, size and number of probes.
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
    /// Returns a word with a bit for each filter of a stripe in which all positions are set.
    ///
    /// Stops after the batch that rules out the last filter. There is no branch within a batch: the
    /// loads are independent, and the mispredictions of a branch per row would cost more than the
    /// loads that it saves.
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
