//! `write_hfiles`: Arrow data as HFiles for HBase's bulk load.

use std::path::PathBuf;

use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::ArrowArrayStreamReader;
use arrow_pyarrow::FromPyArrow;
use arrow_schema::Schema;
use cells::escape;
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList};
use sstable::{Comparator, FileName, RegionFile, Timestamp};
use store::Clock;
use transfer::{
    BadLinePolicy, Build, BulkLoadFiles, ColumnFamily, ColumnOptions, Input, MappedColumn, Sorting,
    TypedColumn,
};

use crate::arguments::{Bytes, TypeName, column, local_path};
use crate::detached::guarded;
use crate::failure::Failure;
use crate::file_options::FileOptions;
use crate::interrupt::Interrupts;

/// How the data is called in messages.
const DATA: &str = "data";

/// Write Arrow data as HFiles for HBase's bulk load.
///
/// ``data`` is read once, batch by batch: a ``pyarrow.Table`` or ``RecordBatchReader``, a polars or pandas
/// ``DataFrame``, a DuckDB relation, a :class:`pyhfile.Scan`, or another object with ``__arrow_c_stream__``. It may be
/// in any order: cells are sorted, in temporary files if there are more than ``memory`` bytes of them. With ``sort=False``,
/// the row keys ascend already: one row is in memory, there are no temporary files, and it takes less time.
///
/// >>> import pyhfile, pyarrow
/// >>> users = pyarrow.table({"id": ["ann", "zoe"], "info:name": ["Ann", None], "info:age": [41, 34]})
/// >>> written = pyhfile.write_hfiles(users, "out", row="id", splits=["m"], timestamp=1_700_000_000_000)
/// >>> written.cells, [(file.family, file.first_row) for file in written.files]
/// (3, [('info', b'ann'), ('info', b'zoe')])
///
/// Each row of ``data`` becomes one cell for each column that is not null, with the type of the column as HBase's
/// ``Bytes.toBytes`` writes it: bool, int8, int16, int32, int64, float32, float64 and decimal; date as an int32 of days; text
/// as UTF-8; binary as it is. Other types, such as timestamps, need ``types``. ``hfile build`` of the same cells writes the same bytes.
///
/// ``directory`` appears when all files are complete: ``hbase completebulkload DIRECTORY TABLE`` loads it. Ctrl-C
/// leaves nothing.
///
/// :param data: the data; its columns are named ``family:qualifier``, or by ``columns``.
/// :param directory: a new or empty directory.
/// :param row: the column of the row key, or several; without it, ``data`` has one row for each cell, with the
///     columns of ``scan()``.
/// :param columns: the columns to write: ``{"name": "info:name"}``, or names that are ``family:qualifier``; by default
///     all others.
/// :param types: types of columns, as ``{"info:age": "int32"}``. Text is parsed, as a field of CSV.
/// :param timestamp: the time of the cells in milliseconds, or the column that has it; the system's time by default.
/// :param splits: the start rows of all regions of the table but the first, ascending; see :func:`pyhfile.split_points`.
/// :param create_time: the create time of the files in milliseconds; the system's time by default.
/// :param compression: NONE, GZ, SNAPPY, LZ4 or ZSTD.
/// :param encoding: the data block encoding: NONE, PREFIX, DIFF, FAST_DIFF or ROW_INDEX_V1.
/// :param bloom: HBase's Bloom filter: NONE, ROW or ROWCOL; ROW by default.
/// :param filter: a filter of this project beside it, such as ``blocked-bloom``, which HBase ignores.
/// :param sort: ``False`` if the row keys ascend, as their bytes do; a row out of order is then refused. The files
///     are the same.
/// :param memory: the bytes of cells that are sorted in memory; 256 MiB by default.
/// :param temporary_directory: the directory of temporary files; the system's by default.
/// :param row_type: the type of the row key, for numbers: ``string`` for digits, or a type as of ``types``.
/// :param row_separator: what is between several row columns.
/// :param family: the family of columns that name none.
/// :param block_size: the bytes of a data block; 65,536 by default.
/// :param tags: whether the cells of a scan keep their tags.
/// :param hbase_version: the HBase whose bytes are written: "2.5" or "2.6", which records the longest cell; 2.5 by default.
///     Both read both.
/// :param skip_bad: skip rows with a bad value, and count them in ``bad_rows``, in place of an error.
/// :param force: replace a directory that has HFiles by family, and nothing else.
/// :returns: a :class:`pyhfile.Written`.
/// :raises pyhfile.ValueTypeError: if a value is not of its type. The message names the record, its row and the column.
/// :raises ValueError: if the arguments do not fit the columns of the data.
/// :raises pyhfile.Error: if the data or a file fails.
#[pyfunction]
#[pyo3(signature = (data, directory, *, row=None, columns=None, types=None, timestamp=None, splits=None,
    create_time=None, compression=None, encoding=None, bloom=None, filter=None, sort=true, memory=268_435_456,
    temporary_directory=None, row_type=None, row_separator=None, family=None, block_size=None, tags=false,
    hbase_version=None, skip_bad=false, force=false))]
