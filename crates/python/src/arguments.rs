//! Arguments that are bytes or text: rows, families, columns and types.

use std::path::{Path, PathBuf};

use cells::ValueType;
use hfile_arrow::PivotColumn;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyDict, PyString};

use crate::failure::{Failure, FailureKind};

/// Bytes, or text that stands for its UTF-8.
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl<'py> FromPyObject<'_, 'py> for Bytes {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = object.cast::<PyString>() {
            return Ok(Self(text.to_cow()?.as_bytes().to_vec()));
        }
        object.extract::<PyBackedBytes>().map(|bytes| Self(bytes.to_vec())).map_err(|_| {
            let found = object.get_type().qualname();
            let found = found.map(|name| name.to_string()).unwrap_or_default();
            PyTypeError::new_err(format!("expected bytes or str, not {found}"))
        })
    }
}

/// Some of [`Bytes`]: one, or an iterable of them.
pub(crate) struct Names(pub(crate) Vec<Vec<u8>>);

impl<'py> FromPyObject<'_, 'py> for Names {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(Bytes(one)) = object.extract::<Bytes>() {
            return Ok(Self(vec![one]));
        }
        let names = object.try_iter()?.map(|name| Ok(name?.extract::<Bytes>()?.0));
        names.collect::<PyResult<_>>().map(Self)
    }
}

/// The columns of a pivot: `{"family:qualifier": "int64"}`, or an iterable of names.
pub(crate) struct Types(pub(crate) Vec<PivotColumn>);

impl<'py> FromPyObject<'_, 'py> for Types {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let Ok(types) = object.cast::<PyDict>() else {
            let Names(names) = object.extract()?;
            let columns = names.iter().map(|name| pivot_column(name, ValueType::BinaryHex));
            return columns.collect::<PyResult<_>>().map(Self);
        };
        let columns = types.iter().map(|(name, value_type)| {
            pivot_column(&name.extract::<Bytes>()?.0, value_type.extract::<TypeName>()?.0)
        });
        columns.collect::<PyResult<_>>().map(Self)
    }
}

/// The name of a type of values.
pub(crate) struct TypeName(pub(crate) ValueType);

impl<'py> FromPyObject<'_, 'py> for TypeName {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let name: String = object.extract()?;
        value_type(&name).map(Self)
    }
}

/// Returns a type by its name, as on the command line.
fn value_type(name: &str) -> PyResult<ValueType> {
    ValueType::from_name(name).map_err(PyValueError::new_err)
}

fn pivot_column(name: &[u8], value_type: ValueType) -> PyResult<PivotColumn> {
    let (family, qualifier) = column(name)?;
    Ok(PivotColumn::new(family, qualifier).value_type(value_type))
}

/// Splits `family:qualifier` at the first colon: names of families have none.
///
/// # Errors
///
/// `ValueError` without a colon.
pub(crate) fn column(name: &[u8]) -> PyResult<(&[u8], &[u8])> {
    let colon = name.iter().position(|byte| *byte == b':').ok_or_else(|| {
        let name = cells::escape(name);
        PyValueError::new_err(format!("{name} is not FAMILY:QUALIFIER; for a family use families"))
    })?;
    Ok((&name[..colon], &name[colon + 1..]))
}

/// Checks that a path is not the address of another file system.
///
/// # Errors
///
/// If it is one, such as `hdfs://namenode/hbase`.
pub(crate) fn local_path(path: PathBuf) -> Result<PathBuf, Failure> {
    if let Some(address) = address(&path) {
        return Err(Failure::new(
            FailureKind::Unsupported,
            format!("{address} is not a local path; copy it first: hdfs dfs -get {address} DIR"),
        )
        .at_path(address));
    }
    Ok(path)
}

fn address(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let (scheme, _) = text.split_once("://")?;
    let is_scheme = scheme.chars().all(|letter| letter.is_ascii_alphanumeric());
    (is_scheme && !path.exists()).then_some(text)
}
