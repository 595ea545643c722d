//! The plan of a scan: what it reads, divided into partitions, as `EXPLAIN` shows it.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalSortExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, SchedulingType};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, PhysicalExpr,
    PlanProperties, ReplaceChildrenOptions,
};
use hbase_files::{Region, ScanSplit};

use crate::partition::PartitionScan;
use crate::row_filter::ROW;
use crate::scan_parts::ScanParts;

/// The maximum bytes of a batch, unless one row exceeds it.
const BATCH_BYTES_MAX: usize = 4 << 20;

/// Batches of a partition that wait for the query: with the one that is made and the one that is used,
/// they bound the memory of a partition.
const BATCHES_WAITING_MAX: usize = 1;

/// Ranges of rows that `EXPLAIN` shows.
const RANGES_SHOWN_MAX: usize = 8;

/// The plan of a scan of an [`HFileTable`](crate::HFileTable).
///
/// A partition reads neighbouring regions of a table, or parts of large ones, one after the other, on a thread for
/// blocking work.
/// The metrics count the blocks and bytes that were read, except blocks and bytes of a store, which
/// [`Store::stats`](store::Store::stats) counts.
#[derive(Clone, Debug)]
pub struct HFileScanExec {
    parts: Arc<ScanParts>,
    /// The splits of each partition; without regions, there is one partition.
    partitions: Vec<Range<usize>>,
    /// The maximum number of rows of a partition.
    limit: Option<usize>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl HFileScanExec {
    pub(crate) fn new(parts: ScanParts, partitions_max: usize, limit: Option<usize>) -> Self {
        let partitions = partitions(&parts, partitions_max);
        let mut equivalences = EquivalenceProperties::new(Arc::clone(&parts.schema));
        if parts.has_sorted_rows && has_ascending_regions(parts.source.regions()) {
            equivalences.add_orderings(order(&parts.schema));
        }
        let partitioning = Partitioning::UnknownPartitioning(partitions.len());
        let properties = PlanProperties::new(
            equivalences,
            partitioning,
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Self {
            parts: Arc::new(parts),
            partitions,
            limit,
            properties: Arc::new(properties.with_scheduling_type(SchedulingType::Cooperative)),
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }
}

/// Groups the splits with rows of the scan: neighbours of about the same size.
fn partitions(parts: &ScanParts, max: usize) -> Vec<Range<usize>> {
    let splits = &parts.splits;
    let size = |split: &ScanSplit| {
        // One more, so that splits of unknown length count as well.
        if parts.includes_split(split) { split.estimated_bytes().saturating_add(1) } else { 0 }
    };
    let total = splits.iter().map(size).fold(0, u64::saturating_add);
    let share = (total / max.max(1) as u64).max(1);
    let (mut partitions, mut start, mut bytes) = (Vec::new(), 0, 0_u64);
    for (index, split) in splits.iter().enumerate() {
        let size = size(split);
        let is_last = partitions.len() + 1 >= max;
        if bytes > 0 && bytes.saturating_add(size / 2) > share && size > 0 && !is_last {
            partitions.push(start..index);
            (start, bytes) = (index, 0);
        }
        bytes = bytes.saturating_add(size);
    }
    partitions.push(start..splits.len());
    partitions
}

/// Returns whether the rows of each region are after the rows of the regions before it.
fn has_ascending_regions(regions: &[Region]) -> bool {
    regions.windows(2).all(|pair| match pair {
        [one, next] => !one.info.end_key.is_empty() && one.info.end_key <= next.info.start_key,
        _ => true,
    })
}

/// Returns the order of the rows of a partition: of the columns of a cell's key, as many as there are.
fn order(schema: &SchemaRef) -> Option<Vec<PhysicalSortExpr>> {
    let columns = [(ROW, false), ("family", false), ("qualifier", false), ("timestamp", true)];
    let of_column = |(name, descending)| {
        let index = schema.index_of(name).ok()?;
        let options = SortOptions { descending, nulls_first: false };
        Some(PhysicalSortExpr::new(Arc::new(Column::new(name, index)), options))
    };
    let order: Vec<_> = columns.into_iter().map_while(of_column).collect();
    (!order.is_empty()).then_some(order)
}

impl ExecutionPlan for HFileScanExec {
    fn name(&self) -> &'static str {
        "HFileScanExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if children.is_empty() { Ok(self) } else { internal_err!("a scan has no children") }
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        self.replace_children(children, options)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let Some(splits) = self.partitions.get(partition) else {
            return internal_err!("a scan of {} has no partition {partition}", self.parts.source);
        };
        // A batch of more rows than are wanted would read more blocks.
        let rows_max = context.session_config().batch_size().min(self.limit.unwrap_or(usize::MAX));
        let scan = self.parts.scan.clone().rows_max(rows_max).bytes_max(BATCH_BYTES_MAX);
        let scan = PartitionScan::new(Arc::clone(&self.parts), scan, splits.clone(), self.limit);
        let schema = Arc::clone(&self.parts.schema);
        let mut stream = RecordBatchReceiverStreamBuilder::new(schema, BATCHES_WAITING_MAX);
        let (sender, metrics) = (stream.tx(), self.metrics.clone());
        stream.spawn_blocking(move || scan.run(&sender, &metrics, partition));
        Ok(stream.build())
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn fetch(&self) -> Option<usize> {
        self.limit
    }

    fn with_fetch(&self, limit: Option<usize>) -> Option<Arc<dyn ExecutionPlan>> {
        Some(Arc::new(Self { limit, ..self.clone() }))
    }
}

impl DisplayAs for HFileScanExec {
    fn fmt_as(&self, form: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if matches!(form, DisplayFormatType::TreeRender) { "\n" } else { ", " };
        if separator == ", " {
            write!(f, "HFileScanExec: ")?;
        }
        let ScanParts { source, rows, columns, times, .. } = &*self.parts;
        write!(f, "source={source}{separator}rows=[")?;
        for (index, range) in rows.ranges().iter().take(RANGES_SHOWN_MAX).enumerate() {
            write!(f, "{}{range}", if index > 0 { ", " } else { "" })?;
        }
        match rows.ranges().len().saturating_sub(RANGES_SHOWN_MAX) {
            0 => write!(f, "]")?,
            more => write!(f, ", and {more} more]")?,
        }
        write!(f, "{separator}columns=[{columns}]")?;
        if let Some(times) = times {
            write!(f, "{separator}times=[{}..{}]", times.min, times.max)?;
        }
        let regions = source.regions();
        if !regions.is_empty() {
            let read = regions.iter().filter(|region| self.parts.includes(region)).count();
            write!(f, "{separator}regions={read} of {}", regions.len())?;
        }
        write!(f, "{separator}partitions={}", self.partitions.len())?;
        self.limit.map_or(Ok(()), |limit| write!(f, "{separator}limit={limit}"))
    }
}
