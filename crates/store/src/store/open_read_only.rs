//! How a store is opened for reading only: without the lock, and without a single change to a file.
//!
//! ```text
//! MANIFEST ─ log read back ─ store files opened ─ memstores filled from the log ─ MANIFEST the same?
//!     └──────────── again, if the manifest has changed meanwhile: a writer is at work ───────────┘
//! ```
//!
//! A manifest names files that are there for as long as it is the newest one. So what cannot be read
//! although the manifest is still the same is damage, and what cannot be read under a newer manifest
//! is a reason to begin anew with that. Files that are open can be read after they were unlinked.

use std::io;
use std::path::Path;

use super::open::{Read, check_is_own, read_log};
use super::{Inner, WAL_DIRECTORY};
use crate::error::{Error, Result};
use crate::manifest::Manifest;
use crate::options::StoreOptions;
use crate::wal::LogEnd;
use crate::watch::{Watch, Work};
use crate::write::Commit;

/// Manifests that are tried before a writer counts as too fast.
pub(crate) const MANIFESTS_MAX: usize = 16;

impl Inner {
    /// Opens the store in `directory`, which must be there, for reading only.
    pub(crate) fn open_read_only(directory: &Path, options: StoreOptions) -> Result<Self> {
        let _watch = Watch::begin(Work::Recover);
        let load = || {
            let manifest = Manifest::load(&*options.vfs, directory)?;
            manifest.ok_or_else(|| Error::Missing { path: directory.to_path_buf() })
        };
        let mut manifest = load()?;
        let mut tried = 1;
        let (read, log_end) = loop {
            let read = read_all(&options, directory, &manifest);
            let newest = load()?;
            let is_last = tried == MANIFESTS_MAX;
            match read {
                Ok(read) if is_last || has_same_files(&newest, &manifest) => break read,
                Err(error) if is_last || newest == manifest && !(tried == 1 && is_gone(&error)) => {
                    return Err(error);
                }
                _ => {}
            }
            manifest = newest;
            tried += 1;
        };
        let commit = Commit::read_only(directory, log_end, read.newest);
        Ok(Self::with_parts(directory, options, manifest, read, commit, None))
    }
}

/// Whether two manifests differ in nothing but the end of the log. If they do, the log may hold
/// writes that are newer than a bulk load which the older manifest does not have.
fn has_same_files(newest: &Manifest, older: &Manifest) -> bool {
    *older == Manifest { log_end: older.log_end, ..newest.clone() }
}

/// Whether a file was not there. An empty segment may go without a change of the manifest.
fn is_gone(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
}

fn read_all(
    options: &StoreOptions,
    directory: &Path,
    manifest: &Manifest,
) -> Result<(Read, LogEnd)> {
    check_is_own(&*options.vfs, directory, WAL_DIRECTORY)?;
    let log = read_log(options, &directory.join(WAL_DIRECTORY), manifest)?;
    let log_end = log.log_end(manifest.store);
    Ok((Read::new(options, directory, manifest, log)?, log_end))
}
