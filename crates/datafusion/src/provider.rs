//! A table for DataFusion: its schema, and the plans of scans of it.

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::DataFusionError;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use hbase_files::{MissingCells, Table, TableScan, TornLog, UnflushedCells, Warning};
use hfile_arrow::{BatchScan, CellColumn, PivotColumn};
use sstable::{Reader, Timestamp};
use store::Store;

use crate::columns::Columns;
use crate::options::{Form, TableOptions};
use crate::pushdown::{Pushdown, column_of};
use crate::scan_exec::HFileScanExec;
use crate::scan_parts::ScanParts;
use crate::source::Source;
use crate::{Error, Result};

/// A table that DataFusion can query: the cells of an HFile, a snapshot, a table or a store.
///
/// [`TableOptions`] makes it. The predicates and columns of a query decide what is read:
///
/// * Predicates on the row key become ranges of rows, and so ranges of data blocks: comparisons,
///   `BETWEEN`, `IN`, `LIKE 'prefix%'`, and `AND`, `OR` and `NOT` of them.
/// * In a table of cells, predicates on `family` and `qualifier` become columns to read, and in a raw
///   one predicates on `timestamp` become a range of times.
/// * In a pivot, the columns of the query are those that are decoded. If a predicate needs one of them
///   to have a value, other columns are not read either.
/// * A `LIMIT` ends the scan.
///
/// `EXPLAIN` shows all of it, and `EXPLAIN ANALYZE` the blocks and bytes that were read.
#[derive(Debug)]
pub struct HFileTable {
    source: Source,
    options: TableOptions,
    schema: SchemaRef,
}

/// The sources of tables.
impl TableOptions {
    /// Makes a table of the cells of an HFile.
    ///
    /// The file's delete markers hide its own cells only, as for [`BatchScan::hfile`].
    ///
    /// # Errors
    ///
    /// If options contradict each other.
    pub fn hfile(self, reader: &Reader) -> Result<HFileTable> {
        HFileTable::new(Source::HFile(reader.clone().into()), self)
    }

    /// Makes a table of a table of a root directory, live or of a snapshot.
    ///
    /// `reading` says how: threads, MOB values, logs, and how files are opened, as for
    /// [`BatchScan::table`]. Each query chooses its rows and columns. Regions are read in
    /// parallel, as many at a time as DataFusion has target partitions, so `reading` needs more
    /// than one thread only for few large regions.
    ///
    /// With logs, this function reads them once, unless `reading` has
    /// [the cells](TableScan::unflushed) already: the table keeps their unflushed cells in memory, and
    /// [`torn_logs`](HFileTable::torn_logs) names the torn ones.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if `reading` skips damage, because a query could not say what its answer
    /// lacks, or if options contradict each other; [`Error::Directories`] if a log cannot be read.
    pub fn table(self, table: &Table, reading: &TableScan) -> Result<HFileTable> {
        if reading.skip_damaged {
            let what = "a query cannot skip damaged files, because its answer would not say so; \
                        `hfile snapshot export --skip-damaged` can";
            return Err(Error::Invalid(what.to_owned()));
        }
        let options = Self { now: self.now.or(reading.now), ..self };
        let mut reading = reading.clone();
        if reading.with_logs && reading.unflushed.is_none() {
            let mut all_rows = TableScan::default().log_bytes_max(reading.log_bytes_max);
            all_rows.log_directory.clone_from(&reading.log_directory);
            reading.unflushed = Some(table.read_logs(&all_rows)?);
        }
        HFileTable::new(Source::Table(table.clone().into(), reading.into()), options)
    }

    /// Makes a table of a store.
    ///
    /// A query reads the store as it was when the query was planned.
    ///
    /// # Errors
    ///
    /// If options contradict each other.
    pub fn store(self, store: &Store) -> Result<HFileTable> {
        HFileTable::new(Source::Store(store.clone()), self)
    }
}

impl HFileTable {
    fn new(source: Source, options: TableOptions) -> Result<Self> {
        let schema = Arc::clone(options.scan().builder()?.schema());
        Ok(Self { source, options, schema })
    }

    /// Returns what the directories of the table, and the logs that it was made with, leave in doubt, and the
    /// store files that are gone by these logs.
    ///
    /// Empty for files and stores.
    pub fn warnings(&self) -> Vec<Warning> {
        match &self.source {
            Source::Table(table, reading) => {
                let of_logs = reading.unflushed.as_ref().map_or(&[][..], UnflushedCells::warnings);
                let lost = reading.unflushed.as_ref().map_or(&[][..], UnflushedCells::missing);
                let lost = lost.iter().map(MissingCells::to_warning);
                table.warnings.iter().chain(of_logs).cloned().chain(lost).collect()
            }
            Source::HFile(_) | Source::Store(_) => Vec::new(),
        }
    }

