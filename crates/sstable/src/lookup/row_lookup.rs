//! The lookup of one row in an ordered list of files: finds the files that have the row.

use std::sync::Arc;

use cells::{CellRef, Timestamp};

use super::file_seek::FileSeek;
use super::files::{FileFate, LookupFile};
use crate::error::Result;
use crate::file::filters::filter_answer::FilterAnswer;
use crate::file::open_file::OpenFile;
use crate::probe::RowProbe;
use crate::scan::position::ScanPosition;
use crate::scan::scanner::Scanner;
use crate::trace::ReadTrace;

/// Receives what a lookup did with each file, in the order of the list.
pub trait LookupObserver {
    /// Receives the fate of the file at `index`, once the lookup has skipped or searched the file.
    ///
    /// `trace` has the counters of the lookup so far. Not called for a file that cannot be read: the
    /// result of the lookup says so.
    fn file(&mut self, index: usize, fate: FileFate, trace: &ReadTrace);
}

/// Ignores all calls, at no cost.
impl LookupObserver for () {
    fn file(&mut self, _: usize, _: FileFate, _: &ReadTrace) {}
}

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
    /// The wanted time range, `from` inclusive and `until` exclusive.
    from: Timestamp,
    until: Timestamp,
    /// The stop rule: files whose cells are all older than this are not needed now.
    stop_below: Timestamp,
    /// The answer of the family map; it covers no file if there was none.
    map: MapAnswer,
    /// The index of the next file.
    next: usize,
    /// The filters of the files before this index were prefetched.
    prefetched: usize,
    /// The file that is searched next.
    candidate: Option<Candidate>,
    trace: ReadTrace,
}

/// A file that may have the row: its index, its filter's answer and the state of its search.
#[derive(Debug)]
struct Candidate {
    index: usize,
    answer: FilterAnswer,
    seek: FileSeek,
}

/// Whether a file is searched.
enum Decision {
    /// It is searched, after this answer of its filter.
    Search(FilterAnswer),
    Skip(FileFate),
}

