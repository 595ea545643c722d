//! Runs work without the lock of the interpreter, and turns panics into errors.
//!
//! Nothing here should panic, whatever the bytes are. If something does, Python gets an `pyhfile.Error`
//! that asks for a report, and not a `PanicException`, which `except Exception` does not catch.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::marker::Ungil;
use pyo3::prelude::*;

use crate::failure::Failure;

/// Runs `work` while other Python threads may run.
///
/// # Errors
///
/// Errors of `work`, and a panic as an error.
pub(crate) fn detached<T, E>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, E> + Ungil + Send,
) -> PyResult<T>
where
    T: Ungil + Send,
    E: Into<Failure>,
{
    py.detach(|| guarded(work)).map_err(PyErr::from)
}

/// Runs `work`, and returns a panic as an error.
///
/// What `work` changes must not be used again after a panic, or be sound at any time.
///
/// # Errors
///
/// Errors of `work`, and a panic as an error.
pub(crate) fn guarded<T, E: Into<Failure>>(
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, Failure> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(Into::into),
        Err(panic) => Err(Failure::bug(panic_text(&*panic))),
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic")
}
