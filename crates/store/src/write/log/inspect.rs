//! Inspects a log that may be damaged, for `verify` and `salvage`.
//!
//! Finds the records that recovery would replay, the damaged ranges for which it would refuse the
//! log, and the valid records after them.
#![allow(clippy::arithmetic_side_effects, reason = "offsets within the segment")]

use std::path::PathBuf;

use sstable::{SequenceId, error_line};

use super::record::{LoggedBatch, decode_cells};
use super::recovery::{
    LogExtent, check_segment_header, check_sequence_id, list_segments, read_segment_header,
    tail_problem,
};
use super::segment::{FIRST_RECORD_AT, PreviousSegment, SegmentHeader};
use super::segment_reader::SegmentReader;
use crate::error::Result;
use crate::files::names::segment_number::SegmentNumber;
use crate::vfs::Vfs;

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

/// Reads the required segments in order and calls `each` for each of them; changes no file.
///
/// `family_name` maps an id to its family.
pub(crate) fn inspect<'f>(
    vfs: &dyn Vfs,
    log: &LogExtent<'_>,
    family_name: impl Fn(u16) -> Option<&'f [u8]>,
    mut each: impl FnMut(InspectedSegment) -> Result<()>,
) -> Result<()> {
    let segments = list_segments(vfs, log)?;
    let missing = |number: SegmentNumber, what: String| InspectedSegment {
        path: number.path(log.directory),
        len: 0,
        batches: Vec::new(),
        damaged_ranges: vec![DamagedRange { at: 0, len: 0, what }],
        torn_at: None,
    };
    let mut log_state = LogState { previous: None, newest: SequenceId::default() };
    // Without a manifest, the first segment is unknown.
    let known_first = log.store.map(|_| log.first);
    let mut expected = known_first.or(segments.first().copied()).unwrap_or(log.first);
    for number in &segments {
        if *number != expected {
            let what = format!("the segments before {number} are missing");
            each(missing(expected, what))?;
            log_state.previous = None;
        }
        expected = number.next();
        let path = number.path(log.directory);
        let is_last = segments.last() == Some(number);
        let context = SegmentContext { log, number: *number, is_last };
        let inspected =
            SegmentReader::open(vfs, &path, log.segment_len_max).and_then(|mut reader| {
                inspect_segment(&mut reader, &context, &family_name, &mut log_state)
            });
        let mut segment = match inspected {
            Ok(segment) => segment,
            Err(error) => {
                log_state.previous = None;
                missing(*number, error_line(&error))
            }
        };
        segment.path = path;
        each(segment)?;
    }
    if let Some((number, what)) = log.first_missing_at_end(&segments) {
        each(missing(number, what))?;
    }
    Ok(())
}

/// A segment's number and position in the log.
struct SegmentContext<'a> {
    log: &'a LogExtent<'a>,
    number: SegmentNumber,
    is_last: bool,
}

/// The state of the log after the segments read so far.
struct LogState {
    /// `None` if unknown.
    previous: Option<PreviousSegment>,
    newest: SequenceId,
}

fn inspect_segment<'f>(
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
