//! Random names and numbers for files and stores.

use std::fmt::Write;
use std::io;
use std::path::Path;

use crate::error::{Error, Result};

/// Returns a random number.
///
/// # Errors
///
/// If the operating system has no randomness.
pub(crate) fn random_number() -> Result<u64> {
    let mut bytes = [0; 8];
    fill(&mut bytes)?;
    Ok(u64::from_be_bytes(bytes))
}

/// Returns a new name for a store file: 32 hex digits, as in HBase.
///
/// # Errors
///
/// If the operating system has no randomness.
pub(crate) fn random_name() -> Result<String> {
    let mut bytes = [0; 16];
    fill(&mut bytes)?;
    Ok(bytes.iter().fold(String::with_capacity(32), |mut name, byte| {
        write!(name, "{byte:02x}").expect("writing to a string cannot fail");
        name
    }))
}

/// Returns whether `name` has the form of [`random_name`].
///
/// Names from a manifest become paths, so that no other form is accepted.
pub(crate) fn is_store_file_name(name: &str) -> bool {
    name.len() == 32 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn fill(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes)
        .map_err(|error| io::Error::other(error.to_string()))
        .map_err(Error::io(Path::new("random source"), "read"))
}