pub(crate) fn write_hfiles<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    directory: PathBuf,
    row: Option<ColumnNames>,
    columns: Option<&Bound<'py, PyAny>>,
    types: Option<&Bound<'py, PyDict>>,
    timestamp: Option<CellTime>,
    splits: Option<Vec<Bytes>>,
    create_time: Option<i64>,
    compression: Option<String>,
    encoding: Option<String>,
    bloom: Option<String>,
    filter: Option<String>,
    sort: bool,
    memory: u64,
    temporary_directory: Option<PathBuf>,
    row_type: Option<TypeName>,
    row_separator: Option<Bytes>,
    family: Option<String>,
    block_size: Option<u32>,
    tags: bool,
    hbase_version: Option<String>,
    skip_bad: bool,
    force: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let now = Clock::system().now();
    let file_options =
        FileOptions { compression, encoding, bloom, filter, block_size, tags, hbase_version };
    let options = file_options.writer_options(create_time.map_or(now, Timestamp::new))?;
    let splits: Vec<Vec<u8>> = splits.into_iter().flatten().map(|Bytes(split)| split).collect();
    check_splits(&splits)?;
    if let Some(CellTime::Millis(millis @ ..0)) = timestamp {
        return Err(PyValueError::new_err(format!(
            "timestamp: {millis} is a time before 1970, which HBase does not accept"
        )));
    }
    let reader = open_stream(data)?;
    let mut column_options = ColumnOptions {
        row: row.map(|ColumnNames(names)| names).unwrap_or_default(),
        // A text with escapes.
        row_separator: row_separator.map(|Bytes(text)| escape(&text).to_string()),
        row_type: row_type.map(|TypeName(row_type)| row_type),
        bad_lines: skip_bad.then_some(BadLinePolicy::Skip),
        timestamp: timestamp.map(CellTime::into_option),
        ..ColumnOptions::default()
    };
    choose_columns(&mut column_options, columns, &reader.schema())?;
    add_types(&mut column_options, types)?;
    let writing = Writing {
        reader,
        directory: local_path(directory)?,
        columns: column_options,
        family,
        now,
        options,
        splits,
        sorting: if sort {
            Sorting::All { memory, directory: temporary_directory }
        } else {
            Sorting::WithinRows
        },
        force,
    };
    let interrupts = Interrupts::new();
    let written = py.detach(|| guarded(|| writing.run(&interrupts)));
    if let Some(raised) = interrupts.into_raised() {
        return Err(raised);
    }
    match written {
        // Data that Python code makes can take the signal itself. The stream then only has its text.
        Err(failure)
            if failure.message.contains("read record batches")
                && failure.message.contains("KeyboardInterrupt") =>
        {
            Err(PyKeyboardInterrupt::new_err(()))
        }
        written => to_python(py, &written?),
    }
}

/// Names of columns: one, or some.
pub(crate) struct ColumnNames(Vec<String>);

impl<'py> FromPyObject<'_, 'py> for ColumnNames {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(name) = object.extract::<String>() {
            return Ok(Self(vec![name]));
        }
        object.try_iter()?.map(|name| name?.extract()).collect::<PyResult<_>>().map(Self)
    }
}

/// The timestamp of cells.
#[derive(FromPyObject)]
pub(crate) enum CellTime {
    /// Milliseconds since 1970.
    Millis(i64),
    /// The name of a column.
    Column(String),
}

impl CellTime {
    /// Returns it as the text of `ColumnOptions::timestamp`.
    fn into_option(self) -> String {
        match self {
            // The zero says that it is a number, and not a column that is called so.
            Self::Millis(millis) => format!("0{millis}"),
            Self::Column(name) => format!("column:{name}"),
        }
    }
}

/// Takes the stream of batches that an object exports.
fn open_stream(data: &Bound<'_, PyAny>) -> PyResult<ArrowArrayStreamReader> {
    if !data.hasattr("__arrow_c_stream__")? {
        let found = data.get_type().qualname()?;
        return Err(PyTypeError::new_err(format!(
            "data must have __arrow_c_stream__, as tables of pyarrow, frames of polars and pandas and relations of \
             DuckDB have; {found} does not"
        )));
    }
    if is_array(data)? {
        let found = data.get_type().qualname()?;
        return Err(PyTypeError::new_err(format!(
            "data must be a table, not the {found} of one column: make a table of its fields, in which no row is null"
        )));
    }
    ArrowArrayStreamReader::from_pyarrow_bound(data)
}

