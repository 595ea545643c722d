//! Finds the files that a damaged store lists: under their names, under other names, or damaged.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sstable::{FileName, ReadAt, Reader, ReaderOptions};

use super::part::Part;
use super::plan::{PlannedFamily, PlannedFile};
use crate::files::manifest::{FileEntry, FileId};
use crate::files::store_file::checksum_of;
use crate::vfs::Vfs;

/// The files in a family's directory, by contents.
pub(super) struct FilesThere<'a> {
    vfs: &'a dyn Vfs,
    pub(super) directory: PathBuf,
    names: Vec<String>,
    /// Checksums of the files read so far, by name; `None` for files that cannot be read.
    checksums: BTreeMap<String, Option<(u64, u32)>>,
}

/// What exists of a listed file.
pub(super) enum Found {
    Whole(Arc<dyn ReadAt>, FileEntry),
    Rest(Box<Reader>, FileEntry),
    Nothing,
}

impl<'a> FilesThere<'a> {
    pub(super) fn new(vfs: &'a dyn Vfs, directory: PathBuf, family: &PlannedFamily) -> Self {
        let names = family.files.iter().map(|file| &file.name).chain(&family.left_over);
        Self { vfs, directory, names: names.cloned().collect(), checksums: BTreeMap::new() }
    }

    pub(super) fn find(&mut self, file: &PlannedFile, part: &mut Part) -> Found {
        match &file.entry {
            Some(entry) => self.find_listed(entry, part),
            None => self.take_unlisted(&file.name, part),
        }
    }

    /// Finds a listed file: the file, the same bytes under another name, or its damaged remains.
    fn find_listed(&mut self, entry: &FileEntry, part: &mut Part) -> Found {
        let path = self.directory.join(&entry.name);
        let own = self.vfs.open(&path).ok().filter(|own| own.len() >= entry.length);
        if let Some(own) = own
            && is_listed(&*own, &path, entry)
        {
            if own.len() > entry.length {
                part.problems.clear();
                part.notes.push(format!("bytes after {:#x} are left out", entry.length));
            }
            return Found::Whole(own, entry.clone());
        }
        for name in self.names.clone() {
            if self.len_of(&name) == Some(entry.length)
                && self.sums(&name) == Some((entry.length, entry.checksum))
                && let Ok(source) = self.vfs.open(&self.directory.join(&name))
            {
                part.problems.clear();
                part.notes.push(format!("found under the name {name}"));
                return Found::Whole(source, entry.clone());
            }
        }
        let reader = self.reader(&entry.name).filter(|reader| {
            entry.id.map_or_else(
                || entry.contradiction(reader).is_none(),
                |id| FileId::of(reader.file_info()) == Some(id),
            )
        });
        let Some(reader) = reader else {
            part.lost(entry.length, "no part of it can be used");
            return Found::Nothing;
        };
        Found::Rest(Box::new(reader), entry.clone())
    }

    /// Describes an existing file of a store whose manifest cannot be read.
    fn take_unlisted(&mut self, name: &str, part: &mut Part) -> Found {
        // Opened before its checksum is computed: a large sparse file could take hours to read.
        let Some(reader) = self.reader(name) else {
            part.lost(0, "no part of it can be used");
            return Found::Nothing;
        };
        if reader.is_empty() {
            part.notes.push("it has no cells and is left out".to_owned());
            return Found::Nothing;
        }
        let Some((len, checksum)) = self.sums(name) else {
            part.lost(0, "no part of it can be used");
            return Found::Nothing;
        };
        let Some(entry) = FileEntry::of_file(&reader, name, checksum) else {
            part.lost(len, "its first or last key is invalid");
            return Found::Nothing;
        };
        if !entry.carries_sequence_ids {
            let note = "the time of its import is unknown; it counts as the oldest";
            part.notes.push(note.to_owned());
        }
        match self.vfs.open(&self.directory.join(name)) {
            Ok(source) if part.is_sound() => Found::Whole(source, entry),
            _ => Found::Rest(Box::new(reader), entry),
        }
    }

    fn len_of(&self, name: &str) -> Option<u64> {
        Some(self.vfs.open(&self.directory.join(name)).ok()?.len())
    }

    fn sums(&mut self, name: &str) -> Option<(u64, u32)> {
        if let Some(known) = self.checksums.get(name) {
            return *known;
        }
        let path = self.directory.join(name);
        let sums = self.vfs.open(&path).ok().and_then(|source| {
            let checksum = checksum_of(&*source, &path, source.len(), |_| true).ok()??;
            Some((source.len(), checksum))
        });
        self.checksums.insert(name.to_owned(), sums);
        sums
    }

    fn reader(&self, name: &str) -> Option<Reader> {
        let path = self.directory.join(name);
        let shown = FileName::new(path.display().to_string());
        let source = self.vfs.open(&path).ok()?;
        Reader::open(source, shown, ReaderOptions::default()).ok()
    }
}

/// Returns whether the first bytes of a file have the listed checksum.
fn is_listed(source: &dyn ReadAt, path: &Path, entry: &FileEntry) -> bool {
    let checksum = checksum_of(source, path, entry.length, |_| true);
    matches!(checksum, Ok(Some(checksum)) if checksum == entry.checksum)
}
