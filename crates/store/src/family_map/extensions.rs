//! The extensions of the fingerprints of a line of a wide map, in a cache line of their own.
//!
//! | bits of the line | meaning                                                              |
//! |------------------|----------------------------------------------------------------------|
//! | 16 i … 16 i + 15 | the extension of entry i, for i = 0 … 30                             |
//!
//! One writer stores words, and readers load them at any time, as in a line of entries. A reader may see
//! an entry before its extension. This is harmless, because no file has the slot of the entry yet.

use crate::sync::atomic::{AtomicU64, Ordering};

/// The extensions of one line of entries.
#[derive(Debug)]
#[cfg_attr(not(any(loom, shuttle)), repr(align(64)))]
pub(super) struct Extensions([AtomicU64; 8]);

impl Extensions {
    pub(super) fn new() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }

    /// Returns the extension of an entry.
    pub(super) fn get(&self, index: u32) -> u16 {
        (self.0[index as usize / 4].load(Ordering::Relaxed) >> (index % 4 * 16)) as u16
    }

    /// Stores the extension of a new entry. Only the writer of the map may call this.
    pub(super) fn set(&self, index: u32, extension: u16) {
        let (word, shift) = (&self.0[index as usize / 4], index % 4 * 16);
        let others = word.load(Ordering::Relaxed) & !(0xffff << shift);
        word.store(others | u64::from(extension) << shift, Ordering::Relaxed);
    }
}
