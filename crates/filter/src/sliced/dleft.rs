//! d-left filters side by side: a row is a bucket, with a field for each bit of each of its cells.
//!
//! Of a cell its remainder is kept, and a bit more, which says that it is free. How high a counter is,
//! nobody asks here. What found no cell in its filter stands in one list for all filters.

use alloc::vec::Vec;

use super::cells::Wanted;
use super::rows::{Rows, for_unit};
use crate::dleft::{CELLS, DLeftView};
use crate::{BuildError, KeyHash};

/// d-left filters of equally many buckets, with remainders of equal length.
#[derive(Clone, Debug)]
pub(super) struct DLeftSlices {
    view: DLeftView,
    rows: Rows,
    /// The numbers that found no cell, each with its filter, ascending.
    stash: Vec<(u64, usize)>,
}

impl DLeftSlices {
    /// Lays filters of one shape side by side.
    pub(super) fn new(view: &DLeftView, bodies: &[&[u8]]) -> Result<Self, BuildError> {
        let free = 1 << view.remainder_bits();
        let bits = view.remainder_bits() as usize + 1;
        let mut rows = Rows::zeroed(view.buckets(), bits * CELLS, bodies.len())?;
        // The cells of one bucket, filter by filter.
        let mut cells = Vec::with_capacity(bodies.len() * CELLS);
        for bucket in 0..view.buckets() {
            cells.clear();
            let remainders = bodies.iter().flat_map(|body| view.remainders(body, bucket));
            cells.extend(remainders.map(|remainder| remainder.unwrap_or(free)));
            for cell in 0..CELLS {
                for first in (0..bits).step_by(8) {
                    let read = |filter: usize| (cells[filter * CELLS + cell] >> first) as u8;
                    let place = |bit| (bucket, (first + bit) * CELLS + cell);
                    rows.write_bits(bits - first, read, place);
                }
            }
        }
        let filters = bodies.iter().enumerate();
        let stash = filters.flat_map(|(filter, body)| view.stash(body).map(move |n| (n, filter)));
        let mut stash: Vec<(u64, usize)> = stash.collect();
        stash.sort_unstable();
        Ok(Self { view: *view, rows, stash })
    }

    pub(super) const fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Returns how many bytes everything takes.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.rows.memory_bytes() + size_of_val(self.stash.as_slice()) as u64
    }

    /// Sends for a key's buckets.
    #[inline]
    pub(super) fn prefetch(&self, hash: KeyHash) {
        for (bucket, _) in self.view.places(self.view.number(hash)) {
            self.rows.prefetch(bucket);
        }
    }

    /// Returns a bit for each filter of a stripe that holds a key's number, and any others for filters
    /// that are not there.
    #[inline]
    pub(super) fn candidates(&self, hash: KeyHash, stripe: usize) -> u64 {
        let number = self.view.number(hash);
        let places = self.view.places(number);
        let wanted = places.map(|(row, remainder)| Wanted { row, value: remainder });
        // Eight cells of so many bytes are twice as many words.
        let held = for_unit!(self.rows.unit(), UNIT => {
            self.rows.holding::<UNIT, { 2 * UNIT }>(wanted, stripe)
        });
        held | self.aside(number, stripe)
    }

    /// Returns a bit for each filter of a stripe in which a number found no cell.
    fn aside(&self, number: u64, stripe: usize) -> u64 {
        let from = self.stash.partition_point(|(aside, _)| *aside < number);
        let first = self.rows.first_filter(stripe);
        let filters = self.stash[from..].iter().take_while(|(aside, _)| *aside == number);
        let places = filters.filter_map(|(_, filter)| filter.checked_sub(first));
        places.filter(|place| *place < 8 * self.rows.unit()).fold(0, |all, place| all | 1 << place)
    }
}
