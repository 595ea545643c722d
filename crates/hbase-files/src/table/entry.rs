//! A store file of a directory, and its kind.

use std::path::{Path, PathBuf};

use sstable::Reference;

use crate::error::{Error, Result};
use crate::names::skip_reason::{SkipReason, directory_reason, file_reason};
use crate::names::{HFileLink, ReferenceName, StoreFileName};
use crate::tree::contents::Contents;
use crate::tree::{FileTree, ItemKind};

/// A store file: an HFile, or a file that stands for one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ListedFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The length of the file in bytes.
    pub len: u64,
    /// The kind of the file.
    pub kind: EntryKind,
}

/// The kind of a store file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum EntryKind {
    /// An HFile.
    HFile,
    /// A MOB file: an HFile with the large values of a family.
    Mob,
    /// An empty file that leads to an HFile of another table.
    Link(HFileLink),
    /// A half of a file of another region.
    Reference {
        /// The name, which says whose half it is.
        name: ReferenceName,
        /// The half, if the store file tracker records it; otherwise the file itself records it.
        stored: Option<Reference>,
    },
}

/// The maximum length of a file that is read as a reference: a split key has at most 32 KiB.
pub(crate) const REFERENCE_LEN_MAX: u64 = 64 << 10;

/// Returns what a single file is, by its name and its first and last bytes.
///
/// A missing file, and a file of no kind that HBase keeps, count as HFiles: opening such a file
/// returns an error that says what is wrong.
///
/// # Errors
///
/// [`Error::NotAStoreFile`] for a file that is known to be something else, [`Error::Io`] if it
/// cannot be read.
pub fn identify(tree: &dyn FileTree, path: &Path) -> Result<ListedFile> {
    let found = tree.find(path).map_err(Error::io(path, "find it"))?;
    let hfile = |len| ListedFile { path: path.to_owned(), len, kind: EntryKind::HFile };
    let Some(ItemKind::File { len }) = found else { return Ok(hfile(0)) };
    match classify(tree, path, len)? {
        Ok(entry) => Ok(entry),
        Err(SkipReason::NotAnHFile) => match parent_name(path).and_then(directory_reason) {
            Some(SkipReason::Hidden) | None => Ok(hfile(len)),
            Some(reason) => Err(Error::NotAStoreFile { path: path.to_owned(), reason }),
        },
        Err(SkipReason::Hidden) => Ok(hfile(len)),
        Err(SkipReason::WriteAheadLog) if parent_name(path) == Some("recovered.edits") => {
            Err(Error::NotAStoreFile { path: path.to_owned(), reason: SkipReason::RecoveredEdits })
        }
        Err(reason) => Err(Error::NotAStoreFile { path: path.to_owned(), reason }),
    }
}

/// Returns the store file at a path, or why the file is not a store file.
pub(crate) fn classify(
    tree: &dyn FileTree,
    path: &Path,
    len: u64,
) -> Result<Result<ListedFile, SkipReason>> {
    let name = path.file_name().and_then(|name| name.to_str());
    let entry = |kind| Ok(Ok(ListedFile { path: path.to_owned(), len, kind }));
    match name.and_then(|name| name.parse().ok()) {
        Some(StoreFileName::Link(link)) if len == 0 => return entry(EntryKind::Link(link)),
        // A copy of an HFile may be named like a reference, as in `4f1c.1`.
        Some(StoreFileName::Reference(name))
            if len <= REFERENCE_LEN_MAX && contents(tree, path)? != Contents::HFile =>
        {
            return entry(EntryKind::Reference { name, stored: None });
        }
        _ if len == 0 => {
            let reason = name.and_then(file_reason).unwrap_or(SkipReason::Empty);
            return Ok(Err(reason));
        }
        Some(StoreFileName::Mob(_)) => return entry(EntryKind::Mob),
        Some(StoreFileName::HFile(name)) if name.has_uuid() => return entry(EntryKind::HFile),
        _ => {}
    }
    match contents(tree, path)? {
        Contents::HFile => entry(EntryKind::HFile),
        Contents::WriteAheadLog => Ok(Err(SkipReason::WriteAheadLog)),
        Contents::StoreFiles => Ok(Err(SkipReason::StoreFiles)),
        Contents::Message => Ok(Err(name.and_then(file_reason).unwrap_or(SkipReason::Message))),
        Contents::Unknown if path.extension().is_some_and(|extension| extension == "hfile") => {
            entry(EntryKind::HFile)
        }
        Contents::Unknown => Ok(Err(name.and_then(file_reason).unwrap_or(SkipReason::NotAnHFile))),
    }
}

fn contents(tree: &dyn FileTree, path: &Path) -> Result<Contents> {
    let source = tree.open(path).map_err(Error::io(path, "open it"))?;
    Contents::of(&*source).map_err(Error::io(path, "read its first and last bytes"))
}

fn parent_name(path: &Path) -> Option<&str> {
    path.parent()?.file_name()?.to_str()
}
