//! The filters of an open file. A read asks them before it touches any other block.
//!
//! | filter        | stored in                                        | hash of a row          |
//! |---------------|--------------------------------------------------|------------------------|
//! | row filter    | META blocks `filter.row…`                        | one hash for all files |
//! | HBase's Bloom | chunks, found by their first keys in the Bloom   | HBase's pair of hashes |
//! |               | meta block, which is in memory                   |                        |
//!
//! A read asks one block of the filter: the partition or chunk that covers the row.
//!
//! An unreadable filter never hides a row. If the row filter is unreadable, HBase's filter is asked;
//! if that is unreadable too, the file is searched. The trace counts unreadable filters in
//! `filters_unreadable`.

use std::sync::{Arc, OnceLock};

use filter::Seed;
use filter::engine::Membership;

use super::chunked_bloom::ChunkedBloom;
use super::filter_answer::FilterAnswer;
use super::row_filter::RowFilter;
use crate::block::BloomType;
use crate::block::meta::FilterBlock;
use crate::file::load_block::BlockReader;
use crate::file::options::FilterUse;
use crate::probe::RowProbe;
use crate::trace::{BlockKind, BlockSource, ReadTrace};

/// The filters of a file.
#[derive(Debug, Default)]
pub(crate) struct Filters {
    pub(crate) row_filter: Option<RowFilter>,
    pub(crate) bloom: Option<ChunkedBloom>,
    pub(crate) delete_family_bloom: Option<ChunkedBloom>,
    /// Damage that makes HBase's Bloom filters unusable.
    pub(crate) problem: Option<crate::error::Damage>,
    /// The filter that reads ask first.
    asked: Asked,
}

/// The filter of a file that reads ask first, chosen when the file is opened.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Asked {
    /// The file has no filter, or the reader uses none.
    #[default]
    Nothing,
    RowFilter,
    Bloom,
    /// HBase's Bloom filter, which is damaged.
    DamagedBloom,
}

impl Filters {
    /// Chooses the filter that reads ask first, once all filters are set.
    pub(crate) fn choose(&mut self, filter_use: FilterUse) {
        self.asked = match filter_use {
            FilterUse::Best if self.row_filter.is_some() => Asked::RowFilter,
            FilterUse::Best if self.bloom.is_some() => Asked::Bloom,
            FilterUse::Best if self.problem.is_some() => Asked::DamagedBloom,
            FilterUse::Best | FilterUse::None => Asked::Nothing,
        };
    }

    /// Returns HBase's Bloom filter, if reads ask it first.
    fn asked_bloom(&self) -> Option<&ChunkedBloom> {
        self.bloom.as_ref().filter(|_| self.asked == Asked::Bloom)
    }

    /// Returns whether the filter that reads ask first holds columns, not rows.
    pub(crate) fn are_over_columns(&self) -> bool {
        self.asked_bloom().is_some_and(ChunkedBloom::is_over_columns)
    }

    /// Returns whether the answer about a row is of HBase's filter over columns, in place of the row filter,
    /// whose block for the row is unreadable. Reads that block again.
    #[cold]
    pub(crate) fn fall_back_to_columns(&self, blocks: &BlockReader, probe: &RowProbe<'_>) -> bool {
        let has_columns = self.bloom.as_ref().is_some_and(ChunkedBloom::is_over_columns);
        let asked_first = match self.asked {
            Asked::RowFilter if has_columns => self.row_filter.as_ref(),
            _ => None,
        };
        asked_first.is_some_and(|filter| {
            filter.ask(blocks, probe, &mut ReadTrace::default()) == FilterAnswer::Unreadable
        })
    }

    /// Returns these filters without their blocks in memory, for a file that a family map covers.
    ///
    /// Returns `None` if reads still ask the filter: a map has rows, and does not replace a filter
    /// over columns or over prefixes of rows.
    pub(crate) fn unloaded(&self) -> Option<Self> {
        if self.asked_bloom().is_some_and(|bloom| bloom.bloom_type != BloomType::Row) {
            return None;
        }
        Some(Self {
            row_filter: self.row_filter.as_ref().map(RowFilter::unloaded),
            bloom: self.bloom.as_ref().map(ChunkedBloom::unloaded),
            delete_family_bloom: self.delete_family_bloom.as_ref().map(ChunkedBloom::unloaded),
            problem: self.problem.clone(),
            asked: self.asked,
        })
    }

    /// Returns whether a block of the row filter or of HBase's stays in memory.
    pub(crate) fn are_loaded(&self) -> bool {
        self.row_filter.as_ref().is_some_and(RowFilter::is_loaded)
            || self.bloom.as_ref().is_some_and(ChunkedBloom::is_loaded)
    }

    /// Loads the blocks of the filter that reads ask first. Blocks that are pinned stay loaded.
    pub(crate) fn load(&self, blocks: &BlockReader) {
        match (self.asked, &self.row_filter, &self.bloom) {
            (Asked::RowFilter, Some(filter), _) => filter.load(blocks),
            (Asked::Bloom, _, Some(bloom)) => bloom.load(blocks),
            _ => {}
        }
    }

