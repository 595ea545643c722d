//! The files in the directory of a family, each read as far as a list needs it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use sstable::{FileName, ReaderOptions, SequenceId, error_line};

use super::decision::{FileDecision, FileKind};
use crate::names::other::{SkipReason, file_reason};
use crate::{
    EntryKind, Error, FileSequence, FileTree, Item, ItemKind, ListedFile, Location, Result,
    StoreFileName, StoreFileReader,
};

/// A file of a family.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) name: String,
    pub(super) len: u64,
    pub(super) decision: FileDecision,
    /// What the file says about its origin; `None` unless it is a store file that can be read.
    pub(super) origin: Option<Origin>,
}

/// What a store file says about its origin.
#[derive(Debug)]
pub(super) struct Origin {
    pub(super) kind: FileKind,
    /// The files of this family that a compaction replaced by this one. References, links and bulk-loaded files have
    /// none: what they replaced was in another region.
    pub(super) inputs: BTreeSet<String>,
    /// Whether a major compaction of this family wrote the file.
    pub(super) is_major_compaction: bool,
    pub(super) is_bulk_loaded: bool,
    /// The sequence id up to which the file has writes.
    pub(super) newest_sequence: Option<u64>,
}

impl Candidate {
    /// Reads an entry of a family's directory; `None` for a directory without the name of a store file.
    ///
    /// # Errors
    ///
    /// I/O errors: a retry may help.
    pub(super) fn read(tree: &dyn FileTree, item: Item) -> Result<Option<Self>> {
        let name = item.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let parsed = item.name().and_then(|name| name.parse::<StoreFileName>().ok());
        let undecided = |what: &str| FileDecision::Undecided(what.to_owned());
        let (len, decision, origin) = match (item.kind, parsed) {
            (ItemKind::File { len }, Some(parsed)) => {
                let (decision, origin) = match read_store_file(tree, parsed, item.path, len) {
                    Ok(origin) => (FileDecision::Taken(origin.kind), Some(origin)),
                    Err(ReadFailure::Error(error)) => return Err(error),
                    Err(ReadFailure::Decided(decision)) => (decision, None),
                };
                (len, decision, origin)
            }
            (ItemKind::File { len }, None) => {
                let what =
                    "does not have the name of a store file, so HBase does not read it".to_owned();
                let decision = file_reason(&name).map(FileDecision::skipped);
                (len, decision.unwrap_or(FileDecision::LeftOut(what)), None)
            }
            (_, Some(_)) => {
                (0, undecided("has the name of a store file, and is no regular file"), None)
            }
            (ItemKind::Other, None) => (0, FileDecision::skipped(SkipReason::NotAFile), None),
            (ItemKind::Directory | ItemKind::DirectoryLink, None) => return Ok(None),
        };
        Ok(Some(Self { name, len, decision, origin }))
    }

    /// Returns the origin of the file, if the list is to have it.
    pub(super) fn taken_origin(&self) -> Option<&Origin> {
        self.origin.as_ref().filter(|_| self.decision.is_taken())
    }

    /// Returns the origin of the file, unless it is left out.
    pub(super) fn open_origin(&self) -> Option<&Origin> {
        self.origin.as_ref().filter(|_| !matches!(self.decision, FileDecision::LeftOut(_)))
    }
}

/// Why a store file was not read.
enum ReadFailure {
    Decided(FileDecision),
    Error(Error),
}

impl From<Error> for ReadFailure {
    fn from(error: Error) -> Self {
        if error.is_loss() {
            Self::Decided(FileDecision::Undecided(error_line(&error)))
        } else {
            Self::Error(error)
        }
    }
}

fn read_store_file(
    tree: &dyn FileTree,
    name: StoreFileName,
    path: PathBuf,
    len: u64,
) -> Result<Origin, ReadFailure> {
    let (file_kind, kind) = match &name {
        StoreFileName::Link(link) if len == 0 => (FileKind::Link, EntryKind::Link(link.clone())),
        _ if len == 0 => {
            let what = "is empty: a write did not finish, or its cells are lost".to_owned();
            return Err(ReadFailure::Decided(FileDecision::Undecided(what)));
        }
        StoreFileName::Link(_) => {
            let what = "has the name of a link, which has no bytes, and has bytes".to_owned();
            return Err(ReadFailure::Decided(FileDecision::Undecided(what)));
        }
        StoreFileName::Reference(reference) => {
            let name = reference.clone();
            (FileKind::Reference, EntryKind::Reference { name, stored: None })
        }
        StoreFileName::HFile(_) | StoreFileName::Mob(_) => {
            let location = Location { path, half: None };
            return Ok(read_origin(tree, &name, &location, FileKind::HFile)?);
        }
    };
    let location = ListedFile { path, len, kind }.locate(tree)?;
    Ok(read_origin(tree, &name, &location, file_kind)?)
}

/// Reads the file at the location, which a reference or a link names if the store file is one.
fn read_origin(
    tree: &dyn FileTree,
    name: &StoreFileName,
    location: &Location,
    kind: FileKind,
) -> Result<Origin> {
    let shown = FileName::new(location.path.display().to_string());
    let reader = StoreFileReader::open(tree, location, shown, ReaderOptions::default())?;
    let info = reader.whole().file_info();
    let sequence = FileSequence::of(Some(name), &reader);
    // A job that writes files for bulk loads sets the flag of major compactions, too.
    let is_of_family = kind == FileKind::HFile && !sequence.is_bulk_loaded;
    let inputs = info.compaction_inputs().filter(|_| is_of_family);
    Ok(Origin {
        kind,
        inputs: inputs.into_iter().flatten().collect(),
        is_major_compaction: is_of_family && info.is_major_compaction(),
        is_bulk_loaded: sequence.is_bulk_loaded,
        newest_sequence: sequence.newest.map(SequenceId::get),
    })
}
