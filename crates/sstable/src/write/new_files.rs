//! A new file that has its name only once it is complete and on disk.
//!
//! The file is written under a temporary name, synced and renamed; then its directory is synced. A file
//! with a final name is therefore complete.

use std::fmt::Debug;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cells::FileName;

use crate::error::{Error, Result};
use crate::own_process::OwnProcess;

/// The end of the name of a file that is being written.
pub const TEMPORARY_SUFFIX: &str = ".new";

/// The calls of a file system that create files: [`LocalFiles`], or a store's own.
pub trait NewFiles: Clone + Debug {
    /// A file that is being written.
    type File: Write + Debug;
    /// What is known of a file once it is on disk, such as its checksum.
    type Synced;

    /// Creates a directory and its parents; an existing directory is not an error.
    ///
    /// # Errors
    ///
    /// Errors of the operating system.
    fn create_directory(&self, path: &Path) -> io::Result<()>;

    /// Returns whether a directory has no entries.
    ///
    /// # Errors
    ///
    /// Errors of the operating system.
    fn is_empty(&self, directory: &Path) -> io::Result<bool>;

    /// Creates a new file for writing.
    ///
    /// # Errors
    ///
    /// Errors of the operating system; also if the file exists.
    fn create(&self, path: &Path) -> io::Result<Self::File>;

    /// Syncs a file and closes it.
    ///
    /// # Errors
    ///
    /// Errors of the operating system.
    fn sync(&self, file: Self::File) -> io::Result<Self::Synced>;

    /// Renames a file.
    ///
    /// # Errors
    ///
    /// Errors of the operating system.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Unlinks a file.
    ///
    /// # Errors
    ///
    /// Errors of the operating system.
    fn unlink(&self, path: &Path) -> io::Result<()>;

    /// Syncs a directory, so that the creation and renaming of its files are durable.
    ///
    /// # Errors
    ///
    /// Errors of the operating system.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;
}

/// The file system of the operating system.
#[derive(Clone, Copy, Debug)]
pub struct LocalFiles;

impl NewFiles for LocalFiles {
    type File = File;
    type Synced = ();

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn is_empty(&self, directory: &Path) -> io::Result<bool> {
        Ok(fs::read_dir(directory)?.next().transpose()?.is_none())
    }

    fn create(&self, path: &Path) -> io::Result<File> {
        File::create_new(path)
    }

    fn sync(&self, file: File) -> io::Result<()> {
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        // Other systems cannot open directories, and journal changes to them.
        if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
    }
}

/// A new name in a directory. The file has a temporary name until [`finish`](Self::finish);
/// dropping this earlier removes the file.
#[derive(Debug)]
pub struct PendingFile<F: NewFiles> {
    files: F,
    directory: PathBuf,
    name: String,
    /// The process that writes the file. A fork leaves the file alone.
    process: OwnProcess,
}

impl<F: NewFiles> PendingFile<F> {
    /// Creates a file that gets this name in this directory.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be created.
    pub fn create(files: F, directory: &Path, name: String) -> Result<(Self, F::File)> {
        let path = temporary_path(directory, &name);
        let file = files.create(&path).map_err(io_error(&path, "create"))?;
        // Not earlier: dropping this removes the file, which can be another writer's.
        let (directory, process) = (directory.to_path_buf(), OwnProcess::current());
        Ok((Self { files, directory, name, process }, file))
    }

    /// Returns the name that the file gets.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Syncs the file and gives it its final name. Returns the name and what is known of the file, which
    /// is then on disk.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file or its directory cannot be synced, or the file cannot be renamed.
    pub fn finish(mut self, file: F::File) -> Result<(String, F::Synced)> {
        let temporary = temporary_path(&self.directory, &self.name);
        let synced = self.files.sync(file).map_err(io_error(&temporary, "sync"))?;
        let path = self.directory.join(&self.name);
        self.files.rename(&temporary, &path).map_err(io_error(&path, "rename to"))?;
        if let Err(error) = self.files.sync_directory(&self.directory) {
            let _ = self.files.unlink(&path);
            return Err(io_error(&self.directory, "sync")(error));
        }
        Ok((std::mem::take(&mut self.name), synced))
    }
}

impl<F: NewFiles> Drop for PendingFile<F> {
    fn drop(&mut self) {
        if !self.name.is_empty() && self.process.is_current() {
            // If this fails, the file stays under its temporary name; a store removes it at its next open.
            let _ = self.files.unlink(&temporary_path(&self.directory, &self.name));
        }
    }
}

fn temporary_path(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!("{name}{TEMPORARY_SUFFIX}"))
}

/// Returns a new name for an HFile that belongs to no store: 32 hex digits, as in HBase.
pub(super) fn random_name() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| io::Error::other(error.to_string()))
        .map_err(io_error(Path::new("random source"), "read"))?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

/// Returns a function for `map_err` that adds the path and the failed action.
pub(super) fn io_error(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::Io {
        file: FileName::new(path.display().to_string()),
        action: action.into(),
        source,
    }
}
