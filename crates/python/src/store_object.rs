//! `open_store`, and what is known of a store.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use store::{FamilyOptions, StoreOptions};

use crate::arguments::local_path;
use crate::contents::{Closable, Contents};
use crate::detached::detached;
use crate::failure::Failure;
use crate::pickling::{self, Reduced};
use crate::source::Source;

/// An embedded store, opened for reading only: the cells are those when it was opened.
#[pyclass(frozen, extends = Source, module = "pyhfile")]
pub(crate) struct Store {
    path: PathBuf,
    absolute: PathBuf,
    cache_bytes: Option<u64>,
    families: Vec<(String, FamilyOptions)>,
}

/// Open an embedded store for reading only.
///
/// Takes no lock and changes no file, so the store may be open elsewhere. Shows what was written before.
///
/// :param path: the directory of the store.
/// :param cache_bytes: the size of the block cache; the store's default if it is left out.
/// :raises pyhfile.NotFoundError: if there is no store.
/// :raises pyhfile.DamagedError: if its log or manifest is damaged.
#[pyfunction]
#[pyo3(signature = (path, *, cache_bytes=None))]
pub(crate) fn open_store(
    py: Python<'_>,
    path: PathBuf,
    cache_bytes: Option<u64>,
) -> PyResult<Py<Store>> {
    let (store, path) = detached(py, || {
        let path = local_path(path)?;
        let mut options = StoreOptions::default();
        if let Some(bytes) = cache_bytes {
            options = options.cache_bytes(bytes);
        }
        Ok::<_, Failure>((store::Store::open_read_only(&path, options)?, path))
    })?;
    let absolute = std::path::absolute(&path)?;
    let families = store.families();
    let names = families.iter().map(|(name, _)| name.clone()).collect();
    let contents = Arc::new(Contents::Store { store: Closable::new(store), families: names });
    let source = PyClassInitializer::from(Source { contents });
    Py::new(py, source.add_subclass(Store { path, absolute, cache_bytes, families }))
}

#[pymethods]
impl Store {
    /// Return what pickle stores: the path. The store is opened again, and then shows what was written meanwhile.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let arguments = (&self.absolute, self.cache_bytes);
        pickling::call(py, "pyhfile._pickling", "store_at", arguments)
    }

    /// The directory that was opened.
    #[getter]
    fn path(&self) -> String {
        self.path.display().to_string()
    }

    /// The families, each with its attributes by HBase's names, such as ``{"VERSIONS": "3"}``.
    #[getter]
    fn families(&self) -> BTreeMap<String, BTreeMap<&'static str, String>> {
        self.families.iter().map(|(name, options)| (name.clone(), attributes(options))).collect()
    }

    /// Return the path.
    fn __repr__(&self) -> String {
        format!("<pyhfile.Store {}>", self.path())
    }
}

/// Returns the options that decide what a read shows, and how files are written.
fn attributes(options: &FamilyOptions) -> BTreeMap<&'static str, String> {
    const SHOWN: [&str; 7] = [
        "BLOCKSIZE",
        "COMPRESSION",
        "DATA_BLOCK_ENCODING",
        "KEEP_DELETED_CELLS",
        "MIN_VERSIONS",
        "TTL",
        "VERSIONS",
    ];
    let settings = options.hbase_settings().into_iter();
    settings.filter(|(name, _)| SHOWN.contains(name)).collect()
}
