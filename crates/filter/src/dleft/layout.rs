//! Where a key may be in a table, and what is there: the same for a filter in memory and for one that is
//! stored.

use super::cells::{Bucket, Cell, Cells};
use super::options::SUBTABLES;
use super::permutations::{Permutations, Place};
use super::shape::Shape;
use crate::hash::KeyHash;
use crate::kernel::{self, CACHED_LEN, CellTarget};

pub(super) use super::shape::CELLS;

/// How many keys of a batch are prefetched together: with four buckets each, they keep a core's line
/// buffers busy.
const BATCH: usize = 8;

/// Where a key may be, by subtable.
type Targets = [CellTarget; *SUBTABLES.end() as usize];

/// What is known of a table without its bytes: where a key goes, and how cells lie there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) shape: Shape,
    pub(super) permutations: Permutations,
    pub(super) cells: Cells,
}

/// A cell of the table, with the bucket that it was found in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) subtable: usize,
    pub(super) at: usize,
    pub(super) bucket: Bucket,
    pub(super) cell: Cell,
    pub(super) place: Place,
}

/// What the table holds of a key.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Search {
    /// How many copies are counted in cells.
    pub(super) copies: u32,
    /// A cell of the key: one whose counter is not full, if there is one.
    pub(super) cell: Option<Found>,
    /// The free cell that a new key would get.
    pub(super) free: Option<Found>,
}

impl Layout {
    pub(super) fn new(shape: Shape) -> Self {
        Self { shape, permutations: Permutations::new(shape), cells: Cells::new(shape) }
    }

    /// Returns at which byte of the table a bucket begins. (Its length fits a `usize`, and so does
    /// this.)
    #[inline]
    fn bucket_at(&self, subtable: usize, bucket: u64) -> usize {
        self.bucket_index(subtable, bucket) * self.shape.cell_bits() as usize
    }

    /// Returns which bucket that is, of those of all subtables.
    #[inline]
    const fn bucket_index(&self, subtable: usize, bucket: u64) -> usize {
        subtable * self.shape.buckets as usize + bucket as usize
    }

    /// Iterates over the places of a number, one a subtable: which bucket, and the remainder there.
    #[inline]
    pub(super) fn places(&self, number: u64) -> impl Iterator<Item = (usize, u32)> {
        (0..self.shape.subtables as usize).map(move |subtable| {
            let Place { bucket, remainder } = self.permutations.place(number, subtable);
            (self.bucket_index(subtable, bucket), remainder)
        })
    }

    /// Reads the bucket at a byte of the table.
    fn bucket(&self, table: &[u8], at: usize) -> Bucket {
        self.cells.read(table, at).expect("the table has all buckets of its shape")
    }

    /// Returns the remainders in a bucket, of those of all subtables, cell by cell.
    pub(super) fn remainders(&self, table: &[u8], index: usize) -> [Option<u32>; CELLS] {
        self.cells.remainders(self.bucket(table, index * self.shape.cell_bits() as usize))
    }

    /// Returns whether any place of a key holds it.
    #[inline]
    pub(super) fn contain(&self, table: &[u8], number: u64) -> bool {
        let mut targets = Targets::default();
        self.cells.contain(table, self.targets(number, &mut targets))
    }

    /// Finds the places of a key, one a subtable.
    #[inline]
    fn targets<'a>(&self, number: u64, targets: &'a mut Targets) -> &'a [CellTarget] {
        let targets = &mut targets[..self.shape.subtables as usize];
        for ((bucket, remainder), target) in self.places(number).zip(targets.iter_mut()) {
            *target = CellTarget { at: bucket * self.shape.cell_bits() as usize, remainder };
        }
        targets
    }

    /// Says for each of many keys what [`contain`](Self::contain) would: finds the places of a few
    /// keys and prefetches their buckets, then reads them.
    pub(super) fn contain_batch(&self, table: &[u8], hashes: &[KeyHash], answers: &mut [bool]) {
        assert_eq!(hashes.len(), answers.len(), "one answer for each hash");
        if table.len() <= CACHED_LEN {
            for (hash, answer) in hashes.iter().zip(answers) {
                *answer = self.contain(table, self.permutations.number(*hash));
            }
            return;
        }
        let subtables = self.shape.subtables as usize;
        let mut ahead = [Targets::default(); BATCH];
        for (hashes, answers) in hashes.chunks(BATCH).zip(answers.chunks_mut(BATCH)) {
            for (hash, targets) in hashes.iter().zip(&mut ahead) {
                for target in self.targets(self.permutations.number(*hash), targets) {
                    self.prefetch_bucket(table, target.at);
                }
            }
            for (targets, answer) in ahead.iter().zip(answers) {
                *answer = self.cells.contain(table, &targets[..subtables]);
            }
        }
    }

    /// Asks the processor for all buckets of a key.
    pub(super) fn prefetch(&self, table: &[u8], number: u64) {
        for target in self.targets(number, &mut Targets::default()) {
            self.prefetch_bucket(table, target.at);
        }
    }

    /// Asks the processor for a bucket, which may lie in two lines.
    #[inline]
    fn prefetch_bucket(&self, table: &[u8], at: usize) {
        kernel::prefetch_at(table, at);
        kernel::prefetch_at(table, at.wrapping_add(self.shape.cell_bits() as usize - 1));
    }

    /// Looks into all places of a key.
    pub(super) fn search(&self, table: &[u8], number: u64) -> Search {
        let cells = &self.cells;
        let counter_max = self.shape.counter_bits.counter_max();
        let mut search = Search::default();
        if self.shape.buckets == 0 {
            return search;
        }
        let mut least = u32::MAX;
        for subtable in 0..self.shape.subtables as usize {
            let place = self.permutations.place(number, subtable);
            let at = self.bucket_at(subtable, place.bucket);
            let bucket = self.bucket(table, at);
            for cell in cells.find(bucket, place) {
                let counter = cells.counter(bucket, cell);
                search.copies += counter;
                if search.cell.is_none() || counter < counter_max {
                    search.cell = Some(Found { subtable, at, bucket, cell, place });
                }
            }
            // Ties to the left: only a lesser load wins over a bucket seen before.
            let used = cells.used_count(bucket);
            if used < least {
                least = used;
                let free = cells.free(bucket);
                search.free = free.map(|cell| Found { subtable, at, bucket, cell, place });
            }
        }
        search
    }

    /// Counts the cells in use, subtable by subtable.
    pub(super) fn count_used(&self, table: &[u8]) -> [u64; *SUBTABLES.end() as usize] {
        let mut used = [0; *SUBTABLES.end() as usize];
        for (subtable, used) in used.iter_mut().take(self.shape.subtables as usize).enumerate() {
            let buckets = (0..self.shape.buckets)
                .map(|bucket| self.bucket(table, self.bucket_at(subtable, bucket)));
            *used = buckets.map(|bucket| u64::from(self.cells.used_count(bucket))).sum();
        }
        used
    }
}
