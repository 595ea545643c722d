//! The filters of an open file. A lookup asks them before it reads any other block.
//!
//! ```text
//! our filter   META blocks `filter.row…`                one block per row, one hash for all files
//! HBase Bloom  meta (in memory) ──first keys──→ chunk    the hash pair of HBase
//! ```
//!
//! An unreadable filter never hides a row. If ours is unreadable, HBase's filter is asked, else the
//! file is searched. The trace counts both cases in `filters_unreadable`.
#![allow(clippy::arithmetic_side_effects, reason = "counters")]

use bytes::Bytes;
use filter::{Membership, Seed, StoredFilter};

use super::chunked_bloom::ChunkedBloom;
use super::row_filter::RowFilter;
use crate::file::block_reader::BlockReader;
use crate::file::options::FilterUse;
use crate::{BlockKind, BlockSource, BloomType, ReadTrace, Result, RowProbe};

/// What a filter says about a row.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FilterAnswer {
    /// The file does not hold it.
    No,
    /// The file may hold it.
    Maybe,
    /// No filter answered: none covers the question, or the filter is unreadable.
    NotAsked,
}

impl FilterAnswer {
    /// Converts a filter's answer, and counts the question.
    fn of(answer: &Result<Option<bool>>, trace: &mut ReadTrace) -> Self {
        match answer {
            Ok(None) => Self::NotAsked,
            Ok(Some(may_contain)) => Self::counted(*may_contain, trace),
            Err(_) => {
                trace.filters_unreadable += 1;
                Self::NotAsked
            }
        }
    }

    #[inline]
    fn counted(may_contain: bool, trace: &mut ReadTrace) -> Self {
        trace.filter_checks += 1;
        trace.files_skipped_by_filter += u64::from(!may_contain);
        if may_contain { Self::Maybe } else { Self::No }
    }
}

/// A filter of ours, or a partition of one, that is in memory for as long as its file is open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResidentFilter<'a> {
    pub(crate) filter: &'a StoredFilter<Bytes>,
    /// Bytes of its block, for the trace.
    pub(crate) bytes: usize,
}

impl ResidentFilter<'_> {
    /// Prefetches the cache lines that [`ask`](Self::ask) reads.
    #[inline]
    pub(crate) fn prefetch(&self, probe: &RowProbe<'_>) {
        self.filter.prefetch(probe.key_hash(self.filter.seed()));
    }

    /// Asks about a row; counts the question and the filter's block.
    #[inline]
    pub(crate) fn ask(&self, probe: &RowProbe<'_>, trace: &mut ReadTrace) -> FilterAnswer {
        trace.touch(BlockKind::Meta, BlockSource::Cache, self.bytes);
        let hash = probe.key_hash(self.filter.seed());
        FilterAnswer::counted(self.filter.may_contain(hash), trace)
    }
}

/// The filters of a file, and which of them is asked.
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
    /// Returns our filter, if `filter_use` allows it.
    #[inline]
    pub(crate) fn row_filter(&self) -> Option<&RowFilter> {
        self.row_filter.as_ref().filter(|_| self.uses_row_filter())
    }

    const fn uses_row_filter(&self) -> bool {
        matches!(self.filter_use, FilterUse::Best | FilterUse::MetaFilter)
    }

    /// Returns HBase's filter, if `filter_use` allows it.
    #[inline]
    fn bloom(&self) -> Option<&ChunkedBloom> {
        self.bloom.as_ref().filter(|_| self.uses_bloom())
    }

    const fn uses_bloom(&self) -> bool {
        matches!(self.filter_use, FilterUse::Best | FilterUse::HBaseBloom)
    }

    /// Loads the filter that lookups ask first, so that its blocks are pinned.
    pub(crate) fn load(&self, blocks: &BlockReader) {
        if let Some(filter) = self.row_filter() {
            filter.load(blocks);
        } else if let Some(bloom) = self.bloom() {
            bloom.load(blocks);
        }
    }

    /// Returns our filter, or its partition for a row, if it is resident.
    #[inline]
    pub(crate) fn resident(&self, probe: &RowProbe<'_>) -> Option<ResidentFilter<'_>> {
        self.row_filter()?.resident(probe)
    }

    /// Returns our filter, if it is one block and resident.
    pub(crate) fn resident_whole(&self) -> Option<ResidentFilter<'_>> {
        self.row_filter()?.resident_whole()
    }

    /// Asks the filter that `filter_use` selects. Falls back to HBase's if ours is unreadable.
    #[inline]
    pub(crate) fn ask(
        &self,
        blocks: &BlockReader,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> FilterAnswer {
        if self.row_filter().is_none()
            && let Some(bloom) = self.bloom()
            && let Some(may_contain) = bloom.ask_resident(probe, trace)
        {
            return FilterAnswer::counted(may_contain, trace);
        }
        self.ask_and_load(blocks, probe, trace)
    }

    /// Does the same, and loads filter blocks that are not in memory.
    #[inline(never)]
    fn ask_and_load(
        &self,
        blocks: &BlockReader,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> FilterAnswer {
        let ours = self.row_filter().map(|filter| filter.may_contain(blocks, probe, trace));
        trace.filters_unreadable += u64::from(matches!(ours, Some(Ok(None) | Err(_))));
        let answer = if let Some(Ok(Some(answer))) = ours {
            Ok(Some(answer))
        } else if let Some(bloom) = self.bloom() {
            bloom.ask(blocks, probe, trace)
        } else {
            trace.filters_unreadable += u64::from(self.uses_bloom() && self.problem.is_some());
            Ok(None)
        };
        FilterAnswer::of(&answer, trace)
    }

    /// Returns whether the filter that `filter_use` selects is over columns, not rows.
    pub(crate) fn is_over_columns(&self) -> bool {
        self.row_filter().is_none() && self.bloom().is_some_and(ChunkedBloom::is_over_columns)
    }

    /// Asks about all rows that begin with `prefix`.
    ///
    /// Only a Bloom filter over prefixes that are at most as long as `prefix` can answer.
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
        let answer = bloom.map_or(Ok(None), |bloom| bloom.ask(blocks, &probe, trace));
        FilterAnswer::of(&answer, trace)
    }
}
