//! Directories that join those in another directory: all of them once they are whole, or none.
//!
//! ```text
//! OUT/f/…               was there before, and stays as it is
//! OUT/.hfile-x7Gk2p/g/… half made          ─ all are whole →  OUT/g/…
//! OUT/.hfile-x7Gk2p/h/…                                       OUT/h/…
//! ```
//!
//! While `OUT` is not there, they are made in the directory above it that is.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::directories::{ScratchDirectory, check_free};
use super::output::{sync_directory, temporary_file, temporary_paths};

/// Directories that are not in their place until what is in all of them is whole.
pub(crate) struct OutputDirectories {
    temporary: ScratchDirectory,
    destination: PathBuf,
    names: Vec<String>,
    /// Where the temporary directory stands: `place`, or the nearest above it that was there.
    temporary_parent: PathBuf,
}

/// A directory that was put in its place.
struct MovedDirectory {
    from: PathBuf,
    to: PathBuf,
    /// Whether there was an empty directory.
    replaced_empty: bool,
}

impl OutputDirectories {
    /// Starts directories of these names in `place`, which is made if need be. For each there must be
    /// nothing in its place, or an empty directory.
    pub(crate) fn create(destination: &Path, names: Vec<String>) -> anyhow::Result<Self> {
        for name in &names {
            check_free(&destination.join(name))?;
        }
        let above = destination.ancestors().find(|directory| directory.is_dir());
        let temporary_parent = above.unwrap_or(Path::new(".")).to_owned();
        let temporary = ScratchDirectory::with_builder(&temporary_file(0o777), &temporary_parent)?;
        Ok(Self { temporary, destination: destination.to_owned(), names, temporary_parent })
    }

    /// Where the directories are to be made for now.
    pub(crate) fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Where a file in one of them will be.
    pub(crate) fn final_path(&self, file: &Path) -> PathBuf {
        self.temporary.path_after_move(file, &self.destination)
    }

    /// Puts all directories in their places. They and what is in them must be on disk; that they are
    /// there is too when this returns.
    ///
    /// # Errors
    ///
    /// If one cannot be put there; then none is.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        if let Err(error) = self.rename_all() {
            for made in self.made() {
                // One that somebody else has put something into stays.
                let _ = fs::remove_dir(made);
            }
            return Err(error);
        }
        for changed in self.made().chain([&*self.temporary_parent]) {
            sync_directory(changed)
                .with_context(|| format!("{}: cannot sync", changed.display()))?;
        }
        Ok(())
    }

    /// The directories that `place` takes to be made, the deepest first.
    fn made(&self) -> impl Iterator<Item = &Path> {
        let is_new = |directory: &&Path| {
            *directory != self.temporary_parent && !directory.as_os_str().is_empty()
        };
        self.destination.ancestors().take_while(is_new)
    }

    fn rename_all(&self) -> anyhow::Result<()> {
        // Held to the end: Ctrl-C comes before all of it or after.
        let _list = temporary_paths();
        fs::create_dir_all(&self.destination)
            .with_context(|| format!("{}: cannot create", self.destination.display()))?;
        let mut moved: Vec<MovedDirectory> = Vec::new();
        for name in &self.names {
            let (from, to) = (self.path().join(name), self.destination.join(name));
            match MovedDirectory::move_into_place(from, to) {
                Ok(directory) => moved.push(directory),
                Err(error) => {
                    moved.into_iter().for_each(MovedDirectory::move_back);
                    let shown = self.destination.join(name);
                    return Err(error)
                        .with_context(|| format!("{}: cannot rename to it", shown.display()));
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

    /// Nothing more can be done if this fails too; what stays is whole.
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

    /// Directories for `place`, in which all files are whole.
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
        let name = |entry: io::Result<fs::DirEntry>| entry.expect("readable").file_name();
        let mut names: Vec<_> =
            entries.map(|entry| name(entry).into_string().expect("text")).collect();
        names.sort();
        names
    }

    #[test]
    fn directories_join_those_that_are_there_once_all_are_whole() {
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
    fn if_one_directory_cannot_be_put_in_its_place_none_is() {
        let parent = tempfile::tempdir().expect("a temporary directory");
        for destination in ["", "new/of/three"] {
            let destination = parent.path().join(destination);
            let output = filled(&destination);
            // An empty directory is taken, and given back.
            fs::create_dir_all(destination.join("f")).expect("free");
            // Somebody else was faster.
            fs::write(destination.join("h"), b"theirs").expect("free");
            let error = output.finish().expect_err("it is in the way");
            assert!(error.to_string().contains("h: cannot rename to it"), "{error}");
            assert_eq!(listed(&destination), ["f", "h"]);
            assert!(listed(&destination.join("f")).is_empty());
            fs::remove_dir(destination.join("f")).expect("ours");
            fs::remove_file(destination.join("h")).expect("ours");
        }
    }
}
