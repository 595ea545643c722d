//! What failed, as parts from which an exception of the package is made.
//!
//! | class                | errors                                                                  |
//! |----------------------|-------------------------------------------------------------------------|
//! | `NotFoundError`      | no such file, snapshot, table, store or family                          |
//! | `DamagedError`       | bytes that contradict the format, files that are missing from a table   |
//! | `UnsupportedError`   | sound files that need what this package lacks, such as encryption       |
//! | `ValueTypeError`     | a value that is not of the type that was given for its column           |
//! | `Error`              | failed reads, and bugs of this package                                  |
//! | `ValueError`         | arguments that contradict each other                                    |
//!
//! The classes are in `python/pyhfile/_errors.py`; `causes.rs` says which error becomes which.

use std::{fmt, io};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyModule};

/// Why a read failed. Unlike an exception it can be kept and raised again.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    /// What failed, where and why, in one line.
    pub(crate) message: String,
    pub(crate) path: Option<String>,
    pub(crate) offset: Option<u64>,
    /// The number of the operating system's error.
    pub(crate) errno: Option<i32>,
}

/// The class of the exception.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum FailureKind {
    NotFound,
    Damaged,
    Unsupported,
    ValueType,
    Invalid,
    Other,
}

impl FailureKind {
    /// Returns the name of the class in the package; `None` for Python's `ValueError`.
    const fn class(self) -> Option<&'static str> {
        Some(match self {
            Self::NotFound => "NotFoundError",
            Self::Damaged => "DamagedError",
            Self::Unsupported => "UnsupportedError",
            Self::ValueType => "ValueTypeError",
            Self::Other => "Error",
            Self::Invalid => return None,
        })
    }
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), path: None, offset: None, errno: None }
    }

    /// Returns the failure of arguments that contradict each other or the source.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Invalid, message)
    }

    /// Returns the failure of a panic.
    pub(crate) fn bug(what: &str) -> Self {
        Self::new(FailureKind::Other, format!("internal error: {what}; please report it"))
    }

    /// Returns the failure of a call of the operating system.
    pub(crate) fn io(message: String, source: &io::Error) -> Self {
        let kind = match source.kind() {
            io::ErrorKind::NotFound => FailureKind::NotFound,
            io::ErrorKind::UnexpectedEof => FailureKind::Damaged,
            _ => FailureKind::Other,
        };
        Self { errno: source.raw_os_error(), ..Self::new(kind, message) }
    }

    pub(crate) fn at_path(self, path: impl fmt::Display) -> Self {
        Self { path: Some(path.to_string()), ..self }
    }

    pub(crate) fn at_offset(self, offset: u64) -> Self {
        Self { offset: Some(offset), ..self }
    }

    /// Makes the exception.
    fn exception(&self, py: Python<'_>) -> PyResult<PyErr> {
        static ERRORS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
        let Some(class) = self.kind.class() else {
            return Ok(PyValueError::new_err(self.message.clone()));
        };
        let import = || py.import("pyhfile._errors").map(Bound::unbind);
        let class = ERRORS.get_or_try_init(py, import)?.bind(py).getattr(class)?;
        let parts = PyDict::new(py);
        parts.set_item("path", &self.path)?;
        parts.set_item("offset", self.offset)?;
        parts.set_item("errno", self.errno)?;
        Ok(PyErr::from_value(class.call((&self.message,), Some(&parts))?))
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        Python::attach(|py| failure.exception(py).unwrap_or_else(|error| error))
    }
}
