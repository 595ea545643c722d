//! What to read: the keyword arguments of `scan`, `cells` and `get`.

use std::path::PathBuf;

use hbase_files::TableScan;
use hfile_arrow::{BatchScan, BatchSplit};
use pyo3::prelude::*;
use sstable::{Comparator, Timestamp};

use crate::arguments::{Bytes, Names, TypeName, Types, column};
use crate::failure::Failure;

/// The keyword arguments that choose cells, and how a table is read.
pub(crate) struct Choice {
    pub(crate) start: Option<Bytes>,
    pub(crate) stop: Option<Bytes>,
    pub(crate) prefix: Option<Bytes>,
    pub(crate) families: Option<Names>,
    pub(crate) columns: Option<Names>,
    pub(crate) versions: Option<u32>,
    pub(crate) min_timestamp: Option<i64>,
    pub(crate) max_timestamp: Option<i64>,
    pub(crate) raw: bool,
    pub(crate) now: Option<i64>,
    pub(crate) skip_damaged: bool,
    pub(crate) with_wal: bool,
    pub(crate) wal_memory: Option<usize>,
    pub(crate) wal_directory: Option<PathBuf>,
    pub(crate) threads: usize,
}

/// The keyword arguments about the form of batches.
#[derive(Default)]
pub(crate) struct Form {
    pub(crate) types: Option<Types>,
    pub(crate) row_type: Option<TypeName>,
    pub(crate) timestamps: bool,
    pub(crate) all_rows: bool,
    pub(crate) batch_size: Option<usize>,
    pub(crate) on_error: OnError,
}

/// What becomes of a value that is not of its column's type.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum OnError {
    #[default]
    Raise,
    Null,
}

impl OnError {
    /// # Errors
    ///
    /// `ValueError` for another name.
    pub(crate) fn from_name(name: &str) -> PyResult<Self> {
        match name {
            "raise" => Ok(Self::Raise),
            "null" => Ok(Self::Null),
            other => {
                Err(Failure::invalid(format!("on_error is {other:?}, not raise or null")).into())
            }
        }
    }
}

/// A scan of any source.
#[derive(Clone)]
pub(crate) struct Request {
    /// The rows, columns and versions, and the form of the batches.
    pub(crate) scan: BatchScan,
    /// How a table is read.
    pub(crate) reading: TableScan,
    /// All families that the arguments name. An HFile and a store do not check them themselves.
    pub(crate) families: Vec<Vec<u8>>,
    /// The name of the first given argument that is for tables and snapshots only.
    pub(crate) of_tables: Option<&'static str>,
    /// Whether the time by which cells expire is given.
    pub(crate) has_now: bool,
    /// The row to start at, and the row to stop before, as they are given.
    pub(crate) start: Option<Vec<u8>>,
    pub(crate) stop: Option<Vec<u8>>,
}

impl Form {
    /// Returns a scan of this form, and adds the families of a pivot.
    fn scan(self, families: &mut Vec<Vec<u8>>) -> Result<BatchScan, Failure> {
        let mut scan = match self.types {
            None if self.timestamps || self.all_rows => {
                let what = "timestamps and all_rows need types: the columns of a pivot";
                return Err(Failure::invalid(what));
            }
            None if self.on_error == OnError::Null => {
                return Err(Failure::invalid("on_error needs types, of which values can differ"));
            }
            None => BatchScan::cells(),
            Some(Types(columns)) => {
                families.extend(columns.iter().map(|column| column.family.clone()));
                let pivot = BatchScan::pivot(columns).times(self.timestamps);
                pivot.all_rows(self.all_rows).bad_values_as_null(self.on_error == OnError::Null)
            }
        };
        if let Some(TypeName(row_type)) = self.row_type {
            scan = scan.row_type(row_type);
        }
        if let Some(rows) = self.batch_size {
            scan = scan.rows_max(rows);
        }
        Ok(scan)
    }
}

