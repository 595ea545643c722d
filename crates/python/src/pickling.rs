//! What pickle stores of sources and scans: how they were opened. No file is in it.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use crate::arguments::{Bytes, Names, TypeName, Types};
use crate::request::{Choice, Form, OnError};

/// A function of the package and its arguments, which pickle calls.
pub(crate) type Reduced<'py> = (Bound<'py, PyAny>, Bound<'py, PyTuple>);

/// Returns a function of the package with arguments.
///
/// # Errors
///
/// Errors of Python.
pub(crate) fn call<'py>(
    py: Python<'py>,
    module: &str,
    function: &str,
    arguments: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
) -> PyResult<Reduced<'py>> {
    Ok((py.import(module)?.getattr(function)?, arguments.into_pyobject(py)?))
}

/// Returns the keyword arguments of a scan, without those that have their defaults.
///
/// # Errors
///
/// Errors of Python.
pub(crate) fn keywords<'py>(
    py: Python<'py>,
    choice: &Choice,
    form: &Form,
) -> PyResult<Bound<'py, PyDict>> {
    let keywords = PyDict::new(py);
    let bytes = |row: &Option<Bytes>| row.as_ref().map(|Bytes(row)| PyBytes::new(py, row));
    for (name, row) in
        [("start", &choice.start), ("stop", &choice.stop), ("prefix", &choice.prefix)]
    {
        if let Some(row) = bytes(row) {
            keywords.set_item(name, row)?;
        }
    }
    for (name, names) in [("families", &choice.families), ("columns", &choice.columns)] {
        if let Some(Names(names)) = names {
            let names = names.iter().map(|name| PyBytes::new(py, name));
            keywords.set_item(name, PyList::new(py, names.collect::<Vec<_>>())?)?;
        }
    }
    if let Some(Types(columns)) = &form.types {
        let types = PyDict::new(py);
        for column in columns {
            let name = [&column.family[..], b":", &column.qualifier].concat();
            types.set_item(PyBytes::new(py, &name), column.value_type.to_string())?;
        }
        keywords.set_item("types", types)?;
    }
    if let Some(TypeName(row_type)) = form.row_type {
        keywords.set_item("row_type", row_type.to_string())?;
    }
    let numbers = [
        ("min_timestamp", choice.min_timestamp),
        ("max_timestamp", choice.max_timestamp),
        ("now", choice.now),
        ("versions", choice.versions.map(i64::from)),
    ];
    for (name, number) in numbers {
        if let Some(number) = number {
            keywords.set_item(name, number)?;
        }
    }
    let sizes = [
        ("wal_memory", choice.wal_memory),
        ("threads", Some(choice.threads).filter(|threads| *threads != 1)),
        ("batch_size", form.batch_size),
    ];
    for (name, size) in sizes {
        if let Some(size) = size {
            keywords.set_item(name, size)?;
        }
    }
    if let Some(directory) = &choice.wal_directory {
        keywords.set_item("wal_directory", directory)?;
    }
    let flags = [
        ("timestamps", form.timestamps),
        ("all_rows", form.all_rows),
        ("raw", choice.raw),
        ("skip_damaged", choice.skip_damaged),
        ("with_wal", choice.with_wal),
    ];
    if form.on_error == OnError::Null {
        keywords.set_item("on_error", "null")?;
    }
    for (name, _) in flags.iter().filter(|(_, is_set)| *is_set) {
        keywords.set_item(name, true)?;
    }
    Ok(keywords)
}
