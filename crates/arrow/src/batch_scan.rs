//! The options of a scan that returns record batches.

use cells::ValueType;
use hbase_files::{Region, StoreFileCells, StoreFileReader, Table, TableScan};
use sstable::{Reader, Timestamp};
use store::{MergedScans, Scan, Snapshot, Store};

use crate::batch_builder::{BatchBuilder, Contents};
use crate::batches::Batches;
use crate::cells_builder::CellsBuilder;
use crate::columns::{CellColumn, PivotColumn};
use crate::error::{Error, Result};
use crate::pivot_builder::PivotBuilder;
use crate::source::Source;

/// What to read from a file, store or table, and the form of the batches.
///
/// [`cells`](Self::cells) has one row for each cell, [`pivot`](Self::pivot) one row for each row of
/// the table and a typed column for each wanted column. A range of rows is a range of data blocks:
/// a scan reads no others. It does not copy unwanted columns, and seeks past the rest of a wide
/// row.
///
/// ```
/// use hfile_arrow::{BatchScan, PivotColumn};
/// use cells::ValueType;
/// use sstable::BloomType;
/// use store::{FamilyOptions, Put, Store, StoreOptions};
///
/// # let directory = tempfile::tempdir().expect("a directory");
/// # let directory = directory.path();
/// let store = Store::open(directory, StoreOptions::default())?;
/// store.create_family("info", FamilyOptions::default())?;
/// store.put(Put::new("ada").column("info", "name", "Ada").column("info", "age", 36_i64.to_be_bytes()))?;
/// store.put(Put::new("alan").column("info", "name", "Alan"))?;
///
/// // One row a cell: row, family, qualifier, timestamp, type, value, tags, sequence_id.
/// for batch in BatchScan::cells().start("al").store(&store)? {
///     assert_eq!(batch?.num_rows(), 1);
/// }
///
/// // One row a row: row, info:name (Utf8), info:age (Int64).
/// let columns = [
///     PivotColumn::new("info", "name").value_type(ValueType::String),
///     PivotColumn::new("info", "age").value_type(ValueType::Int64),
/// ];
/// let batches: Vec<_> = BatchScan::pivot(columns).store(&store)?.collect::<Result<_, _>>()?;
/// assert_eq!(batches[0].num_rows(), 2);
/// assert_eq!(batches[0].schema().field(2).name(), "info:age");
/// assert_eq!(batches[0].column(2).null_count(), 1);
/// # Ok::<(), hfile_arrow::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct BatchScan {
    /// The rows, columns, times and versions.
    pub(crate) selection: TableScan,
    pub(crate) form: Form,
    pub(crate) row_type: ValueType,
    pub(crate) rows_max: usize,
    pub(crate) bytes_max: usize,
}

/// The form of the batches.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    Cells(Vec<CellColumn>),
    Pivot { columns: Vec<PivotColumn>, times: bool, all_rows: bool, bad_as_null: bool },
}

impl BatchScan {
    fn new(form: Form) -> Self {
        Self {
            selection: TableScan::default(),
            form,
            row_type: ValueType::BinaryHex,
            rows_max: 16 << 10,
            bytes_max: 16 << 20,
        }
    }

    /// Returns a scan with one row for each cell.
    ///
    /// Shows all versions that HBase would show; see [`versions`](Self::versions) and
    /// [`raw`](Self::raw).
    pub fn cells() -> Self {
        Self::new(Form::Cells(CellColumn::ALL.to_vec()))
    }

    /// Returns a scan with one row for each row that has a value in one of the wanted columns.
    ///
    /// Shows the newest version of each column, with null for a column without a value. The
    /// columns of a batch are `row` and `family:qualifier`, as HBase prints them.
    pub fn pivot(wanted: impl IntoIterator<Item = PivotColumn>) -> Self {
        let columns: Vec<_> = wanted.into_iter().collect();
        let selection = columns.iter().fold(TableScan::default().versions(1), |scan, column| {
            scan.column(&column.family, &column.qualifier)
        });
        let form = Form::Pivot { columns, times: false, all_rows: false, bad_as_null: false };
        Self { selection, ..Self::new(form) }
    }

    /// In a scan of cells: the parts of a cell that batches have. Default: all.
    ///
    /// No effect in a pivot.
    pub fn parts(mut self, parts: impl IntoIterator<Item = CellColumn>) -> Self {
        if let Form::Cells(columns) = &mut self.form {
            *columns = parts.into_iter().collect();
        }
        self
    }

