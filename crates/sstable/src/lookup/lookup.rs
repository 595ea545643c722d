//! A row looked up: is it in range, does a filter deny it; and if neither, where is it.

use std::sync::atomic::Ordering;

use crate::file::filters::file_filters::{FilterAnswer, KeptFilter, SharedFilter};
use crate::{ReadTrace, Reader, Result, RowProbe, Scanner};

impl Reader {
    /// Asks the filter about a row; counts the question and the filter's blocks.
    pub fn ask_filter(&self, probe: &RowProbe<'_>, trace: &mut ReadTrace) -> FilterAnswer {
        if self.is_empty() {
            return FilterAnswer::No;
        }
        self.0.filters.ask(self.0.filter_use, &self.0.blocks, probe, trace)
    }

    /// The filter of ours that [`ask_filter`](Self::ask_filter) would ask, if it is in memory for as
    /// long as the file is open. The processor is asked to load what it will look at, which is worth
    /// it for all files of a read before the first filter is asked.
    #[inline]
    pub fn prefetched_filter(&self, probe: &RowProbe<'_>) -> Option<KeptFilter<'_>> {
        self.0.filters.prefetched(self.0.filter_use, probe)
    }

    /// The filter of ours that [`ask_filter`](Self::ask_filter) would ask, to be held beside those of
    /// other files; none unless it is one block, in memory for as long as the file is open.
    pub fn shared_filter(&self) -> Option<SharedFilter> {
        self.0.filters.shared(self.0.filter_use)
    }

    /// Whether the file may hold a row, as far as its filter knows.
    pub fn may_contain(&self, probe: &RowProbe<'_>, trace: &mut ReadTrace) -> bool {
        self.ask_filter(probe, trace) != FilterAnswer::No
    }

    /// Whether the file can hold a row that begins with `prefix`: HBase's Bloom filter knows if it
    /// is over prefixes as long or shorter, and else it may.
    pub fn may_contain_prefix(&self, prefix: &[u8], trace: &mut ReadTrace) -> bool {
        self.0.filters.ask_prefix(self.0.filter_use, &self.0.blocks, prefix, trace)
            != FilterAnswer::No
    }

    /// Whether the file may hold a delete of the whole family in a row. HBase's Bloom filter over
    /// such rows is asked; it is not counted as one of the filters that spare a file.
    ///
    /// # Errors
    ///
    /// None: a filter that cannot be read does not deny.
    pub fn may_delete_family(&self, probe: &RowProbe<'_>, trace: &mut ReadTrace) -> bool {
        if self.0.file_info.delete_family_count() == Some(0) {
            return false;
        }
        let bloom = self.0.filters.delete_family_bloom.as_ref();
        let answer = bloom.map(|bloom| bloom.ask(&self.0.blocks, probe, trace));
        !matches!(answer, Some(Ok(Some(false))))
    }

    /// Looks a row up: by range, filter, index and block. Returns a scanner on its first cell.
    ///
    /// Counts the file as considered, and why it was passed over if it was.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    #[inline]
    pub fn seek_row(&self, probe: &RowProbe<'_>, trace: &mut ReadTrace) -> Result<Option<Scanner>> {
        // A file that had the last row most likely has this one, too: its block can be on the way while
        // the filter is waited for. One that did not have it is not to pay for that.
        let had_last = self.0.had_last_row.load(Ordering::Relaxed);
        let found = had_last.then(|| self.find_in_root(probe));
        let answer = self.consider(probe, trace);
        let may_have = answer != FilterAnswer::No;
        if may_have != had_last {
            self.0.had_last_row.store(may_have, Ordering::Relaxed);
        }
        if !may_have {
            return Ok(None);
        }
        let found = found.unwrap_or_else(|| self.find_in_root(probe));
        self.seek_found(answer, found, probe, trace)
    }

    /// Whether the file can hold a row, as far as its range and its filter know.
    #[inline]
    pub(super) fn consider(&self, probe: &RowProbe<'_>, trace: &mut ReadTrace) -> FilterAnswer {
        trace.files_considered += 1;
        if !self.spans_row(probe.row()) {
            trace.files_skipped_by_range += 1;
            return FilterAnswer::No;
        }
        self.ask_filter(probe, trace)
    }
}
