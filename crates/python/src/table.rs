//! `open_table` and `open_snapshot`, and what is known of a table.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use hbase_files::{
    Region, Snapshot as OpenSnapshot, SnapshotDescription, SnapshotKind, StoreFile, TableName,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyList};
use sstable::Timestamp;
use store::Clock;

use crate::arguments::local_path;
use crate::contents::Contents;
use crate::detached::detached;
use crate::failure::Failure;
use crate::pickling::{self, Reduced};
use crate::source::Source;
use crate::{losses, root};

/// A table in a root directory of HBase.
#[pyclass(frozen, subclass, extends = Source, module = "pyhfile")]
pub(crate) struct Table {
    table: hbase_files::Table,
    /// The root directory of the logs, if it is another one.
    wal_root: Option<PathBuf>,
}

/// A snapshot: a table as it was.
#[pyclass(frozen, extends = Table, module = "pyhfile")]
pub(crate) struct Snapshot {
    description: SnapshotDescription,
}

/// Open a table of a running or abandoned root directory.
///
/// :param root: the root directory.
/// :param name: the name, ``namespace:table`` unless the namespace is default.
/// :param wal_root: the root directory of the write-ahead logs, if ``hbase.wal.dir`` is set.
/// :raises pyhfile.NotFoundError: if there is no such table.
/// :raises pyhfile.DamagedError: if it has no sound schema.
#[pyfunction]
#[pyo3(signature = (root, name, wal_root=None))]
pub(crate) fn open_table(
    py: Python<'_>,
    root: PathBuf,
    name: &str,
    wal_root: Option<PathBuf>,
) -> PyResult<Py<Table>> {
    let table = detached(py, || {
        let name: TableName = name.parse().map_err(|_| {
            Failure::invalid(format!("{name:?} is not the name of a table: namespace:table"))
        })?;
        let mut root = root::open(root)?;
        if let Some(wal_root) = &wal_root {
            root = root.with_wal_root(&local_path(wal_root.clone())?)?;
        }
        Ok::<_, Failure>(root.table(&name)?)
    })?;
    losses::warn(py, &table.warnings)?;
    let wal_root = wal_root.map(std::path::absolute).transpose()?;
    Py::new(py, initializer(table, wal_root))
}

/// Open a snapshot.
///
/// :param root: the root directory, or a directory that ExportSnapshot wrote.
/// :param name: the name of the snapshot.
/// :raises pyhfile.NotFoundError: if there is no such snapshot.
/// :raises pyhfile.DamagedError: if its description or manifest is damaged.
#[pyfunction]
pub(crate) fn open_snapshot(py: Python<'_>, root: PathBuf, name: &str) -> PyResult<Py<Snapshot>> {
    let snapshot = detached(py, || Ok::<_, Failure>(root::open(root)?.snapshot(name)?))?;
    let OpenSnapshot { description, table } = snapshot;
    losses::warn(py, &table.warnings)?;
    Py::new(py, initializer(table, None).add_subclass(Snapshot { description }))
}

fn initializer(table: hbase_files::Table, wal_root: Option<PathBuf>) -> PyClassInitializer<Table> {
    let contents = Arc::new(Contents::Table(Box::new(table.clone())));
    PyClassInitializer::from(Source { contents }).add_subclass(Table { table, wal_root })
}

/// Returns stored text; bytes that are not UTF-8 are replaced.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[pymethods]
impl Table {
    /// The name, ``namespace:table`` unless the namespace is default.
    #[getter]
    fn name(&self) -> String {
        self.table.name.to_string()
    }

    /// The path of the directory or the manifest that describes the table.
    #[getter]
    fn path(&self) -> String {
        self.table.path.display().to_string()
    }

    /// The families, each with its attributes as HBase stores them, such as ``{"VERSIONS": "3"}``.
    #[getter]
    fn families(&self) -> BTreeMap<String, BTreeMap<String, String>> {
        let families = self.table.schema.families.iter().map(|family| {
            let attributes = family.attributes.iter();
            let attributes = attributes.map(|(name, value)| (text(name), text(value)));
            (text(&family.name), attributes.collect())
        });
        families.collect()
    }

