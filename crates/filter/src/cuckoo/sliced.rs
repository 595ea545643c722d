//! Bit-sliced cuckoo filters: many filters interleaved, so that one lookup queries all of them.
//!
//! Row `r` of the table has bucket `r` of every filter. A row has a field for each bit of each
//! slot: field `bit · slots + slot`. A field has one bit per filter.

use super::bucket::KeyBuckets;
use super::stored::CuckooView;
use crate::error::BuildError;
use crate::hash::KeyHash;
use crate::header::Header;
use crate::slices::{CellQuery, Rows, SlicedForm, for_field_len};

/// A group of cuckoo filters with the same number of buckets and the same fingerprint length.
#[derive(Clone, Debug)]
pub(crate) struct CuckooSlices {
    view: CuckooView,
    rows: Rows,
}

impl SlicedForm for CuckooSlices {
    type View = CuckooView;

    fn shape(_: &CuckooView, header: &Header, _: &[u8]) -> Option<[u64; 3]> {
        let [fingerprint_bits, buckets, _] = header.parameters;
        Some([fingerprint_bits, buckets, 0])
    }

    fn new(members: &[(CuckooView, &[u8])]) -> Result<Self, BuildError> {
        let [(view, _), ..] = *members else { panic!("a group has members") };
        let slots = CuckooView::SLOTS;
        let bits = view.fingerprint_bits() as usize;
        let mut rows = Rows::zeroed(view.buckets(), bits * slots, members.len())?;
        for bucket in 0..view.buckets() {
            for slot in 0..slots {
                for first in (0..bits).step_by(8) {
                    let read = |filter: usize| {
                        let (_, body) = members[filter];
                        (view.fingerprint(body, bucket, slot as u32) >> first) as u8
                    };
                    let position = |bit| (bucket, (first + bit) * slots + slot);
                    rows.write_bits(bits - first, read, position);
                }
            }
        }
        Ok(Self { view, rows })
    }

    fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Prefetches the rows of a key's two buckets.
    #[inline]
    fn prefetch(&self, hash: KeyHash) {
        let KeyBuckets { first, second, .. } = self.view.key_buckets(hash);
        self.rows.prefetch(first);
        self.rows.prefetch(second);
    }

    #[inline]
    fn candidates(&self, hash: KeyHash, stripe: usize) -> u64 {
        let KeyBuckets { fingerprint, first, second } = self.view.key_buckets(hash);
        let wanted = [first, second].map(|row| CellQuery { row, value: fingerprint as u32 });
        // The second parameter is a number of 4-byte words: the fields of one bit of four slots
        // have 4 · `FIELD_LEN` bytes, which are `FIELD_LEN` words.
        for_field_len!(self.rows.field_len(), FIELD_LEN => {
            self.rows.filters_with_cell::<FIELD_LEN, FIELD_LEN>(wanted.into_iter(), stripe)
        })
    }
}
