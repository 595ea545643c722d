//! Absolute paths, and checks that the directories of a store are real directories.
//!
//! A link in place of a directory would lead writes and removals out of the store.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::vfs::{EntryKind, Vfs};

/// Returns a path that a later change of the working directory does not change.
pub(crate) fn absolute(directory: &Path) -> Result<PathBuf> {
    std::path::absolute(directory).map_err(Error::io(directory, "make absolute"))
}

/// Checks that a directory of the store exists and is not a link.
pub(crate) fn check_is_own(vfs: &dyn Vfs, store: &Path, name: &str) -> Result<()> {
    match kind_of(vfs, store, name)? {
        Some(EntryKind::Directory) => Ok(()),
        Some(kind) => Err(no_directory(&store.join(name), kind)),
        None => Err(Error::corrupt(&store.join(name), 0, "this directory of the store is missing")),
    }
}

/// Checks the same of a directory that may be missing, as may the store.
pub(crate) fn check_is_own_or_missing(vfs: &dyn Vfs, store: &Path, name: &str) -> Result<()> {
    match kind_of(vfs, store, name) {
        Ok(None | Some(EntryKind::Directory)) => Ok(()),
        Ok(Some(kind)) => Err(no_directory(&store.join(name), kind)),
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn kind_of(vfs: &dyn Vfs, store: &Path, name: &str) -> Result<Option<EntryKind>> {
    let entries = vfs.list(store).map_err(Error::io(store, "list"))?;
    Ok(entries.iter().find(|entry| entry.name == name).map(|entry| entry.kind))
}

fn no_directory(path: &Path, kind: EntryKind) -> Error {
    Error::corrupt(path, 0, format!("is {}, not a directory of the store's own", kind.name()))
}
