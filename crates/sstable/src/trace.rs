//! What reads did: which files they asked, what the filters spared, which blocks they touched.
//!
//! A read keeps its own [`ReadTrace`] in plain integers and adds it to the
//! [`ReadCounters`] once, when it is done. There each thread has a row of numbers of its own, so
//! counting costs the read path neither an atomic addition nor a contended cache line, and the totals
//! are exact.
#![allow(
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::arithmetic_side_effects,
    reason = "counters"
)]

use std::sync::atomic::{AtomicU64, Ordering};

use thread_local::ThreadLocal;

/// What a block is for, as far as counting goes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BlockKind {
    /// Cells.
    Data,
    /// Leaf and intermediate index blocks; the root lives in memory from open to close.
    Index,
    /// Chunks of HBase Bloom filters.
    Bloom,
    /// META blocks, our own filters among them.
    Meta,
}

impl BlockKind {
    /// Every kind, in the order of the counters.
    pub const ALL: [Self; 4] = [Self::Data, Self::Index, Self::Bloom, Self::Meta];

    /// Its name in statistics: `data`, `index`, `bloom`, `meta`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Index => "index",
            Self::Bloom => "bloom",
            Self::Meta => "meta",
        }
    }
}

/// Where a block came from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BlockSource {
    /// Memory: the block cache, or a filter block that its reader holds.
    Cache,
    /// The file itself.
    File,
}

impl BlockSource {
    /// Every source, in the order of the counters.
    pub const ALL: [Self; 2] = [Self::Cache, Self::File];

    /// Its name in statistics: `cache`, `file`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cache => "cache",
            Self::File => "file",
        }
    }
}

/// What one read did, or the sum of what many did.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ReadTrace {
    /// Files that were there to be asked.
    pub files_considered: u64,
    /// Files passed over because the key lies outside their first and last row.
    pub files_skipped_by_range: u64,
    /// Files passed over because none of their cells is of the time asked for, or all are older
    /// than what was already found.
    pub files_skipped_by_time: u64,
    /// Filters that were asked.
    pub filter_checks: u64,
    /// Files passed over because their filter said no.
    pub files_skipped_by_filter: u64,
    /// Filters that said "maybe" about a key their file does not hold: a row, or in a filter over
    /// columns, if one was asked for, the column.
    pub filter_false_positives: u64,
    /// Filters that should have answered and could not be read; another filter of the file was
    /// asked if it has one, or the file looked into.
    pub filters_unreadable: u64,
    blocks: [[u64; 2]; 4],
    bytes: [[u64; 2]; 4],
}

impl ReadTrace {
    /// Counts one block of `len` bytes, as loaded into memory or, from a file, as read.
    #[inline]
    pub fn touch(&mut self, kind: BlockKind, source: BlockSource, len: usize) {
        self.blocks[kind as usize][source as usize] += 1;
        self.bytes[kind as usize][source as usize] += len as u64;
    }

    /// Blocks of a kind from a source.
    pub const fn blocks(&self, kind: BlockKind, source: BlockSource) -> u64 {
        self.blocks[kind as usize][source as usize]
    }

    /// Bytes of a kind from a source.
    pub const fn bytes(&self, kind: BlockKind, source: BlockSource) -> u64 {
        self.bytes[kind as usize][source as usize]
    }

    /// Data blocks from either source: what a filter is there to spare.
    pub const fn data_blocks(&self) -> u64 {
        self.blocks(BlockKind::Data, BlockSource::Cache)
            + self.blocks(BlockKind::Data, BlockSource::File)
    }

    /// Blocks of all kinds from one source.
    pub fn blocks_from(&self, source: BlockSource) -> u64 {
        self.blocks.iter().map(|by_source| by_source[source as usize]).sum()
    }

