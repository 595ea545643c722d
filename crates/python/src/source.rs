//! The base class of everything that can be scanned.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::arguments::{Bytes, Names, TypeName, Types};
use crate::cell_iterator::{CellIterator, cells_of};
use crate::contents::Contents;
use crate::detached::detached;
use crate::failure::Failure;
use crate::losses;
use crate::request::{Choice, Form, Request};
use crate::scan::Scan;

/// Cells by row, family, qualifier and timestamp: an HFile, a table, a snapshot or a store.
#[pyclass(frozen, subclass, module = "hfile")]
pub(crate) struct Source {
    pub(crate) contents: Arc<Contents>,
}

#[pymethods]
impl Source {
    /// Prepare a scan: a stream of Arrow record batches.
    ///
    /// The result has ``__arrow_c_stream__``, so pyarrow, polars and DuckDB read it without a copy. Without
    /// ``types`` there is one row for each cell, with the columns row, family, qualifier, timestamp, type,
    /// value, tags and sequence_id. With ``types`` there is one row for each row of the table: its key, and
    /// the newest value of each of these columns.
    ///
    /// Rows, families and columns are bytes, or str for their UTF-8.
    ///
    /// :param start: the first row.
    /// :param stop: the row before which the scan ends.
    /// :param prefix: the prefix of the rows.
    /// :param families: families of which all columns are read.
    /// :param columns: columns to read, as ``family:qualifier``.
    /// :param types: columns with their types, as ``{"info:age": "int64"}``. The types are string, int16,
    ///     int32, int64, float32, float64, bool and binary, as HBase's ``Bytes.toBytes`` writes them.
    /// :param row_type: the type of row keys; binary by default.
    /// :param timestamps: with types, also add a column ``family:qualifier:timestamp`` for each column.
    /// :param all_rows: with types, also return rows that have values only in other columns of the families.
    /// :param versions: the maximum number of versions of a column, at least 1; all that the family keeps by default.
    /// :param min_timestamp: the least timestamp, in milliseconds.
    /// :param max_timestamp: the timestamp before which all cells are.
    /// :param raw: also return delete markers, deleted cells and expired cells.
    /// :param now: the time by which cells expire, in milliseconds; the system's time by default.
    /// :param skip_damaged: continue after damaged and missing files; ``missing`` then lists what was left
    ///     out. Tables and snapshots only.
    /// :param with_wal: also read unflushed cells, which are only in write-ahead logs. A torn log is read up
    ///     to its unfinished part, without an error; ``torn_logs`` names it. Tables only: a snapshot has no
    ///     logs.
    /// :param wal_memory: the maximum bytes of unflushed cells in memory; 256 MiB by default. A temporary
    ///     file takes the rest.
    /// :param wal_directory: the directory of the temporary file; that of the system by default.
    /// :param threads: the number of threads that read; 1 by default. Tables and snapshots only.
    /// :param batch_size: the maximum number of rows of a batch; 16,384 by default.
    #[pyo3(signature = (*, start=None, stop=None, prefix=None, families=None, columns=None, types=None,
        row_type=None, timestamps=false, all_rows=false, versions=None, min_timestamp=None,
        max_timestamp=None, raw=false, now=None, skip_damaged=false, with_wal=false, wal_memory=None, wal_directory=None, threads=1,
        batch_size=None))]
    fn scan(
        &self,
        start: Option<Bytes>,
        stop: Option<Bytes>,
        prefix: Option<Bytes>,
        families: Option<Names>,
        columns: Option<Names>,
        types: Option<Types>,
        row_type: Option<TypeName>,
        timestamps: bool,
        all_rows: bool,
        versions: Option<u32>,
        min_timestamp: Option<i64>,
        max_timestamp: Option<i64>,
        raw: bool,
        now: Option<i64>,
        skip_damaged: bool,
        with_wal: bool,
        wal_memory: Option<usize>,
        wal_directory: Option<PathBuf>,
        threads: usize,
        batch_size: Option<usize>,
    ) -> PyResult<Scan> {
        let choice = Choice {
            start,
            stop,
            prefix,
            families,
            columns,
            versions,
            min_timestamp,
            max_timestamp,
            raw,
            now,
            skip_damaged,
            with_wal,
            wal_memory,
            wal_directory,
            threads,
        };
        let form = Form { types, row_type, timestamps, all_rows, batch_size };
        Scan::new(&self.contents, Request::new(choice, form)?)
    }

    /// Iterate over cells, in HBase's order.
    ///
    /// The parameters are those of :meth:`scan`.
    #[pyo3(signature = (*, start=None, stop=None, prefix=None, families=None, columns=None,
        versions=None, min_timestamp=None, max_timestamp=None, raw=false, now=None,
        skip_damaged=false, with_wal=false, wal_memory=None, wal_directory=None, threads=1))]
    fn cells(
        &self,
        py: Python<'_>,
        start: Option<Bytes>,
        stop: Option<Bytes>,
        prefix: Option<Bytes>,
        families: Option<Names>,
        columns: Option<Names>,
        versions: Option<u32>,
        min_timestamp: Option<i64>,
        max_timestamp: Option<i64>,
        raw: bool,
        now: Option<i64>,
        skip_damaged: bool,
        with_wal: bool,
        wal_memory: Option<usize>,
        wal_directory: Option<PathBuf>,
        threads: usize,
    ) -> PyResult<CellIterator> {
        let choice = Choice {
            start,
            stop,
            prefix,
            families,
            columns,
            versions,
            min_timestamp,
            max_timestamp,
            raw,
            now,
            skip_damaged,
            with_wal,
            wal_memory,
            wal_directory,
            threads,
        };
        let request = Request::new(choice, Form::default())?;
        let contents = &self.contents;
        let batches = detached(py, || contents.batches(&request))?;
        losses::warn(py, &contents.new_warnings(&batches.warnings()))?;
        Ok(CellIterator::new(batches))
    }

    /// Return the cells of one row; an empty list if the row is absent.
    ///
    /// Reads data blocks only of files whose key range and filters allow the row. The parameters
    /// are those of :meth:`scan`. With ``skip_damaged``, a :class:`hfile.TableWarning` names each damaged or
    /// missing file or region that may have had the row.
    #[pyo3(signature = (row, *, families=None, columns=None, versions=None, min_timestamp=None,
        max_timestamp=None, raw=false, now=None, skip_damaged=false, with_wal=false,
        wal_memory=None, wal_directory=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        row: Bytes,
        families: Option<Names>,
        columns: Option<Names>,
        versions: Option<u32>,
        min_timestamp: Option<i64>,
        max_timestamp: Option<i64>,
        raw: bool,
        now: Option<i64>,
        skip_damaged: bool,
        with_wal: bool,
        wal_memory: Option<usize>,
        wal_directory: Option<PathBuf>,
    ) -> PyResult<Bound<'py, PyList>> {
        let choice = Choice {
            start: None,
            stop: None,
            prefix: None,
            families,
            columns,
            versions,
            min_timestamp,
            max_timestamp,
            raw,
            now,
            skip_damaged,
            with_wal,
            wal_memory,
            wal_directory,
            threads: 1,
        };
        let request = Request::new(choice, Form::default())?;
        let (Bytes(row), contents) = (row, &self.contents);
        let (batches, warnings) = detached(py, || {
            contents.check(&request)?;
            if contents.is_absent(&row)? {
                return Ok((Vec::new(), Vec::new()));
            }
            let mut batches = contents.batches(&request.row(row))?;
            let found = batches.by_ref().collect::<Result<_, _>>()?;
            let mut warnings = contents.new_warnings(&batches.warnings());
            warnings.extend(batches.missing().into_iter().map(losses::warning_of));
            Ok::<_, Failure>((found, warnings))
        })?;
        losses::warn(py, &warnings)?;
        cells_of(py, &batches)
    }

    /// Return self, for a ``with`` statement.
    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Close the source.
    #[pyo3(signature = (*exception))]
    fn __exit__(&self, py: Python<'_>, exception: &Bound<'_, pyo3::types::PyTuple>) {
        let _ = exception;
        self.close(py);
    }

    /// Close the files that the source holds open.
    ///
    /// Streams and iterators that are open go on. Tables and snapshots hold none: they open files while they
    /// are scanned.
    fn close(&self, py: Python<'_>) {
        py.detach(|| match &*self.contents {
            Contents::HFile(reader) => reader.close(),
            Contents::Store(store) => store.close(),
            Contents::Table(_) => {}
        });
    }
}
