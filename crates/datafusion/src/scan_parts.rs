//! What the partitions of a scan have in common.

use datafusion::arrow::datatypes::SchemaRef;
use hbase_files::{Region, ScanSplit};
use hfile_arrow::BatchScan;

use crate::columns::Columns;
use crate::row_set::RowSet;
use crate::source::SourceState;
use crate::time_filter::TimeFilter;

/// What a scan reads.
#[derive(Debug)]
pub(crate) struct ScanParts {
    pub(crate) source: SourceState,
    /// The splits of a table, by ascending row; empty for a source without regions.
    pub(crate) splits: Vec<ScanSplit>,
    /// The scan of all rows; each range of rows limits it.
    pub(crate) scan: BatchScan,
    /// The schema of the batches.
    pub(crate) schema: SchemaRef,
    pub(crate) rows: RowSet,
    pub(crate) columns: Columns,
    pub(crate) times: Option<TimeFilter>,
    /// Whether the order of the rows is the order of the column of row keys.
    pub(crate) has_sorted_rows: bool,
}

impl ScanParts {
    /// Returns whether a split can have rows of the scan.
    pub(crate) fn includes_split(&self, split: &ScanSplit) -> bool {
        let (start, stop) = (split.start(), split.stop().unwrap_or_default());
        self.rows.is_all() || self.rows.ranges().iter().any(|range| range.overlaps(&start, &stop))
    }

    /// Returns whether a region can have rows of the scan.
    pub(crate) fn includes(&self, region: &Region) -> bool {
        let (start, end) = (&region.info.start_key, &region.info.end_key);
        self.rows.is_all() || self.rows.ranges().iter().any(|range| range.overlaps(start, end))
    }
}
