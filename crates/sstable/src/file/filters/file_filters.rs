//! The filters of an open file. A lookup queries a filter before it reads any other block.
//!
//! | filter         | stored in                                        | hash of a row          |
//! |----------------|--------------------------------------------------|------------------------|
//! | our row filter | META blocks `filter.row…`                        | one hash for all files |
//! | HBase's Bloom  | chunks, found by their first keys in the Bloom   | HBase's pair of hashes |
//! |                | meta block, which is in memory                   |                        |
//!
//! A lookup queries one block of the filter: the partition or chunk that covers the row.
//!
//! An unreadable filter never hides a row. If our filter is unreadable, the lookup queries HBase's
//! filter; if that is unreadable too, the lookup searches the file. The trace counts unreadable
//! filters in `filters_unreadable`.
#![allow(clippy::arithmetic_side_effects, reason = "counters")]

use bytes::Bytes;
use filter::{Membership, Seed, StoredFilter};

use super::chunked_bloom::ChunkedBloom;
use super::filter_answer::FilterAnswer;
use super::row_filter::RowFilter;
use crate::block::meta::FilterBlock;
use crate::file::block_reader::BlockReader;
use crate::file::options::FilterUse;
use crate::{BlockKind, BlockSource, BloomType, ReadTrace, RowProbe};

/// Our row filter, or one of its partitions, that stays in memory while its file is open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResidentFilter<'a> {
    pub(crate) filter: &'a StoredFilter<Bytes>,
    /// The length in bytes of the filter's block, for the trace.
    pub(crate) bytes: usize,
}

impl<'a> ResidentFilter<'a> {
    #[inline]
    fn of(block: &'a FilterBlock) -> Self {
        Self { filter: block.filter(), bytes: block.bytes() }
    }

    /// Prefetches the cache lines that [`ask`](Self::ask) reads.
    #[inline]
    pub(crate) fn prefetch(&self, probe: &RowProbe<'_>) {
        self.filter.prefetch(probe.key_hash(self.filter.seed()));
    }

    /// Queries the filter for a row. Counts the check and the access to the filter's block.
    #[inline]
    pub(crate) fn ask(&self, probe: &RowProbe<'_>, trace: &mut ReadTrace) -> FilterAnswer {
        trace.touch(BlockKind::Meta, BlockSource::Cache, self.bytes);
        let hash = probe.key_hash(self.filter.seed());
        FilterAnswer::of(self.filter.may_contain(hash)).counted(trace)
    }
}

/// The filters of a file, and whether lookups query them.
#[derive(Debug, Default)]
pub(crate) struct Filters {
    pub(crate) filter_use: FilterUse,
    pub(crate) row_filter: Option<RowFilter>,
    pub(crate) bloom: Option<ChunkedBloom>,
    pub(crate) delete_family_bloom: Option<ChunkedBloom>,
    /// Damage that makes HBase's Bloom filters unusable.
    pub(crate) problem: Option<crate::Damage>,
}

impl Filters {
    /// Returns our filter, if lookups query filters.
    #[inline]
    pub(crate) fn row_filter(&self) -> Option<&RowFilter> {
        self.row_filter.as_ref().filter(|_| self.are_used())
    }

    /// Returns HBase's filter, if lookups query filters.
    #[inline]
    fn bloom(&self) -> Option<&ChunkedBloom> {
        self.bloom.as_ref().filter(|_| self.are_used())
    }

    const fn are_used(&self) -> bool {
        matches!(self.filter_use, FilterUse::Best)
    }

    /// Returns these filters without their blocks in memory, for a file that a family map covers.
    ///
    /// Returns `None` if lookups and scans still ask the filter: a map has rows, and does not
    /// replace a filter over columns or over prefixes of rows.
    pub(crate) fn unloaded(&self) -> Option<Self> {
        if self.row_filter().is_none()
            && self.bloom().is_some_and(|bloom| bloom.bloom_type != BloomType::Row)
        {
            return None;
        }
        Some(Self {
            filter_use: self.filter_use,
            row_filter: self.row_filter.as_ref().map(RowFilter::unloaded),
            bloom: self.bloom.as_ref().map(ChunkedBloom::unloaded),
            delete_family_bloom: self.delete_family_bloom.as_ref().map(ChunkedBloom::unloaded),
            problem: self.problem.clone(),
        })
    }

