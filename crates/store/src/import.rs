//! HFiles from elsewhere become files of a family, by copy.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sstable::{Caching, Comparator, FileName, KeyRef, ReadAt, Reader, ReaderOptions, SequenceId};

use crate::error::{Error, Result};
use crate::filters::filter_of_new;
use crate::identity::random_name;
use crate::manifest::FileEntry;
use crate::new_file::{FilePurpose, NewFile, NewPlace};
use crate::sequence;
use crate::store::Inner;
use crate::store_file::StoreFile;
use crate::version::Family;

/// How old the cells of a file are that comes from elsewhere.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Age {
    /// As old as their sequence ids say, if the file has some.
    Carried,
    /// Newer than all that is there.
    New,
}

/// Rows from one on and before another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowRange<'a> {
    pub(crate) start: Option<&'a [u8]>,
    pub(crate) stop: Option<&'a [u8]>,
}

impl RowRange<'_> {
    pub(crate) const ALL: Self = Self { start: None, stop: None };

    fn holds(&self, row: &[u8]) -> bool {
        self.start.is_none_or(|start| row >= start) && self.stop.is_none_or(|stop| row < stop)
    }

    /// Whether all rows of a file are in it.
    fn holds_all(&self, reader: &Reader) -> bool {
        [reader.first_row(), reader.last_row()].into_iter().flatten().all(|row| self.holds(row))
    }
}

/// A file that was copied, and is not yet part of the store.
struct Copied {
    entry: FileEntry,
    carried: Option<SequenceId>,
}

impl Inner {
    /// Takes files in; all or none.
    pub(crate) fn import(
        &self,
        family: &str,
        paths: &[PathBuf],
        age: Age,
        rows: RowRange<'_>,
    ) -> Result<()> {
        self.commit.check()?;
        let view = self.view();
        let family = &view.family(family.as_bytes())?.family;
        let mut copied = Vec::new();
        for path in paths {
            match self.copy_in(family, path, rows) {
                Ok(None) => {} // Without a cell it adds nothing.
                Ok(Some(file)) => copied.push(file),
                Err(error) => {
                    for file in copied {
                        self.discard(family, &file.entry);
                    }
                    return Err(error);
                }
            }
        }
        self.install_imported(family, copied, age)
    }

    fn copy_in(&self, family: &Family, path: &Path, rows: RowRange<'_>) -> Result<Option<Copied>> {
        let source = self.vfs.open(path).map_err(Error::io(path, "open"))?;
        let shown = FileName::new(path.display().to_string());
        let reader = Reader::open(Arc::clone(&source), shown, ReaderOptions::default())?;
        if reader.comparator() != Comparator::Bytes {
            return Err(Error::invalid(format!(
                "{}: is of hbase:meta, whose rows have an order of their own",
                path.display()
            )));
        }
        let mut first = reader.scanner(Caching::Bypass);
        first.seek(KeyRef::before_row(b""))?;
        let Some(cell) = first.cell() else { return Ok(None) };
        if cell.family != family.name.as_bytes() {
            let found = sstable::escape(cell.family);
            return Err(Error::invalid(format!(
                "{}: has cells of family \"{found}\", not \"{}\"",
                path.display(),
                family.name
            )));
        }
        if !rows.holds_all(&reader) {
            return self.rewrite(family, &reader, rows);
        }
        let name = random_name()?;
        let checksum = self.copy(family, path, &*source, &name)?;
        let Some(entry) = FileEntry::of_file(&reader, &name, checksum) else {
            return Err(Error::corrupt(path, 0, "has cells, and no first or last key"));
        };
        Ok(Some(Copied { entry, carried: sequence::carried(&reader) }))
    }

