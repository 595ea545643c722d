//! Recovery: replays the log when the store is opened.
//!
//! A record is valid if its checksum matches and it has its segment's id. Bytes after the last
//! valid record of the last segment are an incomplete write and are cut off. Damage anywhere else
//! would lose acknowledged writes and is an error:
//!
//! ```text
//! last segment   ┃record┃record┃rec…            cut: the write was not acknowledged
//! last segment   ┃record┃re▒▒rd┃record┃         error with the segment and the offset
//! older segment  ┃record┃rec…                   error: only the last segment may be incomplete
//! ```
//!
//! One kind of gap is not damage: before a power cut, written but unsynced sectors can reach the
//! disk out of order. Such a gap has sectors of zeros, and lies beyond the durable length in all
//! later records. [`SyncWal`](crate::Durability::SyncWal) does not promise that unsynced writes
//! survive a power cut, so the log ends at the gap.

use std::path::{Path, PathBuf};

use sstable::SequenceId;

use super::log_tail::LogTail;
use super::record::{LoggedBatch, decode_cells};
use super::segment::{FIRST_RECORD_AT, PreviousSegment, SegmentHeader};
use super::segment_reader::SegmentReader;
use crate::error::{Error, Result};
use crate::files::names::segment_number::SegmentNumber;
use crate::files::names::sequence;
use crate::vfs::Vfs;

/// Where a log is, and which of its segments must exist.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogExtent<'a> {
    pub(crate) directory: &'a Path,
    /// The store's id, if known.
    pub(crate) store: Option<u64>,
    /// The first required segment. Earlier segments are flushed; the caller unlinks them.
    pub(crate) first: SegmentNumber,
    /// The segments `first..end` must exist; later segments may exist.
    pub(crate) end: SegmentNumber,
    /// Maximum length of a segment.
    pub(crate) segment_len_max: u64,
}

impl LogExtent<'_> {
    /// Returns whether a segment must exist.
    pub(super) fn requires(&self, number: SegmentNumber) -> bool {
        (self.first..self.end).contains(&number)
    }

    /// Returns the first required segment missing after the last existing one, and an error text.
    pub(super) fn first_missing_at_end(
        &self,
        existing: &[SegmentNumber],
    ) -> Option<(SegmentNumber, String)> {
        let expected = existing.last().map_or(self.first, |last| last.next());
        let last = SegmentNumber(self.end.0.checked_sub(1)?);
        if expected > last {
            return None;
        }
        let what =
            format!("the segment is missing, but the manifest requires the log up to {last}");
        Some((expected, what))
    }
}

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
    let mut previous = None;
    for number in &segments {
        let path = number.path(log.directory);
        let is_last = segments.last() == Some(number);
        let reader = SegmentReader::open(vfs, &path, log.segment_len_max)?;
        let (len, batches) = (reader.len(), recovered.batches.len());
        let mut segment = Segment { path: &path, reader, log, number: *number, is_last, previous };
        let replayed = segment.replay(&family_name, &mut recovered)?;
        previous = replayed;
        match replayed {
            Some(this) if recovered.batches.len() > batches => {
                recovered.next = number.next();
                recovered.last = this;
                recovered.empty_segments.clear();
                recovered.last_segment = Some((path, (this.len < len).then_some(this.len)));
            }
            // A segment without a complete header never held an acknowledged record.
            _ => recovered.empty_segments.push(*number),
        }
    }
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

/// Returns the existing segments from the first required one on, in order.
pub(super) fn list_segments(vfs: &dyn Vfs, log: &LogExtent<'_>) -> Result<Vec<SegmentNumber>> {
    let entries = vfs.list(log.directory).map_err(Error::io(log.directory, "list"))?;
    let mut segments: Vec<_> = entries
        .iter()
        .filter_map(|entry| SegmentNumber::from_name(&entry.name))
        .filter(|number| *number >= log.first)
        .collect();
    segments.sort_unstable();
    Ok(segments)
}

/// A segment during recovery.
struct Segment<'a> {
    path: &'a Path,
    reader: SegmentReader,
    log: &'a LogExtent<'a>,
    number: SegmentNumber,
    is_last: bool,
    /// The previous segment; `None` for the first.
    previous: Option<PreviousSegment>,
}

