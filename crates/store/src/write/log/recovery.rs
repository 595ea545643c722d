//! The log is read back after the store was closed or the machine stopped.
//!
//! A record counts if it is whole: its checksum is right and it carries its segment's id. What
//! follows the last whole record of the last segment is a write that was under way; it is cut off.
//! Damage anywhere else would be a hole in acknowledged history, and is an error:
//!
//! ```text
//! last segment   ┃record┃record┃rec…            cut: the write was not acknowledged
//! last segment   ┃record┃re▒▒rd┃record┃         error, naming segment and offset
//! older segment  ┃record┃rec…                   error: a segment is whole before the next begins
//! ```
//!
//! One such hole is no damage: what was written but never synced may reach the disk out of order
//! before a power cut. It shows as sectors of zeros, behind all that the records found after it
//! call durable. Under [`SyncWal`](crate::Durability::SyncWal) no more than the time before the
//! power cut was promised, so the log ends at the hole.

#![warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)]

use std::path::{Path, PathBuf};

use sstable::{Cell, SequenceId};

use super::log_tail::LogTail;
use super::record::decode_cells;
use super::segment::{FIRST_RECORD_AT, PreviousSegment, SegmentHeader};
use super::segment_reader::SegmentReader;
use crate::error::{Error, Result};
use crate::files::segment_number::SegmentNumber;
use crate::files::sequence;
use crate::vfs::Vfs;

/// Which log is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogExtent<'a> {
    pub(crate) directory: &'a Path,
    /// Whose it is, if that is known.
    pub(crate) store: Option<u64>,
    /// The oldest segment that is needed. Those before it are flushed and only wait to be unlinked;
    /// the caller does that.
    pub(crate) first: SegmentNumber,
    /// The segments from the first one on and before this one must be there; there may be more.
    pub(crate) end: SegmentNumber,
    /// The length that a segment has at most.
    pub(crate) segment_len_max: u64,
}

impl LogExtent<'_> {
    /// Whether a segment was on disk before the manifest said as much as it does.
    pub(super) fn requires(&self, number: SegmentNumber) -> bool {
        (self.first..self.end).contains(&number)
    }

    /// Which segments are missing behind the last of those that are there, in words.
    pub(super) fn missing_at_tail(
        &self,
        there: &[SegmentNumber],
    ) -> Option<(SegmentNumber, String)> {
        let expected = there.last().map_or(self.first, |last| last.next());
        let last = SegmentNumber(self.end.0.checked_sub(1)?);
        if expected > last {
            return None;
        }
        let what = "missing, and the manifest says that the log goes up to";
        Some((expected, format!("the segment is {what} {last}")))
    }
}

/// What the log held.
#[derive(Debug)]
pub(crate) struct Recovered {
    /// The number of the segment behind the last one that holds a record.
    pub(crate) next: SegmentNumber,
    /// The last segment that holds a record.
    pub(crate) last: PreviousSegment,
    /// Batches in order, each the cells of one sequence id.
    pub(crate) batches: Vec<Vec<Cell>>,
    /// The last batch's.
    pub(crate) newest: SequenceId,
    /// The segments from `next` on, in order: they hold nothing and are not needed.
    pub(crate) empty: Vec<SegmentNumber>,
    /// The last segment that holds a record, and where its half-made write begins, if it has one.
    last_end: Option<(PathBuf, Option<u64>)>,
}

/// Reads the log and changes nothing.
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
        empty: Vec::new(),
        last_end: None,
    };
    let mut expected = log.first;
    for number in &segments {
        if *number != expected {
            let what = format!("segment {expected} before it is missing");
            return Err(Error::corrupt(&number.path(log.directory), 0, what));
        }
        expected = number.next();
    }
    if let Some((number, what)) = log.missing_at_tail(&segments) {
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
                recovered.empty.clear();
                recovered.last_end = Some((path, (this.len < len).then_some(this.len)));
            }
            // If not even its header is whole, nothing was ever acknowledged by it.
            _ => recovered.empty.push(*number),
        }
    }
    Ok(recovered)
}

