//! Opens a store for reading only: takes no lock and changes no file.
//!
//! ```text
//! MANIFEST ─ read the log ─ open the store files ─ fill the memstores ─ MANIFEST unchanged?
//!     └───────────── retry if a writer has changed the manifest ──────────────┘
//! ```
//!
//! While the manifest stays the same, its files exist, so a read error is damage. If the manifest
//! has changed, the open starts again with the new one. A recovering writer may shorten its last
//! segment without a change of the manifest, so a failed read is retried once in any case. Open
//! files stay readable after they are unlinked.

use std::io;
use std::path::Path;

use super::inner::{LoadedState, StoreInner};
use super::open::read_log;
use crate::error::{Error, Result};
use crate::files::file_access::path_checks::{absolute, check_is_own};
use crate::files::file_access::reserve::ReservedFiles;
use crate::files::manifest::Manifest;
use crate::files::names::WAL_DIRECTORY;
use crate::options::StoreOptions;
use crate::telemetry::{Work, WorkSpan};

/// Maximum attempts to open a store before [`Error::Changing`].
pub(crate) const OPEN_ATTEMPTS_MAX: usize = 16;

impl StoreInner {
    /// Opens the existing store in `directory` for reading only.
    pub(crate) fn open_read_only(directory: &Path, mut options: StoreOptions) -> Result<Self> {
        let directory = &absolute(directory)?;
        options.vfs = ReservedFiles::new(options.vfs);
        let _watch = WorkSpan::begin(Work::Recover);
        let load = || {
            let manifest = Manifest::load(&*options.vfs, directory)?;
            manifest.ok_or_else(|| Error::Missing { path: directory.clone() })
        };
        let mut manifest = load()?;
        let mut attempts = 1;
        let read = loop {
            let read = read_all(&options, directory, &manifest);
            let newest = load()?;
            match read {
                Ok(read) if has_same_files(&newest, &manifest) => break read,
                Err(error) if newest == manifest && !(attempts == 1 && is_read_error(&error)) => {
                    return Err(error);
                }
                _ if attempts == OPEN_ATTEMPTS_MAX => {
                    return Err(Error::Changing { path: directory.clone() });
                }
                _ => {}
            }
            manifest = newest;
            attempts += 1;
        };
        Ok(Self::new(options, read, None))
    }
}

/// Returns whether two manifests differ at most in the end of the log.
///
/// Otherwise the log may have writes that are newer than a bulk load missing in the older manifest.
fn has_same_files(newest: &Manifest, older: &Manifest) -> bool {
    *older == Manifest { log_end: older.log_end, ..newest.clone() }
}

/// Returns whether a file was missing or too short.
///
/// A recovering writer removes empty segments and cuts off incomplete records without a change of
/// the manifest.
fn is_read_error(error: &Error) -> bool {
    use io::ErrorKind::{NotFound, UnexpectedEof};
    matches!(error, Error::Io { source, .. } if matches!(source.kind(), NotFound | UnexpectedEof))
}

fn read_all(options: &StoreOptions, directory: &Path, manifest: &Manifest) -> Result<LoadedState> {
    check_is_own(&*options.vfs, directory, WAL_DIRECTORY)?;
    let log = read_log(options, &directory.join(WAL_DIRECTORY), manifest)?;
    LoadedState::new(options, directory, manifest.clone(), log)
}
