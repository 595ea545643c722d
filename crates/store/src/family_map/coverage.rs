//! Maps the slots of a family map to the files of one version of the file list.

use std::sync::Arc;

use filter::engine::KeyHash;
use sstable::lookup::MapAnswer;

use super::map::FamilyMap;
use super::mode::MapStats;
use super::slots::Slots;

/// A family map, and the slots in it of each file of a list.
///
/// Immutable: a new list of files or a new map needs a new coverage.
#[derive(Debug)]
pub(crate) struct Coverage {
    map: Arc<FamilyMap>,
    /// The slots of each file, in the order of the list; empty if its rows are not in the map.
    ///
    /// Files after the 64th keep their slots: a later, shorter list can cover them.
    slots: Box<[Slots]>,
    /// Bit `i` is set if file `i` of the list is covered. Only the first 64 files can be.
    covered: u64,
    /// For each slot, the bit of its file; 0 if the slot belongs to no file of the list.
    by_slot: [u64; 64],
}

impl Coverage {
    /// Creates the coverage of a list of files.
    ///
    /// `slots` has the slots of each file, in the order of the list. Files after the 64th are not
    /// covered, because an answer has 64 bits.
    pub(crate) fn new(map: Arc<FamilyMap>, slots: Vec<Slots>) -> Self {
        let (mut covered, mut by_slot) = (0, [0; 64]);
        for (index, file) in slots.iter().enumerate().take(64) {
            covered |= u64::from(!file.is_empty()) << index;
            for slot in file.iter() {
                assert!(by_slot[slot as usize] == 0, "a slot belongs to one file");
                by_slot[slot as usize] = 1 << index;
            }
        }
        Self { map, slots: slots.into(), covered, by_slot }
    }

    /// Prefetches the line that [`answer`](Self::answer) reads first.
    pub(crate) fn prefetch(&self, hash: KeyHash) {
        self.map.prefetch(hash);
    }

    /// Returns which files are covered, and which of them may have the row.
    pub(crate) fn answer(&self, hash: KeyHash) -> MapAnswer {
        let slots = self.map.slots(hash).iter();
        let named = slots.fold(0, |named, slot| named | self.by_slot[slot as usize]);
        MapAnswer::from_masks(self.covered, named)
    }

    /// Returns the sizes of the map and the number of covered files.
    pub(crate) fn stats(&self) -> MapStats {
        MapStats {
            mode: self.map.form().mode(),
            covered_files: u64::from(self.covered_files()),
            bytes: self.map.bytes(),
            entries: self.map.entries(),
            free_entries: self.map.room().entries,
        }
    }

    pub(crate) const fn map(&self) -> &Arc<FamilyMap> {
        &self.map
    }

    /// Returns the slots of the file at `index` of the list.
    pub(crate) fn slots(&self, index: usize) -> Slots {
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
