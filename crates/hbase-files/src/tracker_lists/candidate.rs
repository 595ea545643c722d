//! The files in the directory of a family, each read as far as a list needs it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use sstable::{
    FileInfo, FileInfoValue, FileName, ReaderOptions, SequenceId, Timestamp, error_line,
};

use super::decision::{DecidedFile, FileDecision, FileKind};
use crate::history::FamilyFile;
use crate::names::skip_reason::{SkipReason, file_reason};
use crate::table::family_files::FamilyEntry;
use crate::{
    EntryKind, Error, FileSequence, FileTree, Item, ItemKind, ListedFile, Location, Result,
    StoreFileName, StoreFileReader,
};

/// A file of a family.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) name: String,
    pub(super) len: u64,
    decision: FileDecision,
    /// Whether the caller has decided, which no rule changes.
    is_chosen: bool,
    /// Whether the newest readable list has the file.
    pub(super) is_listed: bool,
    /// What the file says about its origin; `None` unless it is a store file that can be read.
    pub(super) origin: Option<Origin>,
}

/// What a store file says about its origin.
#[derive(Debug)]
pub(super) struct Origin {
    pub(super) kind: FileKind,
    /// The files of this family that a compaction replaced by this one. Empty for references, links and bulk-loaded
    /// files, whose file info comes from another region.
    pub(super) inputs: BTreeSet<String>,
    /// Whether a major compaction of this family wrote the file.
    pub(super) is_major_compaction: bool,
    pub(super) is_bulk_loaded: bool,
    /// The sequence id up to which the file has writes.
    pub(super) newest_sequence: Option<u64>,
    /// When the HFile was begun; for references and links, that to which they lead.
    pub(super) created: Option<Timestamp>,
    /// Whether an engine wrote the file that can write several files in a compaction.
    pub(super) is_one_of_several: bool,
}

/// The key of the first row of a stripe, in files of the stripe store engine.
const STRIPE_START: &[u8] = b"STRIPE_START_KEY";

impl Candidate {
    /// Reads an entry of a family's directory; `None` for a directory without the name of a store file.
    ///
    /// # Errors
    ///
    /// I/O errors: a retry may help.
    pub(super) fn read(tree: &dyn FileTree, item: Item) -> Result<Option<Self>> {
        let name = item.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let len = if let ItemKind::File { len } = item.kind { len } else { 0 };
        let undecided = |what: &str| FileDecision::Undecided(what.to_owned());
        let (decision, origin) = match FamilyEntry::of(&item) {
            FamilyEntry::StoreFile(name) => match read_store_file(tree, &name, item.path, len) {
                Ok(origin) => (FileDecision::Taken(origin.kind), Some(origin)),
                Err(ReadFailure::Error(error)) => return Err(error),
                Err(ReadFailure::Decided(decision)) => (decision, None),
            },
            FamilyEntry::EmptyStoreFile(_) => {
                (undecided("is empty: a write did not finish, or its cells are lost"), None)
            }
            FamilyEntry::NotAFile => {
                (undecided("has the name of a store file, and is no regular file"), None)
            }
            FamilyEntry::OtherFile { .. } => {
                let what = "does not have the name of a store file, so HBase does not read it";
                let decision = file_reason(&name).map(FileDecision::skipped);
                (decision.unwrap_or_else(|| FileDecision::LeftOut(what.to_owned())), None)
            }
            FamilyEntry::Other if item.kind == ItemKind::Other => {
                (FileDecision::skipped(SkipReason::NotAFile), None)
            }
            FamilyEntry::Other => return Ok(None),
        };
        Ok(Some(Self { origin, ..Self::new(name, len, decision) }))
    }

    /// Creates a file of which nothing is known but the name, the length and the decision.
    pub(super) const fn new(name: String, len: u64, decision: FileDecision) -> Self {
        Self { name, len, decision, is_chosen: false, is_listed: false, origin: None }
    }

    /// Decides by a rule, unless the caller has decided.
    pub(super) fn decide(&mut self, decision: FileDecision) {
        if !self.is_chosen {
            self.decision = decision;
        }
    }

    /// Decides for the caller.
    pub(super) fn choose(&mut self, decision: FileDecision) {
        self.decision = decision;
        self.is_chosen = true;
    }

    /// Returns the decision so far.
    pub(super) const fn decision(&self) -> &FileDecision {
        &self.decision
    }

    /// Returns the file with the last decision.
    pub(super) fn into_decided(self) -> DecidedFile {
        DecidedFile { name: self.name, len: self.len, decision: self.decision }
    }

    /// Returns what the file says of others: it counts if the list is to have it.
    pub(super) fn family_file(&self) -> FamilyFile {
        let origin = self.origin.as_ref();
        FamilyFile {
            name: self.name.clone(),
            inputs: origin.map(|origin| origin.inputs.iter().cloned().collect()),
            newest: origin.and_then(|origin| origin.newest_sequence).map(SequenceId::new),
            counts: self.decision.is_taken(),
        }
    }

    /// Returns the origin of the file, if the list is to have it.
    pub(super) fn taken_origin(&self) -> Option<&Origin> {
        self.origin.as_ref().filter(|_| self.decision.is_taken())
    }

    /// Returns the origin of the file, unless it is left out.
    pub(super) fn origin_unless_left_out(&self) -> Option<&Origin> {
        self.origin.as_ref().filter(|_| !matches!(self.decision, FileDecision::LeftOut(_)))
    }
}

impl Origin {
    /// Returns whether a flush or a compaction of this family wrote the file.
    pub(super) fn is_of_family(&self) -> bool {
        self.kind == FileKind::HFile && !self.is_bulk_loaded
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
    name: &StoreFileName,
    path: PathBuf,
    len: u64,
) -> Result<Origin, ReadFailure> {
    let undecided =
        |what: &str| Err(ReadFailure::Decided(FileDecision::Undecided(what.to_owned())));
    let (file_kind, kind) = match name {
        StoreFileName::Link(link) if len == 0 => (FileKind::Link, EntryKind::Link(link.clone())),
        StoreFileName::Link(_) => {
            return undecided("has the name of a link, which has no bytes, and has bytes");
        }
        StoreFileName::Reference(reference) => {
            let name = reference.clone();
            (FileKind::Reference, EntryKind::Reference { name, stored: None })
        }
        StoreFileName::HFile(_) | StoreFileName::Mob(_) => (FileKind::HFile, EntryKind::HFile),
    };
    let location = ListedFile { path, len, kind }.locate(tree)?;
    Ok(read_origin(tree, name, &location, file_kind)?)
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
    let FileSequence { newest, is_bulk_loaded, .. } = FileSequence::of(Some(name), &reader);
    let mut origin = Origin {
        kind,
        inputs: BTreeSet::new(),
        is_major_compaction: false,
        is_bulk_loaded,
        newest_sequence: newest.map(SequenceId::get),
        created: info.create_time(),
        is_one_of_several: info.value(STRIPE_START).is_some()
            || info.decoded(FileInfo::HISTORICAL) == Some(FileInfoValue::Flag(true)),
    };
    // A job that writes files for bulk loads sets the flag of major compactions, too.
    if origin.is_of_family() {
        origin.inputs = info.compaction_inputs().into_iter().flatten().collect();
        origin.is_major_compaction = info.is_major_compaction();
    }
    Ok(origin)
}
