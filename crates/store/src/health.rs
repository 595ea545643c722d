//! Whether a store still takes changes.
//!
//! A store stops at the first failure after which nobody knows what is on disk, and at a panic of one of
//! its threads. Everything that would change a stopped store is refused; opening it again recovers it.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result};
use crate::sync::yield_in_model;

/// Whether a store still takes changes. The parts of a store share one.
#[derive(Debug, Default)]
pub(crate) struct Health {
    failure: OnceLock<Arc<str>>,
    /// The store's directory, if the store is open for reading only.
    read_only: Option<PathBuf>,
}

impl Health {
    /// Returns the health of a store that is open for reading only.
    pub(crate) fn read_only(directory: PathBuf) -> Self {
        Self { failure: OnceLock::new(), read_only: Some(directory) }
    }

    pub(crate) const fn is_read_only(&self) -> bool {
        self.read_only.is_some()
    }

    /// Refuses if the store has stopped, or is open for reading only.
    pub(crate) fn check_writable(&self) -> Result<()> {
        if let Some(path) = &self.read_only {
            return Err(Error::ReadOnly { path: path.clone() });
        }
        self.failure.get().map_or(Ok(()), |why| Err(Error::Poisoned { why: Arc::clone(why) }))
    }

    /// Stops the store: after this failure nobody knows what is on disk.
    pub(crate) fn poison(&self, error: Error) -> Error {
        yield_in_model();
        let _ = self.failure.set(error.with_causes().into());
        error
    }

    /// Returns a guard that stops the store if its holder panics.
    pub(crate) const fn poison_on_panic(&self) -> PoisonOnPanic<'_> {
        PoisonOnPanic(self)
    }
}

/// Stops the store if its holder panics.
pub(crate) struct PoisonOnPanic<'a>(&'a Health);

impl Drop for PoisonOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let thread = std::thread::current();
            let name = thread.name().unwrap_or("without a name");
            let why = format!("the thread {name} panicked while it worked on the store");
            let _ = self.0.failure.set(why.into());
        }
    }
}
