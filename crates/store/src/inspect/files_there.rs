//! What there is of a file that a damaged store lists: the file itself, the same bytes under another
//! name, or what is left of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sstable::{FileName, ReadAt, Reader, ReaderOptions};

use super::part::Part;
use super::plan::{PlannedFamily, PlannedFile};
use crate::files::manifest::{FileEntry, FileId};
use crate::files::store_file::checksum_of;
use crate::vfs::Vfs;

/// The files in a family's directory, by what they hold.
pub(super) struct FilesThere<'a> {
    vfs: &'a dyn Vfs,
    pub(super) directory: PathBuf,
    names: Vec<String>,
    /// Of files that were read, by name; `None` for what cannot be read.
    checksums: BTreeMap<String, Option<(u64, u32)>>,
}

/// What there is of a file that is listed.
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

    /// The file itself; or the same bytes under another name; or what is left of it.
    fn find_listed(&mut self, entry: &FileEntry, part: &mut Part) -> Found {
        let path = self.directory.join(&entry.name);
        let own = self.vfs.open(&path).ok().filter(|own| own.len() >= entry.length);
        if let Some(own) = own
            && is_listed(&*own, &path, entry)
        {
            if own.len() > entry.length {
                part.problems.clear();
                part.notes.push(format!("bytes behind {:#x} are left out", entry.length));
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
            part.lost(entry.length, "nothing of it can be used");
            return Found::Nothing;
        };
        Found::Rest(Box::new(reader), entry.clone())
    }

    /// A file that is there, where nobody knows which should be.
    fn take_unlisted(&mut self, name: &str, part: &mut Part) -> Found {
        // Opened first: a sparse file that is none of ours could take hours to read.
        let Some(reader) = self.reader(name) else {
            part.lost(0, "nothing of it can be used");
            return Found::Nothing;
        };
        if reader.is_empty() {
            part.notes.push("it has no cells, and is left out".to_owned());
            return Found::Nothing;
        }
        let Some((len, checksum)) = self.sums(name) else {
            part.lost(0, "nothing of it can be used");
            return Found::Nothing;
        };
        let Some(entry) = FileEntry::of_file(&reader, name, checksum) else {
            part.lost(len, "its first or last key is none");
            return Found::Nothing;
        };
        if !entry.carries_sequence_ids {
            let note = "nobody knows when it was loaded; it counts as the oldest";
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

/// Whether the first bytes of a file are those listed.
fn is_listed(source: &dyn ReadAt, path: &Path, entry: &FileEntry) -> bool {
    let checksum = checksum_of(source, path, entry.length, |_| true);
    matches!(checksum, Ok(Some(checksum)) if checksum == entry.checksum)
}
