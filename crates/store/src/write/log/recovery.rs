//! Recovery: replays the log when the store is opened.
//!
//! An incomplete write at the end of the last segment is cut off. Damage would lose acknowledged
//! writes, and is an error with the segment and the offset ([`segment_contents`](super::segment_contents)
//! tells them apart).

use std::path::{Path, PathBuf};

use sstable::SequenceId;

use super::extent::{LogExtent, list_segments};
use super::log_tail::LogTail;
use super::record::LoggedBatch;
use super::segment::PreviousSegment;
use super::segment_contents::{LogState, SegmentContext, inspect_segment};
use super::segment_reader::SegmentReader;
use crate::error::{Error, Result};
use crate::files::names::segment_number::SegmentNumber;
use crate::vfs::Vfs;

/// The contents of a recovered log.
#[derive(Debug)]
pub(crate) struct Recovered {
    /// The number after the last segment that has a record.
    pub(crate) next: SegmentNumber,
    /// The last segment that has a record.
    pub(crate) last: PreviousSegment,
    /// The batches in order.
    pub(crate) batches: Vec<LoggedBatch>,
    /// The sequence id of the last batch.
    pub(crate) newest: SequenceId,
    /// The segments from `next` on, in order; they have no records and are not needed.
    pub(crate) empty_segments: Vec<SegmentNumber>,
    /// The last segment that has a record, and the offset of an incomplete write at its end, if
    /// any.
    last_segment: Option<(PathBuf, Option<u64>)>,
}

/// Reads the log; changes no file.
pub(crate) fn recover<'f>(
    vfs: &dyn Vfs,
    log: &LogExtent<'_>,
    family_name: impl Fn(u16) -> Option<&'f [u8]>,
) -> Result<Recovered> {
    let segments = list_segments(vfs, log)?;
    let mut recovered = Recovered {
        next: log.first,
        last: PreviousSegment::default(),
        batches: Vec::new(),
        newest: SequenceId::default(),
        empty_segments: Vec::new(),
        last_segment: None,
    };
    let mut expected = log.first;
    for number in &segments {
        if *number != expected {
            let what = format!("the previous segment {expected} is missing");
            return Err(Error::corrupt(&number.path(log.directory), 0, what));
        }
        expected = number.next();
    }
    if let Some((number, what)) = log.first_missing_at_end(&segments) {
        return Err(Error::corrupt(&number.path(log.directory), 0, what));
    }
    let mut log_state = LogState::default();
    for number in &segments {
        let path = number.path(log.directory);
        let is_last = segments.last() == Some(number);
        let mut reader = SegmentReader::open(vfs, &path, log.segment_len_max)?;
        let context = SegmentContext { log, number: *number, is_last };
        let segment = inspect_segment(&mut reader, &context, &family_name, &mut log_state)?;
        if let Some(damage) = segment.damaged_ranges.into_iter().next() {
            return Err(Error::corrupt(&path, damage.at, damage.what));
        }
        match log_state.previous {
            Some(this) if !segment.batches.is_empty() => {
                recovered.next = number.next();
                recovered.last = this;
                recovered.batches.extend(segment.batches);
                recovered.empty_segments.clear();
                recovered.last_segment = Some((path, segment.torn_at));
            }
            // A segment without a complete header never held an acknowledged record.
            _ => recovered.empty_segments.push(*number),
        }
    }
    recovered.newest = log_state.newest;
    Ok(recovered)
}

impl Recovered {
    /// Cuts off the incomplete write at the end of the log, and syncs the log. Keeps empty
    /// segments.
    pub(crate) fn truncate_and_sync(&self, vfs: &dyn Vfs, directory: &Path) -> Result<()> {
        match &self.last_segment {
            Some((path, Some(end))) => {
                vfs.truncate(path, *end)
                    .map_err(Error::io(path, "cut off the incomplete write"))?;
            }
            Some((path, None)) => {
                // A killed process may have left the records unsynced.
                let mut segment = vfs.append(path).map_err(Error::io(path, "open"))?;
                segment.sync().map_err(Error::io(path, "sync"))?;
            }
            None => {}
        }
        // The names of the segments, too, must be on disk before the next segment is created.
        vfs.sync_directory(directory).map_err(Error::io(directory, "sync"))
    }

    /// Returns the tail at which the log continues.
    pub(crate) const fn log_tail(&self, store: u64) -> LogTail {
        LogTail::new(store, self.next, self.last)
    }
}

/// Removes the empty segments at the end of the log; the manifest must not require them.
pub(crate) fn remove_empty_segments(
    vfs: &dyn Vfs,
    directory: &Path,
    segments: &[SegmentNumber],
) -> Result<()> {
    // In descending order with a sync after each, so that a power cut leaves no gap.
    for number in segments.iter().rev() {
        let path = number.path(directory);
        vfs.unlink(&path).map_err(Error::io(&path, "unlink"))?;
        vfs.sync_directory(directory).map_err(Error::io(directory, "sync"))?;
    }
    Ok(())
}
