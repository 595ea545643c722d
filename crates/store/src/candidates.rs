//! Which files can hold a row: the one place that asks filters.
//!
//! The files stand in the order of their newest cell, so that a read can stop at the first that is
//! too old to change its answer. Today each file's own filter answers for it.

use sstable::{FilterAnswer, ReadTrace, RowProbe, Scanner, Timestamp};

use crate::error::Result;
use crate::files::{Files, RankedFile};
use crate::query::TimeRange;

/// The files of a family that are still to be asked for a row.
#[derive(Debug)]
pub(crate) struct Candidates<'a> {
    /// The newest cell first.
    remaining: &'a [RankedFile],
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
        Self { remaining, probe, time_range, oldest_unexpired }
    }

    /// The next file that has the row, and a scanner that stands on the row's first cell in it.
    ///
    /// What is older than `settled` cannot change the answer any more.
    pub(crate) fn next(
        &mut self,
        settled: Timestamp,
        trace: &mut ReadTrace,
    ) -> Result<Option<(&'a RankedFile, Scanner)>> {
        while let Some((candidate, rest)) = self.remaining.split_first() {
            let file = &candidate.file;
            let newest = file.newest();
            if newest < settled.max(self.time_range.min).max(self.oldest_unexpired) {
                // And so are all that follow.
                trace.files_skipped_by_time += self.remaining.len() as u64;
                self.remaining = &[];
                return Ok(None);
            }
            self.remaining = rest;
            if file.oldest() >= self.time_range.max {
                trace.files_skipped_by_time += 1;
                continue;
            }
            let row = self.probe.row();
            if row < &file.entry.first_row[..] || row > &file.entry.last_row[..] {
                trace.files_skipped_by_range += 1;
                continue;
            }
            let answer = file.reader.ask_filter(self.probe, trace);
            if answer == FilterAnswer::No {
                continue;
            }
            if let Some(scanner) = file.reader.seek_row_after(answer, self.probe, trace)? {
                return Ok(Some((candidate, scanner)));
            }
        }
        Ok(None)
    }
}
