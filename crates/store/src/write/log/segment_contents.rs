//! The contents of one segment, which may be damaged: its records, and the ranges without any.
//!
//! A record is valid if its checksum matches and it has its segment's id. Bytes after the last
//! valid record of the last segment are an incomplete write, which was not acknowledged. Bytes
//! without a valid record anywhere else are damage:
//!
//! ```text
//! last segment   ┃record┃record┃rec…            incomplete write
//! last segment   ┃record┃re▒▒rd┃record┃         damage
//! older segment  ┃record┃rec…                   damage: only the last segment may be incomplete
//! ```
//!
//! One kind of gap is not damage: before a power cut, written but unsynced sectors can reach the
//! disk out of order. Such a gap has sectors of zeros, and lies beyond the durable length in all
//! later records. [`Logged`](crate::Durability::Logged) does not promise that unsynced writes
//! survive a power cut, so the log ends at the gap.

use std::path::PathBuf;

use sstable::SequenceId;

use super::extent::LogExtent;
use super::record::{LoggedBatch, decode_cells};
use super::segment::{FIRST_RECORD_AT, PreviousSegment, SegmentHeader};
use super::segment_reader::SegmentReader;
use crate::error::Result;
use crate::files::names::segment_number::SegmentNumber;
use crate::files::names::sequence;

/// The contents of a segment.
#[derive(Debug)]
pub(crate) struct InspectedSegment {
    pub(crate) path: PathBuf,
    /// The length in bytes.
    pub(crate) len: u64,
    /// The batches of the valid records, in order.
    pub(crate) batches: Vec<LoggedBatch>,
    pub(crate) damaged_ranges: Vec<DamagedRange>,
    /// The offset of an incomplete write at the end, which recovery cuts off.
    pub(crate) torn_at: Option<u64>,
}

/// A range of a segment without valid records, for which recovery refuses the log.
#[derive(Debug)]
pub(crate) struct DamagedRange {
    pub(crate) at: u64,
    pub(crate) len: u64,
    pub(crate) what: String,
}

/// A segment's number and position in the log.
pub(super) struct SegmentContext<'a> {
    pub(super) log: &'a LogExtent<'a>,
    pub(super) number: SegmentNumber,
    pub(super) is_last: bool,
}

/// The state of the log after the segments read so far.
#[derive(Default)]
pub(super) struct LogState {
    /// The segment that was read most recently; `None` if its id is unknown.
    pub(super) previous: Option<PreviousSegment>,
    /// The sequence id of the last batch.
    pub(super) newest: SequenceId,
}

/// Reads a segment. Damage to it is part of the result.
pub(super) fn inspect_segment<'f>(
    reader: &mut SegmentReader,
    context: &SegmentContext<'_>,
    family_name: &impl Fn(u16) -> Option<&'f [u8]>,
    log_state: &mut LogState,
) -> Result<InspectedSegment> {
    let len = reader.len();
    let mut found = InspectedSegment {
        path: PathBuf::new(),
        len,
        batches: Vec::new(),
        damaged_ranges: Vec::new(),
        torn_at: None,
    };
    let previous = log_state.previous.take();
    let may_be_new = context.is_last && !context.log.requires(context.number);
    let segment = match read_segment_header(reader, may_be_new)? {
        Ok(None) => {
            found.torn_at = Some(0);
            None
        }
        Ok(Some(header)) => {
            match check_segment_header(&header, context.number, context.log.store, None) {
                Ok(()) => {
                    found.damaged_ranges.extend(mismatch_with_previous(
                        &header,
                        context.number,
                        previous,
                    ));
                    Some(header.segment)
                }
                Err(what) => {
                    found.damaged_ranges.push(DamagedRange { at: 0, len, what: what.to_owned() });
                    None
                }
            }
        }
        // If the header is damaged, the first record tells the segment's id.
        Err(what) => {
            let segment = reader.segment_id_of_record_at(FIRST_RECORD_AT)?;
            let lost = segment.map_or(len, |_| FIRST_RECORD_AT);
            found.damaged_ranges.push(DamagedRange { at: 0, len: lost, what: what.to_owned() });
            segment
        }
    };
    if let Some(segment) = segment {
        reader.segment = segment;
        inspect_records(reader, context.is_last, family_name, &mut log_state.newest, &mut found)?;
        log_state.previous = Some(PreviousSegment { segment, len: found.torn_at.unwrap_or(len) });
    }
    Ok(found)
}

/// Returns a damaged range if the previous segment is not the one that the header names.
fn mismatch_with_previous(
    header: &SegmentHeader,
    number: SegmentNumber,
    previous: Option<PreviousSegment>,
) -> Option<DamagedRange> {
    let known = previous?;
    let what = check_segment_header(header, number, None, previous).err()?;
    // A previous segment that is longer than the header says has lost nothing.
    let is_shorter = header.previous.segment == known.segment && known.len < header.previous.len;
    let lost = if is_shorter { header.previous.len - known.len } else { 0 };
    let what = format!("{what}; {lost} bytes of the previous segment are known to be lost");
    Some(DamagedRange { at: 0, len: 0, what })
}

fn inspect_records<'f>(
    reader: &mut SegmentReader,
    is_last: bool,
    family_name: &impl Fn(u16) -> Option<&'f [u8]>,
    newest: &mut SequenceId,
    found: &mut InspectedSegment,
) -> Result<()> {
    let mut at = FIRST_RECORD_AT;
    while at < reader.len() {
        let Some(record) = reader.record_at(at)? else {
            let Some(what) = tail_problem(reader, at, is_last)? else {
                found.torn_at = Some(at);
                return Ok(());
            };
            let next = reader.next_record_after(at)?;
            let next = next.map_or(reader.len(), |record| record.at);
            found.damaged_ranges.push(DamagedRange { at, len: next - at, what });
            at = next;
            continue;
        };
        let sequence_id = record.header.sequence_id;
        let body = reader.body(&record)?;
        let cells = check_sequence_id(sequence_id, *newest)
            .and_then(|()| decode_cells(body, sequence_id, family_name));
        match cells {
            Ok(cells) => {
                *newest = sequence_id;
                let replaces = record.header.replaces;
                found.batches.push(LoggedBatch { sequence_id, replaces, cells });
            }
            Err(what) => {
                let len = record.end - at;
                found.damaged_ranges.push(DamagedRange { at, len, what: what.to_owned() });
            }
        }
        at = record.end;
    }
    Ok(())
}

/// Checks that a record's sequence id is valid and greater than `newest`; the error is the reason.
fn check_sequence_id(id: SequenceId, newest: SequenceId) -> Result<(), &'static str> {
    if id <= newest {
        return Err("the record is not newer than the previous record");
    }
    sequence::check(id)
}

/// Reads a segment's header; `None` if `may_be_new` and the header was never completely written.
///
/// The inner error is the reason why the header is invalid.
fn read_segment_header(
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
fn check_segment_header(
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
fn tail_problem(reader: &mut SegmentReader, at: u64, is_last: bool) -> Result<Option<String>> {
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
