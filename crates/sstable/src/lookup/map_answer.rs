//! What a family map says about one row: the files that may have it, and the block in each.

/// The answer of a family map about one row, for the first 64 files of a list.
///
/// Bit `i` stands for the file at index `i`. A map never leaves out a file that has the row, but it
/// may name a file that does not have it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct MapAnswer {
    /// The files that the map covers. The filters of the others are asked.
    pub covered: u64,
    /// The files that may have the row. Bits of files that are not covered have no meaning.
    pub named: u64,
    /// The data block in which the row begins, for up to four of the named files.
    pub blocks: MapBlocks,
}

impl MapAnswer {
    /// Returns whether the map covers the file at `index`.
    #[inline]
    pub(super) const fn covers(&self, index: usize) -> bool {
        index < 64 && self.covered >> index & 1 == 1
    }

    /// Returns whether none of the first `count` files has the row: the map covers them all and names
    /// none of them.
    #[inline]
    pub const fn denies_all(&self, count: usize) -> bool {
        count <= 64 && (self.covered & !self.named).trailing_ones() as usize >= count
    }

    /// Returns how many successive files, from `index` on, the map denies.
    #[inline]
    pub(super) fn denied_run(&self, index: usize) -> usize {
        (self.covered & !self.named).checked_shr(index as u32).map_or(0, u64::trailing_ones)
            as usize
    }
}

/// The data blocks that a family map named for one row, in at most four files.
///
/// A block is known by its number: the data blocks of a file are numbered from 0. In a file without
/// a number, the index is searched.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct MapBlocks {
    /// The index of a file and the number of a block in it.
    places: [(u8, u16); Self::FILES_MAX],
    count: u8,
}

impl MapBlocks {
    /// The number of a block that is not known.
    pub const UNKNOWN: u16 = u16::MAX;
    const FILES_MAX: usize = 4;

    /// Notes that the row begins in this block of a file, if the file has the row.
    ///
    /// `file` is below 64. If the file already has another number, its number becomes
    /// [`UNKNOWN`](Self::UNKNOWN), and stays so.
    #[inline]
    pub fn add(&mut self, file: u32, block: u16) {
        debug_assert!(file < 64, "a map answers for 64 files");
        let known = self.places.iter_mut().take(self.count.into());
        for (known, number) in known {
            if u32::from(*known) == file {
                *number = if *number == block { block } else { Self::UNKNOWN };
                return;
            }
        }
        // If all four places are taken, the number of this file stays unknown.
        if let Some(place) = self.places.get_mut(usize::from(self.count)) {
            *place = (file as u8, block);
            self.count += 1;
        }
    }

    /// Returns the number of the block in which the row begins, if the file at `index` has it.
    #[inline]
    pub fn of(&self, index: usize) -> Option<u16> {
        let mut known = self.places.iter().take(self.count.into());
        let found = known.find(|(file, _)| usize::from(*file) == index);
        found.map(|(_, block)| *block).filter(|block| *block != Self::UNKNOWN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_known_only_if_all_entries_of_the_file_agree() {
        let mut blocks = MapBlocks::default();
        for (file, block) in [(3, 7), (0, 7), (3, 7), (9, MapBlocks::UNKNOWN), (63, 0)] {
            blocks.add(file, block);
        }
        assert_eq!(
            [3, 0, 9, 63, 5].map(|file| blocks.of(file)),
            [Some(7), Some(7), None, Some(0), None]
        );
        blocks.add(0, 8);
        assert_eq!(blocks.of(0), None);
        blocks.add(0, 7);
        assert_eq!(blocks.of(0), None);
        blocks.add(40, 1);
        assert_eq!(blocks.of(40), None, "there is room for four files");
    }
}
