//! Tells a process from its forks.
//!
//! A fork has a copy of an open store, but not the store's threads, and it must not touch the store's files: the
//! process that opened the store still writes them.

use crate::error::{Error, Result};

/// The process that made this value.
#[derive(Clone, Debug)]
pub(crate) struct OwnProcess(forkguard::Guard);

impl OwnProcess {
    /// Returns the current process.
    pub(crate) fn current() -> Self {
        Self(forkguard::new())
    }

    /// Returns an error if this process is a fork.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_current() { Ok(()) } else { Err(Error::Forked) }
    }

    /// Returns whether this is the process, not a fork of it.
    pub(crate) fn is_current(&self) -> bool {
        // A guard notices a fork once, but a copy of it does not change it.
        !self.0.clone().detected_fork()
    }
}
