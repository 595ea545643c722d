//! Output directories that appear at their path when complete, and temporary directories.
//!
//! An output directory is filled under a temporary name beside its destination, then renamed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::output::{TemporaryPath, directory_of, sync_directory, temporary_builder};
use crate::error::{Doing, Error, Result};

/// An output directory that appears at its destination when all its files are complete.
pub(crate) struct OutputDirectory {
    temporary: ScratchDirectory,
    destination: PathBuf,
}

impl OutputDirectory {
    /// Creates the output for `destination`, which must be missing or an empty directory.
    pub(crate) fn create(destination: &Path) -> Result<Self> {
        check_free(destination)?;
        let temporary =
            ScratchDirectory::with_builder(&temporary_builder(0o777), directory_of(destination))?;
        Ok(Self { temporary, destination: destination.to_owned() })
    }

    /// Returns the temporary directory, in which the caller writes the files.
    pub(crate) fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Returns the path that a file of the temporary directory has after [`finish`](Self::finish).
    pub(crate) fn final_path(&self, file: &Path) -> PathBuf {
        self.temporary.path_after_move(file, &self.destination)
    }

    /// Syncs the directory, renames it to its destination, and syncs the parent directory.
    ///
    /// An empty directory at the destination is replaced. The caller must have synced the files and
    /// subdirectories.
    pub(crate) fn finish(self) -> Result<()> {
        sync_directory(self.path()).doing("sync", &self.destination)?;
        match fs::remove_dir(&self.destination) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).doing("replace", &self.destination);
            }
            _ => {}
        }
        fs::rename(self.path(), &self.destination)
            .doing("rename the temporary output to it", &self.destination)?;
        sync_directory(directory_of(&self.destination))
            .doing("sync its directory", &self.destination)
    }
}

/// A temporary directory, which is removed when this value is dropped.
///
/// A program that ends at a signal removes it by [`remove_unfinished`](crate::remove_unfinished).
#[derive(Debug)]
pub struct ScratchDirectory {
    directory: TempDir,
    _temporary_path: TemporaryPath,
}

impl ScratchDirectory {
    /// Creates an empty directory in `parent`, or in the system's temporary directory.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if `parent` takes no directory.
    pub fn create(parent: Option<&Path>) -> Result<Self> {
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_owned);
        Self::with_builder(tempfile::Builder::new().prefix("hfile-"), &parent)
    }

    pub(super) fn with_builder(builder: &tempfile::Builder<'_, '_>, parent: &Path) -> Result<Self> {
        let (temporary_path, directory) = TemporaryPath::register(|| {
            let directory = builder.tempdir_in(parent)?;
            Ok((directory.path().to_owned(), directory))
        })
        .doing("create a directory in it", parent)?;
        Ok(Self { directory, _temporary_path: temporary_path })
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Returns the path that a file has after this directory is renamed to `destination`.
    ///
    /// A file outside this directory keeps its path.
    pub(super) fn path_after_move(&self, file: &Path, destination: &Path) -> PathBuf {
        file.strip_prefix(self.path())
            .map_or_else(|_| file.to_owned(), |file| destination.join(file))
    }
}

/// Returns an error if the destination exists and is not an empty directory.
pub(super) fn check_free(destination: &Path) -> Result<()> {
    let is_free = match destination.read_dir() {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    if !is_free {
        let what = format!("{}: exists and is not an empty directory", destination.display());
        return Err(Error::Refused(what));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_appears_when_it_is_finished() {
        let parent = tempfile::tempdir().expect("a temporary directory");
        let destination = parent.path().join("out");
        let fill = |output: &OutputDirectory| {
            let file = output.path().join("file");
            fs::write(&file, b"whole").expect("disk takes it");
            assert_eq!(output.final_path(&file), destination.join("file"));
        };
        let output = OutputDirectory::create(&destination).expect("nothing in the way");
        fill(&output);
        assert!(!destination.exists());
        drop(output);
        assert_eq!(fs::read_dir(parent.path()).expect("readable").count(), 0);

        fs::create_dir(&destination).expect("nothing in the way");
        let output =
            OutputDirectory::create(&destination).expect("an empty directory is not in the way");
        fill(&output);
        output.finish().expect("nothing in the way");
        assert_eq!(fs::read(destination.join("file")).expect("it is there"), b"whole");
        assert_eq!(fs::read_dir(parent.path()).expect("readable").count(), 1);
        assert!(OutputDirectory::create(&destination).is_err(), "it has a file");
        assert!(OutputDirectory::create(&destination.join("file")).is_err(), "it is one");
    }
}