    /// Writes the rows of a range into a file of their own.
    fn rewrite(
        &self,
        family: &Family,
        reader: &Reader,
        rows: RowRange<'_>,
    ) -> Result<Option<Copied>> {
        let version = self.version();
        let others = version.family(family.name.as_bytes()).map(|it| it.files.by_sequence());
        let others: Vec<_> = others.into_iter().flatten().cloned().collect();
        let purpose = FilePurpose {
            sequence_max: SequenceId::default(),
            has_tags: reader.file_info().includes_tags(),
            is_major_compaction: false,
            filter: filter_of_new(family, &others, || Ok(reader.cell_count()))?,
        };
        let mut part = NewFile::create(self, family, purpose)?;
        let mut cells = reader.scanner(Caching::Bypass);
        cells.seek(KeyRef::before_row(rows.start.unwrap_or_default()))?;
        while let Some(cell) = cells.cell().filter(|cell| rows.holds(cell.row)) {
            part.append(&cell)?;
            cells.advance()?;
        }
        let whole_age = sequence::carried(reader);
        Ok(part.finish()?.map(|entry| Copied {
            entry: FileEntry { carries_sequence_ids: false, ..entry },
            carried: whole_age,
        }))
    }

    /// Copies a file's bytes under a new name; returns their checksum once they are on disk.
    fn copy(&self, family: &Family, path: &Path, source: &dyn ReadAt, name: &str) -> Result<u32> {
        const CHUNK: usize = 1 << 20;
        let directory = self.family_directory(family);
        let temporary = directory.join(format!("{name}{}", NewPlace::TEMPORARY_SUFFIX));
        let mut file = self.vfs.create(&temporary).map_err(Error::io(&temporary, "create"))?;
        let mut checksum = 0;
        let mut chunk = vec![0; CHUNK];
        let mut at = 0;
        while at < source.len() {
            let len = CHUNK.min(usize::try_from(source.len() - at).unwrap_or(CHUNK));
            let bytes = &mut chunk[..len];
            source.read_exact_at(bytes, at).map_err(Error::io(path, "read"))?;
            file.write_all(bytes).map_err(Error::io(&temporary, "write"))?;
            checksum = crc32c::crc32c_append(checksum, bytes);
            at += len as u64;
        }
        file.sync().map_err(Error::io(&temporary, "sync"))?;
        drop(file);
        let place = directory.join(name);
        self.vfs.rename(&temporary, &place).map_err(Error::io(&place, "rename to"))?;
        self.vfs.sync_directory(&directory).map_err(Error::io(&directory, "sync"))?;
        Ok(checksum)
    }

    fn install_imported(&self, family: &Family, copied: Vec<Copied>, age: Age) -> Result<()> {
        // No write may come between: what is new here must be newer than all before.
        let mut writer = self.commit.writer();
        // Nor may a power cut take what was written before them, and leave them: that were a hole.
        let synced = writer.write_pending().and_then(|()| writer.log.sync());
        synced.map_err(|error| self.commit.poison(error))?;
        let mut newest = writer.newest;
        let mut files = Vec::new();
        for Copied { mut entry, carried } in copied {
            if let Some(carried) = carried.filter(|_| age == Age::Carried) {
                entry.sequence_max = carried;
                entry.carries_sequence_ids = true;
                newest = newest.max(carried);
            } else {
                newest = sequence::after(newest)?;
                (entry.sequence_min, entry.sequence_max) = (newest, newest);
                entry.carries_sequence_ids = false;
            }
            files.push(self.open_file(family, &entry)?);
        }
        let mut manifest = self.manifest();
        self.change(&mut manifest, |manifest| {
            let entries = files.iter().map(|file: &Arc<StoreFile>| file.entry.clone());
            manifest.family_mut(family.id).files.extend(entries);
        })?;
        self.replace_version(|version| {
            version.with(family, |changed| {
                for file in &files {
                    changed.files = changed.files.replace(&[], Some(file));
                }
            })
        });
        self.commit.publish(&mut writer, newest);
        Ok(())
    }

    /// Removes a copy that is not to be taken in after all; the next open would do it too.
    fn discard(&self, family: &Family, entry: &FileEntry) {
        let _ = self.vfs.unlink(&self.family_directory(family).join(&entry.name));
    }
}
