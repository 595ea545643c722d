//! The cells of keys in a table: finding, searching and prefetching them.
//!
//! Filters in memory and stored filters share this code.

use super::cells::{Bucket, Cell, CellLayout, CellTarget};
use super::options::SUBTABLES;
use super::permutations::{Permutations, Position};
use super::shape::Shape;
use crate::hash::KeyHash;
use crate::kernel::{self, CACHED_LEN};

/// Number of keys whose buckets a batch lookup prefetches together.
///
/// With four buckets per key, this is enough to use all line fill buffers of a core, which limit
/// the number of concurrent cache misses.
const BATCH: usize = 8;

/// For each subtable, the byte offset of a key's bucket, and the key's remainder.
type Targets = [CellTarget; *SUBTABLES.end() as usize];

/// The shape, permutations and cell layout of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) shape: Shape,
    pub(super) permutations: Permutations,
    pub(super) cells: CellLayout,
}

/// A cell of the table, with its bucket and the key's position.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocatedCell {
    pub(super) subtable: usize,
    /// The byte offset of the bucket in the table.
    pub(super) at: usize,
    pub(super) bucket: Bucket,
    pub(super) cell: Cell,
    pub(super) position: Position,
}

/// The result of searching the table for a key.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SearchResult {
    /// Number of copies of the key in the table, without the stash.
    pub(super) copies: u32,
    /// A cell of the key; one whose counter is not full, if there is one.
    pub(super) cell: Option<LocatedCell>,
    /// The free cell that a new key would get.
    pub(super) free: Option<LocatedCell>,
}

impl Layout {
    pub(super) fn new(shape: Shape) -> Self {
        Self { shape, permutations: Permutations::new(shape), cells: CellLayout::new(shape) }
    }

    /// Returns the byte offset of a bucket in the table.
    fn bucket_at(&self, subtable: usize, bucket: u64) -> usize {
        self.bucket_index(subtable, bucket) * self.shape.cell_bits() as usize
    }

    /// Returns the index of a bucket among the buckets of all subtables.
    const fn bucket_index(&self, subtable: usize, bucket: u64) -> usize {
        subtable * self.shape.buckets as usize + bucket as usize
    }

    /// Iterates over the positions of a key's number, one per subtable: bucket index and remainder.
    ///
    /// The index counts the buckets of all subtables.
    pub(super) fn positions(&self, number: u64) -> impl Iterator<Item = (usize, u32)> {
        (0..self.shape.subtables as usize).map(move |subtable| {
            let Position { bucket, remainder } = self.permutations.position(number, subtable);
            (self.bucket_index(subtable, bucket), remainder)
        })
    }

    /// Reads the bucket at `table[at]`.
    fn bucket(&self, table: &[u8], at: usize) -> Bucket {
        self.cells.read(table, at).expect("the table has all buckets of its shape")
    }

    /// Returns whether the key's bucket in any subtable holds the key's remainder.
    #[inline]
    pub(super) fn contains(&self, table: &[u8], number: u64) -> bool {
        let mut targets = Targets::default();
        self.cells.contains(table, self.targets(number, &mut targets))
    }

    /// Computes the targets of a key, one per subtable.
    fn targets<'a>(&self, number: u64, targets: &'a mut Targets) -> &'a [CellTarget] {
        let targets = &mut targets[..self.shape.subtables as usize];
        for ((bucket, remainder), target) in self.positions(number).zip(targets.iter_mut()) {
            *target = CellTarget { at: bucket * self.shape.cell_bits() as usize, remainder };
        }
        targets
    }

    /// Writes the result of [`contains`](Self::contains) for each key.
    ///
    /// A table that exceeds `CACHED_LEN` is searched in batches of [`BATCH`] keys: all buckets of a
    /// batch are prefetched before the first of them is searched.
    pub(super) fn contains_batch(&self, table: &[u8], hashes: &[KeyHash], answers: &mut [bool]) {
        assert_eq!(hashes.len(), answers.len(), "one answer for each hash");
        if table.len() <= CACHED_LEN {
            for (hash, answer) in hashes.iter().zip(answers) {
                *answer = self.contains(table, self.permutations.number(*hash));
            }
            return;
        }
        let subtables = self.shape.subtables as usize;
        let mut prefetched = [Targets::default(); BATCH];
        for (hashes, answers) in hashes.chunks(BATCH).zip(answers.chunks_mut(BATCH)) {
            for (hash, targets) in hashes.iter().zip(&mut prefetched) {
                for target in self.targets(self.permutations.number(*hash), targets) {
                    self.prefetch_bucket(table, target.at);
                }
            }
            for (targets, answer) in prefetched.iter().zip(answers) {
                *answer = self.cells.contains(table, &targets[..subtables]);
            }
        }
    }

    /// Prefetches all buckets of a key.
    pub(super) fn prefetch(&self, table: &[u8], number: u64) {
        for target in self.targets(number, &mut Targets::default()) {
            self.prefetch_bucket(table, target.at);
        }
    }

    /// Prefetches a bucket, which may span two cache lines.
    fn prefetch_bucket(&self, table: &[u8], at: usize) {
        kernel::prefetch_at(table, at);
        kernel::prefetch_at(table, at.wrapping_add(self.shape.cell_bits() as usize - 1));
    }

    /// Searches all buckets of a key.
    pub(super) fn search(&self, table: &[u8], number: u64) -> SearchResult {
        let cells = &self.cells;
        let counter_max = self.shape.counter_bits.counter_max();
        let mut search = SearchResult::default();
        if self.shape.buckets == 0 {
            return search;
        }
        let mut least = u32::MAX;
        for subtable in 0..self.shape.subtables as usize {
            let position = self.permutations.position(number, subtable);
            let at = self.bucket_at(subtable, position.bucket);
            let bucket = self.bucket(table, at);
            for cell in cells.find(bucket, position) {
                let counter = cells.counter(bucket, cell);
                search.copies += counter;
                if search.cell.is_none() || counter < counter_max {
                    search.cell = Some(LocatedCell { subtable, at, bucket, cell, position });
                }
            }
            // A tie goes to the leftmost bucket: only a lower load replaces an earlier bucket.
            let used = cells.used_count(bucket);
            if used < least {
                least = used;
                let free = cells.free(bucket);
                search.free = free.map(|cell| LocatedCell { subtable, at, bucket, cell, position });
            }
        }
        search
    }

    /// Counts the cells in use of each subtable.
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
