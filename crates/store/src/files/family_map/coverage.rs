//! Maps the slots of a family map to the files of one version of the file list.

use std::sync::Arc;

use filter::KeyHash;
use sstable::{MapAnswer, MapBlocks};

use super::lines::Lines;
use super::map::FamilyMap;
use super::slots::{FileSlots, Slots};
use crate::stats::MapStats;

/// A family map, and the slots in it of each file of a list.
///
/// Immutable: a new list of files or a new map needs a new coverage.
#[derive(Debug)]
pub(crate) struct Coverage {
    map: Arc<FamilyMap>,
    /// The slots of each file, in the order of the list; empty if its rows are not in the map.
    ///
    /// Files after the 64th keep their slots: a later, shorter list can cover them.
    slots: Box<[FileSlots]>,
    /// Bit `i` is set if file `i` of the list is covered. Only the first 64 files can be.
    covered: u64,
    /// For each slot, the bit of its file; 0 if the slot belongs to no file of the list.
    by_slot: [u64; 64],
    /// The slots of the files with [`FileSlots::has_blocks`].
    with_blocks: Slots,
}

impl Coverage {
    /// Creates the coverage of a list of files.
    ///
    /// `slots` has the slots of each file, in the order of the list. Files after the 64th are not
    /// covered, because an answer has 64 bits.
    pub(crate) fn new(map: Arc<FamilyMap>, slots: Vec<FileSlots>) -> Self {
        let (mut covered, mut by_slot, mut with_blocks) = (0, [0; 64], Slots::NONE);
        for (index, file) in slots.iter().enumerate().take(64) {
            covered |= u64::from(!file.is_empty()) << index;
            for slot in file.slots.iter() {
                assert!(by_slot[slot as usize] == 0, "a slot belongs to one file");
                by_slot[slot as usize] = 1 << index;
            }
            if file.has_blocks {
                with_blocks = with_blocks.with(file.slots);
            }
        }
        Self { map, slots: slots.into(), covered, by_slot, with_blocks }
    }

    /// Prefetches the line that [`answer`](Self::answer) reads first, with its block numbers.
    #[inline]
    pub(crate) fn prefetch(&self, hash: KeyHash) {
        self.map.prefetch(hash);
    }

    /// Returns which files are covered, which of them may have the row, and in which blocks.
    #[inline]
    pub(crate) fn answer(&self, hash: KeyHash) -> MapAnswer {
        let mut answer = MapAnswer { covered: self.covered, ..MapAnswer::default() };
        let Lines::Blocks(lines) = &self.map.lines else {
            let slots = self.map.slots(hash).iter();
            answer.named = slots.fold(0, |named, slot| named | self.by_slot[slot as usize]);
            return answer;
        };
        self.map.places(lines, hash, |slot, number| {
            let file = self.by_slot[slot as usize];
            if file != 0 {
                answer.named |= file;
                // A compaction's file can have the slots of its inputs. The numbers are then those
                // of the inputs' blocks.
                let is_known = self.with_blocks.contains(slot);
                let number = if is_known { number } else { MapBlocks::UNKNOWN };
                answer.blocks.add(file.trailing_zeros(), number);
            }
        });
        answer
    }

    /// Returns the sizes of the map and the number of covered files.
    pub(crate) fn stats(&self) -> MapStats {
        MapStats {
            mode: self.map.form().mode(),
            covered_files: u64::from(self.covered_files()),
            files_with_blocks: self.slots.iter().take(64).filter(|file| file.has_blocks).count()
                as u64,
            bytes: self.map.bytes(),
            entries: self.map.entries(),
            free_entries: self.map.room().entries,
        }
    }

    pub(crate) const fn map(&self) -> &Arc<FamilyMap> {
        &self.map
    }

    /// Returns the slots of the file at `index` of the list.
    pub(crate) fn slots(&self, index: usize) -> FileSlots {
        self.slots[index]
    }

    /// Returns whether the file at `index` of the list is covered.
    pub(crate) const fn covers(&self, index: usize) -> bool {
        index < 64 && self.covered >> index & 1 == 1
    }

    /// Returns the number of covered files.
    pub(crate) const fn covered_files(&self) -> u32 {
        self.covered.count_ones()
    }
}
