//! A row looked up: is it in range, does a filter deny it, which block has it.

use super::blocks::DataUse;
use super::filters::{FilterAnswer, KeptFilter, SharedFilter};
use super::row_seek::RowSeek;
use super::{Caching, Reader};
use crate::block::body::Buffers;
use crate::block::data::DataBlock;
use crate::block::loaded::Block;
use crate::block::searchable::row_hash;
use crate::scanner::Place;
use crate::{ReadTrace, Result, RowProbe, Scanner};

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
        match self.consider(probe, trace) {
            FilterAnswer::No => Ok(None),
            answer => self.seek_row_after(answer, probe, trace),
        }
    }

    /// Sends for what the filter will look at, as far as it is in memory.
    pub(super) fn prefetch_filter(&self, probe: &RowProbe<'_>) {
        self.0.filters.prefetch(self.0.filter_use, probe);
    }

    /// Begins to look a row up, unless its range or its filter denies it.
    pub(super) fn filter_and_begin(
        &self,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> Result<Option<RowSeek>> {
        match self.consider(probe, trace) {
            FilterAnswer::No => Ok(None),
            answer => self.begin_seek(answer, probe, trace).map(Some),
        }
    }

    /// Whether the file can hold a row, as far as its range and its filter know.
    #[inline]
    fn consider(&self, probe: &RowProbe<'_>, trace: &mut ReadTrace) -> FilterAnswer {
        trace.files_considered += 1;
        if !self.spans_row(probe.row()) {
            trace.files_skipped_by_range += 1;
            return FilterAnswer::No;
        }
        self.ask_filter(probe, trace)
    }

    /// Looks a row up whose filter has answered: by index and block. Returns a scanner on its first
    /// cell. Counts a false positive if the filter said "maybe" and the row is not there, nor in a
    /// filter over columns the column or a delete of its family.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn seek_row_after(
        &self,
        answer: FilterAnswer,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> Result<Option<Scanner>> {
        let seek = self.begin_seek(answer, probe, trace)?;
        self.finish_seek(seek, probe, trace)
    }

    /// Whether a filter over columns was asked in vain: its row, whose first cell is at `place`, has
    /// neither the column nor a family delete.
    pub(super) fn lacks_column(&self, probe: &RowProbe<'_>, place: &Place) -> Result<bool> {
        let is_over_columns = self.0.filters.is_over_columns(self.0.filter_use);
        let Some(wanted) = probe.qualifier().filter(|_| is_over_columns) else { return Ok(false) };
        // Its own: what it reads is not part of what the caller asked for.
        let mut scanner = Scanner::at(self.clone(), place.clone());
        while let Some(cell) = scanner.cell().filter(|cell| cell.row == probe.row()) {
            // The filter was asked for the row's family deletes too, which have no qualifier.
            if cell.qualifier == wanted || cell.qualifier.is_empty() {
                return Ok(false);
            }
            if cell.qualifier > wanted {
                break;
            }
            scanner.advance()?;
        }
        Ok(true)
    }

    /// Finds the first cell of a row that may begin in the block behind `data`.
    pub(super) fn find_row_behind(
        &self,
        data: &DataBlock,
        row: &[u8],
        trace: &mut ReadTrace,
    ) -> Result<Option<Place>> {
        let (last, buffers) = (self.check(data)?.last_key(), &mut Buffers::default());
        let (wanted, caching) = (DataUse::Search, Caching::Use);
        let next = self.next_data_block(data, last, wanted, caching, buffers, trace)?;
        let Some(block) = next else { return Ok(None) };
        let Block::Data(found) = &*block else { return Ok(None) };
        let at = self.check(found)?.row_start(row, row_hash(row));
        let walk = at.and_then(|at| found.walk_from(at));
        Ok(walk.map(|walk| Place::new(block, walk)))
    }
}
