//! The logs of a region that are gone.

use std::path::PathBuf;

use cells::RowsBetween;
use sstable::SequenceId;

use crate::names::RegionName;

/// The logs of a region that are gone: see `table_reader/last_opening.rs`.
#[derive(Clone, Debug)]
pub(crate) struct LostLogs {
    pub(crate) region: RegionName,
    pub(crate) rows: RowsBetween,
    /// The directory of the server's logs, which is not there or has none.
    pub(crate) directory: PathBuf,
    /// The sequence id with which the server opened the region.
    pub(crate) sequence: SequenceId,
}

impl LostLogs {
    /// Returns what is wrong, as text for people.
    pub(crate) fn what(&self) -> String {
        format!(
            "the logs of region {} are missing: by hbase:meta, the server opened the region with sequence id {} and has not closed it, and no log of the server is here or in oldWALs; if hbase.wal.dir is set, pass that directory as the WAL root",
            self.region,
            self.sequence.get()
        )
    }
}
