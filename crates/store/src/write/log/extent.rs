//! Where a log is, and which of its segments must exist.

use std::path::Path;

use crate::error::{Error, Result};
use crate::files::names::segment_number::SegmentNumber;
use crate::vfs::Vfs;

/// The directory of a log, and its required segments.
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
