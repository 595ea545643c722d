//! The lock of an export's directory: one export at a time writes to it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Doing, Error, Result};
use crate::temporary::TemporaryPath;

/// The name of the locked file. On Unix, the file is removed when the export ends.
pub(super) const LOCK: &str = ".export.lock";

/// The lock of a directory, until it is dropped.
pub(super) struct DirectoryLock {
    path: PathBuf,
    /// Has a signal handler remove the file too, where dropping removes it.
    temporary_path: Option<TemporaryPath>,
    /// Locked. Closing it ends the lock.
    _file: File,
}

impl DirectoryLock {
    /// Locks a directory, or fails if another process has locked it.
    pub(super) fn take(directory: &Path) -> Result<Self> {
        let path = directory.join(LOCK);
        loop {
            let file = File::create(&path).doing("create .export.lock", directory)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let shown = directory.display();
                    return Err(Error::Refused(format!(
                        "{shown}: another export is writing to it"
                    )));
                }
                Err(TryLockError::Error(error)) => {
                    return Err(error).doing("lock .export.lock", directory);
                }
            }
            // Another export can have removed the file between the two calls. Then a third one can
            // create and lock a new file of this name.
            if is_at(&file, &path).doing("find .export.lock", directory)? {
                // Not before: until here, the file can be the lock of another export.
                let temporary_path = if cfg!(unix) {
                    let registered = TemporaryPath::register(|| Ok((path.clone(), ())));
                    Some(registered.doing("register .export.lock", directory)?.0)
                } else {
                    None
                };
                return Ok(Self { path, temporary_path, _file: file });
            }
        }
    }
}

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        // On other systems, `take` cannot recognise that the file it has locked was removed.
        if cfg!(unix) {
            // First, because another export can lock the path once the file is gone.
            self.temporary_path = None;
            // A file that stays does no harm: the next export locks it again.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Returns whether an open file is the one at a path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;

    let open = file.metadata()?;
    match fs::metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (open.dev(), open.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns `true`: no export removes the file on this system.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "on Unix it looks at the file")]
fn is_at(_file: &File, _path: &Path) -> io::Result<bool> {
    Ok(true)
}
