//! The block numbers of the entries of a line, in a cache line of their own.
//!
//! | bits of the line | meaning                                                       |
//! |------------------|---------------------------------------------------------------|
//! | 16 i … 16 i + 15 | the number of the data block in which the row of entry i      |
//! |                  | begins, for i = 0 … 30; 0xffff if the number is unknown       |
//!
//! A number belongs to the file for whose rows the slot of the entry was given out. Once another
//! file has the slot, the numbers of its entries mean nothing (see `Coverage::answer`).
//!
//! One writer stores words, and readers load them at any time, as in a line of entries. A number
//! changes only while its slot belongs to no file: two rows of a file can share an entry, whose
//! number then becomes unknown.

use sstable::MapBlocks;

use super::line::Place;
use crate::sync::atomic::{AtomicU64, Ordering};

/// The block numbers of one line of entries.
#[derive(Debug)]
#[cfg_attr(not(any(loom, shuttle)), repr(align(64)))]
pub(super) struct Numbers([AtomicU64; 8]);

impl Numbers {
    pub(super) fn new() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }

    /// Returns the number of an entry.
    #[inline]
    pub(super) fn number(&self, index: u32) -> u16 {
        (self.0[index as usize / 4].load(Ordering::Relaxed) >> (index % 4 * 16)) as u16
    }

    /// Notes the number of an entry that was just inserted, or that another row has inserted.
    ///
    /// Only the writer of the map may call this.
    pub(super) fn note(&self, place: Place, number: u16) {
        let number = if place.is_new || self.number(place.index) == number {
            number
        } else {
            MapBlocks::UNKNOWN
        };
        let (word, shift) = (&self.0[place.index as usize / 4], place.index % 4 * 16);
        let others = word.load(Ordering::Relaxed) & !(0xffff << shift);
        word.store(others | u64::from(number) << shift, Ordering::Relaxed);
    }
}
