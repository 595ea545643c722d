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
    place: PathBuf,
}

impl OutputDirectory {
    /// Starts the output for `place`, where there must be nothing, or an empty directory.
    pub(crate) fn create(place: &Path) -> anyhow::Result<Self> {
        check_free(place)?;
        let temporary = ScratchDirectory::of(&temporary_file(0o777), directory_of(place))?;
        Ok(Self { temporary, place: place.to_owned() })
    }

    /// Where files are to be written for now.
    pub(crate) fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Where a file in it will be.
    pub(crate) fn final_place(&self, file: &Path) -> PathBuf {
        self.temporary.moved(file, &self.place)
    }

    /// Puts the directory in its place. The files in it, and what is in directories in it, must be
    /// on disk; the directory itself is synced, renamed, and the rename synced.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let place = self.place.display();
        sync_directory(self.path()).with_context(|| format!("{place}: cannot sync"))?;
        match fs::remove_dir(&self.place) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("{place}: cannot replace"));
            }
            _ => {}
        }
        fs::rename(self.path(), &self.place)
            .with_context(|| format!("{place}: cannot rename to it"))?;
        sync_directory(directory_of(&self.place))
            .with_context(|| format!("{place}: cannot sync its directory"))
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
        Self::of(tempfile::Builder::new().prefix("hfile-"), &parent)
    }

    pub(super) fn of(builder: &tempfile::Builder<'_, '_>, parent: &Path) -> anyhow::Result<Self> {
        let (removal, directory) = Removal::of(|| {
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
    pub(super) fn moved(&self, file: &Path, place: &Path) -> PathBuf {
        file.strip_prefix(self.path()).map_or_else(|_| file.to_owned(), |file| place.join(file))
    }
}

/// Refuses a place where there is anything but an empty directory.
pub(super) fn check_free(place: &Path) -> anyhow::Result<()> {
    let is_free = match place.read_dir() {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    if !is_free {
        bail!("{}: is there already, and is no empty directory", place.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_not_there_until_it_is_finished() {
        let parent = tempfile::tempdir().expect("a place for the test");
        let place = parent.path().join("out");
        let fill = |output: &OutputDirectory| {
            let file = output.path().join("file");
            fs::write(&file, b"whole").expect("disk takes it");
            assert_eq!(output.final_place(&file), place.join("file"));
        };
        let output = OutputDirectory::create(&place).expect("nothing in the way");
        fill(&output);
        assert!(!place.exists());
        drop(output);
        assert_eq!(fs::read_dir(parent.path()).expect("readable").count(), 0);

        fs::create_dir(&place).expect("nothing in the way");
        let output = OutputDirectory::create(&place).expect("an empty directory is not in the way");
        fill(&output);
        output.finish().expect("nothing in the way");
        assert_eq!(fs::read(place.join("file")).expect("it is there"), b"whole");
        assert_eq!(fs::read_dir(parent.path()).expect("readable").count(), 1);
        assert!(OutputDirectory::create(&place).is_err(), "it has a file");
        assert!(OutputDirectory::create(&place.join("file")).is_err(), "it is one");
    }
}
