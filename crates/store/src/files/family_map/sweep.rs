//! Copies a map without the entries of dead slots, and with one slot for each file.
//!
//! A map gives out each of its 64 slot numbers only once, so new files use them up. The copy
//! renumbers the slots of the present files from 0. It needs no hashes of rows, because each entry
//! stays in its line.

use std::sync::Arc;

use sstable::BlockCache;

use super::lines::{Lines, NumberedLine, collected};
use super::map::{FamilyMap, MapWriter};
use super::numbers::Numbers;
use super::slots::Slots;
use super::stash::Stash;
use crate::sync::{Mutex, lock};

impl FamilyMap {
    /// Returns a copy in which the slots of `files[i]` have become slot `i`.
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
        // Inserts wait until the copy is made, and then continue in this map, not in the copy. The
        // slots of such inserts are not in `files`, so the version with the copy does not cover
        // their files, which are read later.
        let original = lock(&self.writer);
        let next_slot = files.len() as u32;
        let is_stash_full = original.is_stash_full;
        let mut writer = MapWriter { next_slot, is_stash_full, ..MapWriter::default() };
        let lines = self.lines.renumbered(&renumber, &mut writer.entries)?;
        let stash = Stash::new(self.size.stashed);
        for (hash, slots) in self.stash.iter() {
            let live = slots.iter().filter_map(|old| renumber[old as usize]);
            let live = live.fold(Slots::NONE, |sum, new| sum.with(Slots::of(new)));
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

    /// Returns the given-out slots, each as a set.
    ///
    /// In a copy by [`swept`](Self::swept), they begin with the slots of `files`, in that order.
    pub(crate) fn first_slots(&self) -> impl Iterator<Item = Slots> + use<> {
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
            Self::Files(lines) => {
                Self::Files(copies(lines, entries, |line| line.renumbered(renumber, |_, _| {}))?)
            }
            Self::Blocks(lines) => {
                Self::Blocks(copies(lines, entries, |line| line.renumbered(renumber))?)
            }
        })
    }
}

impl NumberedLine {
    /// Copies a line as [`Line::renumbered`](super::line::Line::renumbered), with block numbers.
    fn renumbered(&self, renumber: &[Option<u32>; 64]) -> (Self, u64) {
        let numbers = Numbers::new();
        let (line, entries) = self.line.renumbered(renumber, |place, index| {
            numbers.note(place, self.numbers.number(index));
        });
        (Self { line, numbers }, entries)
    }
}

/// Copies elements, and adds the number of entries of the copies to `entries`.
fn copies<T>(lines: &[T], entries: &mut u64, copy: impl Fn(&T) -> (T, u64)) -> Option<Box<[T]>> {
    collected(
        lines.len() as u64,
        lines.iter().map(|line| {
            let (line, copied) = copy(line);
            *entries += copied;
            line
        }),
    )
}
