//! One row in an ordered list of files: which file can have it.

use std::sync::Arc;

use super::file_seek::FileSeek;
use super::files::{FileFate, FilterState, LookupFile};
use crate::file::filters::file_filters::FilterAnswer;
use crate::{ReadTrace, Result, RowProbe, Scanner, Timestamp};

/// Receives what a lookup did with each file, in the order of the list.
pub trait LookupObserver {
    /// Called when the lookup is finished with the file at `index`. `trace` is what the lookup did up to here.
    ///
    /// Not called for a file that has the row, whose cells the caller reads, nor for one that cannot be read.
    fn file(&mut self, index: usize, fate: FileFate, trace: &ReadTrace);
}

/// Does not listen; nothing is left of it in the compiled code.
impl LookupObserver for () {
    fn file(&mut self, _: usize, _: FileFate, _: &ReadTrace) {}
}

/// Filters that are prefetched at a time: about the number of outstanding loads of a core.
const WINDOW: usize = 16;

/// The lookup of one row in an ordered list of files.
///
/// Each call of [`next_file`](Self::next_file) returns the next file that has the row. What the caller found so far may
/// settle its answer; [`stop_below`](Self::stop_below) then ends the lookup at the first file that is too old.
#[derive(Debug)]
pub struct RowLookup<'a> {
    files: &'a [LookupFile],
    probe: &'a RowProbe<'a>,
    /// Cells of these times are wanted: from `from` on, and before `until`.
    from: Timestamp,
    until: Timestamp,
    /// Files all of whose cells are older than this cannot change the answer any more.
    stop_below: Timestamp,
    /// The index of the file that comes next.
    next: usize,
    /// What is known of the files from `window_start` on.
    window: [FilterState<'a>; WINDOW],
    window_start: usize,
    window_end: usize,
    /// The candidate file that is being searched, and the state of that search.
    seek: Option<(usize, FilterAnswer, FileSeek)>,
    trace: ReadTrace,
}

impl<'a> RowLookup<'a> {
    /// Begins the lookup of a row; counts all files as considered. `files` are in the order of
    /// [`LookupFiles`](super::LookupFiles).
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is large, and would be moved")]
    pub fn new(files: &'a [LookupFile], probe: &'a RowProbe<'a>) -> Self {
        let mut trace = ReadTrace::default();
        trace.files_considered = files.len() as u64;
        Self {
            files,
            probe,
            from: Timestamp::OLDEST,
            until: Timestamp::LATEST,
            stop_below: Timestamp::OLDEST,
            next: 0,
            window: [FilterState::NotResident; WINDOW],
            window_start: 0,
            window_end: 0,
            seek: None,
            trace,
        }
    }

    /// Wants only cells from one time on and before another. Default: all.
    #[inline]
    pub fn times(&mut self, from: Timestamp, until: Timestamp) {
        (self.from, self.until) = (from, until);
    }

    /// Sets the stop rule: files all of whose cells are older than this cannot change the answer.
    #[inline]
    pub fn stop_below(&mut self, time: Timestamp) {
        self.stop_below = time;
    }

    /// Returns what the lookup did so far.
    #[inline]
    pub const fn trace(&self) -> &ReadTrace {
        &self.trace
    }

    /// Returns what the lookup did so far, for the caller to add what it read itself.
    #[inline]
    pub const fn trace_mut(&mut self) -> &mut ReadTrace {
        &mut self.trace
    }

    /// Returns the next file that has the row, by its index, and a scanner on the row's first cell in it;
    /// `None` if no further file has the row, or none matters.
    ///
    /// # Errors
    ///
    /// If a block cannot be read. The next call continues with the next file.
    #[inline]
    pub fn next_file(
        &mut self,
        observer: &mut impl LookupObserver,
    ) -> Result<Option<(usize, Scanner)>> {
        loop {
            self.advance_to_candidate(observer);
            let Some((index, answer, seek)) = self.seek.take() else { return Ok(None) };
            let file = &self.files[index].file;
            match seek.finish(file, answer, self.probe, &mut self.trace) {
                // Made in place: a scanner is large, and moving it would cost a copy.
                Ok(Some(position)) => {
                    return Ok(Some((index, Scanner::at(Arc::clone(file), position))));
                }
                Ok(None) => observer.file(index, FileFate::Absent, &self.trace),
                Err(error) => return Err(*error),
            }
        }
    }

    /// Advances to the next file that may have the row, by time, range and filter, unless the lookup is in one
    /// already. Searches its index, and prefetches the block if its address is known.
    pub(super) fn advance_to_candidate(&mut self, observer: &mut impl LookupObserver) {
        if self.seek.is_some() {
            return;
        }
        while let Some(candidate) = self.files.get(self.next) {
            let index = self.next;
            if candidate.newest() < self.stop_below.max(self.from) {
                self.skip_rest(observer);
                return;
            }
            if index == self.window_end {
                self.prefetch_filters();
            }
            let state = self.window[index - self.window_start];
            self.next += 1;
            if candidate.oldest() >= self.until {
                self.trace.files_skipped_by_time += 1;
                observer.file(index, FileFate::TooNew, &self.trace);
                continue;
            }
            match candidate.ask(state, self.probe, &mut self.trace) {
                Ok(answer) => {
                    let seek = FileSeek::begin(&candidate.file, self.probe);
                    self.seek = Some((index, answer, seek));
                    return;
                }
                Err(fate) => observer.file(index, fate, &self.trace),
            }
        }
    }

    /// Skips all files that are left: the next one is too old, and none behind it is newer.
    #[cold]
    fn skip_rest(&mut self, observer: &mut impl LookupObserver) {
        self.trace.files_skipped_by_time += (self.files.len() - self.next) as u64;
        for index in self.next..self.files.len() {
            observer.file(index, FileFate::TooOld, &self.trace);
        }
        self.next = self.files.len();
    }

    /// Compares the next files' ranges with the row, and prefetches what their filters will read, so that the
    /// waits for memory overlap.
    pub(super) fn prefetch_filters(&mut self) {
        let files = &self.files[self.next..];
        for (state, file) in self.window.iter_mut().zip(files) {
            *state = file.filter_state(self.probe);
        }
        self.window_start = self.next;
        self.window_end = self.next + files.len().min(WINDOW);
    }

    /// Gets the block of the file in which the row is being looked for. An error is returned by
    /// [`next_file`](Self::next_file).
    pub(super) fn load_block(&mut self) {
        if let Some((index, _, seek)) = &mut self.seek {
            seek.load_block(&self.files[*index].file, self.probe, &mut self.trace);
        }
    }

    /// Prefetches the row's cell in the block that was loaded.
    pub(super) fn prefetch_cell(&mut self) {
        if let Some((_, _, seek)) = &mut self.seek {
            seek.prefetch_cell();
        }
    }
}
