//! A store file to read, given by its path or found in a directory.

use std::path::{Path, PathBuf};

use hbase_files::{Error, ListedFile, LocalTree, Location, StoreFileReader, identify};
use sstable::{FileName, ReaderOptions};

use super::target::Target;
use crate::arguments::reading_options::reader_options;

/// A store file to read.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    path: PathBuf,
    /// The entry of a directory listing; `None` if an argument names the file.
    entry: Option<ListedFile>,
}

/// An open store file.
pub(crate) struct OpenInput {
    /// The reader of its cells.
    pub(crate) reader: StoreFileReader,
    /// The HFile that the file leads to, and the half.
    pub(crate) target: Target,
}

impl Input {
    /// Creates an input for a file that an argument names.
    pub(super) fn of_argument(path: &Path) -> Self {
        Self { path: path.to_owned(), entry: None }
    }

    /// Creates an input for a file that a listing has found.
    pub(super) fn of_entry(entry: ListedFile) -> Self {
        Self { path: entry.path.clone(), entry: Some(entry) }
    }

    /// The path, as given on the command line or below a directory given there.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The entry of the listing that has found the file.
    pub(super) const fn entry(&self) -> Option<&ListedFile> {
        self.entry.as_ref()
    }

    /// Returns whether an argument names the file itself.
    pub(crate) const fn is_argument(&self) -> bool {
        self.entry.is_none()
    }

    /// The path as text.
    pub(crate) fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Finds the HFile that has the cells.
    ///
    /// # Errors
    ///
    /// If the file is not a store file, or the target of a link or a reference is missing.
    pub(crate) fn locate(&self) -> Result<Location, Error> {
        match &self.entry {
            Some(entry) => entry.locate(&LocalTree),
            None => identify(&LocalTree, &self.path)?.locate(&LocalTree),
        }
    }

    /// Returns the target of the file, and the name of the file in errors.
    pub(crate) fn describe(&self, location: &Location) -> (Target, FileName) {
        let target = Target::new(&self.path, location);
        let name = FileName::new(target.label(&self.name()));
        (target, name)
    }

    /// Opens the file.
    ///
    /// # Errors
    ///
    /// As [`locate`](Self::locate), and if the HFile cannot be opened.
    pub(crate) fn open(&self) -> anyhow::Result<OpenInput> {
        self.open_with(reader_options())
    }

    /// Opens the file with options.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub(crate) fn open_with(&self, options: ReaderOptions) -> anyhow::Result<OpenInput> {
        let location = self.locate()?;
        let (target, name) = self.describe(&location);
        let reader = StoreFileReader::open(&LocalTree, &location, name, options)?;
        Ok(OpenInput { reader, target })
    }
}
