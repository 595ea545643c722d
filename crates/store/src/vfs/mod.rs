//! The file system interface of this crate, so that tests can simulate faults and power cuts.
//!
//! No other module of this crate uses `std::fs`.

mod file_system;
mod place;
mod real_files;

use std::sync::Arc;

pub use self::file_system::{AppendFile, Entry, EntryKind, Lock, Vfs};
pub(crate) use self::real_files::RealFiles;

/// Returns the file system of the operating system.
pub fn real_files() -> Arc<dyn Vfs> {
    Arc::new(RealFiles::default())
}
