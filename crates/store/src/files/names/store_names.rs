//! The names in a store's directory, and the rules for names of families.

use crate::error::{Error, Result};

/// The file that is locked while the store is open for writing.
pub(crate) const LOCK_NAME: &str = "LOCK";
/// The directory of the log.
pub(crate) const WAL_DIRECTORY: &str = "wal";
pub(crate) const MANIFEST_NAME: &str = "MANIFEST";
pub(crate) const MANIFEST_TEMPORARY_NAME: &str = "MANIFEST.new";
/// The file that marks an unfinished store.
pub(crate) const UNFINISHED_NAME: &str = "UNFINISHED";

/// Checks that a family of a store may have this name.
///
/// # Errors
///
/// [`Error::Invalid`] if HBase refuses the name, or the store has a file of that name.
pub(crate) fn check_family_name(name: &str) -> Result<()> {
    cells::check_family_name(name.as_bytes()).map_err(|error| Error::invalid(error.to_string()))?;
    let taken = [WAL_DIRECTORY, LOCK_NAME, UNFINISHED_NAME, MANIFEST_NAME, MANIFEST_TEMPORARY_NAME];
    if taken.contains(&name) {
        return Err(Error::invalid(format!(
            "no family can be named {name:?}: the store keeps something else under that name"
        )));
    }
    Ok(())
}
