//! The filters of an open file, asked before any of its other blocks is touched.
//!
//! ```text
//! our filter   META blocks `filter.row…`                one block a row, one hash for all files
//! HBase Bloom  meta (in memory) ──first keys──→ chunk    the hash pair of HBase
//! ```
//!
//! A filter that cannot be read never hides a row: HBase's is asked in place of ours, or the file is
//! looked into, and the trace says so.

use bytes::Bytes;
use filter::{KeyHash, Membership, Seed, StoredFilter};

use super::chunked_bloom::ChunkedBloom;
use super::row_filter::RowFilter;
use crate::file::blocks::Blocks;
use crate::file::options::FilterUse;
use crate::{BlockKind, BlockSource, BloomType, ReadTrace, Result, RowProbe};

/// What a filter says about a row.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FilterAnswer {
    /// The file does not hold it.
    No,
    /// The file may hold it.
    Maybe,
    /// No filter could answer: there is none for such a question, or it could not be read.
    NotAsked,
}

impl FilterAnswer {
    #[inline]
    fn counted(may_contain: bool, trace: &mut ReadTrace) -> Self {
        trace.filter_checks += 1;
        trace.files_skipped_by_filter += u64::from(!may_contain);
        if may_contain { Self::Maybe } else { Self::No }
    }
}

/// A filter that its reader keeps in memory, and a row to ask it about.
#[derive(Clone, Copy, Debug)]
pub struct KeptFilter<'a> {
    filter: &'a StoredFilter<Bytes>,
    hash: KeyHash,
    bytes: usize,
}

impl<'a> KeptFilter<'a> {
    /// Sends for what the filter will look at.
    #[inline]
    pub(crate) fn prefetched(
        filter: &'a StoredFilter<Bytes>,
        probe: &RowProbe<'_>,
        bytes: usize,
    ) -> Self {
        let hash = probe.key_hash(filter.seed());
        filter.prefetch(hash);
        Self { filter, hash, bytes }
    }

    /// Asks it; counts the question and the filter's block.
    #[inline]
    pub fn ask(&self, trace: &mut ReadTrace) -> FilterAnswer {
        trace.touch(BlockKind::Meta, BlockSource::Cache, self.bytes);
        FilterAnswer::counted(self.filter.may_contain(self.hash), trace)
    }
}

/// A filter of ours that is one block and in memory, for as long as anybody holds it. Who asks many
/// files holds theirs side by side, and needs to look at no file.
#[derive(Clone, Debug)]
pub struct SharedFilter {
    filter: StoredFilter<Bytes>,
    bytes: usize,
}

impl SharedFilter {
    pub(crate) const fn new(filter: StoredFilter<Bytes>, bytes: usize) -> Self {
        Self { filter, bytes }
    }

    /// Sends for what the filter will look at when it is asked about a row.
    #[inline]
    pub fn prefetch(&self, probe: &RowProbe<'_>) {
        self.filter.prefetch(probe.key_hash(self.filter.seed()));
    }

    /// Asks it about a row; counts the question and the filter's block.
    #[inline]
    pub fn ask(&self, probe: &RowProbe<'_>, trace: &mut ReadTrace) -> FilterAnswer {
        let hash = probe.key_hash(self.filter.seed());
        KeptFilter { filter: &self.filter, hash, bytes: self.bytes }.ask(trace)
    }
}

/// The filters of a file.
#[derive(Debug, Default)]
pub(crate) struct FileFilters {
    pub(crate) row_filter: Option<RowFilter>,
    pub(crate) bloom: Option<ChunkedBloom>,
    pub(crate) delete_family_bloom: Option<ChunkedBloom>,
    /// Why the file's Bloom filter cannot be used, if it cannot.
    pub(crate) problem: Option<crate::Damage>,
}

impl FileFilters {
    /// Our own filter, if it is to be used.
    #[inline]
    fn row_filter(&self, filter_use: FilterUse) -> Option<&RowFilter> {
        let wanted = matches!(filter_use, FilterUse::Best | FilterUse::MetaFilter);
        self.row_filter.as_ref().filter(|_| wanted)
    }

