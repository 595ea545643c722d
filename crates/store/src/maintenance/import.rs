//! Imports HFiles into a family by copying them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sstable::{
    Caching, Comparator, FileName, KeyRef, Limits, ReadAt, Reader, ReaderOptions, SequenceId,
};

use crate::error::{Error, Result};
use crate::files::catalog::{Catalog, discard_unless_listed};
use crate::files::manifest::{FileEntry, Manifest};
use crate::files::names::sequence;
use crate::files::new_files::new_file::{FilePurpose, NewFile, create_pending};
use crate::files::version::store_file::{StoreFile, checksum_of};
use crate::files::version::store_version::Family;
use crate::maintenance::filters::filter_of_new;
use crate::write::log::{Log, LogWriter};

/// Whether imported cells are newer than the cells of the store.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Age {
    /// Cells keep the sequence ids of their file. The cells of a file without sequence ids become newer
    /// than all cells of the store and of the files before it.
    Carried,
    /// The cells of each file become newer than all cells of the store and of the files before it, as
    /// after HBase's bulk load. As in HBase, the memstores are flushed first.
    Newest,
}

/// A range of rows: the start is inclusive, the end exclusive.
#[derive(Clone, Copy, Debug)]
struct RowRange<'a> {
    start: Option<&'a [u8]>,
    stop: Option<&'a [u8]>,
}

impl RowRange<'_> {
    fn holds(&self, row: &[u8]) -> bool {
        self.start.is_none_or(|start| row >= start) && self.stop.is_none_or(|stop| row < stop)
    }

    /// Returns whether all rows of a file are in the range.
    fn holds_all(&self, reader: &Reader) -> bool {
        [reader.first_row(), reader.last_row()].into_iter().flatten().all(|row| self.holds(row))
    }
}

/// Options of an import. An [`Age`] alone stands for options without a range that verify.
///
/// With a range of rows, an import takes files as HBase's bulk load does that cross a region boundary: a
/// file that also has other rows is rewritten without these rows, and a file without rows in the range is
/// skipped.
///
/// ```
/// use store::{Age, ImportOptions};
///
/// let options = ImportOptions::new(Age::Newest).verify(false).start("row1").stop("row5");
/// ```
#[derive(Clone, Debug)]
#[must_use]
#[non_exhaustive]
pub struct ImportOptions {
    /// Whether the cells are newer than the cells of the store.
    pub(crate) age: Age,
    /// Whether all files are verified before the first is imported.
    pub(crate) verify: bool,
    /// The first row to import; `None` for the first row of each file.
    pub(crate) start: Option<Vec<u8>>,
    /// The end of the rows to import, exclusive; `None` for after the last row of each file.
    pub(crate) stop: Option<Vec<u8>>,
}

impl From<Age> for ImportOptions {
    fn from(age: Age) -> Self {
        Self::new(age)
    }
}

impl ImportOptions {
    /// Creates options that import all rows of verified files.
    pub const fn new(age: Age) -> Self {
        Self { age, verify: true, start: None, stop: None }
    }

    /// Sets whether all files are verified before the first is imported: blocks, filters, order of cells.
    ///
    /// Without verification a damaged file is imported, and reads of its damaged blocks fail later.
    /// Default: yes.
    pub const fn verify(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// Sets the first row to import. Files with smaller rows are rewritten without them.
    ///
    /// Default: the first row of each file.
    pub fn start(mut self, row: impl Into<Vec<u8>>) -> Self {
        self.start = Some(row.into());
        self
    }

    /// Sets the end of the rows to import, exclusive. Files with this row or greater ones are rewritten without
    /// them.
    ///
    /// Default: after the last row of each file.
    pub fn stop(mut self, row: impl Into<Vec<u8>>) -> Self {
        self.stop = Some(row.into());
        self
    }

    fn rows(&self) -> RowRange<'_> {
        RowRange { start: self.start.as_deref(), stop: self.stop.as_deref() }
    }
}

/// A file that can be imported.
struct Candidate<'a> {
    path: &'a Path,
    source: Arc<dyn ReadAt>,
    reader: Reader,
    /// The CRC-32C of the bytes that were verified.
    verified: Option<u32>,
}

/// A copied file that is not yet part of the store.
struct Copied {
    entry: FileEntry,
    carried: Option<SequenceId>,
}

/// The copied files, open, and the newest sequence id once they are part of the store.
struct Opened {
    files: Vec<Arc<StoreFile>>,
    newest: SequenceId,
}

