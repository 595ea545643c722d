//! Random names and numbers for files and stores.
//!
//! The name of a store file is 32 hex digits, as in HBase: 16 of the store's id, and 16 drawn at random. So the
//! store knows its own files by their names, and never removes a file that somebody else put into its directory.

use std::io;
use std::path::Path;

use filter::Seed;
pub(crate) use sstable::tools::TEMPORARY_SUFFIX;

use crate::error::{Error, Result};

/// Returns a random number.
///
/// # Errors
///
/// If the operating system has no randomness.
pub(crate) fn random_number() -> Result<u64> {
    getrandom::u64()
        .map_err(|error| io::Error::other(error.to_string()))
        .map_err(Error::io(Path::new("random source"), "read"))
}

/// Returns a seed for the hashes of a new store.
///
/// In a model of threads it is always the same: it decides which rows share a line of a family map, and so how many
/// orders there are.
///
/// # Errors
///
/// If the operating system has no randomness.
pub(crate) fn random_seed() -> Result<Seed> {
    Ok(Seed::new(if cfg!(any(loom, shuttle)) { 1 } else { random_number()? }))
}

/// Returns a new name for a file of the store with this id.
///
/// # Errors
///
/// If the operating system has no randomness.
pub(crate) fn new_file_name(store: u64) -> Result<String> {
    Ok(format!("{store:016x}{:016x}", random_number()?))
}

/// Returns the name that a store file gets when the store with this id takes it over.
pub(crate) fn name_in_store(store: u64, name: &str) -> String {
    assert!(is_store_file_name(name), "{name} names a store file");
    format!("{store:016x}{}", &name[16..])
}

/// Returns whether the store with this id gave a file its name, which may be the temporary one.
pub(crate) fn is_own_file_name(store: u64, name: &str) -> bool {
    let name = name.strip_suffix(TEMPORARY_SUFFIX).unwrap_or(name);
    is_store_file_name(name) && name.starts_with(&format!("{store:016x}"))
}

/// Returns whether `name` has the form of a store file's name: 32 hex digits.
///
/// Names from a manifest become paths, so that no other form is accepted.
pub(crate) fn is_store_file_name(name: &str) -> bool {
    name.len() == 32 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_knows_the_names_of_its_own_files_only() {
        let name = new_file_name(7).unwrap();
        let taken_over = name_in_store(8, &name);
        for (store, own, foreign) in [(7, &name, &taken_over), (8, &taken_over, &name)] {
            for suffix in ["", TEMPORARY_SUFFIX] {
                assert!(is_own_file_name(store, &format!("{own}{suffix}")));
                assert!(!is_own_file_name(store, &format!("{foreign}{suffix}")));
            }
            assert!(!is_own_file_name(store, &format!("{own}0")));
        }
    }
}
