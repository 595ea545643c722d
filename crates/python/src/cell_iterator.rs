//! Cells as named tuples, read in batches without the lock of the interpreter.

use std::sync::{Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, BinaryArray, Int64Array, RecordBatch, StringArray};
use hfile_arrow::Batches;
use pyo3::prelude::*;
use pyo3::sync::{MutexExt, PyOnceLock};
use pyo3::types::{PyBytes, PyList, PyString};

use crate::detached::detached;
use crate::failure::Failure;
use crate::losses;
use crate::stream::{SharedProgress, Stream};

/// An iterator over cells: :class:`pyhfile.Cell`.
#[pyclass(frozen, module = "pyhfile")]
pub(crate) struct CellIterator {
    reading: Mutex<Reading>,
    progress: SharedProgress,
}

struct Reading {
    stream: Stream,
    current: Option<Cells>,
    /// The number of cells of `current` that were returned.
    returned: usize,
}

impl CellIterator {
    pub(crate) fn new(batches: Batches) -> Self {
        let progress = SharedProgress::default();
        let stream = Stream::new(batches, progress.clone());
        Self { reading: Mutex::new(Reading { stream, current: None, returned: 0 }), progress }
    }

    /// Returns the next cell of the current batch.
    fn next_in_batch<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut reading = self.reading.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let index = reading.returned;
        let Some(cells) = reading.current.as_ref().filter(|cells| index < cells.len()) else {
            return Ok(None);
        };
        let cell = cells.tuple(py, index)?;
        reading.returned += 1;
        Ok(Some(cell))
    }

    /// Reads the next batch, unless another thread has. Returns whether there is one.
    fn read_batch(&self) -> Result<bool, Failure> {
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let is_read = |cells: &Cells| reading.returned < cells.len();
        if reading.current.as_ref().is_some_and(is_read) {
            return Ok(true);
        }
        let batch = reading.stream.next_batch()?;
        reading.current = batch.as_ref().map(Cells::new).transpose()?;
        reading.returned = 0;
        Ok(reading.current.is_some())
    }
}

#[pymethods]
impl CellIterator {
    /// Return self.
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Return the next cell.
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        loop {
            if let Some(cell) = self.next_in_batch(py)? {
                return Ok(Some(cell));
            }
            if !detached(py, || self.read_batch())? {
                return Ok(None);
            }
        }
    }

    /// What was left out so far, a list of :class:`pyhfile.Missing`.
    ///
    /// Empty unless damage is skipped.
    #[getter]
    fn missing<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let missing = self.progress.lock().missing.clone();
        losses::to_python(py, &missing)
    }

    /// What the directories and logs of a table leave in doubt, a list of texts.
    ///
    /// Each begins with the path of a file or directory. Empty for files and stores.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        losses::warning_texts(&self.progress.lock().warnings)
    }

    /// The torn write-ahead logs, a list of :class:`pyhfile.TornLog`.
    ///
    /// Empty unless ``with_wal`` is set. The entries before the unfinished part are read.
    #[getter]
    fn torn_logs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let torn = self.progress.lock().torn_logs.clone();
        losses::torn_logs_to_python(py, &torn)
    }
}

/// Returns the cells of batches as a list.
///
/// # Errors
///
/// Errors of Python.
pub(crate) fn cells_of<'py>(
    py: Python<'py>,
    batches: &[RecordBatch],
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for batch in batches {
        let cells = Cells::new(batch)?;
        for index in 0..cells.len() {
            list.append(cells.tuple(py, index)?)?;
        }
    }
    Ok(list)
}

/// The columns of a batch of cells, in the order of `CellColumn::ALL`.
struct Cells {
    row: BinaryArray,
    family: BinaryArray,
    qualifier: BinaryArray,
    timestamp: Int64Array,
    kind: StringArray,
    value: BinaryArray,
    tags: BinaryArray,
    sequence_id: Int64Array,
}

impl Cells {
    fn new(batch: &RecordBatch) -> Result<Self, Failure> {
        let column = |name: &str| {
            let array = batch.column_by_name(name);
            array.ok_or_else(|| Failure::bug(&format!("a batch without the column {name}")))
        };
        let wrong = || Failure::bug("a column of another type");
        let binary = |name| column(name)?.as_binary_opt::<i32>().cloned().ok_or_else(wrong);
        let number =
            |name| column(name)?.as_primitive_opt::<Int64Type>().cloned().ok_or_else(wrong);
        Ok(Self {
            row: binary("row")?,
            family: binary("family")?,
            qualifier: binary("qualifier")?,
            timestamp: number("timestamp")?,
            kind: column("type")?.as_string_opt::<i32>().cloned().ok_or_else(wrong)?,
            value: binary("value")?,
            tags: binary("tags")?,
            sequence_id: number("sequence_id")?,
        })
    }

    fn len(&self) -> usize {
        self.row.len()
    }

    /// Returns a cell as an `pyhfile.Cell`.
    fn tuple<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let bytes = |array: &BinaryArray| PyBytes::new(py, array.value(index));
        CLASS.import(py, "pyhfile._tuples", "Cell")?.call1((
            bytes(&self.row),
            bytes(&self.family),
            bytes(&self.qualifier),
            self.timestamp.value(index),
            PyString::intern(py, self.kind.value(index)),
            bytes(&self.value),
            self.tags.is_valid(index).then(|| bytes(&self.tags)),
            self.sequence_id.value(index),
        ))
    }
}
