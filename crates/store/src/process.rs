//! Refuses the calls of a fork.
//!
//! A fork has a copy of an open store, but not the store's threads, and it must not touch the store's files: the
//! process that opened the store still writes them.

pub(crate) use sstable::tools::OwnProcess;

use crate::error::{Error, Result};

/// Returns an error if this process is a fork of `process`.
pub(crate) fn check_process(process: &OwnProcess) -> Result<()> {
    if process.is_current() { Ok(()) } else { Err(Error::Forked) }
}
