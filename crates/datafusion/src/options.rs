//! The options of a table: the form of its rows, and which cells it has.

use cells::ValueType;
use hfile_arrow::{BatchScan, PivotColumn};
use sstable::Timestamp;

/// Which cells a table has, and the form of its rows.
///
/// [`cells`](Self::cells) has one row for each cell, [`pivot`](Self::pivot) one row for each row of
/// the HBase table, and a typed column for each column that is named. Both have the columns of the
/// batches of [`BatchScan`]. One option chooses the source and makes the table:
/// [`hfile`](Self::hfile), [`table`](Self::table) or [`store`](Self::store).
///
/// ```
/// use datafusion::prelude::SessionContext;
/// use hfile_arrow::PivotColumn;
/// use hfile_datafusion::TableOptions;
/// use cells::ValueType;
/// use store::{FamilyOptions, Put, Store, StoreOptions};
/// use std::sync::Arc;
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let directory = directory.path();
/// let store = Store::open(directory, StoreOptions::default())?;
/// store.create_family("info", FamilyOptions::default())?;
/// store.put(Put::new("ada").column("info", "age", 36_i64.to_be_bytes()))?;
/// store.put(Put::new("alan").column("info", "age", 41_i64.to_be_bytes()))?;
///
/// let age = PivotColumn::new("info", "age").value_type(ValueType::Int64);
/// let people = TableOptions::pivot([age]).row_type(ValueType::String).store(&store)?;
///
/// let context = SessionContext::new();
/// context.register_table("people", Arc::new(people))?;
/// let oldest = context.sql(r#"SELECT "row" FROM people ORDER BY "info:age" DESC LIMIT 1"#).await?;
/// assert!(oldest.to_string().await?.contains("alan"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct TableOptions {
    pub(crate) form: Form,
    pub(crate) row_type: ValueType,
    pub(crate) versions: u32,
    pub(crate) raw: bool,
    pub(crate) now: Option<Timestamp>,
}

/// The form of the rows.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    /// A row for each cell.
    Cells,
    /// A row for each row of the table that has a value in one of the columns.
    Pivot { columns: Vec<PivotColumn>, times: bool },
}

impl TableOptions {
    const fn new(form: Form, versions: u32) -> Self {
        Self { form, row_type: ValueType::BinaryHex, versions, raw: false, now: None }
    }

    /// Returns the options of a table with one row for each cell.
    ///
    /// Its columns are the columns of [`CellColumn`](hfile_arrow::CellColumn). It shows all versions that
    /// HBase would show; see [`versions`](Self::versions) and [`raw`](Self::raw).
    pub const fn cells() -> Self {
        Self::new(Form::Cells, u32::MAX)
    }

    /// Returns the options of a table with one row for each row that has a value in one of `columns`.
    ///
    /// Its columns are `row` and each `family:qualifier`, as HBase prints them, with the newest
    /// version of the value, or null.
    pub fn pivot(columns: impl IntoIterator<Item = PivotColumn>) -> Self {
        Self::new(Form::Pivot { columns: columns.into_iter().collect(), times: false }, 1)
    }

    /// In a pivot: adds a column `family:qualifier:timestamp` after each column. Default: no.
    ///
    /// No effect in a table of cells.
    pub fn times(mut self, wanted: bool) -> Self {
        if let Form::Pivot { times, .. } = &mut self.form {
            *times = wanted;
        }
        self
    }

    /// The type of row keys. Default: [`ValueType::BinaryHex`], which is Arrow's Binary.
    ///
    /// A query that reads a row key of another type fails. Predicates on row keys can skip such a
    /// row; then the query does not fail.
    pub const fn row_type(mut self, row_type: ValueType) -> Self {
        self.row_type = row_type;
        self
    }

    /// The maximum number of versions of a column. Default: as many as the family keeps; one in a
    /// pivot, which can have no others.
    pub const fn versions(mut self, versions: u32) -> Self {
        self.versions = versions;
        self
    }

    /// Shows all stored cells: delete markers, deleted cells and expired cells. Default: no.
    ///
    /// [`hfile`](Self::hfile), [`table`](Self::table) and [`store`](Self::store) refuse it in a pivot.
    pub const fn raw(mut self, raw: bool) -> Self {
        self.raw = raw;
        self
    }

    /// The time by which cells expire. Default: the time of the [`TableScan`](hbase_files::TableScan),
    /// or else the system's time when a query is planned.
    ///
    /// No effect on a store, which has its own clock.
    pub const fn now(mut self, now: Timestamp) -> Self {
        self.now = Some(now);
        self
    }

    /// Returns the scan of the whole table, with all columns.
    pub(crate) fn scan(&self) -> BatchScan {
        let scan = match &self.form {
            Form::Cells => BatchScan::cells(),
            Form::Pivot { columns, times } => BatchScan::pivot(columns.clone()).times(*times),
        };
        self.with_cells(scan)
    }

    /// Adds the options that select cells to a scan.
    pub(crate) fn with_cells(&self, scan: BatchScan) -> BatchScan {
        let scan = scan.row_type(self.row_type).versions(self.versions).raw(self.raw);
        self.now.map_or(scan.clone(), |now| scan.now(now))
    }
}