impl Segment<'_> {
    /// Appends the segment's batches to `recovered`.
    ///
    /// Returns the segment's id and the end of its last record; `None` if the segment's header was
    /// never completely written.
    fn replay<'f>(
        &mut self,
        family_name: &impl Fn(u16) -> Option<&'f [u8]>,
        recovered: &mut Recovered,
    ) -> Result<Option<PreviousSegment>> {
        let may_be_new = self.is_last && !self.log.requires(self.number);
        let header = read_segment_header(&mut self.reader, may_be_new)?;
        let Some(header) = header.map_err(|what| self.corrupt(0, what))? else {
            return Ok(None);
        };
        check_segment_header(&header, self.number, self.log.store, self.previous)
            .map_err(|what| self.corrupt(0, what))?;
        self.reader.segment = header.segment;
        let mut at = FIRST_RECORD_AT;
        while let Some(record) = self.reader.record_at(at)? {
            let sequence_id = record.header.sequence_id;
            check_sequence_id(sequence_id, recovered.newest)
                .map_err(|what| self.corrupt(at, what))?;
            let cells = decode_cells(self.reader.body(&record)?, sequence_id, family_name);
            let cells = cells.map_err(|what| self.corrupt(at, what))?;
            let replaces = record.header.replaces;
            recovered.batches.push(LoggedBatch { sequence_id, replaces, cells });
            recovered.newest = sequence_id;
            at = record.end;
        }
        if at < self.reader.len()
            && let Some(what) = tail_problem(&mut self.reader, at, self.is_last)?
        {
            return Err(self.corrupt(at, &what));
        }
        Ok(Some(PreviousSegment { segment: header.segment, len: at }))
    }

    fn corrupt(&self, at: u64, what: &str) -> Error {
        Error::corrupt(self.path, at, what.to_owned())
    }
}

/// Checks that a record's sequence id is valid and greater than `newest`; the error is the reason.
pub(super) fn check_sequence_id(id: SequenceId, newest: SequenceId) -> Result<(), &'static str> {
    if id <= newest {
        return Err("the record is not newer than the previous record");
    }
    sequence::check(id)
}

/// Reads a segment's header; `None` if `may_be_new` and the header was never completely written.
///
/// The inner error is the reason why the header is invalid.
pub(super) fn read_segment_header(
    reader: &mut SegmentReader,
    may_be_new: bool,
) -> Result<Result<Option<SegmentHeader>, &'static str>> {
    let Some(header) = reader.header()?.first_chunk() else {
        // A segment gets records only once its header is on disk.
        return Ok(if may_be_new { Ok(None) } else { Err("the file ends within the header") });
    };
    Ok(match SegmentHeader::read(header) {
        Ok(header) => Ok(Some(header)),
        Err(_) if may_be_new && reader.is_all_zeros()? => Ok(None),
        Err(what) => Err(what),
    })
}

/// Checks a segment's header against its name and, if known, its store and the previous segment.
pub(super) fn check_segment_header(
    header: &SegmentHeader,
    number: SegmentNumber,
    store: Option<u64>,
    previous: Option<PreviousSegment>,
) -> Result<(), &'static str> {
    if header.number != number || store.is_some_and(|store| store != header.store) {
        return Err("the segment belongs to another store or another number");
    }
    let Some(previous) = previous else { return Ok(()) };
    if header.previous.segment != previous.segment {
        return Err("the previous segment has another id than this header says");
    }
    if header.previous.len != previous.len {
        return Err("the previous segment has another length than this header says");
    }
    Ok(())
}

/// Decides whether the bytes from `at` on, which begin no valid record, are an incomplete write.
///
/// Returns the reason if they are damage instead.
pub(super) fn tail_problem(
    reader: &mut SegmentReader,
    at: u64,
    is_last: bool,
) -> Result<Option<String>> {
    if !is_last {
        return Ok(Some("damage in a segment that is not the last".to_owned()));
    }
    if reader.has_foreign_record_at(at)? {
        return Ok(Some("the record belongs to another segment".to_owned()));
    }
    let Some(first) = reader.next_record_after(at)? else { return Ok(None) };
    // The last record has the greatest durable length.
    let mut last = first;
    while let Some(record) = reader.next_record_at_or_after(last.end)? {
        last = record;
    }
    let was_synced = at < last.header.durable;
    if was_synced || !reader.has_zero_sector(at, first.at)? {
        return Ok(Some(format!("damage, followed by a valid record at {:#x}", first.at)));
    }
    Ok(None)
}
