//! Output subdirectories that appear in a directory together once all are complete, or not at all.
//!
//! ```text
//! OUT/f/…               existed before, and does not change
//! OUT/.hfile-x7Gk2p/g/… temporary       ─ all complete →  OUT/g/…
//! OUT/.hfile-x7Gk2p/h/…                                   OUT/h/…
//! ```
//!
//! `OUT` is the destination. If it does not exist, the temporary directory is created in its
//! nearest ancestor that exists.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::directories::{ScratchDirectory, check_free};
use super::output::{temporary_builder, temporary_paths};
use super::sync::sync_directory;
use crate::error::{Doing, Result};

/// Subdirectories of a destination, written to a temporary directory and then renamed together.
pub(crate) struct OutputDirectories {
    temporary: ScratchDirectory,
    destination: PathBuf,
    names: Vec<String>,
    /// The parent of the temporary directory: `destination`, or its nearest existing ancestor.
    temporary_parent: PathBuf,
}

/// A subdirectory that was renamed to its destination.
struct MovedDirectory {
    from: PathBuf,
    to: PathBuf,
    /// Whether the move replaced an empty directory at `to`.
    replaced_empty: bool,
}

impl OutputDirectories {
    /// Creates the temporary directory for the subdirectories `names` of `destination`.
    ///
    /// At the destination, each subdirectory must be absent or empty. [`finish`](Self::finish)
    /// creates `destination` if necessary.
    pub(crate) fn create(destination: &Path, names: Vec<String>) -> Result<Self> {
        for name in &names {
            check_free(&destination.join(name))?;
        }
        let above = destination.ancestors().find(|directory| directory.is_dir());
        let temporary_parent = above.unwrap_or(Path::new(".")).to_owned();
        let temporary =
            ScratchDirectory::with_builder(&temporary_builder(0o777), &temporary_parent)?;
        Ok(Self { temporary, destination: destination.to_owned(), names, temporary_parent })
    }

    /// Returns the temporary directory; the caller creates the subdirectories there.
    pub(crate) fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Returns the path that a file of the temporary directory has after [`finish`](Self::finish).
    pub(crate) fn final_path(&self, file: &Path) -> PathBuf {
        self.temporary.path_after_move(file, &self.destination)
    }

    /// Renames all subdirectories to their destinations, and syncs the directories that changed.
    ///
    /// The caller must have synced the subdirectories and their files.
    ///
    /// # Errors
    ///
    /// If `destination` cannot be created or a rename fails; all earlier renames are then reversed.
    /// Also if a sync fails; the subdirectories then stay at the destination.
    pub(crate) fn finish(self) -> Result<()> {
        if let Err(error) = self.rename_all() {
            for directory in self.created_directories() {
                // Fails if another process has put files into the directory, which must then stay.
                let _ = fs::remove_dir(directory);
            }
            return Err(error);
        }
        for changed in self.created_directories().chain([&*self.temporary_parent]) {
            sync_directory(changed).doing("sync", changed)?;
        }
        Ok(())
    }

    /// Returns `destination` and its ancestors that did not exist at first, the deepest first.
    fn created_directories(&self) -> impl Iterator<Item = &Path> {
        self.destination.ancestors().take_while(|directory| {
            *directory != self.temporary_parent && !directory.as_os_str().is_empty()
        })
    }

    fn rename_all(&self) -> Result<()> {
        // `remove_unfinished` needs this lock too, so it runs before all renames or after them.
        let _list = temporary_paths();
        fs::create_dir_all(&self.destination).doing("create", &self.destination)?;
        let mut moved: Vec<MovedDirectory> = Vec::new();
        for name in &self.names {
            let (from, to) = (self.path().join(name), self.destination.join(name));
            match MovedDirectory::move_into_place(from, to) {
                Ok(directory) => moved.push(directory),
                Err(error) => {
                    moved.into_iter().for_each(MovedDirectory::move_back);
                    let shown = self.destination.join(name);
                    return Err(error).doing("rename the temporary output to it", &shown);
                }
            }
        }
        Ok(())
    }
}

impl MovedDirectory {
    fn move_into_place(from: PathBuf, to: PathBuf) -> io::Result<Self> {
        let replaced_empty = match fs::remove_dir(&to) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        let renamed = fs::rename(&from, &to);
        if replaced_empty && renamed.is_err() {
            let _ = fs::create_dir(&to);
        }
        renamed.map(|()| Self { from, to, replaced_empty })
    }

    /// Reverses the move. Ignores errors: a subdirectory that stays at the destination is complete.
    fn move_back(self) {
        let _ = fs::rename(&self.to, &self.from);
        if self.replaced_empty {
            let _ = fs::create_dir(&self.to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        ["f", "g", "h"].map(str::to_owned).to_vec()
    }

    /// Returns unfinished subdirectories for `destination`, each with one complete file.
    fn filled(destination: &Path) -> OutputDirectories {
        let output = OutputDirectories::create(destination, names()).expect("nothing in the way");
        for name in names() {
            let directory = output.path().join(name);
            fs::create_dir(&directory).expect("disk takes it");
            fs::write(directory.join("file"), b"whole").expect("disk takes it");
        }
        output
    }

    fn listed(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).expect("readable");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("readable").file_name().into_string().expect("text"))
            .collect();
        names.sort();
        names
    }

    #[test]
    fn subdirectories_appear_together_beside_existing_ones() {
        let parent = tempfile::tempdir().expect("a temporary directory");
        for destination in ["new", "new/of/three"] {
            let destination = parent.path().join(destination);
            let output = filled(&destination);
            assert!(!destination.join("f").exists());
            output.finish().expect("nothing in the way");
            assert_eq!(fs::read(destination.join("h/file")).expect("it is there"), b"whole");
        }
        assert_eq!(listed(parent.path()), ["new"]);
        assert_eq!(listed(&parent.path().join("new")), ["f", "g", "h", "of"]);
        assert!(OutputDirectories::create(&parent.path().join("new"), names()).is_err());
    }

    #[test]
    fn dropped_directories_leave_nothing() {
        let parent = tempfile::tempdir().expect("a temporary directory");
        let destination = parent.path().join("new/of/three");
        let output = filled(&destination);
        drop(output);
        assert!(listed(parent.path()).is_empty());
    }

    #[test]
    fn a_failed_rename_reverses_all_others() {
        let parent = tempfile::tempdir().expect("a temporary directory");
        for destination in ["", "new/of/three"] {
            let destination = parent.path().join(destination);
            let output = filled(&destination);
            // `finish` replaces this empty directory and must restore it.
            fs::create_dir_all(destination.join("f")).expect("free");
            // Another process creates a file at the last destination, so that its rename fails.
            fs::write(destination.join("h"), b"theirs").expect("free");
            let error = output.finish().expect_err("it is in the way");
            assert!(
                error.to_string().contains("h: cannot rename the temporary output to it"),
                "{error}"
            );
            assert_eq!(listed(&destination), ["f", "h"]);
            assert!(listed(&destination.join("f")).is_empty());
            fs::remove_dir(destination.join("f")).expect("ours");
            fs::remove_file(destination.join("h")).expect("ours");
        }
    }
}