    /// In a pivot: adds a column `family:qualifier:timestamp` after each column. Default: no.
    ///
    /// No effect in a scan of cells.
    pub fn times(mut self, wanted: bool) -> Self {
        if let Form::Pivot { times, .. } = &mut self.form {
            *times = wanted;
        }
        self
    }

    /// In a pivot: also shows the rows that have values only in other columns of the families of
    /// the wanted columns. Default: no.
    ///
    /// No effect in a scan of cells.
    pub const fn all_rows(mut self, wanted: bool) -> Self {
        if let Form::Pivot { all_rows, .. } = &mut self.form {
            *all_rows = wanted;
        }
        self
    }

    /// In a pivot: a value that is not of its column's type becomes null, and is counted by
    /// [`Batches::bad_values`]. Default: an error, [`Error::Value`].
    ///
    /// The column of times has the time of such a value. A row key of another type is an error. No effect in a scan
    /// of cells.
    pub const fn bad_values_as_null(mut self, wanted: bool) -> Self {
        if let Form::Pivot { bad_as_null, .. } = &mut self.form {
            *bad_as_null = wanted;
        }
        self
    }

    /// The type of row keys. Default: [`ValueType::BinaryHex`], which is Arrow's Binary.
    pub const fn row_type(mut self, row_type: ValueType) -> Self {
        self.row_type = row_type;
        self
    }

    /// Begins with this row. Default: the first.
    pub fn start(mut self, row: impl AsRef<[u8]>) -> Self {
        self.selection = self.selection.start(row);
        self
    }

    /// Ends before this row. Default: no end.
    pub fn stop(mut self, row: impl AsRef<[u8]>) -> Self {
        self.selection = self.selection.stop(row);
        self
    }

    /// Only rows that begin with these bytes. Default: all.
    pub fn prefix(mut self, prefix: impl AsRef<[u8]>) -> Self {
        self.selection = self.selection.prefix(prefix);
        self
    }

    /// Adds a family with all of its columns. Default: all families, unless there are
    /// wanted columns.
    ///
    /// In a pivot: also shows the rows that have values only in other columns of the family.
    pub fn family(mut self, family: impl AsRef<[u8]>) -> Self {
        self.selection = self.selection.family(family);
        self
    }

