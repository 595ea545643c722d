//! Output directories that appear at their path when complete, and temporary directories.
//!
//! An output directory is filled under a temporary name beside its destination, then renamed.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cells::check_family_name;
use sstable::{Reader, ReaderOptions};
use tempfile::TempDir;

use super::output::{TemporaryPath, directory_of, temporary_builder, temporary_paths};
use super::sync::{sync, sync_directory};
use crate::error::{Doing, Error, Result};

/// An output directory that appears at its destination when all its files are complete.
#[derive(Debug)]
pub struct OutputDirectory {
    temporary: ScratchDirectory,
    destination: PathBuf,
    replaces: bool,
}

impl OutputDirectory {
    /// Creates the output for `destination`, which must be missing or an empty directory.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if it is not; [`Error::Io`] if its parent takes no directory.
    pub fn new(destination: &Path) -> Result<Self> {
        Self::create(destination, false)
    }

    /// Creates the output for `destination`, which must be missing or an empty directory.
    ///
    /// With `force` it may also be a directory of a bulk load: with HFiles in directories of families, and
    /// nothing else. [`finish`](Self::finish) replaces it.
    pub(crate) fn create(destination: &Path, force: bool) -> Result<Self> {
        let replaces = force && !is_free(destination);
        if replaces {
            check_replaceable(destination)?;
        } else {
            check_free(destination)?;
        }
        let temporary =
            ScratchDirectory::with_builder(&temporary_builder(0o777), directory_of(destination))?;
        Ok(Self { temporary, destination: destination.to_owned(), replaces })
    }

    /// Returns the temporary directory; the caller writes the files there.
    pub(crate) fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Returns the path that a file of the temporary directory has after [`finish`](Self::finish).
    pub(crate) fn final_path(&self, file: &Path) -> PathBuf {
        self.temporary.path_after_move(file, &self.destination)
    }

    /// Writes a file and syncs it, with the directories that it needs.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], also if the file is there already.
    pub fn write_file(&self, relative: &Path, bytes: &[u8]) -> Result<()> {
        let path = self.path().join(relative);
        let directory = directory_of(&path);
        let named = self.final_path(&path);
        fs::create_dir_all(directory).doing("create its directory", &named)?;
        let mut file = fs::File::create_new(&path).doing("create", &named)?;
        file.write_all(bytes).and_then(|()| sync(&file)).doing("write", &named)?;
        for directory in directory.ancestors().take_while(|above| *above != self.path()) {
            sync_directory(directory).doing("sync its directory", &named)?;
        }
        Ok(())
    }

    /// Syncs the directory, renames it to its destination, and syncs the parent directory.
    ///
    /// An empty directory at the destination is replaced; with `force`, also one of a bulk load. Files that
    /// [`write_file`](Self::write_file) did not write, and their directories, must have been synced.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], and [`Error::Refused`] if files were added to a directory that is to be replaced.
    pub fn finish(self) -> Result<()> {
        sync_directory(self.path()).doing("sync", &self.destination)?;
        let replaced = if self.replaces { self.exchange()? } else { self.rename()? };
        sync_directory(directory_of(&self.destination))
            .doing("sync its directory", &self.destination)?;
        drop(replaced);
        Ok(())
    }

    fn rename(&self) -> Result<Option<ScratchDirectory>> {
        match fs::remove_dir(&self.destination) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).doing("replace", &self.destination);
            }
            _ => {}
        }
        fs::rename(self.path(), &self.destination)
            .doing("rename the temporary output to it", &self.destination)?;
        Ok(None)
    }

    /// Moves the old directory away and the new one into its place; if that fails, moves the old one back.
    ///
    /// Returns the temporary directory with the old one.
    fn exchange(&self) -> Result<Option<ScratchDirectory>> {
        // Files may have been added since the output was begun.
        check_replaceable(&self.destination)?;
        let parent = directory_of(&self.destination);
        let mut aside = ScratchDirectory::with_builder(&temporary_builder(0o777), parent)?;
        let old = aside.path().join("replaced");
        // `remove_unfinished` needs this lock too, so it cannot remove the old directory before the
        // new one is in its place.
        let _list = temporary_paths();
        fs::rename(&self.destination, &old).doing("move it away", &self.destination)?;
        if let Err(error) = fs::rename(self.path(), &self.destination) {
            if let Err(error) = fs::rename(&old, &self.destination) {
                // It must outlive its temporary directory.
                aside.directory.disable_cleanup(true);
                return Err(error).doing("move it back to where it was", &old);
            }
            return Err(error).doing("rename the temporary output to it", &self.destination);
        }
        Ok(Some(aside))
    }
}

/// A temporary directory, which is removed when this value is dropped.
///
/// A program that ends at a signal removes it by [`remove_unfinished`](crate::remove_unfinished).
#[derive(Debug)]
pub struct ScratchDirectory {
    directory: TempDir,
    temporary_path: TemporaryPath,
}

impl Drop for ScratchDirectory {
    fn drop(&mut self) {
        if !self.temporary_path.is_of_this_process() {
            self.directory.disable_cleanup(true);
        }
    }
}

