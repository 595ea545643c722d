//! Which files can hold a row: the one place that asks filters.
//!
//! The files stand in the order of their newest cell, so that a read can stop at the first that is
//! too old to change its answer. Today each file's own filter answers for it: those of many files are
//! sent for before the first is asked, so that a read waits for memory about once.

use sstable::{
    FilterAnswer, KeptFilter, ReadTrace, RowProbe, RowSeek, Scanner, SharedFilter, Timestamp,
};

use crate::error::Result;
use crate::files::file_list::{Files, RankedFile};
use crate::files::store_file::StoreFile;
use crate::read::explain::{FileFate, Witness};
use crate::read::query::{Scan, TimeRange};
use crate::row_head::{RowHead, row_head};

/// Filters that are waited for together. A processor core has room for about a dozen loads at once.
const AHEAD: usize = 16;

/// What is known of a file before it is its turn.
#[derive(Clone, Copy, Debug)]
enum Ahead<'a> {
    /// The row lies before its first row or after its last.
    OutOfRange,
    /// Its filter is in memory.
    Shared(&'a SharedFilter),
    /// The partition of its filter that the row belongs to is.
    Kept(KeptFilter<'a>),
    /// It has to be asked.
    Unknown,
}

/// The files of a family that are still to be asked for a row.
#[derive(Debug)]
pub(crate) struct Candidates<'a> {
    /// The newest cell first.
    remaining: &'a [RankedFile],
    /// Filters on their way to the processor, and how many of them were asked. Each takes a wait for
    /// memory; those of many files wait together.
    ahead: [Ahead<'a>; AHEAD],
    asked: usize,
    /// The file in which the row is being looked up, if that was begun.
    begun: Option<(&'a RankedFile, RowSeek)>,
    head: RowHead,
    probe: &'a RowProbe<'a>,
    time_range: TimeRange,
    /// Cells older than this have expired, and nothing keeps them.
    oldest_unexpired: Timestamp,
}

impl<'a> Candidates<'a> {
    pub(crate) fn new(
        files: &'a Files,
        probe: &'a RowProbe<'a>,
        time_range: TimeRange,
        oldest_unexpired: Timestamp,
        trace: &mut ReadTrace,
    ) -> Self {
        let remaining = files.by_time();
        trace.files_considered += remaining.len() as u64;
        let (ahead, head) = ([Ahead::Unknown; AHEAD], row_head(probe.row()));
        let (asked, begun) = (AHEAD, None);
        Self { remaining, ahead, asked, begun, head, probe, time_range, oldest_unexpired }
    }

    /// The next file that has the row, and a scanner that stands on the row's first cell in it.
    ///
    /// What is older than `settled` cannot change the answer any more.
    pub(crate) fn next(
        &mut self,
        settled: Timestamp,
        trace: &mut ReadTrace,
        witness: &mut impl Witness,
    ) -> Result<Option<(&'a RankedFile, Scanner)>> {
        loop {
            self.begin(settled, trace, witness);
            let Some((candidate, seek)) = self.begun.take() else { return Ok(None) };
            if let Some(scanner) = candidate.file.reader.finish_seek(seek, self.probe, trace)? {
                return Ok(Some((candidate, scanner)));
            }
            witness.file(&candidate.file, FileFate::Absent, trace);
        }
    }

    /// Goes on to the block in which the row is being looked up.
    pub(crate) fn load(&mut self, trace: &mut ReadTrace) {
        if let Some((candidate, seek)) = &mut self.begun {
            candidate.file.reader.load_seek(seek, self.probe, trace);
        }
    }

    /// Sends for the row's cell in the file in which it is being looked up.
    pub(crate) fn prefetch(&mut self) {
        if let Some((_, seek)) = &mut self.begun {
            seek.prefetch();
        }
    }

    /// Begins to look the row up in the next file that may have it, unless that was begun before.
    pub(crate) fn begin(
        &mut self,
        settled: Timestamp,
        trace: &mut ReadTrace,
        witness: &mut impl Witness,
    ) {
        if self.begun.is_some() {
            return;
        }
        while let Some((candidate, rest)) = self.remaining.split_first() {
            if candidate.newest < settled.max(self.time_range.min).max(self.oldest_unexpired) {
                // And so are all that follow.
                trace.files_skipped_by_time += self.remaining.len() as u64;
                for ranked in self.remaining {
                    witness.file(&ranked.file, FileFate::TooOld, trace);
                }
                self.remaining = &[];
                return;
            }
            let ahead = self.next_ahead();
            self.remaining = rest;
            if candidate.oldest >= self.time_range.max {
                trace.files_skipped_by_time += 1;
                witness.file(&candidate.file, FileFate::TooNew, trace);
                continue;
            }
            let answer = match ahead {
                Ahead::OutOfRange => {
                    trace.files_skipped_by_range += 1;
                    witness.file(&candidate.file, FileFate::OutOfRange, trace);
                    continue;
                }
                Ahead::Shared(filter) => filter.ask(self.probe, trace),
                Ahead::Kept(filter) => filter.ask(trace),
                Ahead::Unknown => candidate.file.reader.ask_filter(self.probe, trace),
            };
            if answer == FilterAnswer::No {
                witness.file(&candidate.file, FileFate::Denied, trace);
                continue;
            }
            let seek = candidate.file.reader.begin_seek(answer, self.probe);
            self.begun = Some((candidate, seek));
            return;
        }
    }

    /// What is known of the next file.
    fn next_ahead(&mut self) -> Ahead<'a> {
        if self.asked == AHEAD {
            self.look_ahead();
        }
        let ahead = self.ahead[self.asked];
        self.asked += 1;
        ahead
    }

    /// Finds out what is known of the next files, and sends for what their filters will look at.
    pub(crate) fn look_ahead(&mut self) {
        for (ahead, next) in self.ahead.iter_mut().zip(self.remaining) {
            *ahead = if !next.spans(self.head, self.probe.row()) {
                Ahead::OutOfRange
            } else if let Some(filter) = next.prefetched_filter(self.probe) {
                Ahead::Shared(filter)
            } else {
                next.file.reader.prefetched_filter(self.probe).map_or(Ahead::Unknown, Ahead::Kept)
            };
        }
        self.asked = 0;
    }
}

/// Whether a file can hold a row that a scan wants, as far as its first row, its last row and its
/// filter know: of rows that begin all alike.
pub(crate) fn may_hold_rows_of(file: &StoreFile, scan: &Scan, trace: &mut ReadTrace) -> bool {
    let Some(prefix) = scan.prefix.as_deref() else { return true };
    trace.files_considered += 1;
    let (first, last) = (file.entry.first_row(), file.entry.last_row());
    if last < prefix || (first > prefix && !first.starts_with(prefix)) {
        trace.files_skipped_by_range += 1;
        return false;
    }
    file.reader.may_contain_prefix(prefix, trace)
}