    /// Returns the torn write-ahead logs: queries see the entries before the unfinished part.
    ///
    /// Empty unless the table is read with [logs](TableScan::with_logs).
    pub fn torn_logs(&self) -> &[TornLog] {
        match &self.source {
            Source::Table(_, reading) => {
                reading.unflushed.as_ref().map_or(&[], UnflushedCells::torn_logs)
            }
            Source::HFile(_) | Source::Store(_) => &[],
        }
    }

    /// Returns the scan of the columns with these names, before rows and times are chosen, and the
    /// columns that it reads.
    fn scan_of(&self, projected: &Schema, pushdown: &Pushdown) -> (BatchScan, Columns) {
        let wanted: HashSet<&str> =
            projected.fields().iter().map(|field| field.name().as_str()).collect();
        match &self.options.form {
            Form::Cells => {
                let parts = CellColumn::ALL.into_iter().filter(|part| wanted.contains(part.name()));
                let mut parts: Vec<_> = parts.collect();
                if parts.is_empty() {
                    // `count(*)`: batches need a column, and this one is the cheapest.
                    parts.push(CellColumn::Timestamp);
                }
                let columns = Columns::of_cells(&self.source, pushdown.columns.as_deref());
                let scan = columns.select(BatchScan::cells().parts(parts));
                (self.options.with_cells(scan), columns)
            }
            Form::Pivot { columns, times } => {
                let names: HashSet<_> = columns.iter().map(PivotColumn::to_string).collect();
                let shown: HashSet<_> =
                    wanted.iter().filter_map(|name| column_of(name, &names)).collect();
                let (shown, others): (Vec<_>, Vec<_>) = columns
                    .iter()
                    .cloned()
                    .partition(|column| shown.contains(column.to_string().as_str()));
                // A row is in the table if any column of the table has a value. So all are read, unless
                // the answer has only rows with a value in one of these.
                let is_read = |column: &&PivotColumn| {
                    pushdown.one_of.as_ref().is_none_or(|some| some.contains(&column.to_string()))
                };
                let others: Vec<_> = others.iter().filter(is_read).collect();
                let columns = Columns::named(shown.iter().chain(others.iter().copied()));
                let scan = BatchScan::pivot(shown).times(*times);
                let add = |scan: BatchScan, column: &&PivotColumn| {
                    scan.column(&column.family, &column.qualifier)
                };
                (self.options.with_cells(others.iter().fold(scan, add)), columns)
            }
        }
    }
}

#[async_trait]
impl TableProvider for HFileTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> datafusion::common::Result<Vec<TableProviderFilterPushDown>> {
        let support = |filter: &&Expr| Pushdown::support(&self.source, &self.options, filter);
        Ok(filters.iter().map(support).collect())
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> datafusion::common::Result<Arc<dyn ExecutionPlan>> {
        let schema = match projection {
            Some(columns) => Arc::new(self.schema.project(columns)?),
            None => Arc::clone(&self.schema),
        };
        let pushdown = Pushdown::of(&self.source, &self.options, filters);
        let (mut scan, columns) = self.scan_of(&schema, &pushdown);
        if pushdown.is_empty() || columns.is_empty() {
            return Ok(Arc::new(EmptyExec::new(schema)));
        }
        if let Some(times) = pushdown.times {
            scan = scan.time_range(Timestamp::new(times.min), Timestamp::new(times.max));
        }
        if self.options.now.is_none() {
            // All parts of the query expire cells by the same time.
            scan = scan.now(store::Clock::system().now());
        }
        let partitions_max = state.config().target_partitions();
        let source = self.source.state();
        let splits = source.splits(partitions_max);
        let splits = splits.map_err(|error| DataFusionError::External(Box::new(error)))?;
        let parts = ScanParts {
            source,
            splits,
            scan,
            schema,
            rows: pushdown.rows,
            columns,
            times: pushdown.times,
            has_sorted_rows: self.source.has_rows_in_byte_order() && self.has_sortable_rows(),
        };
        Ok(Arc::new(HFileScanExec::new(parts, partitions_max, limit)))
    }
}

impl HFileTable {
    /// Returns whether the order of the bytes of row keys is the order of their type.
    fn has_sortable_rows(&self) -> bool {
        use cells::ValueType::{BinaryHex, String};
        matches!(self.options.row_type, BinaryHex | String)
    }
}