    /// Returns whether a block of our filter or of HBase's stays in memory.
    pub(crate) fn are_loaded(&self) -> bool {
        self.row_filter.as_ref().is_some_and(RowFilter::is_loaded)
            || self.bloom.as_ref().is_some_and(ChunkedBloom::is_loaded)
    }

    /// Loads the blocks of the filter that lookups query first. Blocks that are pinned stay loaded.
    pub(crate) fn load(&self, blocks: &BlockReader) {
        if let Some(filter) = self.row_filter() {
            filter.load(blocks);
        } else if let Some(bloom) = self.bloom() {
            bloom.load(blocks);
        }
    }

    /// Returns our filter, or its partition that covers the row, if it is resident.
    #[inline]
    pub(crate) fn resident(&self, probe: &RowProbe<'_>) -> Option<ResidentFilter<'_>> {
        self.row_filter()?.resident(probe).map(ResidentFilter::of)
    }

    /// Returns our filter, if it is not partitioned and is resident.
    pub(crate) fn resident_whole(&self) -> Option<ResidentFilter<'_>> {
        self.row_filter()?.resident_whole().map(ResidentFilter::of)
    }

    /// Queries our filter; HBase's if the file has none of ours, or an unreadable one.
    #[inline]
    pub(crate) fn ask(
        &self,
        blocks: &BlockReader,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> FilterAnswer {
        if self.row_filter().is_none()
            && let Some(bloom) = self.bloom()
            && let Some(answer) = bloom.ask_resident(probe, trace)
        {
            return answer.counted(trace);
        }
        self.ask_and_load(blocks, probe, trace)
    }

    /// Queries our filter, then HBase's, and loads filter blocks that are not in memory.
    #[inline(never)]
    fn ask_and_load(
        &self,
        blocks: &BlockReader,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> FilterAnswer {
        let ours = self.row_filter().map(|filter| filter.ask(blocks, probe, trace).counted(trace));
        if let Some(answer @ (FilterAnswer::No | FilterAnswer::Maybe)) = ours {
            return answer;
        }
        let hbases = match self.bloom() {
            Some(bloom) => bloom.ask(blocks, probe, trace),
            None if self.are_used() && self.problem.is_some() => FilterAnswer::Unreadable,
            None => FilterAnswer::NotCovered,
        };
        match (hbases.counted(trace), ours) {
            (FilterAnswer::NotCovered, Some(unreadable)) => unreadable,
            (answer, _) => answer,
        }
    }

    /// Returns whether the filter that lookups query holds columns, not rows.
    pub(crate) fn is_over_columns(&self) -> bool {
        self.row_filter().is_none() && self.bloom().is_some_and(ChunkedBloom::is_over_columns)
    }

    /// Queries the filter for the rows that begin with `prefix`.
    ///
    /// Only HBase's Bloom filter over row prefixes of a fixed length can answer, and only if that
    /// length is at most the length of `prefix`.
    pub(crate) fn ask_prefix(
        &self,
        blocks: &BlockReader,
        prefix: &[u8],
        trace: &mut ReadTrace,
    ) -> FilterAnswer {
        let knows = |bloom: &&ChunkedBloom| {
            matches!(bloom.bloom_type, BloomType::RowPrefixFixedLength(len)
                if prefix.len() >= usize::from(len))
        };
        let bloom = self.bloom().filter(knows);
        let probe = RowProbe::new(prefix, Seed::default());
        let answer = bloom.map(|bloom| bloom.ask(blocks, &probe, trace).counted(trace));
        answer.unwrap_or(FilterAnswer::NotCovered)
    }
}
