//! Counters of reads: files considered and skipped, filter answers, blocks touched.
//!
//! Each read counts in its own [`ReadTrace`], which consists of plain integers. At its end, the read
//! adds the trace to the shared [`ReadCounters`]. These have separate counters for each thread, so
//! counting needs no atomic additions and no contended cache lines, and no count is lost.

use std::sync::atomic::{AtomicU64, Ordering};

use thread_local::ThreadLocal;

/// The kind of a block, for counting.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BlockKind {
    /// Cells.
    Data,
    /// Leaf and intermediate index blocks; the root is always in memory.
    Index,
    /// Chunks of HBase Bloom filters.
    Bloom,
    /// META blocks, including row filters.
    Meta,
}

impl BlockKind {
    /// Every kind, in the order of the counters.
    pub const ALL: [Self; 4] = [Self::Data, Self::Index, Self::Bloom, Self::Meta];

    /// The kind's name in statistics: `data`, `index`, `bloom`, `meta`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Index => "index",
            Self::Bloom => "bloom",
            Self::Meta => "meta",
        }
    }
}

/// The source of a block.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BlockSource {
    /// Memory: the block cache, or a filter block that the reader keeps in memory.
    Cache,
    /// The file.
    File,
}

impl BlockSource {
    /// Every source, in the order of the counters.
    pub const ALL: [Self; 2] = [Self::Cache, Self::File];

    /// The source's name in statistics: `cache`, `file`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cache => "cache",
            Self::File => "file",
        }
    }
}

/// The counts of one read, or the sums of many reads.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ReadTrace {
    /// Files that the read considered.
    pub files_considered: u64,
    /// Files skipped because the row is before their first row or after their last row.
    pub files_skipped_by_range: u64,
    /// Files skipped because they have no cell in the time range of the read, or only cells that
    /// are older than the cells found so far.
    pub files_skipped_by_time: u64,
    /// Filter lookups.
    pub filter_checks: u64,
    /// Files skipped because their filter answered "no".
    pub files_skipped_by_filter: u64,
    /// Filter lookups that answered "maybe" for a key that the file does not contain.
    ///
    /// The key is the column if a column filter is queried for one column; otherwise it is the row.
    pub filter_false_positives: u64,
    /// Filters that could not be read; the read used another filter of the file, or the file
    /// itself.
    pub filters_unreadable: u64,
    /// Lookups in a family map. A family map answers for many files at once.
    pub map_lookups: u64,
    /// Files that family maps named as those that may hold the row.
    pub map_candidates: u64,
    /// Files skipped because the family map did not name them.
    pub files_skipped_by_map: u64,
    /// Files that a family map named, that were searched, and that do not hold the row.
    pub map_false_files: u64,
    blocks: [[u64; 2]; 4],
    bytes: [[u64; 2]; 4],
}

impl ReadTrace {
    /// Counts a block.
    ///
    /// `len` is the size on disk of a block from the file, and the size in memory of a cached block.
    pub(crate) fn touch(&mut self, kind: BlockKind, source: BlockSource, len: usize) {
        self.blocks[kind as usize][source as usize] += 1;
        self.bytes[kind as usize][source as usize] += len as u64;
    }

    /// Returns the number of blocks of a kind from a source.
    pub const fn blocks(&self, kind: BlockKind, source: BlockSource) -> u64 {
        self.blocks[kind as usize][source as usize]
    }

    /// Returns the bytes of the blocks of a kind from a source.
    pub const fn bytes(&self, kind: BlockKind, source: BlockSource) -> u64 {
        self.bytes[kind as usize][source as usize]
    }

    /// Returns the number of data blocks from both sources, which filters are meant to reduce.
    pub const fn data_blocks(&self) -> u64 {
        self.blocks(BlockKind::Data, BlockSource::Cache)
            + self.blocks(BlockKind::Data, BlockSource::File)
    }

    /// Returns the number of blocks of all kinds from one source.
    pub fn blocks_from(&self, source: BlockSource) -> u64 {
        self.blocks.iter().map(|by_source| by_source[source as usize]).sum()
    }

    /// Adds the counts of another read.
    pub fn add(&mut self, other: &Self) {
        self.files_considered += other.files_considered;
        self.files_skipped_by_range += other.files_skipped_by_range;
        self.files_skipped_by_time += other.files_skipped_by_time;
        self.filter_checks += other.filter_checks;
        self.files_skipped_by_filter += other.files_skipped_by_filter;
        self.filter_false_positives += other.filter_false_positives;
        self.filters_unreadable += other.filters_unreadable;
        self.map_lookups += other.map_lookups;
        self.map_candidates += other.map_candidates;
        self.files_skipped_by_map += other.files_skipped_by_map;
        self.map_false_files += other.map_false_files;
        // Counts stay far below 2^64. Overflow checks would prevent vectorization.
        let blocks = self.blocks.as_flattened_mut().iter_mut().zip(other.blocks.as_flattened());
        blocks.for_each(|(sum, count)| *sum = sum.wrapping_add(*count));
        let bytes = self.bytes.as_flattened_mut().iter_mut().zip(other.bytes.as_flattened());
        bytes.for_each(|(sum, count)| *sum = sum.wrapping_add(*count));
    }

