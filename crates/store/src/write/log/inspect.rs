//! Inspects a log that may be damaged, for `verify` and `salvage`.
//!
//! Finds the records that recovery would replay, the damaged ranges for which it would refuse the
//! log, and the valid records after them.

use cells::error_line;

use super::extent::{LogExtent, list_segments};
use super::segment_contents::{
    DamagedRange, InspectedSegment, LogState, SegmentContext, inspect_segment,
};
use super::segment_reader::SegmentReader;
use crate::error::Result;
use crate::files::names::segment_number::SegmentNumber;
use crate::vfs::Vfs;

/// Reads the required segments in order and calls `each` for each of them; changes no file.
///
/// `family_name` maps the id of a family to its name.
pub(crate) fn inspect<'f>(
    vfs: &dyn Vfs,
    log: &LogExtent<'_>,
    family_name: impl Fn(u16) -> Option<&'f [u8]>,
    mut each: impl FnMut(InspectedSegment) -> Result<()>,
) -> Result<()> {
    let segments = list_segments(vfs, log)?;
    let unread = |number: SegmentNumber, what: String| InspectedSegment {
        path: number.path(log.directory),
        len: 0,
        batches: Vec::new(),
        damaged_ranges: vec![DamagedRange { at: 0, len: 0, what }],
        torn_at: None,
    };
    let mut log_state = LogState::default();
    // Without a manifest: the first that exists.
    let known_first = log.store.map(|_| log.first);
    let mut expected = known_first.or(segments.first().copied()).unwrap_or(log.first);
    for number in &segments {
        if *number != expected {
            let what = format!("the segments before {number} are missing");
            each(unread(expected, what))?;
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
                unread(*number, error_line(&error))
            }
        };
        segment.path = path;
        each(segment)?;
    }
    if let Some((number, what)) = log.first_missing_at_end(&segments) {
        each(unread(number, what))?;
    }
    Ok(())
}
