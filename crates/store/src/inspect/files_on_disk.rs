//! Finds the files of a damaged store for a salvage.
//!
//! A file that the manifest lists may be intact under its name, intact under another name, damaged
//! but partly readable, or lost. If the manifest cannot be read, every file with the name of a
//! store file counts as one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sstable::{FileName, ReadAt, Reader, ReaderOptions};

use super::file_report::FileReport;
use super::plan::{PlannedFamily, PlannedFile};
use crate::files::manifest::{FileEntry, FileId};
use crate::files::version::store_file::checksum_of;
use crate::vfs::Vfs;

/// The files in the directory of a family, which can be found by their contents.
pub(super) struct FilesOnDisk<'a> {
    vfs: &'a dyn Vfs,
    pub(super) directory: PathBuf,
    /// The names of the listed files and of the other files in the directory.
    names: Vec<String>,
    /// Length and checksum of each file read so far, by name; `None` if it cannot be read.
    checksums: BTreeMap<String, Option<FileSum>>,
}

/// What exists of a file, with its entry for the manifest of the new store.
pub(super) enum Found {
    /// The file can be copied: its first bytes, up to the length in the entry, are intact.
    Whole(Arc<dyn ReadAt>, FileEntry),
    /// The file is damaged but can be opened: the cells of its sound blocks can be copied.
    DamagedFile(Box<Reader>, FileEntry),
    /// The file is missing, has no cells or cannot be used.
    Nothing,
}

impl<'a> FilesOnDisk<'a> {
    pub(super) fn new(vfs: &'a dyn Vfs, directory: PathBuf, family: &PlannedFamily) -> Self {
        let names = family.files.iter().map(|file| &file.name).chain(&family.left_over);
        Self { vfs, directory, names: names.cloned().collect(), checksums: BTreeMap::new() }
    }

    /// Finds a file, and reports in `report` what was found or lost.
    pub(super) fn find(&mut self, file: &PlannedFile, report: &mut FileReport) -> Found {
        match &file.entry {
            Some(entry) => self.find_listed(entry, report),
            None => self.take_unlisted(&file.name, report),
        }
    }

    /// Finds a file that the manifest lists.
    ///
    /// Tries, in this order: the file under its name, if the bytes up to the listed length have the
    /// listed checksum; a file with another name but the listed length and checksum; the damaged
    /// file under its name, if it can be opened and is the listed file by its id or its keys.
    fn find_listed(&mut self, entry: &FileEntry, report: &mut FileReport) -> Found {
        let path = self.directory.join(&entry.name);
        let own = self.vfs.open(&path).ok().filter(|own| own.len() >= entry.length);
        if let Some(own) = own
            && is_listed(&*own, &path, entry)
        {
            if own.len() > entry.length {
                report.problems.clear();
                report.notes.push(format!("bytes after {:#x} are left out", entry.length));
            }
            return Found::Whole(own, entry.clone());
        }
        for name in self.names.clone() {
            if self.len_of(&name) == Some(entry.length)
                && self.sum(&name) == Some(FileSum { len: entry.length, checksum: entry.checksum })
                && let Ok(source) = self.vfs.open(&self.directory.join(&name))
            {
                report.problems.clear();
                report.notes.push(format!("found under the name {name}"));
                return Found::Whole(source, entry.clone());
            }
        }
        // An imported file may have no id. It must then agree with the entry in the number of cells
        // and in the first and last key.
        let reader = self.reader(&entry.name).filter(|reader| {
            entry.id.map_or_else(
                || entry.contradiction(reader).is_none(),
                |id| FileId::of(reader.file_info()) == Some(id),
            )
        });
        let Some(reader) = reader else {
            report.add_loss(entry.length, "no part of it can be used");
            return Found::Nothing;
        };
        Found::DamagedFile(Box::new(reader), entry.clone())
    }

    /// Finds a file of a store whose manifest cannot be read, and makes an entry for it.
    fn take_unlisted(&mut self, name: &str, report: &mut FileReport) -> Found {
        // The file is opened before its checksum is computed. Opening rejects what is not an HFile,
        // for example a large sparse file, which could take hours to read.
        let Some(reader) = self.reader(name) else {
            report.add_loss(0, "no part of it can be used");
            return Found::Nothing;
        };
        if reader.is_empty() {
            report.notes.push("it has no cells and is left out".to_owned());
            return Found::Nothing;
        }
        let Some(FileSum { len, checksum }) = self.sum(name) else {
            report.add_loss(0, "no part of it can be used");
            return Found::Nothing;
        };
        let Some(entry) = FileEntry::of_file(&reader, name, checksum) else {
            report.add_loss(len, "its first or last key is invalid");
            return Found::Nothing;
        };
        if !entry.carries_sequence_ids {
            let note = "the time of its import is unknown; it counts as the oldest";
            report.notes.push(note.to_owned());
        }
        match self.vfs.open(&self.directory.join(name)) {
            Ok(source) if report.is_sound() => Found::Whole(source, entry),
            _ => Found::DamagedFile(Box::new(reader), entry),
        }
    }

    fn len_of(&self, name: &str) -> Option<u64> {
        Some(self.vfs.open(&self.directory.join(name)).ok()?.len())
    }

    /// Returns the length and the checksum of a file; `None` if it cannot be read.
    fn sum(&mut self, name: &str) -> Option<FileSum> {
        if let Some(known) = self.checksums.get(name) {
            return *known;
        }
        let path = self.directory.join(name);
        let sum = self.vfs.open(&path).ok().and_then(|source| {
            let checksum = checksum_of(&*source, &path, source.len(), |_| true).ok()??;
            Some(FileSum { len: source.len(), checksum })
        });
        self.checksums.insert(name.to_owned(), sum);
        sum
    }

    /// Opens a file as an HFile; `None` if that fails.
    fn reader(&self, name: &str) -> Option<Reader> {
        let path = self.directory.join(name);
        let shown = FileName::new(path.display().to_string());
        let source = self.vfs.open(&path).ok()?;
        Reader::open(source, shown, ReaderOptions::default()).ok()
    }
}

/// The length of a file, and the CRC-32C of its bytes.
#[derive(Clone, Copy, Eq, PartialEq)]
struct FileSum {
    len: u64,
    checksum: u32,
}

/// Returns whether the bytes of a file up to the listed length have the listed checksum.
fn is_listed(source: &dyn ReadAt, path: &Path, entry: &FileEntry) -> bool {
    let checksum = checksum_of(source, path, entry.length, |_| true);
    matches!(checksum, Ok(Some(checksum)) if checksum == entry.checksum)
}
