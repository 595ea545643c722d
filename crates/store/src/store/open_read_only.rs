//! How a store is opened for reading only: without the lock, and without a single change to a file.
//!
//! ```text
//! MANIFEST ─ log read back ─ store files opened ─ memstores filled from the log ─ MANIFEST the same?
//!     └──────────── again, if the manifest has changed meanwhile: a writer is at work ───────────┘
//! ```
//!
//! While the manifest stays the same, its files exist, so a read error is damage. If the manifest has
//! changed, the open starts again with the new one. A writer that recovers may shorten its last segment
//! under the same manifest, so a failed read is tried once more in any case. Open files can be read after
//! they were unlinked.

use std::io;
use std::path::Path;

use super::inner::{LoadedState, StoreInner};
use super::open::read_log;
use crate::error::{Error, Result};
use crate::files::manifest::Manifest;
use crate::files::names::WAL_DIRECTORY;
use crate::files::own_directory::check_is_own;
use crate::options::StoreOptions;
use crate::telemetry::{Work, WorkSpan};

/// How many times an open is tried before it fails with [`Error::Changing`].
pub(crate) const OPEN_ATTEMPTS_MAX: usize = 16;

impl StoreInner {
    /// Opens the store in `directory`, which must be there, for reading only.
    pub(crate) fn open_read_only(directory: &Path, options: StoreOptions) -> Result<Self> {
        let _watch = WorkSpan::begin(Work::Recover);
        let load = || {
            let manifest = Manifest::load(&*options.vfs, directory)?;
            manifest.ok_or_else(|| Error::Missing { path: directory.to_path_buf() })
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
                    return Err(Error::Changing { path: directory.to_path_buf() });
                }
                _ => {}
            }
            manifest = newest;
            attempts += 1;
        };
        Ok(Self::new(options, read, None))
    }
}

/// Whether two manifests differ in nothing but the end of the log. If they differ in more, the log may
/// hold writes that are newer than a bulk load which the older manifest does not have.
fn has_same_files(newest: &Manifest, older: &Manifest) -> bool {
    *older == Manifest { log_end: older.log_end, ..newest.clone() }
}

/// Whether a file was not there, or shorter than before. A writer removes an empty segment, or cuts a
/// half-made record off, without a change of the manifest.
fn is_read_error(error: &Error) -> bool {
    use io::ErrorKind::{NotFound, UnexpectedEof};
    matches!(error, Error::Io { source, .. } if matches!(source.kind(), NotFound | UnexpectedEof))
}

fn read_all(options: &StoreOptions, directory: &Path, manifest: &Manifest) -> Result<LoadedState> {
    check_is_own(&*options.vfs, directory, WAL_DIRECTORY)?;
    let log = read_log(options, &directory.join(WAL_DIRECTORY), manifest)?;
    LoadedState::new(options, directory, manifest.clone(), log)
}
