//! A prepared scan. Each Arrow stream of it reads the source again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_schema::SchemaRef;
use arrow_schema::ffi::FFI_ArrowSchema;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

use crate::contents::Contents;
use crate::detached::detached;
use crate::failure::Failure;
use crate::losses;
use crate::pickling::{self, Reduced};
use crate::request::Request;
use crate::stream::{SharedProgress, Stream};

/// A scan: a stream of Arrow record batches.
///
/// ``pyarrow.table(scan)``, ``polars.DataFrame(scan)`` and DuckDB's ``SELECT … FROM scan`` read it by the
/// Arrow C stream interface, without a copy. Each stream reads the source again, so a scan can be
/// used more than once. While a library reads a stream, errors are its own (``OSError`` in
/// pyarrow); :meth:`read_all` and iteration raise :class:`pyhfile.Error`.
#[pyclass(frozen, module = "pyhfile")]
pub(crate) struct Scan {
    contents: Arc<Contents>,
    request: Arc<Request>,
    /// What pickle calls to make the scan again.
    origin: Origin,
    schema: SchemaRef,
    /// The progress of the stream that was opened last.
    latest: Mutex<SharedProgress>,
}

/// Where a scan comes from.
pub(crate) enum Origin {
    /// `Source.scan`, with keyword arguments.
    Source(Py<PyAny>, Py<PyDict>),
    /// `Split.scan`.
    Split(Py<PyAny>),
}

impl Scan {
    pub(crate) fn new(
        contents: &Arc<Contents>,
        request: Request,
        origin: Origin,
    ) -> PyResult<Self> {
        let builder = request.scan.builder().map_err(Failure::from)?;
        Ok(Self {
            contents: Arc::clone(contents),
            schema: SchemaRef::clone(builder.schema()),
            request: Arc::new(request),
            origin,
            latest: Mutex::default(),
        })
    }

    fn latest(&self) -> MutexGuard<'_, SharedProgress> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to read.
    fn open(&self, py: Python<'_>) -> PyResult<(Stream, SharedProgress)> {
        let batches = detached(py, || self.contents.batches(&self.request))?;
        losses::warn(py, &self.contents.first_warnings(&self.request, &batches))?;
        let progress = SharedProgress::default();
        *self.latest() = progress.clone();
        Ok((Stream::new(batches, progress.clone()), progress))
    }

    /// Returns pyarrow's reader of a new stream.
    fn reader<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, SharedProgress)> {
        let (stream, progress) = self.open(py)?;
        let stream = Py::new(py, OpenStream(Mutex::new(Some(stream))))?;
        let class = py.import("pyarrow")?.getattr("RecordBatchReader")?;
        Ok((class.call_method1("from_stream", (stream,))?, progress))
    }
}

