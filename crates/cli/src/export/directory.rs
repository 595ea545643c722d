//! The directory of an export: its lock, what an earlier run left in it, and its manifest.
//!
//! | in the directory                | what                                                            |
//! |---------------------------------|-----------------------------------------------------------------|
//! | `manifest.json`                 | the parts that are complete; replaced after each                |
//! | `INDEX-REGION-PART.parquet`     | a complete file; ascending names have ascending rows            |
//! | `FAMILY/REGIONPART`             | a complete HFile, named by 32 hex digits as in HBase            |
//! | `.hfile-…`                      | a file that is being written; the next run removes it           |
//! | `.export.lock`                  | locked while an export runs                                     |

use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::form;
use super::manifest::Manifest;
use crate::failure::{NotADirectory, UsageError};
use crate::temporary::OutputFile;

const LOCK: &str = ".export.lock";

/// What the names of unfinished files begin with; see `temporary`.
const TEMPORARY: &str = ".hfile-";

/// The directory of an export, locked.
pub(super) struct ExportDirectory {
    path: PathBuf,
    _lock: File,
}

impl ExportDirectory {
    /// Creates the directory or goes on with an earlier export, and returns the manifest.
    ///
    /// `new` is the manifest of an export that begins.
    pub(super) fn open(path: &Path, new: Manifest) -> anyhow::Result<(Self, Manifest)> {
        let shown = path.display();
        if let Err(error) = fs::create_dir_all(path) {
            if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotADirectory) {
                return Err(NotADirectory(shown.to_string()).into());
            }
            return Err(error).with_context(|| format!("{shown}: cannot create"));
        }
        let manifest_path = path.join(Manifest::NAME);
        let known = match fs::read(&manifest_path) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                return Err(error)
                    .with_context(|| format!("{}: cannot read", manifest_path.display()));
            }
        };
        if known.is_none() && has_entries(path)? {
            return Err(UsageError(format!(
                "{shown} is not empty and has no {} of an export; give a new directory",
                Manifest::NAME
            ))
            .into());
        }
        let lock = File::create(path.join(LOCK))
            .with_context(|| format!("{shown}: cannot create {LOCK}"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                anyhow::bail!("{shown}: another export is writing to it")
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("{shown}: cannot lock {LOCK}"));
            }
        }
        let directory = Self { path: path.to_owned(), _lock: lock };
        let mut manifest = match known {
            None => new,
            Some(bytes) => directory.known(&manifest_path, &bytes, new)?,
        };
        directory.keep_complete(&mut manifest)?;
        directory.write(&manifest)?;
        Ok((directory, manifest))
    }

    /// Returns the path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces the manifest.
    pub(super) fn write(&self, manifest: &Manifest) -> anyhow::Result<()> {
        let path = self.path.join(Manifest::NAME);
        let mut file = OutputFile::create(&path, true)?;
        let mut text = serde_json::to_vec_pretty(manifest)?;
        text.push(b'\n');
        file.write_all(&text).with_context(|| format!("{}: cannot write", path.display()))?;
        file.finish()
    }

    /// Removes the lock file.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        let path = self.path.join(LOCK);
        fs::remove_file(&path).with_context(|| format!("{}: cannot remove", path.display()))
    }

    /// Returns the manifest to continue from: of an earlier run, or `new` if that run completed
    /// nothing.
    fn known(&self, path: &Path, bytes: &[u8], new: Manifest) -> anyhow::Result<Manifest> {
        let mut known = parsed(path, bytes, &new)?;
        if known.regions.is_empty() && !known.complete {
            // That run ended before its first region, perhaps by a wrong option.
            self.keep_complete(&mut known)?;
            return Ok(new);
        }
        check_is_same(path, &known, &new)?;
        Ok(known)
    }

    /// Forgets regions whose files are not there as they were written, and removes all files that
    /// belong to no region of the manifest.
    fn keep_complete(&self, manifest: &mut Manifest) -> anyhow::Result<()> {
        manifest.regions.retain(|region| {
            region.files.iter().all(|file| {
                fs::metadata(self.path.join(&file.file))
                    .is_ok_and(|found| found.len() == file.bytes)
            })
        });
        manifest.count();
        let known: Vec<_> = manifest.files().map(|file| self.path.join(&file.file)).collect();
        for path in files_below(&self.path)? {
            let name = path.file_name().unwrap_or_default();
            let is_kept = name == LOCK || path == self.path.join(Manifest::NAME);
            if is_kept || known.contains(&path) {
                continue;
            }
            if !is_ours(&path, manifest) {
                return Err(UsageError(format!(
                    "{}: not a file of this export; give another directory, or move the file away",
                    path.display()
                ))
                .into());
            }
            fs::remove_file(&path).with_context(|| format!("{}: cannot remove", path.display()))?;
        }
        Ok(())
    }
}

/// Returns the manifest of an earlier run.
fn parsed(path: &Path, bytes: &[u8], new: &Manifest) -> anyhow::Result<Manifest> {
    let known: Manifest = serde_json::from_slice(bytes).with_context(|| {
        format!("{}: not the manifest of an export; give another directory", path.display())
    })?;
    if known.schema != new.schema {
        return Err(other_export(path, "written by another version of hfile").into());
    }
    Ok(known)
}

/// Checks that the manifest of an earlier run is of the same export.
fn check_is_same(path: &Path, known: &Manifest, new: &Manifest) -> Result<(), UsageError> {
    if !known.source.is_same(&new.source) {
        return Err(other_export(
            path,
            "an export of another source, or the source's files have changed since",
        ));
    }
    let mut other = Vec::new();
    if known.format != new.format {
        other.push(format!("--to {}", known.format));
    }
    other.extend(form::differing_options(&known.options, &new.options));
    if other.is_empty() {
        return Ok(());
    }
    let what = format!("an export with other options: {}", other.join(", "));
    Err(other_export(path, &what))
}

fn other_export(path: &Path, what: &str) -> UsageError {
    UsageError(format!("{}: {what}; give another directory", path.display()))
}

/// Whether a path is one that an export makes: temporary, or with the name of an exported file.
fn is_ours(path: &Path, manifest: &Manifest) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if name.starts_with(TEMPORARY) {
        return true;
    }
    if manifest.format == "hfiles" {
        return name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    }
    let (index, rest) = name.split_at_checked(5).unwrap_or_default();
    index.bytes().all(|byte| byte.is_ascii_digit()) && rest.starts_with('-')
}

/// Whether there are files that a run did not leave that ended before it wrote the manifest.
fn has_entries(directory: &Path) -> anyhow::Result<bool> {
    Ok(files_below(directory)?.iter().any(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_none_or(|name| name != LOCK && !name.starts_with(TEMPORARY))
    }))
}

/// Returns the files of a directory and of its subdirectories.
fn files_below(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        let failed = || format!("{}: cannot list", directory.display());
        for entry in fs::read_dir(&directory).with_context(failed)? {
            let entry = entry.with_context(failed)?;
            if entry.file_type().with_context(failed)?.is_dir() {
                directories.push(entry.path());
            } else {
                files.push(entry.path());
            }
        }
    }
    Ok(files)
}
