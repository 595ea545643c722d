//! Bit-sliced d-left filters: one table that interleaves the buckets of several filters.
//!
//! Row b of the table has bucket b of all filters. A row has a field for each bit of each cell, and
//! a field has one bit per filter. The bits of a cell are the remainder, and one bit that is set if
//! the cell is free. The table omits the counters, because lookups do not need them. The stashes of
//! all filters are one sorted list.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::layout::CELLS;
use super::stored::DLeftView;
use crate::error::BuildError;
use crate::hash::KeyHash;
use crate::header::Header;
use crate::slices::{CellQuery, Rows, SlicedForm, for_field_len};

/// D-left filters with the same number of buckets and the same length of remainders.
#[derive(Clone, Debug)]
pub(crate) struct DLeftSlices {
    /// The view of one filter, which maps keys to buckets and remainders for all of them.
    ///
    /// Boxed, because the view is much larger than those of other kinds.
    view: Box<DLeftView>,
    rows: Rows,
    /// The numbers in the stashes, each with the index of its filter, ascending.
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
        // The cells of one bucket of all filters: the remainder, or `free`.
        let mut cells = Vec::with_capacity(members.len() * CELLS);
        for bucket in 0..view.buckets() {
            cells.clear();
            let remainders = members.iter().flat_map(|(_, body)| view.remainders(body, bucket));
            cells.extend(remainders.map(|remainder| remainder.unwrap_or(free)));
            for cell in 0..CELLS {
                for first in (0..bits).step_by(8) {
                    let read = |filter: usize| (cells[filter * CELLS + cell] >> first) as u8;
                    let position = |bit| (bucket, (first + bit) * CELLS + cell);
                    rows.write_bits(bits - first, read, position);
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

    /// Prefetches the rows of a key's buckets.
    #[inline]
    fn prefetch(&self, hash: KeyHash) {
        for (bucket, _) in self.view.positions(self.view.number(hash)) {
            self.rows.prefetch(bucket);
        }
    }

    #[inline]
    fn candidates(&self, hash: KeyHash, stripe: usize) -> u64 {
        let number = self.view.number(hash);
        let positions = self.view.positions(number);
        let wanted = positions.map(|(row, remainder)| CellQuery { row, value: remainder });
        // The same bit of a bucket's eight cells is in eight adjacent fields of `FIELD_LEN` bytes,
        // which are `2 * FIELD_LEN` words of 32 bits.
        let held = for_field_len!(self.rows.field_len(), FIELD_LEN => {
            self.rows.filters_with_cell::<FIELD_LEN, { 2 * FIELD_LEN }>(wanted, stripe)
        });
        held | self.stashed(number, stripe)
    }
}

impl DLeftSlices {
    /// Returns a mask of the filters of a stripe (up to 64 filters) whose stash has the number.
    fn stashed(&self, number: u64, stripe: usize) -> u64 {
        let from = self.stash.partition_point(|(stashed, _)| *stashed < number);
        let first = self.rows.first_filter(stripe);
        let filters = self.stash[from..].iter().take_while(|(stashed, _)| *stashed == number);
        let bits = filters.filter_map(|(_, filter)| filter.checked_sub(first));
        bits.filter(|bit| *bit < 8 * self.rows.field_len()).fold(0, |mask, bit| mask | 1 << bit)
    }
}
