//! Cuckoo filters side by side: a row is a bucket, with a field for each bit of each of its slots.

use super::cells::Wanted;
use super::rows::{Rows, for_unit};
use crate::cuckoo::{CuckooView, Places};
use crate::{BuildError, KeyHash};

/// Cuckoo filters of equally many buckets, with fingerprints of equal length.
#[derive(Clone, Debug)]
pub(super) struct CuckooSlices {
    view: CuckooView,
    rows: Rows,
}

impl CuckooSlices {
    /// Lays filters of one shape side by side.
    pub(super) fn new(view: CuckooView, bodies: &[&[u8]]) -> Result<Self, BuildError> {
        let slots = CuckooView::SLOTS;
        let bits = view.fingerprint_bits() as usize;
        let mut rows = Rows::zeroed(view.buckets(), bits * slots, bodies.len())?;
        for bucket in 0..view.buckets() {
            for slot in 0..slots {
                for first in (0..bits).step_by(8) {
                    let read = |filter: usize| {
                        (view.fingerprint(bodies[filter], bucket, slot as u32) >> first) as u8
                    };
                    let place = |bit| (bucket, (first + bit) * slots + slot);
                    rows.write_bits(bits - first, read, place);
                }
            }
        }
        Ok(Self { view, rows })
    }

    pub(super) const fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Sends for both buckets of a key.
    #[inline]
    pub(super) fn prefetch(&self, hash: KeyHash) {
        let Places { first, second, .. } = self.view.places(hash);
        self.rows.prefetch(first);
        self.rows.prefetch(second);
    }

    /// Returns a bit for each filter of a stripe that has a key's fingerprint in one of its buckets.
    #[inline]
    pub(super) fn candidates(&self, hash: KeyHash, stripe: usize) -> u64 {
        let Places { fingerprint, first, second } = self.view.places(hash);
        let wanted = [first, second].map(|row| Wanted { row, value: fingerprint as u32 });
        // Four slots of so many bytes are as many words.
        for_unit!(self.rows.unit(), UNIT => {
            self.rows.holding::<UNIT, UNIT>(wanted.into_iter(), stripe)
        })
    }
}
