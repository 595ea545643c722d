//! The lookup of one row in an ordered list of files: finds the files that have the row.

use std::cmp::Ordering;
use std::sync::Arc;

use cells::{CellRef, Timestamp};

use super::files::{FileFate, LookupFile};
use super::seek_row::{
    FirstCell, IndexedBlock, LoadedBlock, lacks_column, load_block, search_index, seek_row,
};
use crate::error::{Error, Result};
use crate::file::filters::filter_answer::FilterAnswer;
use crate::file::open_file::OpenFile;
use crate::probe::RowProbe;
use crate::scan::scanner::Scanner;
use crate::trace::ReadTrace;

/// The number of filters that are prefetched together.
///
/// About the number of cache misses that a core can have outstanding.
const WINDOW: usize = 16;

/// The lookup of one row in an ordered list of files.
///
/// Each call of [`next_file`](Self::next_file) returns the next file that has the row. As long as
/// the caller needs no older cells, [`stop_below`](Self::stop_below) stops the lookup before the
/// first file that is too old; [`end`](Self::end) then counts the files that were never needed.
#[derive(Debug)]
pub struct RowLookup<'a> {
    files: &'a [LookupFile],
    probe: &'a RowProbe<'a>,
    limits: LookupLimits,
    /// The stop rule: files whose cells are all older than this are not needed now.
    stop_below: Timestamp,
    /// The answer of the family map; it covers no file if there was none.
    map: MapAnswer,
    /// The index of the next file.
    next: usize,
    /// The filters of the files before this index were prefetched.
    prefetched: usize,
    /// What a batch has done with the next file.
    begun: Option<BegunFile>,
    /// What the lookup did with each file, if the caller wants to know.
    outcomes: Option<Box<Outcomes>>,
    trace: ReadTrace,
}

/// The files that a lookup reads. The default is all.
#[derive(Clone, Copy, Debug)]
pub struct LookupLimits {
    /// The oldest time of wanted cells.
    pub from: Timestamp,
    /// The time before which wanted cells are. [`Timestamp::LATEST`] is no limit.
    pub until: Timestamp,
    /// The answer of a family map, which replaces the filters of the files that it covers.
    ///
    /// Must be about the files of the lookup, in their order: a covered file that it does not name is
    /// not searched.
    pub map: Option<MapAnswer>,
}

impl Default for LookupLimits {
    fn default() -> Self {
        Self { from: Timestamp::OLDEST, until: Timestamp::LATEST, map: None }
    }
}

/// A file that may have the row, and of which a batch has loaded the block.
#[derive(Debug)]
struct BegunFile {
    answer: FilterAnswer,
    /// `None` before the block is loaded.
    block: Option<Result<LoadedBlock, Box<Error>>>,
}

/// What a lookup did with one file.
#[derive(Clone, Copy, Debug)]
pub struct FileOutcome {
    /// The index of the file in the list.
    pub file: usize,
    /// Why the file was skipped, or what the search found.
    pub fate: FileFate,
    /// The counters of this file.
    pub trace: ReadTrace,
}

/// The outcomes of the files so far.
#[derive(Debug)]
struct Outcomes {
    files: Vec<FileOutcome>,
    /// The counters of the lookup before the next file.
    before: ReadTrace,
}

