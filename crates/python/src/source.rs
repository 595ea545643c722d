//! The base class of everything that can be scanned.

use std::path::PathBuf;
use std::sync::Arc;

use hbase_files::MissingCells;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::arguments::{Bytes, Names, TypeName, Types};
use crate::cell_iterator::{CellIterator, cells_of};
use crate::column_names::ColumnNames;
use crate::contents::Contents;
use crate::detached::detached;
use crate::failure::Failure;
use crate::request::{Choice, Form, OnError, Request};
use crate::scan::{Origin, Scan};
use crate::split::{Split, Splits};
use crate::{losses, pickling};

/// Cells by row, family, qualifier and timestamp: an HFile, a table, a snapshot or a store.
#[pyclass(frozen, subclass, module = "pyhfile")]
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
    /// :param families: families that are read with all columns.
    /// :param columns: columns to read, as ``family:qualifier``.
    /// :param types: columns with their types, as ``{"info:age": "int64"}``. The types are string, int8, int16,
    ///     int32, int64, float32, float64, bool, decimal and binary, as HBase's ``Bytes.toBytes`` writes them;
    ///     timestamp, an int64 of milliseconds since 1970; and date, an int32 of days. A decimal has 38 digits,
    ///     18 of them after the point, or as many as ``decimal(10,2)`` says.
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
    /// :param wal_directory: the directory of the temporary file; the system's by default.
    /// :param threads: the number of threads that read; 1 by default. Tables and snapshots only.
    /// :param batch_size: the maximum number of rows of a batch; 16,384 by default.
    /// :param on_error: what becomes of a value that is not of its column's type: ``"raise"`` raises
    ///     :class:`pyhfile.ValueTypeError`; ``"null"`` makes it null, and ``bad_values`` counts it.
    #[pyo3(signature = (*, start=None, stop=None, prefix=None, families=None, columns=None, types=None,
        row_type=None, timestamps=false, all_rows=false, versions=None, min_timestamp=None,
        max_timestamp=None, raw=false, now=None, skip_damaged=false, with_wal=false, wal_memory=None, wal_directory=None, threads=1,
        batch_size=None, on_error="raise"))]
    fn scan(
        slf: &Bound<'_, Self>,
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
        on_error: &str,
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
        let on_error = OnError::from_name(on_error)?;
        let form = Form { types, row_type, timestamps, all_rows, batch_size, on_error };
        let keywords = pickling::keywords(slf.py(), &choice, &form)?.unbind();
        let origin = Origin::Source(slf.clone().into_any().unbind(), keywords);
        Scan::new(&slf.get().contents, Request::new(choice, form)?, origin)
    }

    /// Divide a scan into splits for other processes: a list of :class:`pyhfile.Split`.
    ///
    /// Each region with files for the scan has one, and a region with more than ``target_bytes`` of files several,
    /// divided between rows at data blocks; an HFile is divided likewise. Only the indexes of files of large regions
    /// are read. With ``with_wal``, each split reads the logs, and takes the cells of its rows. All splits expire
    /// cells by the same time. With ``skip_damaged``, a :class:`pyhfile.TableWarning` names each region that no split
    /// has because it is damaged or missing.
    ///
    /// :param target_bytes: about how many bytes of files a split reads at most; without it, regions are not divided.
    ///
    /// The other parameters are as in :meth:`scan`.
    ///
    /// :raises pyhfile.Error: if a file is missing, or the index of one cannot be read.
    #[pyo3(signature = (*, target_bytes=None, start=None, stop=None, prefix=None, families=None, columns=None, types=None,
        row_type=None, timestamps=false, all_rows=false, versions=None, min_timestamp=None,
        max_timestamp=None, raw=false, now=None, skip_damaged=false, with_wal=false, wal_memory=None, wal_directory=None, threads=1,
        batch_size=None, on_error="raise"))]
    fn splits(
        &self,
        py: Python<'_>,
        target_bytes: Option<u64>,
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
        on_error: &str,
    ) -> PyResult<Vec<Split>> {
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
        if target_bytes == Some(0) {
            return Err(Failure::invalid("target_bytes must be at least 1").into());
        }
        let on_error = OnError::from_name(on_error)?;
        let form = Form { types, row_type, timestamps, all_rows, batch_size, on_error };
        let request = Request::new(choice, form)?;
        let contents = &self.contents;
        let Splits { splits, missing } =
            detached(py, || Splits::new(contents, &request, target_bytes))?;
        let mut warnings = contents.unread_logs(&request);
        warnings.extend(missing.iter().map(MissingCells::to_warning));
        losses::warn(py, &warnings)?;
        Ok(splits)
    }

    /// Iterate over cells, in HBase's order.
    ///
    /// The parameters are as in :meth:`scan`.
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
        losses::warn(py, &contents.first_warnings(&request, &batches))?;
        Ok(CellIterator::new(batches))
    }

    /// Return the names of the columns that have cells, as ``family:qualifier`` in bytes, ascending.
    ///
    /// HBase keeps no list of columns, so this reads all cells, but not their values into memory; ``sample`` limits it
    /// to the first rows of each region.
    ///
    /// >>> import pyhfile
    /// >>> pyhfile.open_snapshot("rootdir", "s1").column_names(sample=100)[:3]
    /// [b'f1:a', b'f1:bb', b'f1:ccc']
    ///
    /// :param sample: the number of rows of each region, or of the file or store, that are read; all by default.
    ///
    /// The other parameters are as in :meth:`scan`.
    #[pyo3(signature = (*, sample=None, start=None, stop=None, prefix=None, families=None, now=None,
        with_wal=false))]
    fn column_names<'py>(
        &self,
        py: Python<'py>,
        sample: Option<u64>,
        start: Option<Bytes>,
        stop: Option<Bytes>,
        prefix: Option<Bytes>,
        families: Option<Names>,
        now: Option<i64>,
        with_wal: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let choice = Choice {
            start,
            stop,
            prefix,
            families,
            columns: None,
            versions: None,
            min_timestamp: None,
            max_timestamp: None,
            raw: false,
            now,
            skip_damaged: false,
            with_wal,
            wal_memory: None,
            wal_directory: None,
            threads: 1,
        };
        let request = Request::new(choice, Form::default())?;
        losses::warn(py, &self.contents.unread_logs(&request))?;
        let names = ColumnNames::read(py, &self.contents, &request, sample)?;
        PyList::new(py, names.into_names().map(|name| PyBytes::new(py, &name)).collect::<Vec<_>>())
    }

    /// Return the cells of one row; an empty list if the row is absent.
    ///
    /// Reads data blocks only of files whose key range and filters allow the row. The parameters are as in
    /// :meth:`scan`. With ``skip_damaged``, a :class:`pyhfile.TableWarning` names each damaged or missing file
    /// or region that may have had the row.
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
            let request = request.row(row);
            let mut batches = contents.batches(&request)?;
            let found = batches.by_ref().collect::<Result<_, _>>()?;
            let mut warnings = contents.new_warnings(&request, &batches.warnings());
            warnings.extend(batches.missing().iter().map(MissingCells::to_warning));
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
            Contents::HFile(file) => file.close(),
            Contents::Store { store, .. } => store.close(),
            Contents::Table(_) | Contents::Split(_) => {}
        });
    }
}
