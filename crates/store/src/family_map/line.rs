//! A line of a family map: 31 entries and 16 overflow bits in one cache line.
//!
//! | bits of the line | meaning                                             |
//! |------------------|-----------------------------------------------------|
//! | 16 i … 16 i + 15 | entry i, for i = 0 … 30: slot, then fingerprint     |
//! | 496 … 511        | overflow bits                                       |
//!
//! | bits of an entry | meaning                     |
//! |------------------|-----------------------------|
//! | 0 … 5            | slot number                 |
//! | 6 … 15           | fingerprint, 0 for no entry |
//!
//! Four entries are in one atomic word. One writer stores words, and readers load them at any time.
//! All loads and stores are relaxed: the lock under which a version is published orders the inserts
//! before it (see the parent module). A reader may also see entries that were inserted later. Their
//! slots belong to no file of the reader's version, so the reader ignores them. A later store keeps
//! the published entries of a word, because the writer only fills free entries.

use super::fingerprint::{Fingerprint, SLOT_BITS};
use super::slots::Slots;
use crate::sync::atomic::{AtomicU64, Ordering};

/// The number of entries of a line.
pub(super) const ENTRIES: u64 = 31;

const WORDS: usize = 8;
/// The lowest bit of each entry of a word.
const ONES: u64 = 0x0001_0001_0001_0001;
/// All bits of each entry except the highest.
const LOW_BITS: u64 = 0x7fff * ONES;
/// The bits of the fingerprints.
const FINGERPRINTS: u64 = 0xffc0 * ONES;
const SLOT_MASK: u64 = (1 << SLOT_BITS) - 1;
/// The first overflow bit in the last word.
const OVERFLOW_SHIFT: u32 = 48;

/// One cache line of a map; the module describes its layout.
#[derive(Debug)]
#[cfg_attr(not(any(loom, shuttle)), repr(align(64)))]
pub(super) struct Line([AtomicU64; WORDS]);

/// The place of an entry in its line.
#[derive(Clone, Copy, Debug)]
pub(super) struct InsertedEntry {
    pub(super) index: u32,
    /// Whether the entry was inserted, and not already there.
    pub(super) is_new: bool,
}

impl Line {
    /// Returns a line without entries.
    pub(super) fn new() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }

    /// Returns the slots of the entries with this fingerprint.
    pub(super) fn slots(&self, fingerprint: Fingerprint) -> Slots {
        let mut slots = 0;
        self.entries(fingerprint, |_, slot| slots |= 1 << slot);
        Slots::from_bits(slots)
    }

    /// Calls `found` with the index and the slot of each entry with this fingerprint.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as a call, a lookup takes twice the instructions")]
    pub(super) fn entries(&self, fingerprint: Fingerprint, mut found: impl FnMut(u32, u32)) {
        let wanted = (u64::from(fingerprint.value) << SLOT_BITS) * ONES;
        for (index, word) in self.0.iter().enumerate() {
            let word = word.load(Ordering::Relaxed);
            let mut equal = zero_entries((word ^ wanted) & FINGERPRINTS) & entry_bits(index);
            while equal != 0 {
                let shift = equal.trailing_zeros() - 15;
                found(index as u32 * 4 + shift / 16, (word >> shift & SLOT_MASK) as u32);
                equal &= equal - 1;
            }
        }
    }

    /// Returns whether a row with this overflow bit may be in a further line.
    pub(super) fn overflows(&self, fingerprint: Fingerprint) -> bool {
        let last = self.0[WORDS - 1].load(Ordering::Relaxed);
        last >> (OVERFLOW_SHIFT + fingerprint.overflow) & 1 == 1
    }

    /// Inserts an entry, unless the line has an equal one, and returns its place.
    ///
    /// `is_equal` says whether the entry at an index, which has the same fingerprint and slot, has the
    /// same extension too. Returns `None`, and sets the row's overflow bit, if the line is full. Only
    /// the writer of the map may call this.
    pub(super) fn insert(
        &self,
        fingerprint: Fingerprint,
        slot: u32,
        is_equal: impl Fn(u32) -> bool,
    ) -> Option<InsertedEntry> {
        let mut known = None;
        self.entries(fingerprint, |index, of| {
            if of == slot && is_equal(index) {
                known = Some(InsertedEntry { index, is_new: false });
            }
        });
        if known.is_some() {
            return known;
        }
        let entry = u64::from(fingerprint.value) << SLOT_BITS | u64::from(slot);
        for (index, word) in self.0.iter().enumerate() {
            let before = word.load(Ordering::Relaxed);
            let free = zero_entries(before & FINGERPRINTS) & entry_bits(index);
            if free != 0 {
                let shift = free.trailing_zeros() - 15;
                word.store(before | entry << shift, Ordering::Relaxed);
                return Some(InsertedEntry { index: index as u32 * 4 + shift / 16, is_new: true });
            }
        }
        let last = &self.0[WORDS - 1];
        let bit = 1 << (OVERFLOW_SHIFT + fingerprint.overflow);
        last.store(last.load(Ordering::Relaxed) | bit, Ordering::Relaxed);
        None
    }

    /// Copies this line into `copy`, an empty line, and returns the number of entries of the copy.
    ///
    /// Calls `insert`, which inserts into `copy`, for each entry whose slot has a new number: with the
    /// index in this line, the fingerprint without its extension, and the new number. Keeps all overflow
    /// bits: a row may be in a further line. Only the writer of the map may call this.
    pub(super) fn renumber_into(
        &self,
        copy: &Self,
        renumber: &[Option<u32>; 64],
        insert: impl Fn(u32, Fingerprint, u32) -> Option<InsertedEntry>,
    ) -> u64 {
        let mut count = 0;
        for (index, word) in self.0.iter().enumerate() {
            let word = word.load(Ordering::Relaxed);
            for shift in
                (0..64_u32).step_by(16).filter(|shift| entry_bits(index) >> shift & 0xffff != 0)
            {
                let entry = word >> shift & 0xffff;
                let value = (entry >> SLOT_BITS) as u16;
                let slot = renumber[(entry & SLOT_MASK) as usize];
                let Some(slot) = slot.filter(|_| value != 0) else { continue };
                let fingerprint = Fingerprint { value, overflow: 0, extension: 0 };
                let place = insert(index as u32 * 4 + shift / 16, fingerprint, slot);
                let place = place.expect("a copy has no more entries than the line");
                // Several slots of one file become one slot, so entries can become equal: these are
                // counted once.
                count += u64::from(place.is_new);
            }
        }
        let overflow = self.0[WORDS - 1].load(Ordering::Relaxed) >> OVERFLOW_SHIFT;
        let last = &copy.0[WORDS - 1];
        let with_overflow = last.load(Ordering::Relaxed) | overflow << OVERFLOW_SHIFT;
        last.store(with_overflow, Ordering::Relaxed);
        count
    }
}

/// Returns the highest bit of each 16-bit part of `word` whose value is zero.
const fn zero_entries(word: u64) -> u64 {
    // The addition carries into the highest bit of a part if one of its other bits is set, and
    // never beyond it.
    !(((word & LOW_BITS) + LOW_BITS) | word | LOW_BITS)
}

/// Returns the highest bit of each entry of the word at `index`; the last word has only three.
const fn entry_bits(index: usize) -> u64 {
    const HIGHEST: u64 = 0x8000 * ONES;
    if index == WORDS - 1 { HIGHEST >> 16 } else { HIGHEST }
}