impl Choice {
    /// Adds the chosen rows, columns, versions and times to a scan, and the families to a list.
    fn add_to(self, mut scan: BatchScan, families: &mut Vec<Vec<u8>>) -> PyResult<BatchScan> {
        for family in self.families.map(|Names(names)| names).unwrap_or_default() {
            scan = scan.family(&family);
            families.push(family);
        }
        for name in self.columns.map(|Names(names)| names).unwrap_or_default() {
            let (family, qualifier) = column(&name)?;
            scan = scan.column(family, qualifier);
            families.push(family.to_vec());
        }
        if let Some(Bytes(row)) = self.start {
            scan = scan.start(row);
        }
        if let Some(Bytes(row)) = self.stop {
            scan = scan.stop(row);
        }
        if let Some(Bytes(prefix)) = self.prefix {
            scan = scan.prefix(prefix);
        }
        if let Some(versions) = self.versions {
            scan = scan.versions(versions);
        }
        if self.min_timestamp.is_some() || self.max_timestamp.is_some() {
            let max = self.max_timestamp.map_or(Timestamp::LATEST, Timestamp::new);
            scan = scan.time_range(Timestamp::new(self.min_timestamp.unwrap_or(0)), max);
        }
        if let Some(now) = self.now {
            scan = scan.now(Timestamp::new(now));
        }
        Ok(scan.raw(self.raw))
    }
}

impl Request {
    /// Makes a request of arguments.
    ///
    /// # Errors
    ///
    /// `ValueError` if they contradict each other.
    pub(crate) fn new(choice: Choice, form: Form) -> PyResult<Self> {
        if form.types.is_some() && (choice.families.is_some() || choice.columns.is_some()) {
            let what = "types names the columns of a pivot; leave out families and columns";
            return Err(Failure::invalid(what).into());
        }
        if choice.versions == Some(0) {
            return Err(Failure::invalid("versions must be at least 1").into());
        }
        if choice.threads == 0 {
            return Err(Failure::invalid("threads must be at least 1").into());
        }
        if form.batch_size == Some(0) {
            return Err(Failure::invalid("batch_size must be at least 1").into());
        }
        let of_tables = [
            (choice.skip_damaged, "skip_damaged"),
            (choice.with_wal, "with_wal"),
            (choice.wal_memory.is_some(), "wal_memory"),
            (choice.wal_directory.is_some(), "wal_directory"),
            (choice.threads > 1, "threads"),
        ];
        let mut reading = TableScan::default()
            .skip_damaged(choice.skip_damaged)
            .with_logs(choice.with_wal)
            .threads(choice.threads);
        if let Some(memory) = choice.wal_memory {
            reading = reading.log_bytes_max(memory);
        }
        if let Some(directory) = &choice.wal_directory {
            reading = reading.log_directory(directory);
        }
        let has_now = choice.now.is_some();
        let row = |row: &Option<Bytes>| row.as_ref().map(|Bytes(row)| row.clone());
        let (start, stop) = (row(&choice.start), row(&choice.stop));
        let mut families = Vec::new();
        let scan = form.scan(&mut families)?;
        Ok(Self {
            scan: choice.add_to(scan, &mut families)?,
            reading,
            families,
            of_tables: of_tables.iter().find(|(is_set, _)| *is_set).map(|(_, name)| *name),
            has_now,
            start,
            stop,
        })
    }

    /// Returns the scan of a split, which has all that was asked for.
    pub(crate) fn of_split(split: &BatchSplit) -> Self {
        Self {
            scan: split.scan().clone(),
            reading: TableScan::default(),
            families: Vec::new(),
            of_tables: None,
            has_now: false,
            start: None,
            stop: None,
        }
    }

    /// Checks that the range does not end before its start, in the order of the source's rows.
    ///
    /// # Errors
    ///
    /// If it does.
    pub(crate) fn check_rows(&self, order: Comparator) -> Result<(), Failure> {
        match (&self.start, &self.stop) {
            (Some(start), Some(stop)) if order.compare_rows(start, stop).is_gt() => {
                let (start, stop) = (cells::escape(start), cells::escape(stop));
                Err(Failure::invalid(format!("start {start} is greater than stop {stop}")))
            }
            _ => Ok(()),
        }
    }

    /// Limits the request to one row.
    pub(crate) fn row(mut self, row: Vec<u8>) -> Self {
        let after: Vec<u8> = row.iter().copied().chain([0]).collect();
        self.scan = self.scan.start(&row).stop(after);
        // With a single row, the scan of a table queries the filters of its files.
        self.reading = self.reading.row(&row);
        self
    }
}
