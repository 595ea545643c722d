//! `open_hfile`, and what is known of an HFile.

use std::path::PathBuf;
use std::sync::Arc;

use hbase_files::StoreFileReader;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use sstable::KeyRef;

use crate::arguments::local_path;
use crate::contents::{Contents, OpenFile, open_reader};
use crate::detached::detached;
use crate::failure::Failure;
use crate::pickling::{self, Reduced};
use crate::source::Source;

/// An HFile, or the half of one that a reference stands for.
///
/// Its delete markers hide its own cells only; with ``raw=True`` all cells are returned.
#[pyclass(frozen, extends = Source, module = "pyhfile")]
pub(crate) struct HFile {
    reader: StoreFileReader,
    path: PathBuf,
    absolute: PathBuf,
}

/// Open an HFile, a reference to the half of one, or a link to one.
///
/// :param path: the path of the file.
/// :raises pyhfile.NotFoundError: if there is none.
/// :raises pyhfile.DamagedError: if it is damaged, or not an HFile.
/// :raises pyhfile.UnsupportedError: if it is encrypted, or of a version that is not read.
#[pyfunction]
pub(crate) fn open_hfile(py: Python<'_>, path: PathBuf) -> PyResult<Py<HFile>> {
    let (reader, path) = detached(py, || {
        let path = local_path(path)?;
        Ok::<_, Failure>((open_reader(&path)?, path))
    })?;
    let absolute = std::path::absolute(&path)?;
    let file = OpenFile::new(reader.clone(), absolute.clone());
    let contents = Arc::new(Contents::HFile(Box::new(file)));
    let source = PyClassInitializer::from(Source { contents });
    Py::new(py, source.add_subclass(HFile { reader, path, absolute }))
}

#[pymethods]
impl HFile {
    /// The path that was opened.
    #[getter]
    fn path(&self) -> String {
        self.path.display().to_string()
    }

    /// Whether this is the half of a file: the attributes describe the whole file.
    #[getter]
    fn is_half(&self) -> bool {
        self.reader.half().is_some()
    }

    /// The size of the file in bytes.
    #[getter]
    fn size(&self) -> u64 {
        self.reader.whole().len()
    }

    /// The number of cells.
    #[getter]
    fn entry_count(&self) -> u64 {
        self.reader.whole().trailer().entry_count
    }

    /// The family; None if the file has no cells.
    #[getter]
    fn family<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let index = self.reader.whole().index();
        index.first_key().and_then(KeyRef::parse).map(|key| PyBytes::new(py, key.family))
    }

    /// The first row; None if the file has no cells.
    #[getter]
    fn first_row<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.reader.whole().first_row().map(|row| PyBytes::new(py, row))
    }

    /// The last row; None if the file has no cells.
    #[getter]
    fn last_row<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.reader.whole().last_row().map(|row| PyBytes::new(py, row))
    }

    /// The compression of the blocks, as HBase calls it: NONE, GZ, SNAPPY, LZ4.
    #[getter]
    fn compression(&self) -> &'static str {
        self.reader.whole().trailer().compression.name()
    }

    /// The encoding of the data blocks, as HBase calls it: NONE, PREFIX, DIFF, FAST_DIFF, ROW_INDEX_V1.
    #[getter]
    fn encoding(&self) -> &'static str {
        self.reader.whole().blocks().encoding().name()
    }

    /// The least and the greatest timestamp, in milliseconds; None if the file does not state them.
    #[getter]
    fn time_range(&self) -> Option<(i64, i64)> {
        let range = self.reader.whole().file_info().time_range()?;
        Some((range.min.get(), range.max.get()))
    }

    /// The entries of the file info, as they are stored.
    #[getter]
    fn file_info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let entries = PyDict::new(py);
        for (key, value) in self.reader.whole().file_info().iter() {
            entries.set_item(PyBytes::new(py, key), PyBytes::new(py, value))?;
        }
        Ok(entries)
    }

    /// Return what pickle stores: the path.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        pickling::call(py, "pyhfile", "open_hfile", (&self.absolute,))
    }

    /// Return the path and the number of cells.
    fn __repr__(&self) -> String {
        format!("<pyhfile.HFile {}, {} cells>", self.path(), self.entry_count())
    }
}
