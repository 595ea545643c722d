//! Ribbon filters side by side: a row is a slot of the first layer, with a field for each column.
//!
//! ```text
//! slots    64 rows from the key's start on: those that count add up to the fingerprint?
//! blocks   a row for each block: which filters bumped its starts, and in which it has the last column
//! later    the other layers of each filter: for the one or two of 32 filters that bumped the key
//! ```
//!
//! How many columns a block has can differ from filter to filter by one. A slot has room for all; of those
//! that a filter has not, nothing counts.

use alloc::vec::Vec;

use super::rows::{Rows, for_unit};
use crate::ribbon::{FirstLook, LaterLayers, RibbonView};
use crate::{BuildError, KeyHash};

/// The field of a block's row that says which filters have the last column there; those before it, which
/// classes of starts they bumped.
const HAS_LAST: usize = RibbonView::CLASSES;
/// Fields of a block's row.
const BLOCK_FIELDS: usize = HAS_LAST + 1;

/// Ribbon filters whose first layers have equally many blocks.
#[derive(Clone, Debug)]
pub(super) struct RibbonSlices {
    /// That of one filter: their first layers are looked into alike.
    view: RibbonView,
    slots: Rows,
    blocks: Rows,
    later: Vec<LaterLayers>,
}

impl RibbonSlices {
    /// Lays filters of one shape side by side.
    pub(super) fn new(
        view: &RibbonView,
        members: &[(RibbonView, &[u8])],
    ) -> Result<Self, BuildError> {
        let count = usize::try_from(view.first_layer_blocks()).map_err(|_| BuildError::Memory)?;
        let columns = view.columns() as usize;
        // A key that starts in the last block is told nothing by 64 more slots.
        let slots = (count.saturating_add(1)).saturating_mul(RibbonView::BLOCK_SLOTS);
        let mut slots = Rows::zeroed(slots, columns, members.len())?;
        let mut blocks = Rows::zeroed(count.next_multiple_of(2), BLOCK_FIELDS, members.len())?;
        for block in 0..count {
            for column in 0..columns {
                for eighth in 0..8 {
                    let first = block * RibbonView::BLOCK_SLOTS + eighth * 8;
                    let read = |filter: usize| {
                        let (view, body) = members[filter];
                        view.slots_of(body, block as u64, column, eighth)
                    };
                    slots.write(read, |bit| (first + bit, column));
                }
            }
        }
        for pair in (0..count).step_by(2) {
            let read = |filter: usize| {
                let (view, body) = members[filter];
                let [even, odd] = [pair as u64, pair as u64 + 1].map(|block| {
                    view.bumped_classes(body, block)
                        | u8::from(view.has_last_column(block)) << HAS_LAST
                });
                even | odd << BLOCK_FIELDS
            };
            blocks.write(read, |bit| (pair + bit / BLOCK_FIELDS, bit % BLOCK_FIELDS));
        }
        let later = members.iter().map(|(view, body)| view.later_layers(body));
        Ok(Self { view: *view, slots, blocks, later: later.collect::<Result<_, _>>()? })
    }

    pub(super) const fn rows(&self) -> &Rows {
        &self.slots
    }

    /// Returns how many bytes everything takes.
    pub(super) fn memory_bytes(&self) -> u64 {
        let later: usize = self.later.iter().map(LaterLayers::len).sum();
        self.slots.memory_bytes() + self.blocks.memory_bytes() + later as u64
    }

    /// Sends for all slots of a key in the first layer.
    #[inline]
    pub(super) fn prefetch(&self, hash: KeyHash) {
        let look = self.view.first_look(hash);
        self.blocks.prefetch(look.block);
        self.slots.prefetch_rows(look.start, RibbonView::BLOCK_SLOTS);
    }

    /// Returns a bit for each filter of a stripe that may hold the key, and any others for filters that are
    /// not there.
    #[inline]
    pub(super) fn candidates(&self, hash: KeyHash, stripe: usize) -> u64 {
        for_unit!(self.slots.unit(), UNIT => self.matching::<UNIT>(hash, stripe))
    }

    /// Adds the slots up while what the later layers have is on its way.
    #[inline]
    fn matching<const UNIT: usize>(&self, hash: KeyHash, stripe: usize) -> u64 {
        let look = self.view.first_look(hash);
        let FirstLook { start, block, class, coefficients, fingerprint } = look;
        let bumped = self.blocks.field::<UNIT>(block, stripe, class);
        let last = self.blocks.field::<UNIT>(block, stripe, HAS_LAST);
        let later = &self.later[self.slots.first_filter(stripe)..];
        for filter in ones(bumped) {
            later[filter].prefetch(hash);
        }
        let rows = ones(coefficients).map(|slot| start + slot);
        let differing = self.slots.differing::<UNIT>(&rows, stripe, fingerprint, last);
        ones(bumped)
            .filter(|filter| later[*filter].may_contain(hash))
            .fold(!differing & !bumped, |found, filter| found | 1 << filter)
    }
}

/// Goes over the bits that are set, from the lowest.
#[inline]
fn ones(mut word: u64) -> impl Iterator<Item = usize> + Clone {
    core::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        (word != 0).then(|| {
            word &= word - 1;
            bit
        })
    })
}
