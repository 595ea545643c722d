//! The directory of an export: what an earlier run left in it, and its manifest.
//!
//! | in the directory                | what                                                            |
//! |---------------------------------|-----------------------------------------------------------------|
//! | `manifest.json`                 | the parts that are complete; replaced while an export runs      |
//! | `INDEX-REGION-PART.parquet`     | a complete file; ascending names have ascending rows            |
//! | `FAMILY/REGIONPART`             | a complete HFile, named by 32 hex digits as in HBase            |
//! | `.hfile-…`                      | a file that is being written; the next run removes it           |
//! | `.export.lock`                  | locked while an export runs                                     |
//!
//! Only files that the manifest names are ever removed, and unfinished ones.

use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::form::{self, ExportFormat};
use super::lock::{DirectoryLock, LOCK};
use super::manifest::Manifest;
use super::names;
use crate::error::{Doing, Error, Result};
use crate::option_problem::{DifferingOption, OptionProblem};
use crate::temporary::OutputFile;

/// A directory that is ready for an export, and the manifest to go on from.
pub(super) struct OpenExport {
    pub(super) directory: ExportDirectory,
    pub(super) manifest: Manifest,
}

/// The directory of an export, locked.
pub(super) struct ExportDirectory {
    path: PathBuf,
    format: ExportFormat,
    _lock: DirectoryLock,
}

impl ExportDirectory {
    /// Creates the directory or goes on with an earlier export.
    ///
    /// `new` is the manifest of an export that begins.
    pub(super) fn open(path: &Path, new: Manifest, format: ExportFormat) -> Result<OpenExport> {
        if let Err(error) = fs::create_dir_all(path) {
            if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotADirectory) {
                return Err(Error::NotADirectory(path.to_owned()));
            }
            return Err(error).doing("create", path);
        }
        // Another export may complete files until the directory is locked.
        let lock = DirectoryLock::take(path)?;
        let directory = Self { path: path.to_owned(), format, _lock: lock };
        let manifest_path = path.join(Manifest::NAME);
        let manifest = match fs::read(&manifest_path) {
            Ok(bytes) => directory.manifest_to_continue(&manifest_path, &bytes, new)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                directory.clear_unfinished()?;
                new
            }
            Err(error) => {
                return Err(error).doing("read", &manifest_path);
            }
        };
        Ok(OpenExport { directory, manifest })
    }

    /// Returns the path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces the manifest.
    pub(super) fn write(&self, manifest: &Manifest) -> Result<()> {
        let path = self.path.join(Manifest::NAME);
        let mut file = OutputFile::create(&path, true)?;
        let mut text =
            serde_json::to_vec_pretty(manifest).map_err(io::Error::from).doing("write", &path)?;
        text.push(b'\n');
        file.write_all(&text).doing("write", &path)?;
        file.finish()
    }

    /// Returns the manifest to continue from: of an earlier run, or `new` if that run completed
    /// nothing.
    fn manifest_to_continue(&self, path: &Path, bytes: &[u8], new: Manifest) -> Result<Manifest> {
        let mut known = parse_manifest(path, bytes, &new)?;
        // Otherwise that run ended before its first region, perhaps by a wrong option.
        let has_begun = known.complete || !known.regions.is_empty();
        if has_begun {
            check_is_same(path, &known, &new)?;
        }
        self.keep_complete(&mut known)?;
        Ok(if has_begun { known } else { new })
    }

    /// Forgets regions whose files are not there as they were written, and removes the files of no
    /// other region that the manifest names, and unfinished files.
    ///
    /// Removes nothing and fails if there is any other file.
    fn keep_complete(&self, manifest: &mut Manifest) -> Result<()> {
        let named = self.paths(manifest);
        manifest.regions.retain(|region| {
            region.files.iter().all(|file| {
                fs::metadata(self.path.join(&file.file))
                    .is_ok_and(|found| found.len() == file.bytes)
            })
        });
        manifest.count();
        let kept = self.paths(manifest);
        let format = ExportFormat::from_name(&manifest.format).unwrap_or(self.format);
        let mut left = files_below(&self.path)?;
        left.retain(|path| !self.is_bookkeeping(path) && !kept.contains(path));
        for path in &left {
            let mut unfinished = manifest.unfinished.iter();
            let is_removable = names::is_temporary(path)
                || named.contains(path)
                || unfinished.any(|prefix| names::has_prefix(format, path, prefix));
            if !is_removable {
                return Err(Error::other(format!(
                    "{}: not a file of this export; give another directory, or move the file away",
                    path.display()
                )));
            }
        }
        for path in left {
            fs::remove_file(&path).doing("remove", &path)?;
        }
        Ok(())
    }

    fn paths(&self, manifest: &Manifest) -> HashSet<PathBuf> {
        manifest.files().map(|file| self.path.join(&file.file)).collect()
    }

    /// Removes the files of a run that ended before it wrote the manifest.
    ///
    /// Removes nothing and fails if there is any other file.
    fn clear_unfinished(&self) -> Result<()> {
        let mut left = files_below(&self.path)?;
        left.retain(|path| !self.is_bookkeeping(path));
        if !left.iter().all(|path| names::is_temporary(path)) {
            return Err(Error::other(format!(
                "{} is not empty and has no {} of an export; give a new directory",
                self.path.display(),
                Manifest::NAME
            )));
        }
        for path in left {
            fs::remove_file(&path).doing("remove", &path)?;
        }
        Ok(())
    }

    /// Returns whether a path is the manifest or the lock.
    fn is_bookkeeping(&self, path: &Path) -> bool {
        let name = path.strip_prefix(&self.path).unwrap_or(path);
        name == Path::new(LOCK) || name == Path::new(Manifest::NAME)
    }
}

/// Parses the manifest of an earlier run, which must have the schema of a new one.
fn parse_manifest(path: &Path, bytes: &[u8], new: &Manifest) -> Result<Manifest> {
    let known: Manifest = serde_json::from_slice(bytes)
        .map_err(|source| Error::Manifest { file: path.to_owned(), source })?;
    if known.schema != new.schema {
        return Err(other_export(path, "written by another version of hfile"));
    }
    Ok(known)
}

/// Checks that the manifest of an earlier run is of the same export.
fn check_is_same(path: &Path, known: &Manifest, new: &Manifest) -> Result<()> {
    if !known.source.is_same(&new.source) {
        return Err(other_export(path, "an export of another source"));
    }
    if known.format != new.format || known.options != new.options {
        let mut options = form::differing_options(&known.options, &new.options);
        if known.format != new.format {
            let (name, value) = ("format".to_owned(), Some(known.format.clone()));
            options.insert(0, DifferingOption { name, value });
        }
        if options.is_empty() {
            let what = "an export with other options: of another version of hfile";
            return Err(other_export(path, what));
        }
        return Err(OptionProblem::OtherOptions { manifest: path.to_owned(), options }.into());
    }
    match known.source.state().change(new.source.state()) {
        Some(change) => Err(other_export(path, &format!("the source has changed since: {change}"))),
        None => Ok(()),
    }
}

fn other_export(path: &Path, what: &str) -> Error {
    Error::other(format!("{}: {what}; give another directory", path.display()))
}

/// Returns the files of a directory and of its subdirectories.
fn files_below(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(next) = directories.pop() {
        for listed in fs::read_dir(&next).doing("list", &next)? {
            let entry = listed.doing("list", &next)?;
            if entry.file_type().doing("list", &next)?.is_dir() {
                directories.push(entry.path());
            } else {
                files.push(entry.path());
            }
        }
    }
    Ok(files)
}
