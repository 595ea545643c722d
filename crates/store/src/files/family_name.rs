//! What a family can be called: a name that HBase takes, and that no other part of a store's directory
//! has.

use crate::error::{Error, Result};
use crate::files::manifest::Manifest;
use crate::files::unfinished::UNFINISHED_NAME;
use crate::store::{LOCK_NAME, WAL_DIRECTORY};

/// Refuses what no family of a store can be called.
pub(crate) fn check_family_name(name: &str) -> Result<()> {
    check_hbase_family(name)?;
    let taken =
        [WAL_DIRECTORY, LOCK_NAME, UNFINISHED_NAME, Manifest::NAME, Manifest::TEMPORARY_NAME];
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
    Ok(())
}
