//! Root directories of HBase: their tables and snapshots.

use std::path::PathBuf;
use std::sync::Arc;

use hbase_files::{LocalTree, RootDirectory};
use pyo3::prelude::*;

use crate::arguments::local_path;
use crate::detached::detached;
use crate::failure::Failure;

/// Opens a root directory.
///
/// # Errors
///
/// If it is not one, or the address of another file system.
pub(crate) fn open(path: PathBuf) -> Result<RootDirectory, Failure> {
    Ok(RootDirectory::open(Arc::new(LocalTree), &local_path(path)?)?)
}

/// Return the names of the snapshots in a root directory of HBase, ascending.
///
/// :param root: the root directory, or a directory that ExportSnapshot wrote.
#[pyfunction]
pub(crate) fn list_snapshots(py: Python<'_>, root: PathBuf) -> PyResult<Vec<String>> {
    detached(py, || Ok::<_, Failure>(open(root)?.snapshot_names()?))
}

/// Return the names of the tables in a root directory of HBase, ascending.
///
/// A table of a namespace is ``namespace:table``.
///
/// :param root: the root directory.
#[pyfunction]
pub(crate) fn list_tables(py: Python<'_>, root: PathBuf) -> PyResult<Vec<String>> {
    detached(py, || {
        Ok::<_, Failure>(open(root)?.tables()?.iter().map(ToString::to_string).collect())
    })
}
