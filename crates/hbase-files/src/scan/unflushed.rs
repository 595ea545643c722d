//! The cells of a table that are only in write-ahead logs, read once for several scans.

use std::path::PathBuf;
use std::sync::Arc;

use sstable::Comparator;

use super::damage::MissingCells;
use super::logs::{LogCells, OldLogCells, TornLog};
use super::row_range::RowRange;
use crate::error::Result;
use crate::warning::Warning;

/// The cells of a table that are only in write-ahead logs, read once for several scans.
///
/// [`Table::read_logs`](crate::Table::read_logs) reads them; [`TableScan::unflushed`](crate::TableScan::unflushed) gives them to a scan.
#[derive(Clone, Debug)]
pub struct UnflushedCells {
    pub(super) extent: Arc<LogSelection>,
    pub(super) logs: Arc<LogCells>,
}

/// Which cells of the logs a scan reads.
#[derive(Debug)]
pub(super) struct LogSelection {
    /// The path of the table.
    pub(super) path: PathBuf,
    pub(super) families: Vec<Vec<u8>>,
    pub(super) row: Option<Vec<u8>>,
    pub(super) prefix: Vec<u8>,
    pub(super) range: RowRange,
    pub(super) order: Comparator,
    pub(super) skip_damaged: bool,
}

impl UnflushedCells {
    /// Returns what was left out of the logs, as [`TableCells`](crate::TableCells::old_log_cells) does.
    pub fn old_log_cells(&self) -> &[OldLogCells] {
        self.logs.old()
    }

    /// Returns the number of cells: versions and delete markers, also those that a read does not show.
    ///
    /// # Errors
    ///
    /// [`Error::Temporary`](crate::Error::Temporary) if the temporary file cannot be read.
    pub fn cell_count(&self) -> Result<u64> {
        self.logs.cell_count()
    }

    /// Returns the logs that were left out, because they are damaged, and the store files and logs that are gone.
    pub fn missing(&self) -> &[MissingCells] {
        self.logs.missing()
    }

    /// Returns what the logs leave in doubt.
    pub fn warnings(&self) -> &[Warning] {
        self.logs.warnings()
    }

    /// Returns the torn logs. Their entries before the unfinished part were read.
    pub fn torn_logs(&self) -> &[TornLog] {
        self.logs.torn()
    }

    /// Returns the cells, if they include those that a scan reads.
    pub(super) fn of(&self, wanted: &LogSelection) -> Option<Arc<LogCells>> {
        self.extent.includes(wanted).then(|| Arc::clone(&self.logs))
    }
}

impl LogSelection {
    /// Returns whether this extent has all cells of another extent.
    fn includes(&self, other: &Self) -> bool {
        let has_families = other.families.iter().all(|wanted| self.families.contains(wanted));
        let has_rows = self.row.is_none()
            && other.prefix.starts_with(&self.prefix)
            && self.order.compare_rows(&self.range.start, &other.range.start).is_le()
            && self.range.stop.as_ref().is_none_or(|stop| {
                let ends = other.range.stop.as_ref();
                ends.is_some_and(|end| self.order.compare_rows(end, stop).is_le())
            });
        let is_same = self.path == other.path && self.skip_damaged == other.skip_damaged;
        is_same && has_families && has_rows
    }
}
