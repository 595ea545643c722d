//! Bloom filters side by side: a row is the bit at one position, of every filter.
//!
//! ```text
//! hash ──▶ k positions ──▶ k rows ──and──▶ the filters that have all k bits
//! ```
//!
//! Of counters nobody asks here how high they are: a row says which filters have a counter above nought,
//! in a quarter of the memory.

use super::rows::{Rows, for_unit};
use crate::bloom::{BlockedView, ClassicView, SplitBlockView};
use crate::counting::CountingView;
use crate::{BuildError, KeyHash};

/// Rows that are looked at together: all that a key has at 1 %, and mostly enough to know the answer where
/// it has more.
const BATCH: usize = 8;

/// Where the bits of a key are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Positions {
    /// Anywhere.
    Classic(ClassicView),
    /// In a line of bits.
    Blocked(BlockedView),
    /// In a line of counters.
    Counting(CountingView),
    /// One in each word of a block.
    SplitBlock,
}

/// Bloom filters of one kind, with equally many bits, and equally many of them for a key.
#[derive(Clone, Debug)]
pub(super) struct BitSlices {
    positions: Positions,
    /// Bytes of each filter's bits or counters.
    body_len: usize,
    rows: Rows,
}

impl BitSlices {
    /// Lays filters side by side whose bodies are equally long.
    pub(super) fn new(positions: Positions, bodies: &[&[u8]]) -> Result<Self, BuildError> {
        let body_len = bodies.first().map_or(0, |body| body.len());
        let bytes = match positions {
            Positions::Counting(_) => CountingView::used_len(body_len),
            _ => body_len,
        };
        let mut rows = Rows::zeroed(bytes.saturating_mul(8), 1, bodies.len())?;
        for byte in 0..bytes {
            let place = |bit| (byte * 8 + bit, 0);
            match positions {
                Positions::Counting(_) => {
                    rows.write(|filter| CountingView::used(bodies[filter], byte), place);
                }
                _ => rows.write(|filter| bodies[filter][byte], place),
            }
        }
        Ok(Self { positions, body_len, rows })
    }

    pub(super) const fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Sends for the first rows of a key.
    #[inline]
    pub(super) fn prefetch(&self, hash: KeyHash) {
        match self.positions {
            Positions::Classic(view) => self.send_for(view.positions(self.body_len, hash)),
            Positions::Blocked(view) => self.send_for(view.positions(self.body_len, hash)),
            Positions::Counting(view) => self.send_for(view.positions(self.body_len, hash)),
            Positions::SplitBlock => {
                self.send_for(SplitBlockView::positions(self.body_len, hash));
            }
        }
    }

    #[inline]
    fn send_for(&self, positions: impl Iterator<Item = usize>) {
        for row in positions.take(BATCH) {
            self.rows.prefetch(row);
        }
    }

    /// Returns a bit for each filter of a stripe that has all bits of a key.
    #[inline]
    pub(super) fn candidates(&self, hash: KeyHash, stripe: usize) -> u64 {
        for_unit!(self.rows.unit(), UNIT => match self.positions {
            Positions::Classic(view) => {
                self.all_set::<UNIT>(view.positions(self.body_len, hash), stripe)
            }
            Positions::Blocked(view) => {
                self.all_set::<UNIT>(view.positions(self.body_len, hash), stripe)
            }
            Positions::Counting(view) => {
                self.all_set::<UNIT>(view.positions(self.body_len, hash), stripe)
            }
            Positions::SplitBlock => {
                self.all_set::<UNIT>(SplitBlockView::positions(self.body_len, hash), stripe)
            }
        })
    }

    /// Goes on from batch to batch as long as there is a filter left. Within a batch nothing waits for
    /// anything else: a branch for each row would be mispredicted more often than a row is spared.
    #[inline]
    fn all_set<const UNIT: usize>(
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
                left &= self.rows.field::<UNIT>(*row, stripe, 0);
            }
            if left == 0 || count < BATCH {
                return left;
            }
        }
    }
}
