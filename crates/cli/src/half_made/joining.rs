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
use super::output::{half_made, sync_directory, temporary_file};

/// Directories that are not in their place until what is in all of them is whole.
pub(crate) struct JoiningDirectories {
    temporary: ScratchDirectory,
    place: PathBuf,
    names: Vec<String>,
    /// Where the temporary directory stands: `place`, or the nearest above it that was there.
    stand: PathBuf,
}

/// A directory that was put in its place.
struct Placed {
    from: PathBuf,
    to: PathBuf,
    /// Whether there was an empty directory.
    took_empty: bool,
}

impl JoiningDirectories {
    /// Starts directories of these names in `place`, which is made if need be. For each there must be
    /// nothing in its place, or an empty directory.
    pub(crate) fn create(place: &Path, names: Vec<String>) -> anyhow::Result<Self> {
        for name in &names {
            check_free(&place.join(name))?;
        }
        let above = place.ancestors().find(|directory| directory.is_dir());
        let stand = above.unwrap_or(Path::new(".")).to_owned();
        let temporary = ScratchDirectory::of(&temporary_file(0o777), &stand)?;
        Ok(Self { temporary, place: place.to_owned(), names, stand })
    }

    /// Where the directories are to be made for now.
    pub(crate) fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Where a file in one of them will be.
    pub(crate) fn final_place(&self, file: &Path) -> PathBuf {
        self.temporary.moved(file, &self.place)
    }

    /// Puts all directories in their places. They and what is in them must be on disk; that they are
    /// there is too when this returns.
    ///
    /// # Errors
    ///
    /// If one cannot be put there; then none is.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        if let Err(error) = self.put_in_place() {
            for made in self.made() {
                // One that somebody else has put something into stays.
                let _ = fs::remove_dir(made);
            }
            return Err(error);
        }
        for changed in self.made().chain([&*self.stand]) {
            sync_directory(changed)
                .with_context(|| format!("{}: cannot sync", changed.display()))?;
        }
        Ok(())
    }

    /// The directories that `place` takes to be made, the deepest first.
    fn made(&self) -> impl Iterator<Item = &Path> {
        let is_new =
            |directory: &&Path| *directory != self.stand && !directory.as_os_str().is_empty();
        self.place.ancestors().take_while(is_new)
    }

    fn put_in_place(&self) -> anyhow::Result<()> {
        // Held to the end: Ctrl-C comes before all of it or after.
        let _list = half_made();
        fs::create_dir_all(&self.place)
            .with_context(|| format!("{}: cannot create", self.place.display()))?;
        let mut placed: Vec<Placed> = Vec::new();
        for name in &self.names {
            let (from, to) = (self.path().join(name), self.place.join(name));
            match Placed::put(from, to) {
                Ok(directory) => placed.push(directory),
                Err(error) => {
                    placed.into_iter().for_each(Placed::take_back);
                    let shown = self.place.join(name);
                    return Err(error)
                        .with_context(|| format!("{}: cannot rename to it", shown.display()));
                }
            }
        }
        Ok(())
    }
}

impl Placed {
    fn put(from: PathBuf, to: PathBuf) -> io::Result<Self> {
        let took_empty = match fs::remove_dir(&to) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        let renamed = fs::rename(&from, &to);
        if took_empty && renamed.is_err() {
            let _ = fs::create_dir(&to);
        }
        renamed.map(|()| Self { from, to, took_empty })
    }

    /// Nothing more can be done if this fails too; what stays is whole.
    fn take_back(self) {
        let _ = fs::rename(&self.to, &self.from);
        if self.took_empty {
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
    fn filled(place: &Path) -> JoiningDirectories {
        let output = JoiningDirectories::create(place, names()).expect("nothing in the way");
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
        let parent = tempfile::tempdir().expect("a place for the test");
        for place in ["new", "new/of/three"] {
            let place = parent.path().join(place);
            let output = filled(&place);
            assert!(!place.join("f").exists());
            output.finish().expect("nothing in the way");
            assert_eq!(fs::read(place.join("h/file")).expect("it is there"), b"whole");
        }
        assert_eq!(listed(parent.path()), ["new"]);
        assert_eq!(listed(&parent.path().join("new")), ["f", "g", "h", "of"]);
        assert!(JoiningDirectories::create(&parent.path().join("new"), names()).is_err());
    }

    #[test]
    fn dropped_directories_leave_nothing() {
        let parent = tempfile::tempdir().expect("a place for the test");
        let place = parent.path().join("new/of/three");
        let output = filled(&place);
        drop(output);
        assert!(listed(parent.path()).is_empty());
    }

    #[test]
    fn if_one_directory_cannot_be_put_in_its_place_none_is() {
        let parent = tempfile::tempdir().expect("a place for the test");
        for place in ["", "new/of/three"] {
            let place = parent.path().join(place);
            let output = filled(&place);
            // An empty directory is taken, and given back.
            fs::create_dir_all(place.join("f")).expect("free");
            // Somebody else was faster.
            fs::write(place.join("h"), b"theirs").expect("free");
            let error = output.finish().expect_err("it is in the way");
            assert!(error.to_string().contains("h: cannot rename to it"), "{error}");
            assert_eq!(listed(&place), ["f", "h"]);
            assert!(listed(&place.join("f")).is_empty());
            fs::remove_dir(place.join("f")).expect("ours");
            fs::remove_file(place.join("h")).expect("ours");
        }
    }
}