#[pymethods]
impl Scan {
    /// Return a new stream as a capsule of the Arrow C stream interface.
    ///
    /// :param requested_schema: ignored, as the interface allows; the consumer casts.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        capsule(py, self.open(py)?.0)
    }

    /// Return the schema of the batches as a capsule of the Arrow C data interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.schema)
            .map_err(|error| Failure::bug(&error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The schema of the batches, a ``pyarrow.Schema``. Nothing is read.
    ///
    /// Libraries that take ``__arrow_c_schema__`` need no pyarrow for it.
    #[getter]
    fn schema<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyarrow")?.call_method1("schema", (slf,))
    }

    /// Count the rows: of the table with ``types``, and otherwise the cells.
    ///
    /// Reads the source, and makes no Python objects of it.
    ///
    /// >>> import pyhfile
    /// >>> pyhfile.open_snapshot("rootdir", "s1").scan(prefix="row-0000").count()
    /// 23
    ///
    /// :raises pyhfile.Error: if the source cannot be read.
    fn count(&self, py: Python<'_>) -> PyResult<u64> {
        let (mut stream, _) = self.open(py)?;
        let mut count = 0;
        while let Some(batch) = detached(py, || stream.next_batch())? {
            count += batch.num_rows() as u64;
            py.check_signals()?;
        }
        Ok(count)
    }

    /// Return a ``pyarrow.RecordBatchReader`` of a new stream.
    fn to_reader<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.reader(py)?.0)
    }

    /// Read all batches into a ``pyarrow.Table``.
    ///
    /// :raises pyhfile.Error: if the source cannot be read.
    fn read_all<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (reader, progress) = self.reader(py)?;
        reader.call_method0("read_all").map_err(|error| own_error(&progress, error))
    }

    /// Iterate over the batches, as ``pyarrow.RecordBatch``.
    ///
    /// :raises pyhfile.Error: if the source cannot be read.
    fn __iter__(&self, py: Python<'_>) -> PyResult<BatchIterator> {
        let (reader, progress) = self.reader(py)?;
        Ok(BatchIterator { reader: reader.unbind(), progress })
    }

    /// What the stream that was opened last has left out, a list of :class:`pyhfile.Missing`.
    ///
    /// Empty unless the scan skips damage.
    #[getter]
    fn missing<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let missing = self.latest().lock().missing.clone();
        losses::to_python(py, &missing)
    }

    /// What the directories and logs of a table leave in doubt, a list of texts.
    ///
    /// Each begins with the path of a file or directory. Empty for files and stores.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        losses::warning_texts(&self.latest().lock().warnings)
    }

    /// The torn write-ahead logs, a list of :class:`pyhfile.TornLog`.
    ///
    /// Empty unless ``with_wal`` is set. The entries before the unfinished part are read.
    #[getter]
    fn torn_logs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let torn = self.latest().lock().torn_logs.clone();
        losses::torn_logs_to_python(py, &torn)
    }

    /// The number of values that are null because they are not of their column's type, in the stream that was opened
    /// last.
    ///
    /// Zero unless the scan has ``on_error="null"``.
    #[getter]
    fn bad_values(&self) -> u64 {
        self.latest().lock().bad_values
    }

    /// The number of data blocks that the stream that was opened last has read.
    ///
    /// None for a store, which does not count the reads of one scan.
    #[getter]
    fn data_blocks(&self) -> Option<u64> {
        let is_store = matches!(&*self.contents, Contents::Store { .. });
        (!is_store).then(|| self.latest().lock().trace.data_blocks())
    }

    /// Return what pickle stores: the source, and the arguments of the scan.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        const MODULE: &str = "pyhfile._pickling";
        match &self.origin {
            Origin::Source(source, keywords) => {
                pickling::call(py, MODULE, "scan_of", (source.bind(py), keywords.bind(py)))
            }
            Origin::Split(split) => pickling::call(py, MODULE, "scan_of_split", (split.bind(py),)),
        }
    }

    /// Return the names of the columns.
    fn __repr__(&self) -> String {
        let names = self.schema.fields().iter().map(|field| field.name().as_str());
        format!("<pyhfile.Scan of columns {}>", names.collect::<Vec<_>>().join(", "))
    }
}

/// Returns the error of the source, if that is why another library failed.
fn own_error(progress: &SharedProgress, error: PyErr) -> PyErr {
    let failure = progress.lock().failure.clone();
    failure.map_or(error, PyErr::from)
}

fn capsule(py: Python<'_>, stream: Stream) -> PyResult<Bound<'_, PyCapsule>> {
    let stream = FFI_ArrowArrayStream::new(Box::new(stream));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

/// A stream that is handed over once.
#[pyclass(frozen)]
struct OpenStream(Mutex<Option<Stream>>);

#[pymethods]
impl OpenStream {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let stream = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        capsule(py, stream.ok_or_else(|| PyRuntimeError::new_err("the stream was handed over"))?)
    }
}

/// An iterator over the batches of a scan, as ``pyarrow.RecordBatch``.
#[pyclass(frozen, module = "pyhfile")]
pub(crate) struct BatchIterator {
    reader: Py<PyAny>,
    progress: SharedProgress,
}

#[pymethods]
impl BatchIterator {
    /// Return self.
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Return the next batch.
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let next = self.reader.bind(py).call_method0("read_next_batch");
        next.map_err(|error| own_error(&self.progress, error))
    }
}