    /// Adds a wanted column. Default: all.
    ///
    /// In a pivot: also shows the rows that have a value only in this column; batches do not have
    /// it.
    pub fn column(mut self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Self {
        self.selection = self.selection.column(family, qualifier);
        self
    }

    /// The maximum number of versions of a column. Default: as many as the family keeps; one in a
    /// pivot.
    pub const fn versions(mut self, versions: u32) -> Self {
        self.selection.versions = versions;
        self
    }

    /// Only cells whose timestamp is in `min..max`. Default: all.
    pub const fn time_range(mut self, min: Timestamp, max: Timestamp) -> Self {
        (self.selection.min_ts, self.selection.max_ts) = (min, max);
        self
    }

    /// Shows all stored cells: delete markers, deleted cells and expired cells. Default: no.
    pub const fn raw(mut self, raw: bool) -> Self {
        self.selection.raw = raw;
        self
    }

    /// The time by which cells expire. Default: the system's time.
    ///
    /// No effect on a store, which has its own clock.
    pub const fn now(mut self, now: Timestamp) -> Self {
        self.selection.now = Some(now);
        self
    }

    /// The maximum number of rows of a batch. Default: 16,384.
    pub const fn rows_max(mut self, rows: usize) -> Self {
        self.rows_max = rows;
        self
    }

    /// The maximum number of bytes of a batch, unless one row exceeds it. Default: 16 MiB.
    pub const fn bytes_max(mut self, bytes: usize) -> Self {
        self.bytes_max = bytes;
        self
    }

    /// Returns a builder of batches of this form, for cells that the caller reads.
    ///
    /// It adds each cell that it gets: the caller selects the rows, columns and versions.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if options contradict each other.
    pub fn builder(&self) -> Result<BatchBuilder> {
        let contents = match &self.form {
            Form::Cells(columns) => Contents::Cells(CellsBuilder::new(columns, self.row_type)),
            Form::Pivot { columns, times, bad_as_null, .. } => {
                if self.selection.raw || self.selection.versions != 1 {
                    let what = "a pivot shows one version of each column, and no deleted cells";
                    return Err(Error::Invalid(what.to_owned()));
                }
                let builder = PivotBuilder::new(columns, *times, self.row_type)?;
                Contents::Pivot(builder.bad_as_null(*bad_as_null))
            }
        };
        Ok(BatchBuilder::new(contents, self.rows_max, self.bytes_max))
    }

    /// Scans an HFile.
    ///
    /// The file's delete markers hide its own cells only; with [`raw`](Self::raw), all cells are
    /// shown.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or options contradict each other.
    pub fn hfile(&self, reader: &Reader) -> Result<Batches> {
        self.store_file(&StoreFileReader::new(reader.clone(), None))
    }

    /// Scans an HFile or the half of one.
    ///
    /// # Errors
    ///
    /// As [`hfile`](Self::hfile).
    pub fn store_file(&self, reader: &StoreFileReader) -> Result<Batches> {
        let cells = StoreFileCells::open(reader, &self.selection())?;
        self.batches(Source::File(Box::new(cells)))
    }

    /// Scans a store, as it is now.
    ///
    /// # Errors
    ///
    /// If the store cannot be read, or options contradict each other.
    pub fn store(&self, store: &Store) -> Result<Batches> {
        let families: Vec<_> = store.families().into_iter().map(|(name, _)| name).collect();
        self.store_snapshot(&store.snapshot(), &families)
    }

    /// Scans these families of a store, as it was at the moment of a snapshot.
    ///
    /// Several scans of one snapshot show the same state, such as scans of neighbouring ranges of rows.
    ///
    /// # Errors
    ///
    /// As [`store`](Self::store), and if the store did not have one of the families.
    pub fn store_snapshot(&self, snapshot: &Snapshot, families: &[String]) -> Result<Batches> {
        let selection = self.selection();
        let scans = families.iter().filter_map(|family| {
            Some(Scan::of_selection(family, &selection.of_family(family.as_bytes())?))
        });
        self.batches(Source::Store(MergedScans::open(snapshot, scans)?))
    }

    /// Scans a table of a root directory, live or of a snapshot.
    ///
    /// `reading` says how: threads, damaged files, MOB values, logs, and how files are opened. This
    /// scan replaces its start, stop, prefix, columns, versions and `raw`, and its time range and
    /// `now` if they are set here. The single [row](TableScan::row) of `reading` also limits the
    /// scan.
    ///
    /// ```no_run
    /// use std::path::Path;
    /// use std::sync::Arc;
    ///
    /// use hbase_files::{LocalTree, RootDirectory, TableScan};
    /// use hfile_arrow::BatchScan;
    ///
    /// let root = RootDirectory::open(Arc::new(LocalTree), Path::new("/data/hbase"))?;
    /// let snapshot = root.snapshot("users-monday")?;
    /// let scan = BatchScan::cells().family("info").prefix("user1");
    /// for batch in scan.table(&snapshot.table, &TableScan::default().threads(2))? {
    ///     println!("{} cells", batch?.num_rows());
    /// }
    /// # Ok::<(), hfile_arrow::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Table::scan`], and if options contradict each other.
    pub fn table(&self, table: &Table, reading: &TableScan) -> Result<Batches> {
        let cells = table.scan(&self.selection_of(reading))?;
        self.batches(Source::Table(Box::new(cells)))
    }

    /// Scans one region of a table, as [`table`](Self::table).
    ///
    /// # Errors
    ///
    /// As [`table`](Self::table).
    pub fn region(&self, table: &Table, region: &Region, reading: &TableScan) -> Result<Batches> {
        let cells = table.scan_region(region, &self.selection_of(reading))?;
        self.batches(Source::Table(Box::new(cells)))
    }

    /// Returns which cells are read.
    pub(crate) fn selection(&self) -> TableScan {
        let scan = self.selection.clone();
        match &self.form {
            Form::Pivot { columns, all_rows: true, .. } => {
                columns.iter().fold(scan, |scan, column| scan.family(&column.family))
            }
            Form::Pivot { .. } | Form::Cells(_) => scan,
        }
    }

    /// Returns the scan of a table, which also says how it is read.
    pub(crate) fn selection_of(&self, reading: &TableScan) -> TableScan {
        let (wanted, mut scan) = (self.selection(), reading.clone());
        if let Some(times) = wanted.times() {
            scan = scan.time_range(times.start, times.end);
        }
        scan.start = wanted.start;
        scan.stop = wanted.stop;
        scan.prefix = wanted.prefix;
        scan.families = wanted.families;
        scan.now = wanted.now.or(scan.now);
        scan.versions(wanted.versions).raw(wanted.raw)
    }

    fn batches(&self, source: Source) -> Result<Batches> {
        Ok(Batches::new(source, self.builder()?))
    }
}
