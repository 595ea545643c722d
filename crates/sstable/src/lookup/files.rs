//! Files that lookups ask, in the order in which they are asked.

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

/// A file in a lookup list, with its range of rows and times and its filter inline, so that most files are
/// skipped without touching their memory.
///
/// Made by [`Reader::lookup_file`](crate::Reader::lookup_file).
#[derive(Clone, Debug)]
pub struct LookupFile {
    pub(crate) file: Arc<OpenFile>,
    /// The heads of the first and the last row; `None` where rows are not in the order of their bytes.
    heads: Option<(RowHead, RowHead)>,
    oldest: Timestamp,
    newest: Timestamp,
    /// The file's filter, if it is a single block; set once the block is in memory.
    filter: OnceLock<WholeFilter>,
}

/// A filter in one block. A clone shares the bytes with the block.
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
    /// Takes a file that may hold cells of any time.
    pub(crate) fn new(file: Arc<OpenFile>) -> Self {
        let rows = file.rows.as_ref().filter(|_| file.trailer.comparator == Comparator::Bytes);
        let heads = rows.map(|rows| (row_head(&rows.first), row_head(&rows.last)));
        let (oldest, newest) = (Timestamp::OLDEST, Timestamp::LATEST);
        Self { file, heads, oldest, newest, filter: OnceLock::new() }
    }

    /// Sets the time range of the file's cells. A delete marker extends it down to the oldest time that the marker
    /// covers. Default: any time.
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

    /// Looks a row up in this file alone. Returns a scanner on its first cell.
    #[inline]
    pub(crate) fn get_row(
        &self,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> Result<Option<Scanner>> {
        trace.files_considered += 1;
        // A file that had the last row most likely has this one too. Its block is then prefetched before the
        // filter is asked, so that their waits for memory overlap.
        let last_passed = self.file.last_row_passed_filter.load(Relaxed);
        let early_seek = last_passed.then(|| FileSeek::begin(&self.file, probe));
        let answer = self.ask(self.filter_state(probe), probe, trace);
        if answer.is_ok() != last_passed {
            self.file.last_row_passed_filter.store(answer.is_ok(), Relaxed);
        }
        let Ok(answer) = answer else { return Ok(None) };
        let seek = early_seek.unwrap_or_else(|| FileSeek::begin(&self.file, probe));
        match seek.finish(&self.file, answer, probe, trace) {
            // Made in place: a scanner is large, and moving it would cost a copy.
            Ok(Some(position)) => Ok(Some(Scanner::at(Arc::clone(&self.file), position))),
            Ok(None) => Ok(None),
            Err(error) => Err(*error),
        }
    }

    /// Compares the file's range with the row, and prefetches what its filter will read.
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

    /// Asks the filter; counts the question, and why the file is skipped. The error is why.
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

    /// Returns whether the row lies between the file's first row and its last.
    #[inline]
    fn spans(&self, probe: &RowProbe<'_>) -> bool {
        let Some((first, last)) = self.heads else { return self.file.spans_row(probe.row()) };
        match (probe.head().cmp(&first), probe.head().cmp(&last)) {
            (Ordering::Less, _) | (_, Ordering::Greater) => false,
            (Ordering::Greater, Ordering::Less) => true,
            _ => self.file.spans_row(probe.row()),
        }
    }

    /// Returns the filter of ours that answers for a row, if it is in memory; keeps that of the whole file.
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

/// What a lookup did with a file: it skipped the file for one of four reasons, or looked into it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum FileFate {
    /// All its cells are older than what decides the answer: what was found in newer files, the
    /// start of the time range, or the family's TTL.
    TooOld,
    /// All its cells are newer than the time range.
    TooNew,
    /// The row lies before its first row or behind its last.
    OutOfRange,
    /// Its filter says that it does not hold the row.
    Denied,
    /// It was looked into, and does not hold the row: it has no filter that could have told, or the
    /// filter was wrong.
    Absent,
    /// It holds the row, and its cells were read.
    Read,
}

impl FileFate {
    /// In words.
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

/// What is known of a file before its filter is asked.
#[derive(Clone, Copy, Debug)]
pub(super) enum FilterState<'a> {
    /// The row lies before its first row or behind its last.
    OutOfRange,
    /// Its filter is in memory, and was prefetched.
    Resident(ResidentFilter<'a>),
    /// It has no filter in memory. One may have to be read.
    NotResident,
}

/// Files in the order of their newest cell, the newest first. Cloning is cheap.
///
/// A lookup stops at the first file whose newest cell is too old to matter; all later files are older.
#[derive(Clone, Debug)]
pub struct LookupFiles(Arc<[LookupFile]>);

impl LookupFiles {
    /// Takes files in their order.
    ///
    /// # Panics
    ///
    /// If a file's newest cell is newer than that of the file in front of it: lookups would stop too early.
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
