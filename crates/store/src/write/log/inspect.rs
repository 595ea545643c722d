//! The log as it is, whatever is wrong with it: what recovery would take, where it would refuse, and
//! what is sound behind that.

#![warn(clippy::indexing_slicing, clippy::as_conversions)]

use std::path::PathBuf;

use sstable::{Cell, SequenceId};

use super::record::decode_cells;
use super::recovery::{
    LogExtent, check_segment_header, check_sequence_id, list_segments, read_segment_header,
    tail_problem,
};
use super::segment::{FIRST_RECORD_AT, PreviousSegment, SegmentHeader};
use super::segment_reader::SegmentReader;
use crate::error::Result;
use crate::files::segment_number::SegmentNumber;
use crate::vfs::Vfs;

/// What is in a segment.
#[derive(Debug)]
pub(crate) struct InspectedSegment {
    pub(crate) path: PathBuf,
    /// Its length in bytes.
    pub(crate) len: u64,
    /// The batches of its sound records, in order.
    pub(crate) batches: Vec<(SequenceId, Vec<Cell>)>,
    pub(crate) damaged_ranges: Vec<DamagedRange>,
    /// From where on there is a write that was under way; recovery cuts it off.
    pub(crate) torn_at: Option<u64>,
}

/// Bytes of a segment that are no sound record, where recovery refuses the log.
#[derive(Debug)]
pub(crate) struct DamagedRange {
    pub(crate) at: u64,
    pub(crate) len: u64,
    pub(crate) what: String,
}

/// Reads the segments that are needed, one after the other, and changes nothing. `family_name` knows
/// a family by its id.
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
    let mut so_far = SoFar { previous: None, newest: SequenceId::default() };
    // Of a log whose manifest is lost nobody knows where it began.
    let known_first = log.store.map(|_| log.first);
    let mut expected = known_first.or(segments.first().copied()).unwrap_or(log.first);
    for number in &segments {
        if *number != expected {
            let what = format!("missing, with all before {number}");
            each(missing(expected, what))?;
            so_far.previous = None;
        }
        expected = number.next();
        let path = number.path(log.directory);
        let is_last = segments.last() == Some(number);
        let place = Place { log, number: *number, is_last };
        let inspected = SegmentReader::open(vfs, &path, log.segment_len_max)
            .and_then(|mut reader| inspect_segment(&mut reader, &place, &family_name, &mut so_far));
        let mut segment = match inspected {
            Ok(segment) => segment,
            Err(error) => {
                so_far.previous = None;
                missing(*number, error.with_causes())
            }
        };
        segment.path = path;
        each(segment)?;
    }
    if let Some((number, what)) = log.missing_at_tail(&segments) {
        each(missing(number, what))?;
    }
    Ok(())
}

/// Where a segment stands in the log.
struct Place<'a> {
    log: &'a LogExtent<'a>,
    number: SegmentNumber,
    is_last: bool,
}

/// What the segments before one were.
struct SoFar {
    /// `None` if that is not known.
    previous: Option<PreviousSegment>,
    newest: SequenceId,
}

fn inspect_segment<'f>(
    reader: &mut SegmentReader,
    place: &Place<'_>,
    family_name: &impl Fn(u16) -> Option<&'f [u8]>,
    so_far: &mut SoFar,
) -> Result<InspectedSegment> {
    let len = reader.len();
    let mut found = InspectedSegment {
        path: PathBuf::new(),
        len,
        batches: Vec::new(),
        damaged_ranges: Vec::new(),
        torn_at: None,
    };
    let previous = so_far.previous.take();
    let may_be_new = place.is_last && !place.log.requires(place.number);
    let segment = match read_segment_header(reader, may_be_new)? {
        Ok(None) => {
            found.torn_at = Some(0);
            None
        }
        Ok(Some(header)) => {
            match check_segment_header(&header, place.number, place.log.store, None) {
                Ok(()) => {
                    found.damaged_ranges.extend(gap_before(&header, place.number, previous));
                    Some(header.segment)
                }
                Err(what) => {
                    found.damaged_ranges.push(DamagedRange { at: 0, len, what: what.to_owned() });
                    None
                }
            }
        }
        // The records carry the segment's id, too.
        Err(what) => {
            let segment = reader.segment_of_record_at(FIRST_RECORD_AT)?;
            let lost = segment.map_or(len, |_| FIRST_RECORD_AT);
            found.damaged_ranges.push(DamagedRange { at: 0, len: lost, what: what.to_owned() });
            segment
        }
    };
    if let Some(segment) = segment {
        reader.segment = segment;
        inspect_records(reader, place.is_last, family_name, &mut so_far.newest, &mut found)?;
        so_far.previous = Some(PreviousSegment { segment, len: found.torn_at.unwrap_or(len) });
    }
    Ok(found)
}

/// What a segment's header says of the one before it that is not so.
fn gap_before(
    header: &SegmentHeader,
    number: SegmentNumber,
    previous: Option<PreviousSegment>,
) -> Option<DamagedRange> {
    let known = previous?;
    let what = check_segment_header(header, number, None, previous).err()?;
    // A segment that is longer than it was has lost nothing.
    let is_shorter = header.previous.segment == known.segment && known.len < header.previous.len;
    let lost = if is_shorter { header.previous.len - known.len } else { 0 };
    let what = format!("{what}; {lost} bytes at its end are known to be lost");
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
            let next = reader.next_record_behind(at)?;
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
                found.batches.push((sequence_id, cells));
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
