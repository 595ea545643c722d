//! Output files, and the list of the temporary paths that Ctrl-C removes.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use anyhow::Context;
use tempfile::NamedTempFile;

use crate::failure::OutputExists;

/// The paths of unfinished outputs and scratch directories, which Ctrl-C removes.
static TEMPORARY_PATHS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The output of a command: a file that appears only when it is complete, or stdout for `-`.
pub(crate) enum Output {
    /// A temporary file in the directory of its destination.
    File(OutputFile),
    /// Stdout.
    Stdout(BufWriter<io::StdoutLock<'static>>),
}

/// A temporary file and its destination.
pub(crate) struct OutputFile {
    temporary: NamedTempFile,
    destination: PathBuf,
    force: bool,
    _temporary_path: TemporaryPath,
}

impl Output {
    /// Creates the output for `destination`, which must not exist yet unless `force` is set.
    pub(crate) fn create(destination: &Path, force: bool) -> anyhow::Result<Self> {
        if destination == Path::new("-") {
            return Ok(Self::Stdout(crate::output::stdout()));
        }
        OutputFile::create(destination, force).map(Self::File)
    }

    /// Returns the temporary file's path; `None` for stdout.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::File(file) => Some(file.temporary.path()),
            Self::Stdout(_) => None,
        }
    }

    /// Syncs the file, renames it to its destination and syncs the directory; flushes stdout.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::Stdout(mut out) => out.flush().context(crate::output::STDOUT),
            Self::File(file) => file.finish(),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Stdout(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Stdout(out) => out.flush(),
        }
    }
}

impl OutputFile {
    /// Creates the output for `destination`, which must not exist yet unless `force` is set.
    pub(crate) fn create(destination: &Path, force: bool) -> anyhow::Result<Self> {
        if !force && destination.try_exists().unwrap_or(false) {
            return Err(OutputExists(destination.display().to_string()).into());
        }
        let (temporary_path, temporary) = TemporaryPath::register(|| {
            let temporary = temporary_builder(0o666).tempfile_in(directory_of(destination))?;
            Ok((temporary.path().to_owned(), temporary))
        })
        .with_context(|| format!("{}: cannot create", destination.display()))?;
        Ok(Self {
            temporary,
            destination: destination.to_owned(),
            force,
            _temporary_path: temporary_path,
        })
    }

    /// Syncs the file, renames it to its destination and syncs the directory.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let destination = self.destination.display().to_string();
        let file = self.temporary.as_file();
        file.sync_all().with_context(|| format!("{destination}: cannot sync"))?;
        let moved = if self.force {
            self.temporary.persist(&self.destination)
        } else {
            self.temporary.persist_noclobber(&self.destination)
        };
        match moved {
            Ok(_) => {}
            Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(OutputExists(destination).into());
            }
            Err(failed) => {
                return Err(failed.error).with_context(|| {
                    format!("{destination}: cannot rename the temporary output to it")
                });
            }
        }
        sync_directory(directory_of(&self.destination))
            .with_context(|| format!("{destination}: cannot sync its directory"))
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

/// A registered temporary path: until this value is dropped, Ctrl-C removes the path.
pub(crate) struct TemporaryPath(PathBuf);

impl TemporaryPath {
    /// Creates a file or directory with `create` and registers its path.
    ///
    /// The list is locked during the call. The Ctrl-C handler locks it too, and therefore cannot
    /// run while a path exists but is not registered.
    pub(crate) fn register<T>(
        create: impl FnOnce() -> io::Result<(PathBuf, T)>,
    ) -> io::Result<(Self, T)> {
        handle_ctrl_c();
        let mut list = temporary_paths();
        let (path, created) = create()?;
        list.push(path.clone());
        Ok((Self(path), created))
    }
}

impl Drop for TemporaryPath {
    fn drop(&mut self) {
        temporary_paths().retain(|path| *path != self.0);
    }
}

pub(super) fn temporary_paths() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARY_PATHS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn handle_ctrl_c() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // If setting the handler fails, Ctrl-C still ends the process, but leaves temporary outputs
        // behind.
        let _ = ctrlc::set_handler(|| {
            // Holds the lock until the process exits, so that no further output is created.
            let list = temporary_paths();
            for path in list.iter() {
                remove(path);
            }
            // The exit status of shells for SIGINT: 128 + 2.
            std::process::exit(130);
        });
    });
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

pub(super) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
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
        let mut output = Output::create(&destination, false).expect("the destination is free");
        output.write_all(b"half").expect("writable");
        assert!(!destination.exists());
        output.finish().expect("the destination is free");
        assert_eq!(fs::read(&destination).expect("the output exists"), b"half");
        assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 1);
    }

    #[test]
    fn a_dropped_output_leaves_nothing() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let mut output =
            Output::create(&directory.path().join("out"), false).expect("the destination is free");
        output.write_all(b"half").expect("writable");
        drop(output);
        assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 0);
    }

    #[test]
    fn only_force_replaces_a_file() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let destination = directory.path().join("out");
        fs::write(&destination, b"old").expect("writable");
        let refused = Output::create(&destination, false).err().expect("the destination exists");
        assert!(refused.is::<OutputExists>());
        let mut output = Output::create(&destination, true).expect("forced");
        output.write_all(b"new").expect("writable");
        output.finish().expect("forced");
        assert_eq!(fs::read(&destination).expect("the output exists"), b"new");
    }
}
