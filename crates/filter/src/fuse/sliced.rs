//! Bit-sliced binary fuse filters: a row is a slot, with a field for each bit of its fingerprint.

use super::shape::FuseArity;
use super::stored::FuseView;
use crate::error::BuildError;
use crate::hash::KeyHash;
use crate::header::Header;
use crate::slices::{Rows, SlicedForm, for_field_len};

/// Bit-sliced fuse filters of one shape, whose keys were peeled with the same seed.
#[derive(Clone, Debug)]
pub(crate) struct FuseSlices {
    view: FuseView,
    rows: Rows,
}

impl SlicedForm for FuseSlices {
    type View = FuseView;

    fn shape(_: &FuseView, header: &Header, _: &[u8]) -> Option<[u64; 3]> {
        Some(header.parameters)
    }

    fn new(filters: &[(FuseView, &[u8])]) -> Result<Self, BuildError> {
        let [(view, first), ..] = *filters else { panic!("a group has filters") };
        let fields = view.bits().bits() as usize;
        let slot_len = fields / 8;
        let slots = first.len() / slot_len;
        let mut rows = Rows::zeroed(slots, fields, filters.len())?;
        for slot in 0..slots {
            for byte in 0..slot_len {
                let byte_of = |filter: usize| filters[filter].1[slot * slot_len + byte];
                rows.write(byte_of, |bit| (slot, byte * 8 + bit));
            }
        }
        Ok(Self { view, rows })
    }

    fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Prefetches all slots of a key.
    #[inline]
    fn prefetch(&self, hash: KeyHash) {
        match self.view.arity() {
            FuseArity::Three => self.prefetch_slots(self.view.slots::<3>(hash).0),
            FuseArity::Four => self.prefetch_slots(self.view.slots::<4>(hash).0),
        }
    }

    #[inline]
    fn candidates(&self, hash: KeyHash, stripe: usize) -> u64 {
        for_field_len!(self.rows.field_len(), FIELD_LEN => match self.view.arity() {
            FuseArity::Three => self.matching::<FIELD_LEN, 3>(hash, stripe),
            FuseArity::Four => self.matching::<FIELD_LEN, 4>(hash, stripe),
        })
    }
}

impl FuseSlices {
    #[inline]
    fn prefetch_slots<const ARITY: usize>(&self, slots: [usize; ARITY]) {
        for slot in slots {
            self.rows.prefetch(slot);
        }
    }

    #[inline]
    fn matching<const FIELD_LEN: usize, const ARITY: usize>(
        &self,
        hash: KeyHash,
        stripe: usize,
    ) -> u64 {
        let (slots, fingerprint) = self.view.slots::<ARITY>(hash);
        !self.rows.mismatches::<FIELD_LEN>(&slots.into_iter(), stripe, fingerprint, u64::MAX)
    }
}
