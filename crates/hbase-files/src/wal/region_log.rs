//! What the logs say of a region: its openings and closings, and its compactions.
//!
//! HBase before 2.2 does not write into the output of a compaction which files it replaced. Only the marker
//! `HBASE::COMPACTION` in the log names them, and HBase leaves them out when it replays the log. HBase:
//! `HRegion.replayWALCompactionMarker`, `HStore.replayCompactionMarker`.
//!
//! | a marker does not count if                             | because                                             |
//! |--------------------------------------------------------|-----------------------------------------------------|
//! | it names another region than its entry                 | HBase skips it                                      |
//! | the region was opened or closed after it               | HBase has then moved the inputs to the archive; an  |
//! |                                                        | input that is there was restored by a snapshot      |
//! | the log is in `oldWALs`, or was moved aside            | HBase does not replay the log                       |
//!
//! The outputs of a marker need not be there: a later compaction may have replaced them. HBase does not look for them either.

use std::collections::HashSet;

use sstable::SequenceId;

use super::entry::LogEntry;
use super::marker::Marker;
use super::region_events::{RegionEvents, WrittenBy};

/// What logs say of a region.
#[derive(Debug, Default)]
pub(crate) struct RegionLog {
    /// The openings and closings of the region.
    pub(crate) events: RegionEvents,
    compactions: Vec<LoggedCompaction>,
}

/// A compaction of a family of the region.
#[derive(Debug)]
struct LoggedCompaction {
    written: WrittenBy,
    family: Vec<u8>,
    inputs: Vec<String>,
}

impl RegionLog {
    /// Begins with openings and closings that are known.
    pub(crate) fn with_events(events: RegionEvents) -> Self {
        Self { events, compactions: Vec::new() }
    }

    /// Adds an entry of the region.
    pub(crate) fn add(&mut self, entry: &LogEntry, written: WrittenBy) {
        if entry.is_region_event() {
            self.events.add(written);
        }
        for marker in entry.cells.iter().filter_map(Marker::parse) {
            let Marker::Compaction { region, family, inputs, .. } = marker else { continue };
            if region == entry.region.as_bytes() {
                self.compactions.push(LoggedCompaction { written, family, inputs });
            }
        }
    }

    /// Returns the names of the files that compactions of a family replaced, by several parts of the region's log.
    ///
    /// All writes up to `last_opened` were in store files when HBase last opened or closed the region.
    pub(crate) fn replaced_files(
        parts: &[&Self],
        family: &[u8],
        last_opened: Option<SequenceId>,
    ) -> HashSet<String> {
        let compactions = parts.iter().flat_map(|part| &part.compactions).filter(|compaction| {
            let LoggedCompaction { written, family: of, .. } = compaction;
            let is_old = last_opened.is_some_and(|opened| written.sequence <= opened.get())
                || parts.iter().any(|part| part.events.has_event_after(*written));
            of == family && !is_old
        });
        compactions.flat_map(|compaction| &compaction.inputs).cloned().collect()
    }
}