impl Opened {
    /// Checks that the next inserts hide all cells: their timestamps are the next sequence ids.
    fn check_key_values(&self, family: &Family) -> Result<()> {
        let newest = sequence::as_timestamp(self.newest);
        if self.files.iter().all(|file| file.newest() <= newest) {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "the family \"{}\" has keys and values, whose timestamps are sequence ids, now {newest}: cells with \
             later timestamps would hide later inserts; import files of a key-value family with their \
             sequence ids, or insert their values through Store::map",
            family.name
        )))
    }
}

/// Imports all files or none.
pub(crate) fn import(
    catalog: &Catalog,
    log: &Log,
    family: &str,
    paths: &[PathBuf],
    options: &ImportOptions,
) -> Result<()> {
    catalog.health().check_writable()?;
    let version = catalog.version();
    let family = &version.known_family(family.as_bytes())?.family;
    let import = Import { catalog, family };
    let mut candidates = Vec::new();
    for path in paths {
        // A file without a cell adds nothing.
        candidates.extend(import.candidate(path, options.verify)?);
    }
    let mut copied = Vec::new();
    for candidate in &candidates {
        match import.copy_in(candidate, options.rows()) {
            Ok(file) => copied.extend(file),
            Err(error) => {
                for file in copied {
                    import.discard(&file.entry);
                }
                return Err(error);
            }
        }
    }
    publish_imported(&import, log, copied, options.age)
}

/// An import into a family.
struct Import<'i> {
    catalog: &'i Catalog,
    family: &'i Family,
}

impl Import<'_> {
    /// Opens a file and checks that it can be imported. Returns `None` if it has no cell.
    fn candidate<'a>(&self, path: &'a Path, verify: bool) -> Result<Option<Candidate<'a>>> {
        // All files are checked before the first is copied, and may be more than can be open.
        let source: Arc<dyn ReadAt> = self.catalog.opener.open_source(path)?;
        let shown = FileName::new(path.display().to_string());
        let reader = Reader::open(Arc::clone(&source), shown.clone(), ReaderOptions::default())?;
        if reader.trailer().comparator != Comparator::Bytes {
            return Err(Error::invalid(format!(
                "{}: is a file of hbase:meta, whose rows have another order",
                path.display()
            )));
        }
        let verified = if verify { Some(check_sound(&source, path, shown)?) } else { None };
        let mut first = reader.scanner(Caching::Bypass);
        first.seek(KeyRef::before_row(b""))?;
        let Some(cell) = first.cell() else { return Ok(None) };
        if cell.family != self.family.name.as_bytes() {
            let found = cells::escape(cell.family);
            return Err(Error::invalid(format!(
                "{}: has cells of family \"{found}\", not \"{}\"",
                path.display(),
                self.family.name
            )));
        }
        Ok(Some(Candidate { path, source, reader, verified }))
    }

    fn copy_in(&self, candidate: &Candidate<'_>, rows: RowRange<'_>) -> Result<Option<Copied>> {
        let Candidate { path, source, reader, verified } = candidate;
        if !rows.holds_all(reader) {
            return self.rewrite(reader, rows);
        }
        let (name, checksum) = self.copy(path, &**source)?;
        let entry = FileEntry::of_file(reader, &name, checksum);
        let what = if verified.is_some_and(|verified| verified != checksum) {
            "changed during the import"
        } else if let Some(entry) = entry {
            return Ok(Some(Copied { entry, carried: sequence::carried(reader) }));
        } else {
            "has cells but no first or last key"
        };
        // If this fails, the next open removes the file.
        let _ = self.catalog.opener.vfs().unlink(&self.directory().join(&name));
        Err(Error::corrupt(path, 0, what))
    }

    /// Writes the rows of the range into a new file.
    fn rewrite(&self, reader: &Reader, rows: RowRange<'_>) -> Result<Option<Copied>> {
        let version = self.catalog.version();
        let present = version.known_family(self.family.name.as_bytes())?;
        let others: Vec<_> = present.files.by_sequence().cloned().collect();
        let purpose = FilePurpose {
            sequence_max: SequenceId::default(),
            has_tags: reader.file_info().includes_tags(),
            is_major_compaction: false,
            filter: filter_of_new(self.family, &others, || Ok(reader.trailer().entry_count))?,
        };
        let mut part = NewFile::create(self.catalog, self.family, purpose)?;
        let mut cells = reader.scanner(Caching::Bypass);
        if let Some(stop) = rows.stop {
            cells = cells.until(KeyRef::before_row(stop));
        }
        cells.seek(KeyRef::before_row(rows.start.unwrap_or_default()))?;
        while let Some(cell) = cells.cell() {
            part.append(&cell)?;
            cells.advance()?;
        }
        let whole_age = sequence::carried(reader);
        Ok(part.finish()?.map(|entry| Copied {
            entry: FileEntry { carries_sequence_ids: false, ..entry },
            carried: whole_age,
        }))
    }

    /// Copies a file under a new name. Returns the name and the checksum; the copy is then on disk.
    fn copy(&self, path: &Path, source: &dyn ReadAt) -> Result<(String, u32)> {
        const CHUNK: usize = 1 << 20;
        let (pending, mut sink) = create_pending(self.catalog, self.family)?;
        let mut chunk = vec![0; CHUNK];
        let mut at = 0;
        while at < source.len() {
            let len = CHUNK.min(usize::try_from(source.len() - at).unwrap_or(CHUNK));
            let bytes = &mut chunk[..len];
            source.read_exact_at(bytes, at).map_err(Error::io(path, "read"))?;
            sink.write_all(bytes).map_err(Error::io(&self.directory(), "write into"))?;
            at += len as u64;
        }
        Ok(pending.finish(sink)?)
    }

    /// Opens the copied files, with the sequence ids that they get.
    fn open_copied(
        &self,
        writer: &mut LogWriter,
        copied: &mut [Copied],
        age: Age,
    ) -> Result<Opened> {
        let Self { catalog, family } = *self;
        // While the writer is locked, no family is dropped or altered.
        let version = catalog.version();
        let current = version.families.iter().find(|known| known.family.id == family.id);
        let current = current.ok_or_else(|| {
            Error::invalid(format!("the family \"{}\" was dropped during the import", family.name))
        })?;
        // Sync the log, so that a power failure cannot keep the import and lose earlier writes.
        writer.sync().map_err(|error| catalog.health().poison_unless_shortage(error))?;
        let mut opened = Opened { files: Vec::new(), newest: writer.newest() };
        for Copied { entry, carried } in copied {
            if let Some(carried) = carried.filter(|_| age == Age::Carried) {
                entry.sequence_max = carried;
                entry.carries_sequence_ids = true;
                opened.newest = opened.newest.max(carried);
            } else {
                opened.newest = sequence::after(opened.newest)?;
                (entry.sequence_min, entry.sequence_max) = (opened.newest, opened.newest);
                entry.carries_sequence_ids = false;
            }
            opened.files.push(catalog.opener.open_file(family, entry)?);
        }
        if current.family.options.key_value {
            opened.check_key_values(family)?;
        }
        Ok(opened)
    }

    /// Removes a copy after a failure. The next open would do it too.
    fn discard(&self, entry: &FileEntry) {
        let _ = self.catalog.opener.vfs().unlink(&self.directory().join(&entry.name));
    }

    fn directory(&self) -> PathBuf {
        self.catalog.opener.family_directory(self.family)
    }
}

