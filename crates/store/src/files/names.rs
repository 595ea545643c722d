//! The names in a store's directory, and the rules for names of families.

use crate::error::{Error, Result};

/// The file that is locked while the store is open for writing.
pub(crate) const LOCK_NAME: &str = "LOCK";
/// The directory of the log.
pub(crate) const WAL_DIRECTORY: &str = "wal";
pub(super) const MANIFEST_NAME: &str = "MANIFEST";
pub(super) const MANIFEST_TEMPORARY_NAME: &str = "MANIFEST.new";
/// The file that marks an unfinished store.
pub(crate) const UNFINISHED_NAME: &str = "UNFINISHED";

/// HBase's directory for recovered edits in a region.
const RECOVERED_EDITS: &str = "recovered.edits";

/// Checks that a family of a store may have this name.
pub(crate) fn check_family_name(name: &str) -> Result<()> {
    check_hbase_family(name)?;
    let taken = [WAL_DIRECTORY, LOCK_NAME, UNFINISHED_NAME, MANIFEST_NAME, MANIFEST_TEMPORARY_NAME];
    if taken.contains(&name) {
        return Err(Error::invalid(format!(
            "no family can be named {name:?}: the store keeps something else under that name"
        )));
    }
    Ok(())
}

/// Checks that HBase accepts the name of a family, and that it is a plain directory name.
///
/// # Errors
///
/// [`Error::Invalid`] otherwise.
pub fn check_hbase_family(name: &str) -> Result<()> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if name.is_empty() || name.len() > 127 || name.starts_with('.') || !name.bytes().all(is_plain) {
        return Err(Error::invalid(format!(
            "{name:?} cannot name a family: up to 127 letters, digits, '_', '-' and '.' can, \
             of which '.' is not the first"
        )));
    }
    if name == RECOVERED_EDITS {
        return Err(Error::invalid(format!(
            "{name:?} cannot name a family: HBase keeps a directory of its own under that name"
        )));
    }
    Ok(())
}