    /// Adds what another read did.
    pub fn add(&mut self, other: &Self) {
        self.files_considered += other.files_considered;
        self.files_skipped_by_range += other.files_skipped_by_range;
        self.files_skipped_by_time += other.files_skipped_by_time;
        self.filter_checks += other.filter_checks;
        self.files_skipped_by_filter += other.files_skipped_by_filter;
        self.filter_false_positives += other.filter_false_positives;
        self.filters_unreadable += other.filters_unreadable;
        // No count gets near 2^64. A check for each of them would keep the loops from being vector loops.
        let blocks = self.blocks.as_flattened_mut().iter_mut().zip(other.blocks.as_flattened());
        blocks.for_each(|(sum, count)| *sum = sum.wrapping_add(*count));
        let bytes = self.bytes.as_flattened_mut().iter_mut().zip(other.bytes.as_flattened());
        bytes.for_each(|(sum, count)| *sum = sum.wrapping_add(*count));
    }

    /// What happened since `earlier`, an older sum of the same counters.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self::from_numbers(self.numbers().zip_with(&earlier.numbers(), |now, then| now - then))
    }

    fn numbers(&self) -> Numbers {
        let mut numbers = [0; Numbers::COUNT];
        numbers[..7].copy_from_slice(&[
            self.files_considered,
            self.files_skipped_by_range,
            self.files_skipped_by_time,
            self.filter_checks,
            self.files_skipped_by_filter,
            self.filter_false_positives,
            self.filters_unreadable,
        ]);
        numbers[7..15].copy_from_slice(self.blocks.as_flattened());
        numbers[15..].copy_from_slice(self.bytes.as_flattened());
        Numbers(numbers)
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
            ..Self::default()
        };
        trace.blocks.as_flattened_mut().copy_from_slice(&numbers[7..15]);
        trace.bytes.as_flattened_mut().copy_from_slice(&numbers[15..]);
        trace
    }
}

/// A [`ReadTrace`] as one row of numbers, so that sums need no list of fields.
struct Numbers([u64; Numbers::COUNT]);

impl Numbers {
    const COUNT: usize = 23;

    fn zip_with(&self, other: &Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|at| combine(self.0[at], other.0[at])))
    }
}

/// Sums over all reads, shared by threads.
#[derive(Debug, Default)]
pub struct ReadCounters(ThreadLocal<OfOneThread>);

/// What one thread has counted, and after its end the one that takes its place; on cache lines of
/// its own, and off those that a processor fetches along with them.
#[derive(Debug, Default)]
#[repr(align(128))]
struct OfOneThread([AtomicU64; Numbers::COUNT]);

impl ReadCounters {
    /// Adds what one read did.
    pub fn record(&self, trace: &ReadTrace) {
        let OfOneThread(counters) = self.0.get_or_default();
        for (counter, number) in counters.iter().zip(trace.numbers().0) {
            if number != 0 {
                // No other thread writes here, so nothing is lost between the two.
                let sum = counter.load(Ordering::Relaxed).wrapping_add(number);
                counter.store(sum, Ordering::Relaxed);
            }
        }
    }

    /// The sums now. Reads under way are in it wholly or not at all, number by number.
    pub fn snapshot(&self) -> ReadTrace {
        let sum = |at: usize| self.0.iter().map(|mine| mine.0[at].load(Ordering::Relaxed)).sum();
        ReadTrace::from_numbers(Numbers(std::array::from_fn(sum)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_differences_keep_every_number() {
        let mut trace = ReadTrace { files_considered: 3, filter_checks: 2, ..Default::default() };
        for kind in BlockKind::ALL {
            for source in BlockSource::ALL {
                trace.touch(kind, source, 10 + kind as usize);
            }
        }
        let counters = ReadCounters::default();
        counters.record(&trace);
        counters.record(&trace);
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
    fn what_threads_count_at_once_is_all_there_when_they_have_ended() {
        const THREADS: u64 = 4;
        const READS: u64 = 20_000;
        let counters = ReadCounters::default();
        let trace = ReadTrace { files_considered: 3, filter_checks: 1, ..Default::default() };
        for round in 1..=2 {
            std::thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| (0..READS).for_each(|_| counters.record(&trace)));
                }
            });
            let sum = counters.snapshot();
            assert_eq!(sum.files_considered, 3 * round * THREADS * READS);
            assert_eq!(sum.filter_checks, round * THREADS * READS);
        }
    }
}
