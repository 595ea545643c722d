//! Whether a scan reads a file, by the file's rows, times and filter.
//!
//! The files of a scan are not ordered by time. Each file is decided once, when the scan begins:
//!
//! | step | decides by                                | the file is skipped if                      | counter                   |
//! |-----:|-------------------------------------------|---------------------------------------------|---------------------------|
//! |    1 | the first and the last row                | it has no cells, or none in the row range   | `files_skipped_by_range`  |
//! |    2 | the first and the last row                | none of its rows can begin with the prefix  | `files_skipped_by_range`  |
//! |    3 | the times of its cells, and the TTL       | no cell can affect the result               | `files_skipped_by_time`   |
//! |    4 | the filter, if the scan has a row or a prefix | the filter denies it                    | `files_skipped_by_filter` |
//!
//! Each file counts as considered. [`RowLookup`](super::RowLookup) decides for gets: its files are ordered by their
//! newest cells, so that it can stop before the first one that is too old, and it can have a family map.

use std::cmp::Ordering;
use std::ops::Bound;

use cells::rules::Rules;
use cells::{Comparator, Timestamp};

use crate::file::filters::file_filter::FileFilter;
use crate::file::filters::filter_answer::FilterAnswer;
use crate::file::open_file::OpenFile;
use crate::probe::RowProbe;
use crate::trace::ReadTrace;

/// A range of rows, in the order of a table.
#[derive(Clone, Copy, Debug)]
pub struct RowBounds<'r> {
    first: Bound<&'r [u8]>,
    last: Bound<&'r [u8]>,
    order: Comparator,
}

/// What a scan asks the filter of a file about.
#[derive(Clone, Copy, Debug)]
pub enum FilterQuestion<'q> {
    /// Nothing: the scan has many rows without a common prefix.
    Nothing,
    /// The only row of the scan, and its only column, if it has one.
    Row(&'q RowProbe<'q>),
    /// The rows that begin with a prefix.
    Prefix(&'q [u8]),
}

/// The cells that a scan reads.
#[derive(Debug)]
pub struct WantedCells<'w> {
    /// The rows.
    pub rows: RowBounds<'w>,
    /// The times, by the rules of the scan; `None` for any time.
    pub rules: Option<&'w Rules<'w>>,
    /// The rows, as far as a filter can deny them.
    pub question: FilterQuestion<'w>,
}

impl<'r> RowBounds<'r> {
    /// Creates the range from `first` to `last`.
    pub const fn new(first: Bound<&'r [u8]>, last: Bound<&'r [u8]>, order: Comparator) -> Self {
        Self { first, last, order }
    }

    /// Returns the range of the rows from `start` on and before `stop`; `None` as `stop` is no limit.
    pub fn from_start(start: &'r [u8], stop: Option<&'r [u8]>, order: Comparator) -> Self {
        Self::new(Bound::Included(start), stop.map_or(Bound::Unbounded, Bound::Excluded), order)
    }

    /// Returns whether a file may have rows in the range, by its first and last row.
    pub(crate) fn overlap(&self, file: &OpenFile) -> bool {
        let Some(rows) = &file.rows else { return false };
        let (first, last) = (&rows.first, &rows.last);
        let ends_in_or_after = match self.first {
            Bound::Included(row) => self.order.compare_rows(last, row) != Ordering::Less,
            Bound::Excluded(row) => self.order.compare_rows(last, row) == Ordering::Greater,
            Bound::Unbounded => true,
        };
        let begins_in_or_before = match self.last {
            Bound::Included(row) => self.order.compare_rows(first, row) != Ordering::Greater,
            Bound::Excluded(row) => self.order.compare_rows(first, row) == Ordering::Less,
            Bound::Unbounded => true,
        };
        ends_in_or_after && begins_in_or_before
    }
}

impl WantedCells<'_> {
    /// Decides about a file: see [`Reader::may_have`](crate::Reader::may_have).
    pub(crate) fn ask(
        &self,
        file: &OpenFile,
        times: Option<(Timestamp, Timestamp)>,
        trace: &mut ReadTrace,
    ) -> FilterAnswer {
        trace.files_considered += 1;
        let has_prefix = match self.question {
            FilterQuestion::Prefix(prefix) => may_have_prefix(file, prefix),
            _ => true,
        };
        if !self.rows.overlap(file) || !has_prefix {
            trace.files_skipped_by_range += 1;
            return FilterAnswer::No;
        }
        let (oldest, newest) = times.unwrap_or((Timestamp::OLDEST, Timestamp::LATEST));
        if self.rules.is_some_and(|rules| !rules.can_contribute(oldest, newest)) {
            trace.files_skipped_by_time += 1;
            return FilterAnswer::No;
        }
        let answer = match self.question {
            FilterQuestion::Nothing => FilterAnswer::NotCovered,
            FilterQuestion::Row(probe) => {
                FileFilter::new(file.filters()).ask(&file.blocks, probe, trace)
            }
            FilterQuestion::Prefix(prefix) => {
                file.filters().ask_prefix(&file.blocks, prefix, trace)
            }
        };
        trace.files_skipped_by_filter += u64::from(answer == FilterAnswer::No);
        answer
    }
}

/// Returns whether a row of a file can begin with `prefix`, by its first and last row.
fn may_have_prefix(file: &OpenFile, prefix: &[u8]) -> bool {
    let is_by_bytes = file.trailer.comparator == Comparator::Bytes;
    file.rows.as_ref().is_some_and(|rows| {
        let reaches_prefix = *rows.last >= *prefix;
        let begins_by_prefix = *rows.first <= *prefix || rows.first.starts_with(prefix);
        !is_by_bytes || (reaches_prefix && begins_by_prefix)
    })
}
