//! Output files, and the list of the temporary paths that a signal handler removes.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use sstable::tools::OwnProcess;
use tempfile::NamedTempFile;

use super::sync::{sync, sync_directory};
use crate::error::{Doing, Error, Result};

/// The paths of unfinished outputs and scratch directories.
static TEMPORARY_PATHS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// What a program wants to do before there is such a path.
static BEFORE_UNFINISHED: OnceLock<fn()> = OnceLock::new();

/// A file that appears at its destination when it is complete.
///
/// Until then it has a temporary name in the same directory, and is removed if this value is dropped.
///
/// ```
/// use std::io::Write;
///
/// use transfer::OutputFile;
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("out.csv");
/// let mut file = OutputFile::create(&path, false)?;
/// file.write_all(b"row,value\n")?;
/// assert!(!path.exists());
/// file.finish()?;
/// assert_eq!(std::fs::read(&path)?, b"row,value\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct OutputFile {
    temporary: NamedTempFile,
    destination: PathBuf,
    force: bool,
    _temporary_path: TemporaryPath,
}

impl OutputFile {
    /// Creates the output for `destination`, which must not exist yet unless `force` is set.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`], and [`Error::Io`] if the directory of the destination takes no file.
    pub fn create(destination: &Path, force: bool) -> Result<Self> {
        if !force && destination.try_exists().unwrap_or(false) {
            return Err(Error::Exists(destination.to_owned()));
        }
        let (temporary_path, temporary) = TemporaryPath::register(|| {
            let temporary = temporary_builder(0o666).tempfile_in(directory_of(destination))?;
            Ok((temporary.path().to_owned(), temporary))
        })
        .doing("create", destination)?;
        Ok(Self {
            temporary,
            destination: destination.to_owned(),
            force,
            _temporary_path: temporary_path,
        })
    }

    /// Returns the temporary path.
    pub fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Syncs the file, renames it to its destination and syncs the directory.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] if the destination was created meanwhile and is not to be replaced, and
    /// [`Error::Io`].
    pub fn finish(self) -> Result<()> {
        let destination = &self.destination;
        sync(self.temporary.as_file()).doing("sync", destination)?;
        let moved = if self.force {
            self.temporary.persist(destination)
        } else {
            self.temporary.persist_noclobber(destination)
        };
        match moved {
            Ok(_) => {}
            Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(Error::Exists(self.destination));
            }
            Err(failed) => {
                return Err(failed.error).doing("rename the temporary output to it", destination);
            }
        }
        sync_directory(directory_of(destination)).doing("sync its directory", destination)
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.temporary.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.temporary.flush()
    }
}

/// A registered temporary path: until this value is dropped, [`remove_unfinished`] removes it.
#[derive(Debug)]
pub(crate) struct TemporaryPath {
    path: PathBuf,
    process: OwnProcess,
}

impl TemporaryPath {
    /// Creates a file or directory with `create` and registers its path.
    ///
    /// The list is locked during the call. [`remove_unfinished`] locks it too, and therefore cannot
    /// run while a path exists but is not registered.
    pub(crate) fn register<T>(
        create: impl FnOnce() -> io::Result<(PathBuf, T)>,
    ) -> io::Result<(Self, T)> {
        if let Some(hook) = BEFORE_UNFINISHED.get() {
            hook();
        }
        let mut list = temporary_paths();
        let (path, created) = create()?;
        list.push(path.clone());
        Ok((Self { path, process: OwnProcess::current() }, created))
    }

    /// Returns whether this process made the path, which must not remove the output of the process that it was
    /// forked from.
    pub(super) fn is_of_this_process(&self) -> bool {
        self.process.is_current()
    }
}

impl Drop for TemporaryPath {
    fn drop(&mut self) {
        if self.is_of_this_process() {
            temporary_paths().retain(|path| *path != self.path);
        }
    }
}

pub(super) fn temporary_paths() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARY_PATHS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all unfinished output of the process, and then calls `end`.
///
/// For a signal handler: no other output can be created before `end` returns, which usually ends the
/// process.
pub fn remove_unfinished(end: impl FnOnce()) {
    let list = temporary_paths();
    for path in list.iter() {
        remove(path);
    }
    end();
}

/// Calls `hook` before output is created, each time.
///
/// A program that wants a signal handler only while there is something to remove installs it here.
/// Only the first hook counts.
pub fn before_unfinished(hook: fn()) {
    BEFORE_UNFINISHED.get_or_init(|| hook);
}

fn remove(path: &Path) {
    if path.is_dir() {
        // Removal fails if the main thread adds a file meanwhile, so it is retried.
        for _ in 0..100 {
            if fs::remove_dir_all(path).is_ok() {
                break;
            }
        }
    } else {
        let _ = fs::remove_file(path);
    }
}

pub(super) fn directory_of(destination: &Path) -> &Path {
    match destination.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Returns a builder of temporary files and directories with the permissions `mode & !umask`.
///
/// By default only the owner may read files of `tempfile` (mode 0600). That is too strict here,
/// because the temporary file becomes the output.
#[cfg_attr(not(unix), expect(unused_variables, reason = "only Unix has these modes"))]
pub(super) fn temporary_builder(mode: u32) -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".hfile-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_appears_when_it_is_finished() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let destination = directory.path().join("out.hfile");
        let mut output = OutputFile::create(&destination, false).expect("the destination is free");
        output.write_all(b"half").expect("writable");
        assert!(!destination.exists());
        output.finish().expect("the destination is free");
        assert_eq!(fs::read(&destination).expect("the output exists"), b"half");
        assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 1);
    }

    #[test]
    fn a_dropped_output_leaves_nothing() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let mut output = OutputFile::create(&directory.path().join("out"), false)
            .expect("the destination is free");
        output.write_all(b"half").expect("writable");
        drop(output);
        assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 0);
    }

    #[test]
    fn only_force_replaces_a_file() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let destination = directory.path().join("out");
        fs::write(&destination, b"old").expect("writable");
        let refused = OutputFile::create(&destination, false).expect_err("the destination exists");
        assert!(matches!(refused, Error::Exists(_)));
        let mut output = OutputFile::create(&destination, true).expect("forced");
        output.write_all(b"new").expect("writable");
        output.finish().expect("forced");
        assert_eq!(fs::read(&destination).expect("the output exists"), b"new");
    }
}
