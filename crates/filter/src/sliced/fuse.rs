//! Binary fuse filters side by side: a row is a slot, with a field for each bit of its fingerprint.

use super::rows::{Rows, for_unit};
use crate::fuse::FuseView;
use crate::{BuildError, FuseArity, KeyHash};

/// Fuse filters of equal segments, whose keys came off with the same seed.
#[derive(Clone, Debug)]
pub(super) struct FuseSlices {
    view: FuseView,
    rows: Rows,
}

impl FuseSlices {
    /// Lays filters of one shape side by side.
    pub(super) fn new(view: FuseView, bodies: &[&[u8]]) -> Result<Self, BuildError> {
        let fields = view.bits().bits() as usize;
        let slot_len = fields / 8;
        let slots = bodies.first().map_or(0, |body| body.len() / slot_len);
        let mut rows = Rows::zeroed(slots, fields, bodies.len())?;
        for slot in 0..slots {
            for byte in 0..slot_len {
                let read = |filter: usize| bodies[filter][slot * slot_len + byte];
                rows.write(read, |bit| (slot, byte * 8 + bit));
            }
        }
        Ok(Self { view, rows })
    }

    pub(super) const fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Sends for all slots of a key.
    #[inline]
    pub(super) fn prefetch(&self, hash: KeyHash) {
        match self.view.arity() {
            FuseArity::Three => self.send_for(self.view.slots::<3>(hash).0),
            FuseArity::Four => self.send_for(self.view.slots::<4>(hash).0),
        }
    }

    #[inline]
    fn send_for<const ARITY: usize>(&self, slots: [usize; ARITY]) {
        for slot in slots {
            self.rows.prefetch(slot);
        }
    }

    /// Returns a bit for each filter of a stripe whose slots give a key's fingerprint, and any others
    /// for filters that are not there.
    #[inline]
    pub(super) fn candidates(&self, hash: KeyHash, stripe: usize) -> u64 {
        for_unit!(self.rows.unit(), UNIT => match self.view.arity() {
            FuseArity::Three => self.matching::<UNIT, 3>(hash, stripe),
            FuseArity::Four => self.matching::<UNIT, 4>(hash, stripe),
        })
    }

    #[inline]
    fn matching<const UNIT: usize, const ARITY: usize>(&self, hash: KeyHash, stripe: usize) -> u64 {
        let (slots, fingerprint) = self.view.slots::<ARITY>(hash);
        !self.rows.differing::<UNIT>(&slots.into_iter(), stripe, fingerprint, u64::MAX)
    }
}