impl Recovered {
    /// Cuts what the last segment holds of a half-made write, and brings the log to the disk. The
    /// empty segments stay.
    pub(crate) fn settle(&self, vfs: &dyn Vfs, directory: &Path) -> Result<()> {
        match &self.last_end {
            Some((path, Some(end))) => {
                vfs.truncate(path, *end).map_err(Error::io(path, "cut the half-made write off"))?;
            }
            Some((path, None)) => {
                // A process that was killed left it with the operating system only.
                let mut segment = vfs.append(path).map_err(Error::io(path, "open"))?;
                segment.sync().map_err(Error::io(path, "sync"))?;
            }
            None => {}
        }
        // As their bytes, the names of the segments must be on disk before the next one's is.
        vfs.sync_directory(directory).map_err(Error::io(directory, "sync"))
    }

    /// Where the log goes on.
    pub(crate) const fn log_tail(&self, store: u64) -> LogTail {
        LogTail::new(store, self.next, self.last)
    }
}

/// Removes empty segments, the last ones of the log in order. The manifest must not say that they
/// are needed.
pub(crate) fn remove_empty_segments(
    vfs: &dyn Vfs,
    directory: &Path,
    segments: &[SegmentNumber],
) -> Result<()> {
    // From the end, each for certain: a power cut must leave no gap.
    for number in segments.iter().rev() {
        let path = number.path(directory);
        vfs.unlink(&path).map_err(Error::io(&path, "unlink"))?;
        vfs.sync_directory(directory).map_err(Error::io(directory, "sync"))?;
    }
    Ok(())
}

/// The segments that are there and needed, in order.
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

/// A segment that is being read back.
struct Segment<'a> {
    path: &'a Path,
    reader: SegmentReader,
    log: &'a LogExtent<'a>,
    number: SegmentNumber,
    is_last: bool,
    /// The segment before it, unless it is the first.
    previous: Option<PreviousSegment>,
}

impl Segment<'_> {
    /// Appends the segment's batches and returns its id and where its last whole record ends; `None`
    /// if it was only being made.
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
            recovered.batches.push(cells.map_err(|what| self.corrupt(at, what))?);
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

/// Holds a record's sequence id against the newest before it; an error says what is wrong with it.
pub(super) fn check_sequence_id(id: SequenceId, newest: SequenceId) -> Result<(), &'static str> {
    if id <= newest {
        return Err("a record that is older than the one before it");
    }
    sequence::check(id)
}

/// Reads a segment's header; `None` if it was only being made, where that may be. The inner error
/// says what is wrong with it.
pub(super) fn read_segment_header(
    reader: &mut SegmentReader,
    may_be_new: bool,
) -> Result<Result<Option<SegmentHeader>, &'static str>> {
    let Some(header) = reader.header()?.first_chunk() else {
        // A segment gets records only once its header is on disk.
        return Ok(if may_be_new { Ok(None) } else { Err("ends in the segment's header") });
    };
    Ok(match SegmentHeader::read(header) {
        Ok(header) => Ok(Some(header)),
        Err(_) if may_be_new && reader.is_zero()? => Ok(None),
        Err(what) => Err(what),
    })
}

/// Holds a segment's header against its name, its store if that is known, and the segment before it
/// if it is there.
pub(super) fn check_segment_header(
    header: &SegmentHeader,
    number: SegmentNumber,
    store: Option<u64>,
    previous: Option<PreviousSegment>,
) -> Result<(), &'static str> {
    if header.number != number || store.is_some_and(|store| store != header.store) {
        return Err("the segment of another store or of another name");
    }
    let Some(previous) = previous else { return Ok(()) };
    if header.previous.segment != previous.segment {
        return Err("follows another segment than the one before it");
    }
    if header.previous.len != previous.len {
        return Err("the segment before it had another length when this one began");
    }
    Ok(())
}

/// Decides whether the bytes from `at` on, where no record begins, are a write that was under way;
/// returns why they cannot be.
pub(super) fn tail_problem(
    reader: &mut SegmentReader,
    at: u64,
    is_last: bool,
) -> Result<Option<String>> {
    if !is_last {
        return Ok(Some("damage in a segment that another one follows".to_owned()));
    }
    if reader.is_foreign_at(at)? {
        return Ok(Some("a record of another segment".to_owned()));
    }
    let Some(first) = reader.next_record_behind(at)? else { return Ok(None) };
    // The last one knows most about what was durable.
    let mut last = first;
    while let Some(record) = reader.next_record(last.end)? {
        last = record;
    }
    let was_synced = at < last.header.durable;
    if was_synced || !reader.has_lost_sector(at, first.at)? {
        return Ok(Some(format!("damage, and a sound record behind it at {:#x}", first.at)));
    }
    Ok(None)
}