    /// The regions, by ascending start key: a list of :class:`pyhfile.Region`.
    #[getter]
    fn regions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let class = CLASS.import(py, "pyhfile._tuples", "Region")?;
        let regions = self.table.regions.iter().map(|region| {
            let info = &region.info;
            let (start, end) = (PyBytes::new(py, &info.start_key), PyBytes::new(py, &info.end_key));
            class.call1((info.encoded_name.as_str(), start, end, region.files().count()))
        });
        PyList::new(py, regions.collect::<PyResult<Vec<_>>>()?)
    }

    /// The start rows of all regions but the first: for :func:`pyhfile.write_hfiles`, the ``splits`` of a table with
    /// the same regions.
    #[getter]
    fn region_splits<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let starts = self.table.regions.iter().map(|region| &region.info.start_key);
        let splits = starts.filter(|start| !start.is_empty());
        PyList::new(py, splits.map(|start| PyBytes::new(py, start)).collect::<Vec<_>>())
    }

    /// The write-ahead logs that may have cells that are in no store file; ``with_wal`` reads them.
    ///
    /// Also the recovered HFiles, to which HBase has split logs.
    #[getter]
    fn write_ahead_logs(&self) -> Vec<String> {
        let regions = || self.table.regions.iter();
        let recovered = regions().flat_map(|region| &region.recovered_edits);
        let logs = self.table.logs.iter().chain(recovered);
        let hfiles = regions().flat_map(Region::recovered_hfiles).map(StoreFile::short_path);
        logs.map(|path| path.display().to_string()).chain(hfiles).collect()
    }

    /// Parts of the table that cannot be read, as text; a scan that needs one fails unless it skips damage.
    #[getter]
    fn problems(&self) -> Vec<String> {
        self.table.all_problems().map(|problem| Failure::from(&**problem).message).collect()
    }

    /// What the table's directories leave in doubt, as texts that begin with a path.
    ///
    /// ``open_table`` issues each as a :class:`pyhfile.TableWarning`.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        losses::warning_texts(&self.table.warnings)
    }

    /// Return what pickle stores: the root directory and the name.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let arguments = (self.table.root(), self.name(), self.wal_root.as_deref());
        pickling::call(py, "pyhfile", "open_table", arguments)
    }

    /// Return the name and the number of regions.
    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let class = slf.get_type().name()?;
        let table = slf.get();
        Ok(format!("<pyhfile.{class} {}, {} regions>", table.name(), table.table.regions.len()))
    }
}

#[pymethods]
impl Snapshot {
    /// Return what pickle stores: the root directory and the name of the snapshot.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let table = slf.as_super().get();
        let arguments = (table.table.root(), slf.get().snapshot_name());
        pickling::call(slf.py(), "pyhfile", "open_snapshot", arguments)
    }

    /// The name of the snapshot; ``name`` is the name of the table.
    #[getter]
    fn snapshot_name(&self) -> &str {
        &self.description.name
    }

    /// When the snapshot was taken, in milliseconds since 1970.
    #[getter]
    fn creation_time(&self) -> i64 {
        self.description.creation_time.get()
    }

    /// The user who took the snapshot; None if HBase did not know.
    #[getter]
    fn owner(&self) -> Option<&str> {
        self.description.owner.as_deref()
    }

    /// How it was taken: DISABLED, FLUSH or SKIPFLUSH. Without a flush, cells of the memstore are not in it.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.description.kind {
            SnapshotKind::Disabled => "DISABLED",
            SnapshotKind::SkipFlush => "SKIPFLUSH",
            _ => "FLUSH",
        }
    }

    /// The seconds after which HBase may delete the snapshot; None for never.
    #[getter]
    fn ttl(&self) -> Option<u64> {
        self.description.ttl.map(|ttl| ttl.as_secs())
    }

    /// Whether the TTL has passed: HBase may have deleted files of the snapshot.
    #[getter]
    fn is_expired(&self) -> bool {
        let now: Timestamp = Clock::system().now();
        self.description.expired(now)
    }
}
