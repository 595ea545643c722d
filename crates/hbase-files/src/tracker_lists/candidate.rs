//! The files of a family that a new list may have, each read as far as the rules need it.

use std::collections::BTreeSet;
use std::path::Path;

use cells::error_line;
use sstable::{FileInfo, FileInfoValue, FileName, ReaderOptions, SequenceId, Timestamp};

use super::decision::{FileDecision, FileKind};
use super::loaded_copies::LoadedFiles;
use crate::error::{Error, Result};
use crate::history::FamilyFile;
use crate::names::StoreFileName;
use crate::names::skip_reason::{SkipReason, file_reason};
use crate::table::family_files::FamilyEntry;
use crate::table::{EntryKind, FileSequence, ListedFile, StoreFileReader, TrackedFile};
use crate::tree::{FileTree, Item, ItemKind};

/// A file of a family, in its directory or only in a list.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) name: String,
    pub(super) len: u64,
    /// The decision so far.
    pub(super) decision: FileDecision,
    /// Whether the caller has decided; rules then do not apply.
    pub(super) is_chosen: bool,
    pub(super) place: FilePlace,
    /// The bulk-loaded file that has the same bytes.
    pub(super) loaded_copy: Option<String>,
    /// What the newest readable list has of the file.
    pub(super) listed: Option<TrackedFile>,
    /// What the file says about its origin; `None` unless it is a store file that can be read.
    pub(super) origin: Option<Origin>,
}

/// Where a file is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum FilePlace {
    /// In the directory of the family.
    Family,
    /// Only in the list and in the archive.
    Archive,
    /// Only in the list.
    Nowhere,
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
    pub(super) newest: Option<SequenceId>,
    /// When the HFile was begun; for a reference or a link, the HFile to which it leads.
    pub(super) created: Option<Timestamp>,
    /// Whether the stripe or the date-tiered engine wrote the file: a compaction of theirs can write several files.
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
    pub(super) fn read(
        tree: &dyn FileTree,
        item: &Item,
        loaded: &LoadedFiles<'_>,
    ) -> Result<Option<Self>> {
        let name = item.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let len = if let ItemKind::File { len } = item.kind { len } else { 0 };
        let decision = match FamilyEntry::of(item) {
            FamilyEntry::StoreFile(StoreFileName::Link(_)) if len > 0 => {
                FileDecision::undecided("has the name of a link, which has no bytes, and has bytes")
            }
            FamilyEntry::StoreFile(parsed) => match Origin::of(tree, &parsed, &item.path, len) {
                Ok(origin) => {
                    // Only an HFile can be the first copy of a bulk load.
                    let loaded_copy = match origin.kind {
                        FileKind::HFile => loaded.copy_of(&item.path, len)?,
                        _ => None,
                    };
                    let file = Self::new(name, len, FileDecision::Taken(origin.kind));
                    return Ok(Some(Self { loaded_copy, origin: Some(origin), ..file }));
                }
                Err(error) if error.is_loss() => FileDecision::undecided(&error_line(&error)),
                Err(error) => return Err(error),
            },
            FamilyEntry::EmptyStoreFile(_) => {
                FileDecision::undecided("is empty: a write did not finish, or its cells are lost")
            }
            FamilyEntry::NotAFile => {
                FileDecision::undecided("has the name of a store file, and is no regular file")
            }
            FamilyEntry::OtherFile { .. } => {
                let why = file_reason(&name).map_or(
                    "does not have the name of a store file, so HBase does not read it",
                    SkipReason::description,
                );
                FileDecision::LeftOut(why.to_owned())
            }
            FamilyEntry::Other if item.kind == ItemKind::Other => {
                FileDecision::LeftOut(SkipReason::NotAFile.description().to_owned())
            }
            FamilyEntry::Other => return Ok(None),
        };
        Ok(Some(Self::new(name, len, decision)))
    }

    /// Creates a file that is only in a list; a rule decides about it.
    pub(super) fn only_listed(
        tree: &dyn FileTree,
        archive: &Path,
        listed: TrackedFile,
    ) -> Result<Self> {
        let path = archive.join(&listed.name);
        let archived = tree.find(&path).map_err(Error::io(&path, "find it"))?;
        let place = if archived.is_some() { FilePlace::Archive } else { FilePlace::Nowhere };
        let file = Self::new(listed.name.clone(), 0, FileDecision::Undecided(String::new()));
        Ok(Self { place, listed: Some(listed), ..file })
    }

    /// Creates a file with a name, a length and a decision; nothing else is known.
    pub(super) const fn new(name: String, len: u64, decision: FileDecision) -> Self {
        let (place, is_chosen) = (FilePlace::Family, false);
        let (loaded_copy, listed, origin) = (None, None, None);
        Self { name, len, decision, is_chosen, place, loaded_copy, listed, origin }
    }

    /// Returns what the file says of others: it counts if the list is to have it.
    pub(super) fn family_file(&self) -> FamilyFile {
        let origin = self.origin.as_ref();
        FamilyFile {
            name: self.name.clone(),
            inputs: origin.map(|origin| origin.inputs.iter().cloned().collect()),
            newest: origin.and_then(|origin| origin.newest),
            counts: self.decision.is_taken(),
        }
    }

    /// Returns the origin of the file, if the list is to have it.
    pub(super) fn taken_origin(&self) -> Option<&Origin> {
        if self.decision.is_taken() { self.origin.as_ref() } else { None }
    }

    /// Returns the origin of the file, unless it is left out.
    pub(super) fn origin_unless_left_out(&self) -> Option<&Origin> {
        if matches!(self.decision, FileDecision::LeftOut(_)) { None } else { self.origin.as_ref() }
    }
}

impl Origin {
    /// Reads a file, or the one to which it leads.
    fn of(tree: &dyn FileTree, name: &StoreFileName, path: &Path, len: u64) -> Result<Self> {
        let (kind, entry) = match name {
            StoreFileName::Link(link) => (FileKind::Link, EntryKind::Link(link.clone())),
            StoreFileName::Reference(name) => {
                (FileKind::Reference, EntryKind::Reference { name: name.clone(), stored: None })
            }
            StoreFileName::HFile(_) | StoreFileName::Mob(_) => (FileKind::HFile, EntryKind::HFile),
        };
        let location = ListedFile { path: path.to_owned(), len, kind: entry }.locate(tree)?;
        let shown = FileName::new(location.path.display().to_string());
        let reader = StoreFileReader::open(tree, &location, shown, ReaderOptions::default())?;
        let info = reader.whole().file_info();
        let FileSequence { newest, is_bulk_loaded, .. } = FileSequence::of(Some(name), &reader);
        let created = info.create_time();
        let is_historical = info.decoded(FileInfo::HISTORICAL) == Some(FileInfoValue::Flag(true));
        // A job that writes files for bulk loads sets the flag of major compactions, too.
        let is_of_family = kind == FileKind::HFile && !is_bulk_loaded;
        let inputs = if is_of_family { info.compaction_inputs() } else { None };
        Ok(Self {
            kind,
            inputs: inputs.into_iter().flatten().collect(),
            is_major_compaction: is_of_family && info.is_major_compaction(),
            is_bulk_loaded,
            newest,
            created,
            is_one_of_several: is_historical || info.value(STRIPE_START).is_some(),
        })
    }

    /// Returns whether a flush or a compaction of this family wrote the file.
    pub(super) fn is_of_family(&self) -> bool {
        self.kind == FileKind::HFile && !self.is_bulk_loaded
    }
}
