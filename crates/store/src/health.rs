//! Whether a store accepts changes.
//!
//! A store stops at the first failure that leaves the state on disk unknown, and when one of its
//! threads panics. A stopped store refuses every change; opening it again recovers it.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use cells::error_line;

use crate::error::{Error, Result};
use crate::process::{OwnProcess, check_process};
use crate::sync::yield_in_model;

/// Whether a store accepts changes; shared by the parts of the store.
#[derive(Debug)]
pub(crate) struct Health {
    process: OwnProcess,
    failure: OnceLock<Arc<str>>,
    /// The store's directory, if the store is read-only.
    read_only: Option<PathBuf>,
}

impl Default for Health {
    /// Creates the health of a store that this process may change.
    fn default() -> Self {
        Self { process: OwnProcess::current(), failure: OnceLock::new(), read_only: None }
    }
}

impl Health {
    /// Creates the health of a read-only store.
    pub(crate) fn read_only(directory: PathBuf) -> Self {
        Self { read_only: Some(directory), ..Self::default() }
    }

    /// Returns the process that opened the store.
    pub(crate) const fn process(&self) -> &OwnProcess {
        &self.process
    }

    pub(crate) const fn is_read_only(&self) -> bool {
        self.read_only.is_some()
    }

    /// Returns an error if the store has stopped, is read-only, or belongs to another process.
    pub(crate) fn check_writable(&self) -> Result<()> {
        check_process(&self.process)?;
        if let Some(path) = &self.read_only {
            return Err(Error::ReadOnly { path: path.clone() });
        }
        self.failure.get().map_or(Ok(()), |why| Err(Error::Poisoned { why: Arc::clone(why) }))
    }

    /// Stops the store after a failure that leaves the state on disk unknown; returns the failure.
    pub(crate) fn poison(&self, error: Error) -> Error {
        yield_in_model();
        let _ = self.failure.set(error_line(&error).into());
        error
    }

    /// Stops the store after a failure, except if it was only a lack of space, quota or descriptors.
    ///
    /// For work that leaves nothing behind when it fails, and can be done again.
    pub(crate) fn poison_unless_shortage(&self, error: Error) -> Error {
        if error.is_shortage() { error } else { self.poison(error) }
    }

    /// Returns a guard that stops the store if its holder panics.
    pub(crate) const fn poison_on_panic(&self) -> PoisonOnPanic<'_> {
        PoisonOnPanic(self)
    }

    /// Stops the store if this thread panics. For `drop`, which also runs while a thread panics.
    pub(crate) fn poison_if_panicking(&self) {
        if std::thread::panicking() {
            let thread = std::thread::current();
            let name = thread.name().unwrap_or("without a name");
            let why = format!("the thread {name} panicked while it worked on the store");
            let _ = self.failure.set(why.into());
        }
    }
}

/// Stops the store if its holder panics.
pub(crate) struct PoisonOnPanic<'a>(&'a Health);

impl Drop for PoisonOnPanic<'_> {
    fn drop(&mut self) {
        self.0.poison_if_panicking();
    }
}
