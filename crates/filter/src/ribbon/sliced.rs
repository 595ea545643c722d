//! Bit-sliced ribbon filters: a row is a slot of the first layer, with a field for each column.
//!
//! A field has one bit of each filter.
//!
//! ```text
//! slots    64 rows from the key's start: is the exclusive or of the key's slots the fingerprint?
//! blocks   a row for each block: which filters bumped its starts, and which have the last column
//! later    the later layers of each filter; of 32 filters, one or two have bumped the key
//! ```
//!
//! The filters have the same maximum number of columns, and a slot has a field for each of them. In
//! some filters a block may have one column less. Lookups ignore the last field of these filters.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::first_layer::{FirstLayerQuery, LaterLayers};
use super::stored::RibbonView;
use crate::error::BuildError;
use crate::hash::KeyHash;
use crate::header::Header;
use crate::slices::{Rows, SlicedForm, for_field_len};

/// The field of a block's row that says which filters have the last column in this block.
///
/// The fields before it say which filters bumped each class of starts.
const HAS_LAST: usize = RibbonView::CLASSES;
/// Fields of a block's row.
const BLOCK_FIELDS: usize = HAS_LAST + 1;

/// Ribbon filters with the same number of first-layer blocks and of columns, bit-sliced.
#[derive(Clone, Debug)]
pub(crate) struct RibbonSlices {
    /// The view of the first filter. A key has the same query in the first layer of each filter.
    ///
    /// Boxed: one enum has a variant for each kind, and the views of other kinds are much smaller.
    view: Box<RibbonView>,
    slots: Rows,
    blocks: Box<Rows>,
    later: Vec<LaterLayers>,
}

impl SlicedForm for RibbonSlices {
    type View = RibbonView;

    fn shape(view: &RibbonView, _: &Header, _: &[u8]) -> Option<[u64; 3]> {
        // A small filter has no first layer, and the format allows filters without columns.
        let can_be_sliced = view.first_layer_blocks() > 0 && view.columns() > 0;
        can_be_sliced.then(|| [view.first_layer_blocks(), view.columns().into(), 0])
    }

    fn new(members: &[(RibbonView, &[u8])]) -> Result<Self, BuildError> {
        let [(ref view, _), ..] = *members else { panic!("a group has members") };
        let count = usize::try_from(view.first_layer_blocks()).map_err(|_| BuildError::Memory)?;
        let columns = view.columns() as usize;
        // 64 zero slots follow the last block, because lookups read 64 slots from any start on.
        let slots =
            count.checked_add(1).and_then(|count| count.checked_mul(RibbonView::BLOCK_SLOTS));
        let slots = slots.ok_or(BuildError::Memory)?;
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
        // Each write takes eight bits per filter: the four fields of two blocks.
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
        let later = later.collect::<Result<_, _>>()?;
        Ok(Self { view: Box::new(*view), slots, blocks: Box::new(blocks), later })
    }

    fn rows(&self) -> &Rows {
        &self.slots
    }

    fn memory_bytes(&self) -> u64 {
        let later: usize = self.later.iter().map(LaterLayers::len).sum();
        self.slots.memory_bytes() + self.blocks.memory_bytes() + later as u64
    }

    /// Prefetches the row of the key's block, and all slots of the key in the first layer.
    #[inline]
    fn prefetch(&self, hash: KeyHash) {
        let query = self.view.first_layer_query(hash);
        self.blocks.prefetch(query.block);
        self.slots.prefetch_rows(query.start, RibbonView::BLOCK_SLOTS);
    }

    #[inline]
    fn candidates(&self, hash: KeyHash, stripe: usize) -> u64 {
        for_field_len!(self.slots.field_len(), FIELD_LEN => self.matching::<FIELD_LEN>(hash, stripe))
    }
}

impl RibbonSlices {
    /// Returns a word with a bit for each filter of a stripe that may hold the key.
    ///
    /// Prefetches the later layers of filters that bumped the key, and meanwhile sums the slots.
    #[inline]
    fn matching<const FIELD_LEN: usize>(&self, hash: KeyHash, stripe: usize) -> u64 {
        let query = self.view.first_layer_query(hash);
        let FirstLayerQuery { start, block, class, coefficients, fingerprint } = query;
        let bumped = self.blocks.field::<FIELD_LEN>(block, stripe, class);
        let last = self.blocks.field::<FIELD_LEN>(block, stripe, HAS_LAST);
        let later = &self.later[self.slots.first_filter(stripe)..];
        for filter in ones(bumped) {
            later[filter].prefetch(hash);
        }
        let rows = ones(coefficients).map(|slot| start + slot);
        let mismatches = self.slots.mismatches::<FIELD_LEN>(&rows, stripe, fingerprint, last);
        ones(bumped)
            .filter(|filter| later[*filter].may_contain(hash))
            .fold(!mismatches & !bumped, |found, filter| found | 1 << filter)
    }
}

/// Iterates over the indexes of the set bits, lowest first.
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