    /// HBase's filter, if it is to be used.
    #[inline]
    fn bloom(&self, filter_use: FilterUse) -> Option<&ChunkedBloom> {
        self.bloom.as_ref().filter(|_| uses_bloom(filter_use))
    }

    /// Loads the filters that are to be used, so that they are pinned.
    pub(crate) fn load(&self, filter_use: FilterUse, blocks: &Blocks) {
        if let Some(filter) = self.row_filter(filter_use) {
            filter.load(blocks);
        } else if let Some(bloom) = self.bloom(filter_use) {
            bloom.load(blocks);
        }
    }

    /// A filter of ours that its reader keeps, on its way to the processor.
    #[inline]
    pub(crate) fn prefetched(
        &self,
        filter_use: FilterUse,
        probe: &RowProbe<'_>,
    ) -> Option<KeptFilter<'_>> {
        self.row_filter(filter_use)?.prefetched(probe)
    }

    /// A filter of ours that its reader keeps and that is one block.
    pub(crate) fn shared(&self, filter_use: FilterUse) -> Option<SharedFilter> {
        self.row_filter(filter_use)?.shared()
    }

    /// Asks the filter that is to be used; HBase's in place of ours where that cannot be read.
    #[inline]
    pub(crate) fn ask(
        &self,
        filter_use: FilterUse,
        blocks: &Blocks,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> FilterAnswer {
        if self.row_filter(filter_use).is_none()
            && let Some(bloom) = self.bloom(filter_use)
            && let Some(may_contain) = bloom.ask_kept(probe, trace)
        {
            return FilterAnswer::counted(may_contain, trace);
        }
        self.ask_any(filter_use, blocks, probe, trace)
    }

    /// The same, whatever has to be loaded for it.
    #[inline(never)]
    fn ask_any(
        &self,
        filter_use: FilterUse,
        blocks: &Blocks,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> FilterAnswer {
        let ours = self.row_filter(filter_use).map(|it| it.may_contain(blocks, probe, trace));
        trace.filters_unreadable += u64::from(matches!(ours, Some(Ok(None) | Err(_))));
        let answer = if let Some(Ok(Some(answer))) = ours {
            Ok(Some(answer))
        } else if let Some(bloom) = self.bloom(filter_use) {
            bloom.ask(blocks, probe, trace)
        } else {
            trace.filters_unreadable += u64::from(uses_bloom(filter_use) && self.problem.is_some());
            Ok(None)
        };
        Self::count(&answer, trace)
    }

    /// Whether the filter that is to be used is over columns, and not over rows.
    pub(crate) fn is_over_columns(&self, filter_use: FilterUse) -> bool {
        let bloom = self.bloom(filter_use);
        self.row_filter(filter_use).is_none()
            && bloom.is_some_and(|bloom| bloom.bloom_type == BloomType::RowCol)
    }

    /// Asks about all rows that begin with `prefix`, which only a Bloom filter over prefixes no
    /// longer than this can tell.
    pub(crate) fn ask_prefix(
        &self,
        filter_use: FilterUse,
        blocks: &Blocks,
        prefix: &[u8],
        trace: &mut ReadTrace,
    ) -> FilterAnswer {
        let knows = |bloom: &&ChunkedBloom| {
            matches!(bloom.bloom_type, BloomType::RowPrefixFixedLength(len)
                if prefix.len() >= usize::from(len))
        };
        let bloom = self.bloom(filter_use).filter(knows);
        let probe = RowProbe::new(prefix, Seed::default());
        let answer = bloom.map_or(Ok(None), |bloom| bloom.ask(blocks, &probe, trace));
        Self::count(&answer, trace)
    }

    fn count(answer: &Result<Option<bool>>, trace: &mut ReadTrace) -> FilterAnswer {
        match answer {
            Ok(None) => FilterAnswer::NotAsked,
            Ok(Some(may_contain)) => FilterAnswer::counted(*may_contain, trace),
            Err(_) => {
                trace.filters_unreadable += 1;
                FilterAnswer::NotAsked
            }
        }
    }
}

/// Whether HBase's filter may be asked.
const fn uses_bloom(filter_use: FilterUse) -> bool {
    matches!(filter_use, FilterUse::Best | FilterUse::HBaseBloom)
}
