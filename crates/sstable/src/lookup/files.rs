//! The list of files of a lookup, in the order in which they are searched.

use std::cmp::{Ordering, Reverse};
use std::ops::Deref;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use filter::StoredFilter;

use super::file_seek::FileSeek;
use crate::file::filters::file_filters::{FilterAnswer, ResidentFilter};
use crate::file::open_file::OpenFile;
use crate::row_head::{RowHead, row_head};
use crate::{Comparator, ReadTrace, Result, RowProbe, Scanner, Timestamp};

/// A file of a lookup list.
///
/// Holds the file's row range, time range and filter inline, so that most files are skipped without
/// a cache miss on their other data. Made by [`Reader::lookup_file`](crate::Reader::lookup_file).
#[derive(Clone, Debug)]
pub struct LookupFile {
    pub(crate) file: Arc<OpenFile>,
    /// The heads of the first and the last row; `None` if rows are not in byte order.
    heads: Option<(RowHead, RowHead)>,
    oldest: Timestamp,
    newest: Timestamp,
    /// The file's filter, if it is a single block. Set once the block is resident.
    filter: OnceLock<WholeFilter>,
}

/// A filter in one block. Shares its bytes with the block.
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
        Self { file, heads, oldest, newest, filter: OnceLock::new() }
    }

    /// Sets the time range of the file's cells. Default: any time.
    ///
    /// A delete marker extends the range down to the oldest time that the marker covers.
    #[must_use]
    pub fn times(self, oldest: Timestamp, newest: Timestamp) -> Self {
        Self { oldest, newest, ..self }
    }

    /// Returns the time of the oldest cell that the file may hold.
    pub const fn oldest(&self) -> Timestamp {
        self.oldest
    }

    /// Returns the time of the newest cell that the file may hold.
    pub const fn newest(&self) -> Timestamp {
        self.newest
    }

    /// Looks up a row in this file alone. Returns a scanner at its first cell.
    #[inline]
    pub(crate) fn get_row(
        &self,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> Result<Option<Scanner>> {
        trace.files_considered += 1;
        // If the last row passed the filter, this one most likely does too. Its block is then
        // prefetched before the filter is asked, so that the cache misses of both overlap.
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
            None if self.file.filters.row_filter().is_none() => None,
            None => self.find_resident_filter(probe),
        };
        let Some(filter) = resident else { return FilterState::NotResident };
        filter.prefetch(probe);
        FilterState::Resident(filter)
    }

    /// Asks the filter, and counts the question and the reason if the file is skipped.
    ///
    /// The error is the reason.
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
            FilterState::Resident(filter) => filter.ask(probe, trace),
            FilterState::NotResident => self.file.filters.ask(&self.file.blocks, probe, trace),
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

    /// Returns our filter, or its partition for a row, if resident. Stores a whole filter inline.
    #[inline(never)]
    fn find_resident_filter(&self, probe: &RowProbe<'_>) -> Option<ResidentFilter<'_>> {
        match self.file.filters.resident_whole() {
            Some(ResidentFilter { filter, bytes }) => {
                let share = || WholeFilter { filter: filter.clone(), bytes };
                Some(self.filter.get_or_init(share).resident())
            }
            None => self.file.filters.resident(probe),
        }
    }
}

/// What a lookup did with a file: skipped the file for one of four reasons, or searched it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum FileFate {
    /// All its cells are too old: older than the stop rule, the time range or the family's TTL.
    TooOld,
    /// All its cells are newer than the time range.
    TooNew,
    /// The row is before its first row or after its last row.
    OutOfRange,
    /// Its filter says that it does not hold the row.
    Denied,
    /// It was searched and does not hold the row: no filter answered, or a false positive.
    Absent,
    /// It holds the row, and the cells were read.
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
            Self::Absent => "looked into: not there",
            Self::Read => "read",
        }
    }
}

/// The state of a file before its filter is asked.
#[derive(Clone, Copy, Debug)]
pub(super) enum FilterState<'a> {
    /// The row is before its first row or after its last row.
    OutOfRange,
    /// Its filter is resident, and was prefetched.
    Resident(ResidentFilter<'a>),
    /// Its filter is not resident, and may have to be read.
    NotResident,
}

/// Files ordered by their newest cell, newest first. Clones are cheap.
///
/// A lookup stops at the first file whose newest cell is too old, because all later files are
/// older.
#[derive(Clone, Debug)]
pub struct LookupFiles(Arc<[LookupFile]>);

impl LookupFiles {
    /// Makes a list of files, which must be in order.
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