impl<'a> RowLookup<'a> {
    /// Begins the lookup of a row, and counts all files as considered.
    ///
    /// `files` must be in the order of [`LookupFiles`](super::LookupFiles).
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "avoids a move of the large return value")]
    pub fn new(files: &'a [LookupFile], probe: &'a RowProbe<'a>, limits: LookupLimits) -> Self {
        let mut trace = ReadTrace::default();
        trace.files_considered = files.len() as u64;
        let mut map = MapAnswer::default();
        if let Some(MapAnswer { covered, named }) = limits.map {
            let listed = u64::MAX.checked_shl(files.len() as u32).map_or(u64::MAX, |after| !after);
            map = MapAnswer { covered: covered & listed, named };
            trace.map_lookups = 1;
            trace.map_candidates = u64::from((map.covered & named).count_ones());
        }
        Self {
            files,
            probe,
            limits,
            stop_below: Timestamp::OLDEST,
            map,
            next: 0,
            prefetched: 0,
            begun: None,
            outcomes: None,
            trace,
        }
    }

    /// Returns the lookup's counters if a family map denies the row in every file, else `None`.
    ///
    /// The fast path of an absent row: [`next_file`](Self::next_file) would find nothing, and count
    /// the same.
    pub fn denied_by_map(files: &[LookupFile], map: &MapAnswer) -> Option<ReadTrace> {
        let denied = (map.covered & !map.named).trailing_ones() as usize;
        (denied >= files.len()).then(|| {
            let mut trace = ReadTrace::default();
            trace.files_considered = files.len() as u64;
            trace.map_lookups = 1;
            trace.files_skipped_by_map = files.len() as u64;
            trace
        })
    }

    /// Records what the lookup does with each file, for [`outcomes`](Self::outcomes).
    pub fn record_outcomes(&mut self) {
        self.outcomes = Some(Box::new(Outcomes { files: Vec::new(), before: self.trace }));
    }

    /// Returns what the lookup did with each file, in the order of the list.
    ///
    /// Empty without [`record_outcomes`](Self::record_outcomes). Has no file that could not be read.
    pub fn outcomes(&self) -> &[FileOutcome] {
        self.outcomes.as_ref().map_or(&[], |outcomes| &outcomes.files)
    }

    /// Sets the stop rule: files whose cells are all older than `time` are not needed now.
    ///
    /// A later call with an earlier time continues the lookup with these files.
    pub fn stop_below(&mut self, time: Timestamp) {
        self.stop_below = time;
    }

    /// Returns the probe for the row.
    pub const fn probe(&self) -> &'a RowProbe<'a> {
        self.probe
    }

    /// Returns the counters of the lookup so far.
    pub const fn trace(&self) -> &ReadTrace {
        &self.trace
    }

    /// Adds the caller's own reads in the file at `index` to the counters.
    #[doc(hidden)]
    pub fn add_reads(&mut self, index: usize, reads: &ReadTrace) {
        self.trace.add(reads);
        let outcomes = self.outcomes.iter_mut().flat_map(|outcomes| &mut outcomes.files);
        for outcome in outcomes.filter(|outcome| outcome.file == index) {
            outcome.trace.add(reads);
        }
    }

    /// Returns the row in the next file that has it.
    ///
    /// Returns `None` if no remaining file has the row, or if the remaining files are too old by the
    /// [stop rule](Self::stop_below).
    ///
    /// # Errors
    ///
    /// If a block cannot be read. The next call continues with the next file.
    #[inline]
    pub fn next_file(&mut self) -> Result<Option<RowInFile<'a>>> {
        while let Some(BegunFile { answer, block }) = self.candidate() {
            let (index, file) = (self.next, &self.files[self.next].file);
            let found = match block {
                None => seek_row(file, self.probe, &mut self.trace),
                Some(Ok(block)) => block.find_row(file, self.probe, &mut self.trace),
                Some(Err(error)) => Err(error),
            };
            let found = match found {
                Ok(found) => found,
                Err(error) => {
                    self.next += 1;
                    return Err(*error);
                }
            };
            let is_false_positive = answer == FilterAnswer::Maybe
                && found.as_ref().is_none_or(|first| {
                    (file.is_filter_over_columns || self.trace.filters_unreadable > 0)
                        && lacks_column(file, self.probe, first)
                });
            self.trace.filter_false_positives += u64::from(is_false_positive);
            let Some(first_cell) = found else {
                self.end_file(FileFate::Absent);
                continue;
            };
            self.end_file(FileFate::Read);
            return Ok(Some(RowInFile { index, file, first_cell }));
        }
        Ok(None)
    }

    /// Skips files until the next one may have the row.
    ///
    /// Returns `None` if there is none, or if the remaining files are too old.
    #[inline]
    fn candidate(&mut self) -> Option<BegunFile> {
        if self.begun.is_some() {
            return self.begun.take();
        }
        while let Some(file) = self.files.get(self.next) {
            let is_covered = self.map.covers(self.next);
            let fate = if is_covered && self.map.named >> self.next & 1 == 0 {
                FileFate::DeniedByMap
            } else if file.newest < self.stop_below.max(self.limits.from) {
                return None;
            } else if file.oldest >= self.limits.until && self.limits.until != Timestamp::LATEST {
                FileFate::TooNew
            } else {
                // For the last file, a prefetch just before its filter is asked would save nothing.
                if !is_covered && self.next >= self.prefetched && self.next + 1 < self.files.len() {
                    self.prefetch_filters();
                }
                // The map has rows, so only a filter over columns says more than the map.
                let is_asked = !is_covered
                    || (self.probe.qualifier().is_some() && file.file.is_filter_over_columns);
                if !spans(file, self.probe) {
                    FileFate::OutOfRange
                } else if !is_asked {
                    return Some(BegunFile { answer: FilterAnswer::NotCovered, block: None });
                } else {
                    match file.filter.ask(&file.file.blocks, self.probe, &mut self.trace) {
                        FilterAnswer::No => FileFate::Denied,
                        answer => return Some(BegunFile { answer, block: None }),
                    }
                }
            };
            self.end_file(fate);
        }
        None
    }

    /// Counts what became of the next file, records it, and moves on to the file after it.
    #[inline]
    fn end_file(&mut self, fate: FileFate) {
        match fate {
            FileFate::TooOld | FileFate::TooNew => self.trace.files_skipped_by_time += 1,
            FileFate::OutOfRange => self.trace.files_skipped_by_range += 1,
            FileFate::Denied => self.trace.files_skipped_by_filter += 1,
            FileFate::DeniedByMap => self.trace.files_skipped_by_map += 1,
            FileFate::Absent => self.trace.map_false_files += u64::from(self.map.covers(self.next)),
            FileFate::Read => {}
        }
        if let Some(outcomes) = &mut self.outcomes {
            let trace = self.trace.since(&outcomes.before);
            outcomes.files.push(FileOutcome { file: self.next, fate, trace });
            outcomes.before = self.trace;
        }
        self.next += 1;
    }

    /// Ends the lookup: the remaining files are too old to matter, and are counted as skipped.
    pub fn end(&mut self) {
        // A batch has read in this file, which was not needed after all.
        self.next += usize::from(self.begun.take().is_some());
        while self.next < self.files.len() {
            self.end_file(FileFate::TooOld);
        }
    }

    /// Prefetches the filters of the next `WINDOW` files, so that their cache misses overlap.
    ///
    /// Leaves out files whose range does not have the row, and files that the family map covers: only
    /// filters over columns are asked beside a map, and those are not prefetched.
    pub(super) fn prefetch_filters(&mut self) {
        for (index, file) in (self.next..).zip(&self.files[self.next..]).take(WINDOW) {
            if !self.map.covers(index) && spans(file, self.probe) {
                file.filter.prefetch(self.probe);
            }
        }
        self.prefetched = self.next + WINDOW;
    }

    /// Advances to the next file that may have the row, and searches its index.
    ///
    /// Returns `None` without such a file, or if the lookup has already begun with it.
    pub(super) fn search_next_index(&mut self) -> Option<IndexedBlock<'a>> {
        if self.begun.is_some() {
            return None;
        }
        self.begun = self.candidate();
        self.begun.as_ref()?;
        Some(search_index(&self.files[self.next].file, self.probe))
    }

    /// Loads the block in which the row would begin in the next file.
    ///
    /// Keeps an error for the next call of [`next_file`](Self::next_file), which returns it.
    pub(super) fn load_block(&mut self, indexed: Option<IndexedBlock<'a>>) {
        if let (Some(begun), Some(indexed)) = (&mut self.begun, indexed) {
            let file = &self.files[self.next].file;
            begun.block = Some(load_block(file, indexed, self.probe, &mut self.trace));
        }
    }

    /// Prefetches the row's cell in the loaded block.
    pub(super) fn prefetch_cell(&self) {
        if let Some(BegunFile { block: Some(Ok(block)), .. }) = &self.begun {
            block.prefetch_cell();
        }
    }
}

