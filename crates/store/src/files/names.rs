//! What the parts of a store's directory are called, and what a family can be called: a name that HBase
//! takes, and that no other part of the directory has.

use crate::error::{Error, Result};

/// The file that is locked for as long as the store is open for writing.
pub(crate) const LOCK_NAME: &str = "LOCK";
/// The directory of the log.
pub(crate) const WAL_DIRECTORY: &str = "wal";
pub(super) const MANIFEST_NAME: &str = "MANIFEST";
pub(super) const MANIFEST_TEMPORARY_NAME: &str = "MANIFEST.new";
/// The mark of a directory in which a store is only being made.
pub(crate) const UNFINISHED_NAME: &str = "UNFINISHED";

/// The directory in a region that HBase keeps for edits.
const RECOVERED_EDITS: &str = "recovered.edits";

/// Refuses what no family of a store can be called.
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

/// Checks that HBase takes a name for a family's, and that it is a plain directory name.
///
/// # Errors
///
/// If it is not.
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