fn publish_imported(
    import: &Import<'_>,
    log: &Log,
    mut copied: Vec<Copied>,
    age: Age,
) -> Result<()> {
    let Import { catalog, family } = *import;
    // Lock out writes: the imported cells must be newer than all cells before.
    let mut writer = log.writer();
    let opened = import.open_copied(&mut writer, &mut copied, age);
    if opened.is_err() {
        for file in &copied {
            import.discard(&file.entry);
        }
    }
    let Opened { files, newest } = opened?;
    let list = |manifest: &mut Manifest| {
        let entries = files.iter().map(|file: &Arc<StoreFile>| file.entry.clone());
        manifest.family_mut(family.id).files.extend(entries);
    };
    let published = catalog.publish_change(list, |version| {
        version.with(family, |changed| {
            for file in &files {
                changed.files = changed.files.replace(&[], Some(file));
            }
        })
    });
    discard_unless_listed(&published, &files);
    published?;
    writer.advance_sequence_id(newest);
    catalog.publish_writes(newest);
    Ok(())
}

/// Verifies a whole file. Returns the CRC-32C of its bytes.
fn check_sound(source: &Arc<dyn ReadAt>, path: &Path, name: FileName) -> Result<u32> {
    let checksum = checksum_of(&**source, path, source.len(), |_| true)?;
    let found = sstable::verify(Arc::clone(source), name.clone(), Limits::default(), |_| {})?;
    if let Some(damage) = found.problems.into_iter().next() {
        return Err(sstable::Error::Corrupt { file: name, damage }.into());
    }
    Ok(checksum.expect("nobody told it to stop"))
}
