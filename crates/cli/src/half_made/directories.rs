//! Directories that appear once all that is in them is whole, and those that are gone at the end.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use tempfile::TempDir;

use super::output::{Removal, directory_of, sync_directory, temporary_file};

/// A directory that is not there until all that is in it is whole.
pub(crate) struct OutputDirectory {
    temporary: ScratchDirectory,
    destination: PathBuf,
}

impl OutputDirectory {
    /// Starts the output for `place`, where there must be nothing, or an empty directory.
    pub(crate) fn create(destination: &Path) -> anyhow::Result<Self> {
        check_free(destination)?;
        let temporary =
            ScratchDirectory::with_builder(&temporary_file(0o777), directory_of(destination))?;
        Ok(Self { temporary, destination: destination.to_owned() })
    }

    /// Where files are to be written for now.
    pub(crate) fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Where a file in it will be.
    pub(crate) fn final_path(&self, file: &Path) -> PathBuf {
        self.temporary.path_after_move(file, &self.destination)
    }

    /// Puts the directory in its place. The files in it, and what is in directories in it, must be
    /// on disk; the directory itself is synced, renamed, and the rename synced.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let destination = self.destination.display();
        sync_directory(self.path()).with_context(|| format!("{destination}: cannot sync"))?;
        match fs::remove_dir(&self.destination) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("{destination}: cannot replace"));
            }
            _ => {}
        }
        fs::rename(self.path(), &self.destination)
            .with_context(|| format!("{destination}: cannot rename to it"))?;
        sync_directory(directory_of(&self.destination))
            .with_context(|| format!("{destination}: cannot sync its directory"))
    }
}

/// A directory that is gone when this is dropped, or at Ctrl-C.
pub(crate) struct ScratchDirectory {
    directory: TempDir,
    _removal: Removal,
}

impl ScratchDirectory {
    /// A new, empty directory among the system's temporary files, or in `parent`.
    pub(crate) fn create(parent: Option<&Path>) -> anyhow::Result<Self> {
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_owned);
        Self::with_builder(tempfile::Builder::new().prefix("hfile-"), &parent)
    }

    pub(super) fn with_builder(
        builder: &tempfile::Builder<'_, '_>,
        parent: &Path,
    ) -> anyhow::Result<Self> {
        let (removal, directory) = Removal::register(|| {
            let directory = builder.tempdir_in(parent)?;
            Ok((directory.path().to_owned(), directory))
        })
        .with_context(|| format!("{}: cannot create a directory in it", parent.display()))?;
        Ok(Self { directory, _removal: removal })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Where a file in it is once what is in it stands in `place`.
    pub(super) fn path_after_move(&self, file: &Path, destination: &Path) -> PathBuf {
        file.strip_prefix(self.path())
            .map_or_else(|_| file.to_owned(), |file| destination.join(file))
    }
}

/// Refuses a place where there is anything but an empty directory.
pub(super) fn check_free(destination: &Path) -> anyhow::Result<()> {
    let is_free = match destination.read_dir() {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    if !is_free {
        bail!("{}: exists and is not an empty directory", destination.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_not_there_until_it_is_finished() {
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
