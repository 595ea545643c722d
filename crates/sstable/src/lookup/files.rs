//! The list of files of a lookup, in the order in which they are searched.

use std::cmp::{Ordering, Reverse};
use std::ops::Deref;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use filter::StoredFilter;

use super::file_seek::FileSeek;
use crate::file::filters::file_filters::{Filters, ResidentFilter};
use crate::file::filters::filter_answer::FilterAnswer;
use crate::file::open_file::OpenFile;
use crate::row_head::{RowHead, row_head};
use crate::{Comparator, ReadTrace, Result, RowProbe, Scanner, Timestamp};

/// A file of a lookup list.
///
/// Holds the file's row range, time range and filter inline, so that a lookup skips most files
/// without a cache miss on their other data. Made by
/// [`Reader::lookup_file`](crate::Reader::lookup_file).
#[derive(Clone, Debug)]
pub struct LookupFile {
    pub(crate) file: Arc<OpenFile>,
    /// The filters that the file had when this element was made.
    filters: Arc<Filters>,
    /// The leading bytes of the first and the last row; `None` if rows are not in byte order, or
    /// if there are none.
    heads: Option<(RowHead, RowHead)>,
    oldest: Timestamp,
    newest: Timestamp,
    /// The file's filter, if it is a single block. Set once the block is resident.
    filter: OnceLock<WholeFilter>,
}

/// A filter that is a single block. Its bytes are shared with the block, not copied.
#[derive(Clone, Debug)]
struct WholeFilter {
    filter: StoredFilter<Bytes>,
    bytes: usize,
}

impl WholeFilter {
    #[inline]
    const fn resident(&self) -> ResidentFilter<'_> {
        ResidentFilter { filter: &self.filter, bytes: self.bytes }
    }
}

impl LookupFile {
    /// Makes a list element of a file that may hold cells of any time.
    pub(crate) fn new(file: Arc<OpenFile>) -> Self {
        let rows = file.rows.as_ref().filter(|_| file.trailer.comparator == Comparator::Bytes);
        let heads = rows.map(|rows| (row_head(&rows.first), row_head(&rows.last)));
        let (oldest, newest) = (Timestamp::OLDEST, Timestamp::LATEST);
        let filters = file.filters();
        Self { file, filters, heads, oldest, newest, filter: OnceLock::new() }
    }

    /// Sets the time range of the file's cells. Default: any time.
    ///
    /// A delete marker extends the range down to the oldest time that the marker covers.
    #[must_use]
    pub fn times(self, oldest: Timestamp, newest: Timestamp) -> Self {
        Self { oldest, newest, ..self }
    }

    /// Loads the filters if the reader's options pin them: they stay in memory.
    ///
    /// Opening a file does the same; only needed after
    /// [`Reader::unload_filters`](crate::Reader::unload_filters). Ignores errors: a lookup that needs
    /// an unreadable filter counts it.
    pub fn load_pinned_filters(&self) {
        if self.file.blocks.pin_filters {
            self.filters.load(&self.file.blocks);
        }
    }

    /// Returns the time of the oldest cell that the file may hold.
    pub const fn oldest(&self) -> Timestamp {
        self.oldest
    }

    /// Returns the time of the newest cell that the file may hold.
    pub const fn newest(&self) -> Timestamp {
        self.newest
    }