    /// Asks the filter about the rows that begin with `prefix`.
    ///
    /// Only HBase's Bloom filter over row prefixes of a fixed length covers them, and only if that
    /// length is at most the length of `prefix`.
    pub(crate) fn ask_prefix(
        &self,
        blocks: &BlockReader,
        prefix: &[u8],
        trace: &mut ReadTrace,
    ) -> FilterAnswer {
        match &self.bloom {
            Some(bloom)
                if self.asked != Asked::Nothing
                    && matches!(bloom.bloom_type, BloomType::RowPrefixFixedLength(len)
                        if prefix.len() >= usize::from(len)) =>
            {
                let probe = RowProbe::new(prefix, Seed::default());
                let answer = bloom.ask(blocks, &probe, trace);
                trace.filter_checks += u64::from(answer.is_of_filter());
                trace.filters_unreadable += u64::from(answer == FilterAnswer::Unreadable);
                answer
            }
            _ => FilterAnswer::NotCovered,
        }
    }
}

/// The filter that a lookup asks of one file.
///
/// Keeps the filters that the file had when this value was made.
#[derive(Clone, Debug)]
pub(crate) struct FileFilter {
    filters: Arc<Filters>,
    asked: Asked,
    /// The row filter, if it is a single block and resident. It shares the bytes of that block, and
    /// saves a lookup the cache misses on the way there.
    whole: OnceLock<FilterBlock>,
}

impl FileFilter {
    pub(crate) fn new(filters: Arc<Filters>) -> Self {
        Self { asked: filters.asked, filters, whole: OnceLock::new() }
    }

    /// Loads the filter's blocks. Ignores errors: a lookup that needs an unreadable block counts it.
    pub(crate) fn load(&self, blocks: &BlockReader) {
        self.filters.load(blocks);
    }

    /// Prefetches the cache lines that [`ask`](Self::ask) reads, if the row filter is resident.
    #[inline]
    pub(crate) fn prefetch(&self, probe: &RowProbe<'_>) {
        if self.asked == Asked::RowFilter
            && let Some(block) = self.resident(probe)
        {
            block.filter().prefetch(probe.key_hash(block.filter().seed()));
        }
    }

    /// Asks the filter about a get of a row or, if it is over columns, of a column.
    ///
    /// Counts the question, not the skipped file.
    #[inline]
    pub(crate) fn ask(
        &self,
        blocks: &BlockReader,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> FilterAnswer {
        let answer = match (self.asked, &self.filters.bloom) {
            (Asked::Nothing, _) => return FilterAnswer::NotCovered,
            (Asked::RowFilter, _) => match self.resident(probe) {
                Some(block) => ask_resident(block, probe, trace),
                None => self.load_and_ask(blocks, probe, trace),
            },
            (Asked::Bloom, Some(bloom)) => bloom.ask(blocks, probe, trace),
            (Asked::Bloom, None) => unreachable!("chosen only if the file has it"),
            (Asked::DamagedBloom, _) => FilterAnswer::Unreadable,
        };
        let answer = match answer {
            FilterAnswer::Unreadable => self.ask_next(blocks, probe, trace),
            answer => answer,
        };
        trace.filter_checks += u64::from(answer.is_of_filter());
        answer
    }

    /// Asks the row filter, and loads its block.
    #[inline(never)]
    fn load_and_ask(
        &self,
        blocks: &BlockReader,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> FilterAnswer {
        let filter = self.filters.row_filter.as_ref();
        filter.expect("chosen only if the file has it").ask(blocks, probe, trace)
    }

    /// Asks the filter after one that is unreadable.
    ///
    /// Counts the unreadable filters. `Unreadable` if there is no other.
    #[cold]
    fn ask_next(
        &self,
        blocks: &BlockReader,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> FilterAnswer {
        trace.filters_unreadable += 1;
        if self.asked != Asked::RowFilter {
            return FilterAnswer::Unreadable;
        }
        let answer = match &self.filters.bloom {
            Some(bloom) => bloom.ask(blocks, probe, trace),
            None if self.filters.problem.is_some() => FilterAnswer::Unreadable,
            None => FilterAnswer::NotCovered,
        };
        trace.filters_unreadable += u64::from(answer == FilterAnswer::Unreadable);
        if answer == FilterAnswer::NotCovered { FilterAnswer::Unreadable } else { answer }
    }

    /// Returns the block of the row filter that covers the row, if it is resident.
    fn resident(&self, probe: &RowProbe<'_>) -> Option<&FilterBlock> {
        self.whole.get().or_else(|| self.find_resident(probe))
    }

    #[inline(never)]
    fn find_resident(&self, probe: &RowProbe<'_>) -> Option<&FilterBlock> {
        let filter = self.filters.row_filter.as_ref()?;
        match filter.resident_whole() {
            Some(block) => Some(self.whole.get_or_init(|| block.clone())),
            None => filter.resident(probe),
        }
    }
}

/// Asks a resident block of the row filter.
#[inline]
fn ask_resident(block: &FilterBlock, probe: &RowProbe<'_>, trace: &mut ReadTrace) -> FilterAnswer {
    trace.touch(BlockKind::Meta, BlockSource::Cache, block.bytes());
    FilterAnswer::of(Membership::may_contain(block.filter(), probe.key_hash(block.filter().seed())))
}
