//! What a scan left out because it is damaged, missing or not finished, as named tuples.

use hbase_files::{MissingCells, TornLog, Warning};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyList};

/// Returns the losses as a list of `pyhfile.Missing`.
///
/// # Errors
///
/// Errors of Python.
pub(crate) fn to_python<'py>(
    py: Python<'py>,
    losses: &[MissingCells],
) -> PyResult<Bound<'py, PyList>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = CLASS.import(py, "pyhfile._tuples", "Missing")?;
    let bytes = |row: &Option<Vec<u8>>| row.as_deref().map(|row| PyBytes::new(py, row).into_any());
    let tuples = losses.iter().map(|loss| {
        let MissingCells { region, family, file, what, rows } = loss;
        let family = PyBytes::new(py, family);
        class.call1((file, what, region, family, bytes(&rows.first), bytes(&rows.last)))
    });
    PyList::new(py, tuples.collect::<PyResult<Vec<_>>>()?)
}

/// Returns the warnings as texts.
pub(crate) fn warning_texts(warnings: &[Warning]) -> Vec<String> {
    warnings.iter().map(ToString::to_string).collect()
}

/// Issues the warnings with Python's `warnings.warn`, as `pyhfile.TableWarning`.
///
/// # Errors
///
/// The warning itself, if the program's filters make it an exception.
pub(crate) fn warn(py: Python<'_>, warnings: &[Warning]) -> PyResult<()> {
    static CATEGORY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let category = CATEGORY.import(py, "pyhfile._errors", "TableWarning")?;
    for warning in warnings {
        py.import("warnings")?.call_method1("warn", (warning.to_string(), category))?;
    }
    Ok(())
}

/// Returns the logs as a list of `pyhfile.TornLog`.
///
/// # Errors
///
/// Errors of Python.
pub(crate) fn torn_logs_to_python<'py>(
    py: Python<'py>,
    logs: &[TornLog],
) -> PyResult<Bound<'py, PyList>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = CLASS.import(py, "pyhfile._tuples", "TornLog")?;
    let tuples = logs.iter().map(|log| {
        let TornLog { path, offset, bytes, part } = log;
        class.call1((path.display().to_string(), *offset, *bytes, part.name()))
    });
    PyList::new(py, tuples.collect::<PyResult<Vec<_>>>()?)
}