impl ScratchDirectory {
    /// Creates an empty directory in `parent`, or in the system's temporary directory, which only its owner can read.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if `parent` takes no directory.
    pub fn create(parent: Option<&Path>) -> Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("hfile-");
        // Others must not read the cells in a shared directory.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        match parent {
            Some(parent) => Self::with_builder(&builder, parent),
            None => Self::with_builder(&builder, &std::env::temp_dir()),
        }
    }

    pub(super) fn with_builder(builder: &tempfile::Builder<'_, '_>, parent: &Path) -> Result<Self> {
        let (temporary_path, directory) = TemporaryPath::register(|| {
            let directory = builder.tempdir_in(parent)?;
            Ok((directory.path().to_owned(), directory))
        })
        .doing("create a directory in it", parent)?;
        Ok(Self { directory, temporary_path })
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
            .map_or_else(|_| file.to_owned(), |below| destination.join(below))
    }
}

/// Whether the destination is missing or an empty directory.
fn is_free(destination: &Path) -> bool {
    match destination.read_dir() {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Returns an error unless the destination has directories of families with HFiles, and nothing else.
///
/// A mistyped path must not remove a directory with other contents. HBase's bulk load moves the HFiles away, and
/// leaves the directories of the families.
fn check_replaceable(destination: &Path) -> Result<()> {
    let refused = |path: &Path| Error::NotReplaceable {
        directory: destination.to_owned(),
        path: path.to_owned(),
    };
    if !destination.is_dir() || destination.is_symlink() {
        return Err(refused(destination));
    }
    for family in entries(destination)? {
        if !family.is_dir() || family.is_symlink() {
            return Err(refused(&family));
        }
        let name = family.file_name().unwrap_or_default().as_encoded_bytes();
        if check_family_name(name).is_err() {
            return Err(refused(&family));
        }
        for file in entries(&family)? {
            let file_name = file.file_name().unwrap_or_default().as_encoded_bytes();
            // A directory of the root of HBase has HFiles of other names, too, and other files.
            let is_named_so = file_name.len() == 32 && file_name.iter().all(u8::is_ascii_hexdigit);
            if !is_named_so || Reader::open_file(&file, ReaderOptions::default()).is_err() {
                return Err(refused(&file));
            }
        }
    }
    Ok(())
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>> {
    let listed = directory.read_dir().doing("list", directory)?;
    let paths = listed.map(|entry| Ok(entry?.path()));
    paths.collect::<io::Result<_>>().doing("list", directory)
}

/// Returns an error if the destination exists and is not an empty directory.
pub(super) fn check_free(destination: &Path) -> Result<()> {
    if !is_free(destination) {
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
        let output = OutputDirectory::create(&destination, false).expect("nothing in the way");
        fill(&output);
        assert!(!destination.exists());
        drop(output);
        assert_eq!(fs::read_dir(parent.path()).expect("readable").count(), 0);

        fs::create_dir(&destination).expect("nothing in the way");
        let output = OutputDirectory::create(&destination, false)
            .expect("an empty directory is not in the way");
        fill(&output);
        output.finish().expect("nothing in the way");
        assert_eq!(fs::read(destination.join("file")).expect("it is there"), b"whole");
        assert_eq!(fs::read_dir(parent.path()).expect("readable").count(), 1);
        assert!(OutputDirectory::create(&destination, false).is_err(), "it has a file");
        assert!(OutputDirectory::create(&destination.join("file"), false).is_err(), "it is one");
    }

    #[test]
    fn only_directories_of_a_bulk_load_are_replaced() {
        let parent = tempfile::tempdir().expect("a temporary directory");
        let destination = parent.path().join("out");
        let name = "0123456789abcdef0123456789abcdef";
        let fill = |family: &Path| {
            fs::create_dir_all(family).expect("nothing in the way");
            let file = fs::File::create(family.join(name)).expect("disk takes it");
            let options = sstable::WriterOptions::default();
            let writer = sstable::Writer::new(file, sstable::FileName::new(name), options);
            writer.and_then(sstable::Writer::finish).expect("an HFile without cells");
        };
        fill(&destination.join("old"));
        let output = OutputDirectory::create(&destination, true).expect("HFiles by family");
        fill(&output.path().join("new"));
        assert!(destination.join("old").exists());
        output.finish().expect("it is replaced");
        let names: Vec<_> = fs::read_dir(&destination)
            .expect("readable")
            .map(|entry| entry.expect("readable").file_name())
            .collect();
        assert_eq!(names, ["new"]);
        assert_eq!(fs::read_dir(parent.path()).expect("readable").count(), 1);

        // A file that has such a name and is no HFile, and a directory that is no family.
        for wrong in [Path::new("ab").join(name), Path::new(".cache").join(name)] {
            let wrong = destination.join(wrong);
            let directory = wrong.parent().expect("below the destination");
            fs::create_dir(directory).expect("nothing in the way");
            fs::write(&wrong, b"mine").expect("disk takes it");
            let error = OutputDirectory::create(&destination, true).expect_err(name);
            assert!(error.to_string().contains("is not a part of one"), "{error}");
            fs::remove_dir_all(directory).expect("ours");
        }

        // Files that appear while the output is written.
        let output = OutputDirectory::create(&destination, true).expect("HFiles by family");
        for wrong in ["notes.txt", "new/notes.txt"] {
            let wrong = destination.join(wrong);
            fs::write(&wrong, b"mine").expect("disk takes it");
            let error = OutputDirectory::create(&destination, true).expect_err(name);
            assert!(error.to_string().contains("notes.txt is not a part of one"), "{error}");
            assert!(output.exchange().is_err());
            fs::remove_file(wrong).expect("ours");
        }
        drop(output);
        assert_eq!(fs::read_dir(parent.path()).expect("readable").count(), 1);
        // A file is not a directory, and a link may lead anywhere.
        assert!(OutputDirectory::create(&destination.join("new").join(name), true).is_err());
    }
}