/// Returns whether the row is between the file's first and last row.
#[inline]
fn spans(file: &LookupFile, probe: &RowProbe<'_>) -> bool {
    let Some((first, last)) = file.heads else { return file.file.spans_row(probe.row()) };
    match (probe.head().cmp(&first), probe.head().cmp(&last)) {
        (Ordering::Less, _) | (_, Ordering::Greater) => false,
        (Ordering::Greater, Ordering::Less) => true,
        _ => file.file.spans_row(probe.row()),
    }
}

/// The answer of a family map about one row, for the first 64 files of a list.
///
/// A family map is an index of an engine's own, from rows to files. It never leaves out a file that has the row,
/// but it may name a file that does not have it. The default covers no file.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct MapAnswer {
    covered: u64,
    named: u64,
}

impl MapAnswer {
    /// Makes an answer from two bit masks, in which bit `i` stands for the file at index `i`.
    ///
    /// `covered` are the files that the map covers; the filters of the other files are asked. `named` are the covered
    /// files that may have the row: a covered file that is not named is not searched.
    pub const fn from_masks(covered: u64, named: u64) -> Self {
        Self { covered, named }
    }

    /// Returns the mask of the named files, for tests of a map.
    #[doc(hidden)]
    pub const fn named(&self) -> u64 {
        self.named
    }

    /// Returns whether the map covers the file at `index`.
    const fn covers(&self, index: usize) -> bool {
        index < 64 && self.covered >> index & 1 == 1
    }
}

/// A row in a file, at its first cell.
///
/// Refers to the cell in its block, without a copy. Only a caller that needs more of the row's cells
/// makes it a [`Scanner`], which is larger.
#[derive(Debug)]
pub struct RowInFile<'a> {
    index: usize,
    file: &'a Arc<OpenFile>,
    first_cell: FirstCell,
}

impl RowInFile<'_> {
    /// Returns the index of the file in the list of the lookup.
    pub const fn file(&self) -> usize {
        self.index
    }

    /// Returns the first cell of the row.
    pub fn cell(&self) -> CellRef<'_> {
        self.first_cell.cell()
    }

    /// Returns a scanner at the first cell of the row.
    pub fn into_scanner(self) -> Scanner {
        Scanner::at(Arc::clone(self.file), self.first_cell.into_position())
    }
}
