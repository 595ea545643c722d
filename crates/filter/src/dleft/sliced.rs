//! Bit-sliced d-left filters: a row is a bucket, with a field for each bit of each of its cells.
//!
//! A cell is its remainder and one bit more, which says that the cell is free. Counters are left out. Numbers
//! that found no cell in their filter are in one stash for all filters.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::layout::CELLS;
use super::stored::DLeftView;
use crate::error::BuildError;
use crate::hash::KeyHash;
use crate::header::Header;
use crate::slices::{CellQuery, Rows, SlicedForm, for_field_len};

/// d-left filters of equally many buckets, with remainders of equal length.
#[derive(Clone, Debug)]
pub(crate) struct DLeftSlices {
    /// Boxed: it is much larger than what other kinds have beside their rows.
    view: Box<DLeftView>,
    rows: Rows,
    /// The numbers that found no cell, each with its filter, ascending.
    stash: Vec<(u64, usize)>,
}

impl SlicedForm for DLeftSlices {
    type View = DLeftView;

    fn shape(_: &DLeftView, header: &Header, _: &[u8]) -> Option<[u64; 3]> {
        let [layout, buckets, _] = header.parameters;
        Some([layout, buckets, 0])
    }

    fn new(members: &[(DLeftView, &[u8])]) -> Result<Self, BuildError> {
        let [(ref view, _), ..] = *members else { panic!("a group has members") };
        let free = 1 << view.remainder_bits();
        let bits = view.remainder_bits() as usize + 1;
        let mut rows = Rows::zeroed(view.buckets(), bits * CELLS, members.len())?;
        // The cells of one bucket, filter by filter.
        let mut cells = Vec::with_capacity(members.len() * CELLS);
        for bucket in 0..view.buckets() {
            cells.clear();
            let remainders = members.iter().flat_map(|(_, body)| view.remainders(body, bucket));
            cells.extend(remainders.map(|remainder| remainder.unwrap_or(free)));
            for cell in 0..CELLS {
                for first in (0..bits).step_by(8) {
                    let read = |filter: usize| (cells[filter * CELLS + cell] >> first) as u8;
                    let place = |bit| (bucket, (first + bit) * CELLS + cell);
                    rows.write_bits(bits - first, read, place);
                }
            }
        }
        let filters = members.iter().enumerate();
        let stash = filters.flat_map(|(filter, (view, body))| {
            view.stash(body).map(move |number| (number, filter))
        });
        let mut stash: Vec<(u64, usize)> = stash.collect();
        stash.sort_unstable();
        Ok(Self { view: Box::new(*view), rows, stash })
    }

    fn rows(&self) -> &Rows {
        &self.rows
    }

    fn memory_bytes(&self) -> u64 {
        self.rows.memory_bytes() + size_of_val(self.stash.as_slice()) as u64
    }

    /// Prefetches a key's buckets.
    #[inline]
    fn prefetch(&self, hash: KeyHash) {
        for (bucket, _) in self.view.places(self.view.number(hash)) {
            self.rows.prefetch(bucket);
        }
    }

    #[inline]
    fn candidates(&self, hash: KeyHash, stripe: usize) -> u64 {
        let number = self.view.number(hash);
        let places = self.view.places(number);
        let wanted = places.map(|(row, remainder)| CellQuery { row, value: remainder });
        // Eight cells of so many bytes are twice as many words.
        let held = for_field_len!(self.rows.field_len(), FIELD_LEN => {
            self.rows.filters_with_cell::<FIELD_LEN, { 2 * FIELD_LEN }>(wanted, stripe)
        });
        held | self.stashed(number, stripe)
    }
}

impl DLeftSlices {
    /// Returns a bit for each filter of a stripe that has a number in its stash.
    fn stashed(&self, number: u64, stripe: usize) -> u64 {
        let from = self.stash.partition_point(|(stashed, _)| *stashed < number);
        let first = self.rows.first_filter(stripe);
        let filters = self.stash[from..].iter().take_while(|(stashed, _)| *stashed == number);
        let places = filters.filter_map(|(_, filter)| filter.checked_sub(first));
        places
            .filter(|place| *place < 8 * self.rows.field_len())
            .fold(0, |all, place| all | 1 << place)
    }
}