    /// Looks up a row in this file alone. Returns a scanner at the row's first cell.
    #[inline]
    pub(crate) fn get_row(
        &self,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> Result<Option<Scanner>> {
        trace.files_considered += 1;
        // If the previously looked-up row passed the filter, this row most likely does too. Its
        // block is then prefetched before the filter is asked, so that the cache misses of both
        // overlap.
        let last_passed = self.file.last_row_passed_filter.load(Relaxed);
        let early_seek = last_passed.then(|| FileSeek::begin(&self.file, probe));
        let answer = self.ask(self.filter_state(probe), probe, trace);
        if answer.is_ok() != last_passed {
            self.file.last_row_passed_filter.store(answer.is_ok(), Relaxed);
        }
        let Ok(answer) = answer else { return Ok(None) };
        let seek = early_seek.unwrap_or_else(|| FileSeek::begin(&self.file, probe));
        match seek.finish(&self.file, answer, probe, trace) {
            // Constructed in place: a scanner is large, and a move would copy it.
            Ok(Some(position)) => Ok(Some(Scanner::at(Arc::clone(&self.file), position))),
            Ok(None) => Ok(None),
            Err(error) => Err(*error),
        }
    }

    /// Compares the row with the file's range, and prefetches the filter's cache lines.
    #[inline]
    pub(super) fn filter_state(&self, probe: &RowProbe<'_>) -> FilterState<'_> {
        if !self.spans(probe) {
            return FilterState::OutOfRange;
        }
        let resident = match self.filter.get() {
            Some(whole) => Some(whole.resident()),
            None if self.filters.row_filter().is_none() => None,
            None => self.find_resident_filter(probe),
        };
        let Some(filter) = resident else { return FilterState::NotResident };
        filter.prefetch(probe);
        FilterState::Resident(filter)
    }

    /// Returns the state of a file that the family map named.
    ///
    /// The map has rows, so only a filter over columns says more, about a get of one column.
    #[inline]
    pub(super) fn state_if_named(&self, probe: &RowProbe<'_>) -> FilterState<'_> {
        if !self.spans(probe) {
            FilterState::OutOfRange
        } else if probe.qualifier().is_some() && self.file.is_filter_over_columns {
            FilterState::NotResident
        } else {
            FilterState::Replaced
        }
    }

    /// Asks the filter whether the file may have the row, and updates the counters of `trace`.
    ///
    /// The error is the reason why the file is skipped.
    #[inline]
    pub(super) fn ask(
        &self,
        state: FilterState<'_>,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> Result<FilterAnswer, FileFate> {
        let answer = match state {
            FilterState::OutOfRange => {
                trace.files_skipped_by_range += 1;
                return Err(FileFate::OutOfRange);
            }
            FilterState::Replaced => FilterAnswer::NotCovered,
            FilterState::Resident(filter) => filter.ask(probe, trace),
            FilterState::NotResident => self.filters.ask(&self.file.blocks, probe, trace),
        };
        if answer == FilterAnswer::No { Err(FileFate::Denied) } else { Ok(answer) }
    }

    /// Returns whether the row is between the file's first and last row.
    #[inline]
    fn spans(&self, probe: &RowProbe<'_>) -> bool {
        let Some((first, last)) = self.heads else { return self.file.spans_row(probe.row()) };
        match (probe.head().cmp(&first), probe.head().cmp(&last)) {
            (Ordering::Less, _) | (_, Ordering::Greater) => false,
            (Ordering::Greater, Ordering::Less) => true,
            _ => self.file.spans_row(probe.row()),
        }
    }

    /// Returns the row filter, or its partition for the row, if resident in memory.
    ///
    /// Stores a filter that is a single block in `self.filter`, where later lookups find it inline.
    #[inline(never)]
    fn find_resident_filter(&self, probe: &RowProbe<'_>) -> Option<ResidentFilter<'_>> {
        match self.filters.resident_whole() {
            Some(ResidentFilter { filter, bytes }) => {
                let share = || WholeFilter { filter: filter.clone(), bytes };
                Some(self.filter.get_or_init(share).resident())
            }
            None => self.filters.resident(probe),
        }
    }
}

/// What a lookup did with a file: skipped the file for one of five reasons, or searched it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum FileFate {
    /// All cells of the file are too old for the stop rule, the time range or the family's TTL.
    TooOld,
    /// All cells of the file are newer than the time range.
    TooNew,
    /// The row is before the first row or after the last row of the file.
    OutOfRange,
    /// The file's filter says that the file does not have the row.
    Denied,
    /// The family map, which covers the file, says that the file does not have the row.
    DeniedByMap,
    /// The file was searched and does not have the row.
    ///
    /// Either no filter answered, or its answer was a false positive.
    Absent,
    /// The file has the row, and its cells were read.
    Read,
}

impl FileFate {
    /// Returns a short description.
    pub const fn text(self) -> &'static str {
        match self {
            Self::TooOld => "skipped: too old",
            Self::TooNew => "skipped: too new",
            Self::OutOfRange => "skipped: out of range",
            Self::Denied => "skipped: filter says no",
            Self::DeniedByMap => "skipped: map says no",
            Self::Absent => "looked into: not there",
            Self::Read => "read",
        }
    }
}

/// The state of a file before its filter is asked.
#[derive(Clone, Copy, Debug)]
pub(super) enum FilterState<'a> {
    /// The row is before the first row or after the last row of the file.
    OutOfRange,
    /// The file's filter is in memory, and its cache lines were prefetched.
    Resident(ResidentFilter<'a>),
    /// The file has no filter in memory. Asking may read its block.
    NotResident,
    /// The family map has answered in place of the filter.
    Replaced,
}

/// Files ordered by their newest cell, newest first. Clones are cheap.
///
/// A lookup stops at the first file whose newest cell is too old, because all later files are
/// older.
#[derive(Clone, Debug)]
pub struct LookupFiles(Arc<[LookupFile]>);

impl LookupFiles {
    /// Makes a list of files, which must be ordered by their newest cell, newest first.
    ///
    /// # Panics
    ///
    /// If a file's newest cell is newer than that of the file before it: lookups would stop too
    /// early.
    pub fn new(files: Vec<LookupFile>) -> Self {
        assert!(
            files.is_sorted_by_key(|file| Reverse(file.newest)),
            "the files of a lookup are in the order of their newest cells"
        );
        Self(files.into())
    }
}

impl Default for LookupFiles {
    fn default() -> Self {
        Self(Arc::new([]))
    }
}

impl Deref for LookupFiles {
    type Target = [LookupFile];

    fn deref(&self) -> &[LookupFile] {
        &self.0
    }
}
