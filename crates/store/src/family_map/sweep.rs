//! Copies a map without the entries of dead slots, and with one slot for each file.
//!
//! A map gives out each of its 64 slot numbers only once, so new files use them up. The copy
//! renumbers the slots of the present files from 0. It needs no hashes of rows, because each entry
//! stays in its line.

use std::sync::Arc;

use sstable::BlockCache;

use super::fingerprint::Fingerprint;
use super::line::Line;
use super::lines::{Lines, WideLine, collected};
use super::map::{FamilyMap, MapWriter};
use super::slots::Slots;
use super::stash::Stash;
use crate::sync::{Mutex, lock};

impl FamilyMap {
    /// Returns a copy with slot `i` in place of the slots of `files[i]`.
    ///
    /// There may be at most 64 files. Returns `None` if the cache's budget has no room for the
    /// copy, or if memory is short.
    pub(crate) fn swept(&self, files: &[Slots], cache: &Arc<BlockCache>) -> Option<Arc<Self>> {
        assert!(files.len() <= 64, "a map covers at most 64 files");
        let mut renumber = [None; 64];
        for (new, slots) in (0..).zip(files) {
            for old in slots.iter() {
                assert!(renumber[old as usize].is_none(), "a slot belongs to one file");
                renumber[old as usize] = Some(new);
            }
        }
        let reservation = cache.reserve(self.size.bytes())?;
        // The lock blocks inserts. Later ones go into this map, not into the copy: their files are not
        // covered by the version with the copy, and are read later.
        let original = lock(&self.writer);
        let next_slot = files.len() as u32;
        let is_stash_full = original.is_stash_full;
        let mut writer = MapWriter { next_slot, is_stash_full, ..MapWriter::default() };
        let lines = self.lines.renumbered(&renumber, &mut writer.entries)?;
        let stash = Stash::new(self.size.stashed);
        for (hash, slots) in self.stash.iter() {
            let live = slots.iter().filter_map(|old| renumber[old as usize]);
            let live = live.fold(Slots::NONE, |sum, new| sum.union(Slots::of(new)));
            if !live.is_empty() {
                let has_room = stash.insert(hash, live, &mut writer.stashed);
                assert!(has_room, "the copy of a stash has no more hashes than the stash");
                writer.entries += live.iter().count() as u64;
            }
        }
        drop(original);
        Some(Arc::new(Self {
            lines,
            stash,
            writer: Mutex::new(writer),
            size: self.size,
            _reservation: reservation,
        }))
    }

    /// Returns the slots that were given out, each as a set.
    ///
    /// In a copy by [`swept`](Self::swept), they begin with the slots of `files`, in that order.
    pub(crate) fn given_out_slots(&self) -> impl Iterator<Item = Slots> + use<> {
        (0..lock(&self.writer).next_slot).map(Slots::of)
    }

    /// Returns the number of slots that were given out.
    pub(crate) fn used_slots(&self) -> u32 {
        lock(&self.writer).next_slot
    }
}

impl Lines {
    /// Returns a copy with other slot numbers, and adds its number of entries to `entries`.
    ///
    /// Leaves out the entries whose slot has no new number. Returns `None` if there is not enough
    /// memory. Only the writer of the map may call this.
    fn renumbered(&self, renumber: &[Option<u32>; 64], entries: &mut u64) -> Option<Self> {
        Some(match self {
            Self::Narrow(lines) => {
                Self::Narrow(copies(lines, entries, |line| line.renumbered(renumber))?)
            }
            Self::Wide(lines) => {
                Self::Wide(copies(lines, entries, |line| line.renumbered(renumber))?)
            }
        })
    }
}

impl Line {
    /// Returns a copy with other slot numbers, and its number of entries.
    fn renumbered(&self, renumber: &[Option<u32>; 64]) -> Copied<Self> {
        let copy = Self::new();
        let insert = |_, fingerprint, slot| copy.insert(fingerprint, slot, |_| true);
        let entries = self.renumber_into(&copy, renumber, insert);
        Copied { line: copy, entries }
    }
}

impl WideLine {
    /// Returns a copy with other slot numbers, and its number of entries.
    fn renumbered(&self, renumber: &[Option<u32>; 64]) -> Copied<Self> {
        let copy = Self::new();
        let entries = self.line.renumber_into(&copy.line, renumber, |index, fingerprint, slot| {
            let extension = self.extensions.get(index);
            copy.insert(Fingerprint { extension, ..fingerprint }, slot)
        });
        Copied { line: copy, entries }
    }
}

/// A copy of a line.
struct Copied<T> {
    line: T,
    /// The number of its entries.
    entries: u64,
}

/// Copies lines, and adds the number of entries of the copies to `entries`.
fn copies<T>(lines: &[T], entries: &mut u64, copy: impl Fn(&T) -> Copied<T>) -> Option<Box<[T]>> {
    collected(
        lines.len() as u64,
        lines.iter().map(|line| {
            let copied = copy(line);
            *entries += copied.entries;
            copied.line
        }),
    )
}