    /// Returns the counts since `earlier`, an older snapshot of the same counters.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self::from_numbers(self.numbers().zip_with(&earlier.numbers(), |now, then| now - then))
    }

    fn numbers(&self) -> Numbers {
        let mut numbers = [0; Numbers::COUNT];
        numbers[..Numbers::NAMED].copy_from_slice(&self.named());
        numbers[11..19].copy_from_slice(self.blocks.as_flattened());
        numbers[19..].copy_from_slice(self.bytes.as_flattened());
        Numbers(numbers)
    }

    /// Returns the named fields in order.
    const fn named(&self) -> [u64; Numbers::NAMED] {
        [
            self.files_considered,
            self.files_skipped_by_range,
            self.files_skipped_by_time,
            self.filter_checks,
            self.files_skipped_by_filter,
            self.filter_false_positives,
            self.filters_unreadable,
            self.map_lookups,
            self.map_candidates,
            self.files_skipped_by_map,
            self.map_false_files,
        ]
    }

    fn from_numbers(Numbers(numbers): Numbers) -> Self {
        let mut trace = Self {
            files_considered: numbers[0],
            files_skipped_by_range: numbers[1],
            files_skipped_by_time: numbers[2],
            filter_checks: numbers[3],
            files_skipped_by_filter: numbers[4],
            filter_false_positives: numbers[5],
            filters_unreadable: numbers[6],
            map_lookups: numbers[7],
            map_candidates: numbers[8],
            files_skipped_by_map: numbers[9],
            map_false_files: numbers[10],
            ..Self::default()
        };
        trace.blocks.as_flattened_mut().copy_from_slice(&numbers[11..19]);
        trace.bytes.as_flattened_mut().copy_from_slice(&numbers[19..]);
        trace
    }
}

/// A [`ReadTrace`] as an array: the named fields in order, then `blocks`, then `bytes`.
struct Numbers([u64; Numbers::COUNT]);

impl Numbers {
    const COUNT: usize = 27;
    /// The number of named fields.
    const NAMED: usize = 11;

    fn zip_with(&self, other: &Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|at| combine(self.0[at], other.0[at])))
    }
}

/// Total counts of all reads, shared between threads.
#[derive(Debug, Default)]
pub struct ReadCounters(ThreadLocal<ThreadCounters>);

/// The counters of one thread. Once it has ended, a later thread may continue to add to them.
///
/// Aligned to 128 bytes to prevent false sharing: CPUs prefetch cache lines in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct ThreadCounters([AtomicU64; ThreadCounters::COUNT]);

impl ThreadCounters {
    /// The numbers of a trace, and the number of gets.
    const COUNT: usize = Numbers::COUNT + 1;
    const GETS: usize = Numbers::COUNT;
}

impl ReadCounters {
    /// Adds the counts of a read, and the number of gets that it was: 0 for a scan.
    #[inline]
    pub fn record(&self, trace: &ReadTrace, gets: u64) {
        let ThreadCounters(counters) = self.0.get_or_default();
        let (named, of_blocks) = counters.split_at(Numbers::NAMED);
        add(named, &trace.named());
        add(&counters[ThreadCounters::GETS..], &[gets]);
        // Most reads of absent rows touch no block, and a read touches few kinds of blocks.
        let (blocks, bytes) = of_blocks[..16].split_at(8);
        if trace.blocks.as_flattened().iter().fold(0, |any, count| any | count) != 0 {
            add(blocks, trace.blocks.as_flattened());
            add(bytes, trace.bytes.as_flattened());
        }
    }

    /// Returns the number of gets.
    pub fn gets(&self) -> u64 {
        let gets = |mine: &ThreadCounters| mine.0[ThreadCounters::GETS].load(Ordering::Relaxed);
        self.0.iter().map(gets).sum()
    }

    /// Returns the current totals.
    ///
    /// Of a `record` that runs concurrently, the totals may include only some of the counts.
    pub fn snapshot(&self) -> ReadTrace {
        let sum = |at: usize| self.0.iter().map(|mine| mine.0[at].load(Ordering::Relaxed)).sum();
        ReadTrace::from_numbers(Numbers(std::array::from_fn(sum)))
    }
}

/// Adds numbers to counters that only this thread writes.
#[inline]
fn add(counters: &[AtomicU64], numbers: &[u64]) {
    for (counter, number) in counters.iter().zip(numbers) {
        if *number != 0 {
            // No other thread writes this counter, so load and store need not be one atomic
            // operation.
            let sum = counter.load(Ordering::Relaxed).wrapping_add(*number);
            counter.store(sum, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_differences_include_every_counter() {
        let mut trace = ReadTrace {
            files_considered: 3,
            filter_checks: 2,
            map_lookups: 5,
            map_candidates: 6,
            files_skipped_by_map: 7,
            map_false_files: 8,
            ..Default::default()
        };
        for kind in BlockKind::ALL {
            for source in BlockSource::ALL {
                trace.touch(kind, source, 10 + kind as usize);
            }
        }
        let counters = ReadCounters::default();
        counters.record(&trace, 1);
        counters.record(&trace, 1);
        let twice = counters.snapshot();
        assert_eq!(twice.files_considered, 6);
        assert_eq!(twice.blocks(BlockKind::Meta, BlockSource::File), 2);
        assert_eq!(twice.bytes(BlockKind::Meta, BlockSource::File), 26);
        assert_eq!(twice.since(&trace), trace);
        let mut sum = trace;
        sum.add(&trace);
        assert_eq!(sum, twice);
        assert_eq!(sum.data_blocks(), 4);
        assert_eq!(sum.blocks_from(BlockSource::Cache), 8);
    }

    #[test]
    fn counts_of_concurrent_threads_are_complete_after_they_end() {
        const THREADS: u64 = 4;
        const READS: u64 = 20_000;
        let counters = ReadCounters::default();
        let trace = ReadTrace { files_considered: 3, filter_checks: 1, ..Default::default() };
        for round in 1..=2 {
            std::thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| (0..READS).for_each(|_| counters.record(&trace, 1)));
                }
            });
            let sum = counters.snapshot();
            assert_eq!(sum.files_considered, 3 * round * THREADS * READS);
            assert_eq!(sum.filter_checks, round * THREADS * READS);
        }
    }
}