/// Returns whether an object is an array, such as a `ChunkedArray` of pyarrow or a `Series` of polars or pandas.
///
/// The stream of an array of structs cannot be told from the stream of a table, and its null rows would become
/// cells: the reader of streams drops the validity of rows.
fn is_array(data: &Bound<'_, PyAny>) -> PyResult<bool> {
    let class = data.get_type();
    let has_values = class.hasattr("dtype")? || class.hasattr("type")?;
    Ok(has_values && !class.hasattr("schema")? && !class.hasattr("columns")?)
}

fn check_splits(splits: &[Vec<u8>]) -> PyResult<()> {
    match splits.windows(2).find(|pair| pair[0] >= pair[1]) {
        None => Ok(()),
        Some(pair) => Err(PyValueError::new_err(format!(
            "splits must ascend, but {} does not sort before {}",
            escape(&pair[0]),
            escape(&pair[1])
        ))),
    }
}

/// Takes the chosen columns: the columns of a mapping, or of a list. All others become no cells.
fn choose_columns(
    options: &mut ColumnOptions,
    columns: Option<&Bound<'_, PyAny>>,
    schema: &Schema,
) -> PyResult<()> {
    let Some(columns) = columns else { return Ok(()) };
    if let Ok(columns) = columns.cast::<PyDict>() {
        for (name, target) in columns.iter() {
            options.column.push(mapped(name.extract()?, &target.extract::<Bytes>()?.0)?);
        }
    } else {
        for name in columns.extract::<ColumnNames>()?.0 {
            let target = cells::unescape(&name);
            options.column.push(mapped(name, &target)?);
        }
    }
    let time = options.timestamp.as_deref().and_then(|text| text.strip_prefix("column:"));
    let is_used = |name: &String| {
        options.row.contains(name)
            || time == Some(&**name)
            || options.column.iter().any(|column| column.name == *name)
    };
    let names = schema.fields().iter().map(|field| field.name().clone());
    let ignore = names.filter(|name| !is_used(name)).collect();
    options.ignore = ignore;
    Ok(())
}

fn mapped(name: String, target: &[u8]) -> PyResult<MappedColumn> {
    let (family, qualifier) = column(target)?;
    Ok(MappedColumn { name, family: family.to_vec(), qualifier: qualifier.to_vec() })
}

/// Adds the types of columns, which are named by their cells or by their names in the data.
fn add_types(options: &mut ColumnOptions, types: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    for (name, value_type) in types.into_iter().flat_map(PyDictMethods::iter) {
        let TypeName(value_type) = value_type.extract()?;
        let Bytes(name) = name.extract()?;
        let of_name = options.column.iter().find(|column| column.name.as_bytes() == name);
        let (family, qualifier) = if let Some(column) = of_name {
            (column.family.clone(), column.qualifier.clone())
        } else {
            let (family, qualifier) = column(&name)?;
            (family.to_vec(), qualifier.to_vec())
        };
        options.types.push(TypedColumn { family, qualifier, value_type });
    }
    Ok(())
}

/// A prepared call.
struct Writing {
    reader: ArrowArrayStreamReader,
    directory: PathBuf,
    columns: ColumnOptions,
    family: Option<String>,
    now: Timestamp,
    options: sstable::WriterOptions,
    splits: Vec<Vec<u8>>,
    sorting: Sorting,
    force: bool,
}

/// What was written.
struct Written {
    files: BulkLoadFiles,
    bad_rows: u64,
}

impl Writing {
    fn run(self, interrupts: &Interrupts) -> Result<Written, Failure> {
        let family = self.family.as_deref().map_or(ColumnFamily::Unknown, ColumnFamily::Option);
        let name = FileName::new(DATA);
        let mut input = Input::batches(name, self.reader, &self.columns, family, self.now)?;
        let build = Build {
            options: self.options,
            order: Comparator::Bytes,
            sorting: &self.sorting,
            observer: interrupts,
        };
        let files = build.write_bulk_load(&mut input, &self.directory, &self.splits, self.force)?;
        Ok(Written { files, bad_rows: input.bad_line_count() })
    }
}

fn to_python<'py>(py: Python<'py>, written: &Written) -> PyResult<Bound<'py, PyAny>> {
    static WRITTEN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    static FILE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let file_class = FILE.import(py, "pyhfile._tuples", "WrittenFile")?;
    let files = written.files.files.iter().map(|file| {
        let RegionFile { path, family, summary, .. } = file;
        let bytes = |row: &Option<Vec<u8>>| PyBytes::new(py, row.as_deref().unwrap_or_default());
        let (first, last) = (bytes(&summary.first_row), bytes(&summary.last_row));
        let path = path.display().to_string();
        file_class.call1((path, family, summary.cell_count, summary.len, first, last))
    });
    let files = PyList::new(py, files.collect::<PyResult<Vec<_>>>()?)?;
    let class = WRITTEN.import(py, "pyhfile._tuples", "Written")?;
    class.call1((files, written.files.cells, written.bad_rows))
}