impl<'a> RowLookup<'a> {
    /// Begins the lookup of a row, and counts all files as considered.
    ///
    /// `files` must be in the order of [`LookupFiles`](super::LookupFiles).
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "avoids a move of the large return value")]
    pub fn new(files: &'a [LookupFile], probe: &'a RowProbe<'a>) -> Self {
        let mut trace = ReadTrace::default();
        trace.files_considered = files.len() as u64;
        Self {
            files,
            probe,
            from: Timestamp::OLDEST,
            until: Timestamp::LATEST,
            stop_below: Timestamp::OLDEST,
            map: MapAnswer::default(),
            next: 0,
            prefetched: 0,
            candidate: None,
            trace,
        }
    }

    /// Returns the lookup's counters if a family map denies the row in every file, else `None`.
    ///
    /// The fast path of an absent row: [`next_file`](Self::next_file) would find nothing, and count
    /// the same.
    pub fn denied_by_map(files: &[LookupFile], map: &MapAnswer) -> Option<ReadTrace> {
        (map.denied_run(0) >= files.len()).then(|| {
            let mut trace = ReadTrace::default();
            trace.files_considered = files.len() as u64;
            trace.map_lookups = 1;
            trace.files_skipped_by_map = files.len() as u64;
            trace
        })
    }

    /// Limits the lookup to cells from time `from` on and before `until`. Default: all.
    ///
    /// [`Timestamp::LATEST`] as `until` is no limit.
    pub fn times(&mut self, from: Timestamp, until: Timestamp) {
        (self.from, self.until) = (from, until);
    }

    /// Sets the stop rule: files whose cells are all older than `time` are not needed now.
    ///
    /// A later call with an earlier time continues the lookup with these files.
    pub fn stop_below(&mut self, time: Timestamp) {
        self.stop_below = time;
    }

    /// Sets the answer of a family map, which replaces the filters of the files that it covers.
    ///
    /// Counts the lookup in the map. The answer must be about these files, in this order: a covered
    /// file that it does not name is not searched.
    pub fn answered_by_map(&mut self, answer: MapAnswer) {
        // Clears the bits beyond the end of the list.
        let covered = answer.covered
            & (!0_u64).checked_shl(self.files.len() as u32).map_or(!0, |above| !above);
        self.map = MapAnswer { covered, ..answer };
        self.trace.map_lookups += 1;
        self.trace.map_candidates += u64::from((covered & answer.named).count_ones());
    }

    /// Returns the probe for the row.
    pub const fn probe(&self) -> &'a RowProbe<'a> {
        self.probe
    }

    /// Returns the counters of the lookup so far.
    pub const fn trace(&self) -> &ReadTrace {
        &self.trace
    }

    /// Returns the counters of the lookup so far, so that the caller can add its own reads.
    #[doc(hidden)]
    pub const fn trace_mut(&mut self) -> &mut ReadTrace {
        &mut self.trace
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
    pub fn next_file(
        &mut self,
        observer: &mut impl LookupObserver,
    ) -> Result<Option<RowInFile<'a>>> {
        loop {
            self.advance_to_candidate(observer);
            let Some(Candidate { index, answer, seek }) = self.candidate.take() else {
                return Ok(None);
            };
            let file = &self.files[index].file;
            match seek.finish(file, answer, self.probe, &mut self.trace) {
                Ok(Some(position)) => {
                    observer.file(index, FileFate::Read, &self.trace);
                    return Ok(Some(RowInFile::new(index, file, position)));
                }
                Ok(None) => {
                    self.trace.map_false_files += u64::from(self.map.covers(index));
                    observer.file(index, FileFate::Absent, &self.trace);
                }
                Err(error) => return Err(*error),
            }
        }
    }

    /// Advances to the next file that is searched, unless the lookup already has one.
    ///
    /// Searches the index root of the file, and prefetches the block if its address is known.
    pub(super) fn advance_to_candidate(&mut self, observer: &mut impl LookupObserver) {
        while self.candidate.is_none() {
            for _ in 0..self.map.denied_run(self.next) {
                self.skip(FileFate::DeniedByMap, observer);
            }
            match self.decide() {
                None | Some(Decision::Skip(FileFate::TooOld)) => return,
                Some(Decision::Skip(fate)) => self.skip(fate, observer),
                Some(Decision::Search(answer)) => {
                    let index = self.next;
                    let seek = FileSeek::begin(&self.files[index].file, self.probe);
                    self.candidate = Some(Candidate { index, answer, seek });
                    self.next += 1;
                }
            }
        }
    }

    /// Decides by times, row range and filter whether the next file is searched.
    ///
    /// The caller has skipped the files that the family map denies. `None` after the last file.
    #[inline]
    fn decide(&mut self) -> Option<Decision> {
        let file = self.files.get(self.next)?;
        if file.newest() < self.stop_below.max(self.from) {
            return Some(Decision::Skip(FileFate::TooOld));
        }
        if file.oldest() >= self.until && self.until != Timestamp::LATEST {
            return Some(Decision::Skip(FileFate::TooNew));
        }
        let is_covered = self.map.covers(self.next);
        if !is_covered && self.next >= self.prefetched {
            self.prefetch_filters();
        }
        if !file.spans(self.probe) {
            return Some(Decision::Skip(FileFate::OutOfRange));
        }
        // A map that covers the file has named it. The map has rows, so only a filter over columns
        // says more.
        let asks_columns = self.probe.qualifier().is_some() && file.file.is_filter_over_columns;
        if is_covered && !asks_columns {
            return Some(Decision::Search(FilterAnswer::NotCovered));
        }
        Some(match file.filter.ask(&file.file.blocks, self.probe, &mut self.trace) {
            FilterAnswer::No => Decision::Skip(FileFate::Denied),
            answer => Decision::Search(answer),
        })
    }

    /// Skips the next file: counts it, and reports why.
    fn skip(&mut self, fate: FileFate, observer: &mut impl LookupObserver) {
        match fate {
            FileFate::TooOld | FileFate::TooNew => self.trace.files_skipped_by_time += 1,
            FileFate::OutOfRange => self.trace.files_skipped_by_range += 1,
            FileFate::DeniedByMap => self.trace.files_skipped_by_map += 1,
            // Counted with the answer of the filter.
            FileFate::Denied => {}
            FileFate::Absent | FileFate::Read => unreachable!("a file that was searched"),
        }
        observer.file(self.next, fate, &self.trace);
        self.next += 1;
    }

    /// Ends the lookup: the remaining files are too old to matter, and are counted as skipped.
    pub fn end(&mut self, observer: &mut impl LookupObserver) {
        for _ in self.next..self.files.len() {
            self.skip(FileFate::TooOld, observer);
        }
    }

    /// Prefetches the filters of the next `WINDOW` files, so that their cache misses overlap.
    ///
    /// Leaves out files whose range does not have the row, and files that the family map covers: of
    /// those only filters over columns are asked, which are not prefetched.
    pub(super) fn prefetch_filters(&mut self) {
        for (index, file) in (self.next..).zip(&self.files[self.next..]).take(WINDOW) {
            if !self.map.covers(index) && file.spans(self.probe) {
                file.filter.prefetch(self.probe);
            }
        }
        self.prefetched = self.next + WINDOW;
    }

    /// Loads the block in which the row would begin in the candidate file.
    ///
    /// Keeps an error for the next call of [`next_file`](Self::next_file), which returns it.
    pub(super) fn load_block(&mut self) {
        if let Some(Candidate { index, seek, .. }) = &mut self.candidate {
            seek.load_block(&self.files[*index].file, self.probe, &mut self.trace);
        }
    }

    /// Prefetches the row's cell in the loaded block.
    pub(super) fn prefetch_cell(&mut self) {
        if let Some(candidate) = &mut self.candidate {
            candidate.seek.search_row_table();
        }
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

    /// Returns how many successive files, from `index` on, the map denies.
    #[inline]
    fn denied_run(&self, index: usize) -> usize {
        (self.covered & !self.named).checked_shr(index as u32).map_or(0, u64::trailing_ones)
            as usize
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
    position: ScanPosition,
}

impl<'a> RowInFile<'a> {
    const fn new(index: usize, file: &'a Arc<OpenFile>, position: ScanPosition) -> Self {
        Self { index, file, position }
    }

    /// Returns the index of the file in the list of the lookup.
    pub const fn file(&self) -> usize {
        self.index
    }

    /// Returns the first cell of the row.
    pub fn cell(&self) -> CellRef<'_> {
        self.position.cell()
    }

    /// Returns a scanner at the first cell of the row.
    pub fn into_scanner(self) -> Scanner {
        Scanner::at(Arc::clone(self.file), self.position)
    }
}
