//! Reads the batches of one partition of a scan.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::common::{DataFusionError, Result};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder};
use hbase_files::Region;
use hfile_arrow::{BatchScan, Batches};
use sstable::{BlockKind, BlockSource, ReadTrace};
use tokio::sync::mpsc::Sender;

use crate::row_set::{RowRange, RowSet};
use crate::scan_parts::ScanParts;

/// A scan of neighbouring splits, or of a source without regions.
pub(crate) struct PartitionScan {
    parts: Arc<ScanParts>,
    scan: BatchScan,
    splits: Range<usize>,
    /// The rows that the query still wants.
    rows_left: usize,
    trace: ReadTrace,
}

impl PartitionScan {
    pub(crate) fn new(
        parts: Arc<ScanParts>,
        scan: BatchScan,
        splits: Range<usize>,
        limit: Option<usize>,
    ) -> Self {
        let rows_left = limit.unwrap_or(usize::MAX);
        Self { parts, scan, splits, rows_left, trace: ReadTrace::default() }
    }

    /// Reads all rows of the partition and sends them, until the receiver wants no more.
    pub(crate) fn run(
        mut self,
        batches: &Sender<Result<RecordBatch>>,
        metrics: &ExecutionPlanMetricsSet,
        partition: usize,
    ) -> Result<()> {
        let rows = MetricBuilder::new(metrics).output_rows(partition);
        let mut send = |batch: RecordBatch| {
            rows.add(batch.num_rows());
            batches.blocking_send(Ok(batch)).is_ok()
        };
        let result = self.read(&mut send);
        let Self { trace, .. } = self;
        let count = |name: &'static str, count: u64| {
            let counter = MetricBuilder::new(metrics).counter(name, partition);
            counter.add(usize::try_from(count).unwrap_or(usize::MAX));
        };
        let blocks = |kind| BlockSource::ALL.map(|from| trace.blocks(kind, from)).iter().sum();
        count("data_blocks", blocks(BlockKind::Data));
        count("index_blocks", blocks(BlockKind::Index));
        count("filter_blocks", blocks(BlockKind::Bloom));
        let bytes = BlockKind::ALL.map(|kind| trace.bytes(kind, BlockSource::File));
        count("bytes_scanned", bytes.iter().sum());
        result
    }

    /// Reads the ranges of rows of each split, or of the source.
    fn read(&mut self, send: &mut dyn FnMut(RecordBatch) -> bool) -> Result<()> {
        let parts = Arc::clone(&self.parts);
        parts.source.check().map_err(external)?;
        if parts.source.regions().is_empty() {
            for range in parts.rows.ranges() {
                if !self.read_range(range, None, send)? {
                    break;
                }
            }
            return Ok(());
        }
        for split in parts.splits.get(self.splits.clone()).unwrap_or_default() {
            let region = split.region().expect("the split of a table has a region");
            let rows = RowSet::from(split.start(), split.stop());
            for range in parts.rows.intersection(&rows).ranges() {
                if !self.read_range(range, Some(region), send)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Reads a range of rows. Returns whether the query wants more.
    fn read_range(
        &mut self,
        range: &RowRange,
        region: Option<&Region>,
        send: &mut dyn FnMut(RecordBatch) -> bool,
    ) -> Result<bool> {
        if self.rows_left == 0 {
            return Ok(false);
        }
        let mut scan = self.scan.clone();
        if !range.start.is_empty() {
            scan = scan.start(&range.start);
        }
        if let Some(stop) = &range.stop {
            scan = scan.stop(stop);
        }
        let mut batches = self.parts.source.open(&scan, region).map_err(external)?;
        let wants_more = self.send_all(&mut batches, send);
        self.trace.add(&batches.trace());
        wants_more
    }

    fn send_all(
        &mut self,
        batches: &mut Batches,
        send: &mut dyn FnMut(RecordBatch) -> bool,
    ) -> Result<bool> {
        for batch in batches {
            let batch = batch.map_err(external)?;
            let batch = batch.slice(0, batch.num_rows().min(self.rows_left));
            self.rows_left -= batch.num_rows();
            if !send(self.projected(&batch)?) || self.rows_left == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the columns of a batch that the query wants, in its order.
    fn projected(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let found = batch.schema();
        let fields = self.parts.schema.fields().iter();
        let columns: Result<Vec<_>, _> = fields.map(|field| found.index_of(field.name())).collect();
        Ok(batch.project(&columns?)?)
    }
}

/// Returns an error of a scan as one of a query. It names the file and the place.
fn external(error: hfile_arrow::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}
