//! A store file that is being written.
//!
//! It belongs to the store once it is complete and the manifest lists it.

use std::io;
use std::path::Path;
use std::sync::Arc;

use sstable::tools::{FileInCache, NewFiles, PendingFile};
use sstable::{CellRef, CellType, FileName, SequenceId, Timestamp, Writer, WriterOptions};

use crate::checksum::Crc32c;
use crate::error::Result;
use crate::files::catalog::Catalog;
use crate::files::manifest::{FILE_ID_KEY, FileEntry, FileId, FlatKey};
use crate::files::names::identity::new_file_name;
use crate::files::version::store_version::Family;
use crate::files::version::write_failures::WriteFailures;
use crate::options::RowFilter;
use crate::vfs::{AppendFile, Vfs};

/// The purpose of a new file, which decides its options and its file info.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilePurpose {
    /// The greatest sequence id of the writes that the file covers.
    pub(crate) sequence_max: SequenceId,
    pub(crate) has_tags: bool,
    pub(crate) is_major_compaction: bool,
    /// The row filter that the file gets.
    pub(crate) filter: Option<RowFilter>,
}

/// Creates a file in the directory of a family, with a new name of this store.
pub(crate) fn create_pending(
    catalog: &Catalog,
    family: &Family,
) -> Result<(PendingFile<StoreFiles>, Sink)> {
    let name = new_file_name(catalog.store_id)?;
    let directory = catalog.opener.family_directory(family);
    Ok(PendingFile::create(StoreFiles::of(catalog), &directory, name)?)
}

/// Returns the id that the file info of a new file gets.
pub(crate) fn pending_id(pending: &PendingFile<StoreFiles>) -> FileId {
    FileId::from_name(pending.name()).expect("drawn as one")
}

/// A store file that is being written.
#[derive(Debug)]
pub(crate) struct NewFile {
    pending: PendingFile<StoreFiles>,
    writer: Writer<Sink>,
    purpose: FilePurpose,
    sequence_min: SequenceId,
    times: Option<(Timestamp, Timestamp)>,
    family: String,
    failures: Arc<WriteFailures>,
}

impl NewFile {
    pub(crate) fn create(catalog: &Catalog, family: &Family, purpose: FilePurpose) -> Result<Self> {
        let (pending, sink) = create_pending(catalog, family)?;
        let shown = FileName::new(format!("{}/{}", family.name, pending.name()));
        let id = pending_id(&pending).to_bytes();
        let options = catalog.writer_options(family, purpose).file_info(FILE_ID_KEY, id);
        let writer = Writer::new(sink, shown, options)?;
        Ok(Self {
            pending,
            writer,
            purpose,
            sequence_min: purpose.sequence_max,
            times: None,
            family: family.name.clone(),
            failures: Arc::clone(&family.failures),
        })
    }

    /// Puts the blocks into a block cache once they are written.
    pub(crate) fn cached_in(self, place: FileInCache) -> Self {
        Self { writer: self.writer.cached_in(place), ..self }
    }

    pub(crate) fn append(&mut self, cell: &CellRef<'_>) -> Result<()> {
        self.writer.append(*cell)?;
        self.sequence_min = self.sequence_min.min(cell.sequence_id);
        // A delete marker of a column or a family hides all older cells.
        let reaches_back =
            matches!(cell.cell_type, CellType::DeleteColumn | CellType::DeleteFamily);
        let oldest = if reaches_back { Timestamp::new(0) } else { cell.timestamp };
        let (known_oldest, known_newest) = self.times.unwrap_or((oldest, cell.timestamp));
        self.times = Some((known_oldest.min(oldest), known_newest.max(cell.timestamp)));
        Ok(())
    }

    /// Returns the number of bytes written so far.
    pub(crate) fn written_len(&self) -> u64 {
        self.writer.written_len()
    }

    /// Completes the file, which is then on disk. Returns `None` if it has no cells.
    pub(crate) fn finish(self) -> Result<Option<FileEntry>> {
        if self.times.is_none() {
            return Ok(None); // Without a cell there is no file; dropping this removes it.
        }
        let (sink, summary) = self.writer.finish()?;
        if let Some(what) = &summary.filter_omission {
            self.failures.filter_omitted(&self.family, what);
        }
        let (name, checksum) = self.pending.finish(sink)?;
        let key = |key: Option<Vec<u8>>| {
            key.and_then(FlatKey::parse).expect("a file with cells has a first and a last key")
        };
        Ok(Some(FileEntry {
            id: FileId::from_name(&name),
            name,
            length: summary.len,
            checksum,
            cells: summary.cell_count,
            sequence_min: self.sequence_min,
            sequence_max: self.purpose.sequence_max,
            carries_sequence_ids: true,
            times: self.times,
            first_key: key(summary.first_key),
            last_key: key(summary.last_key),
        }))
    }
}

impl Catalog {
    /// Returns the options for writing a file of a family.
    pub(crate) fn writer_options(&self, family: &Family, purpose: FilePurpose) -> WriterOptions {
        let mut writer = family
            .options
            .writer_options()
            .bloom_error_rate(self.bloom_error_rate)
            .index_block_size(self.index_block_size)
            .includes_mvcc(true)
            .includes_tags(purpose.has_tags)
            .max_sequence_id(purpose.sequence_max)
            .major_compaction(purpose.is_major_compaction)
            .create_time(self.clock.now());
        if let Some(filter) = purpose.filter {
            // The rows can make the filter impossible. The file is needed without it, too.
            writer = writer.filter(filter.with_seed(self.seed)).filter_is_optional(true);
        }
        writer
    }
}

/// The file system of a store, for new files.
#[derive(Clone, Debug)]
pub(crate) struct StoreFiles(Arc<dyn Vfs>);

impl StoreFiles {
    pub(crate) fn of(catalog: &Catalog) -> Self {
        Self(Arc::clone(catalog.opener.vfs()))
    }
}

impl NewFiles for StoreFiles {
    type File = Sink;
    type Synced = u32;

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.0.create_directory(path)
    }

    fn is_empty(&self, directory: &Path) -> io::Result<bool> {
        Ok(self.0.list(directory)?.is_empty())
    }

    fn create(&self, path: &Path) -> io::Result<Sink> {
        Ok(Sink { file: self.0.create(path)?, checksum: Crc32c::new() })
    }

    /// Returns the checksum of the file.
    fn sync(&self, mut sink: Sink) -> io::Result<u32> {
        sink.file.sync()?;
        Ok(sink.checksum.value())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.rename(from, to)
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        self.0.unlink(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.0.sync_directory(path)
    }
}

/// Writes to a file and computes its checksum.
#[derive(Debug)]
pub(crate) struct Sink {
    file: Box<dyn AppendFile>,
    checksum: Crc32c,
}

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Callers of `io::Write` retry interrupted calls. A retry is wrong here, because a part of the
        // bytes may be in the file.
        self.file.write_all(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => io::Error::other(error),
            _ => error,
        })?;
        self.checksum.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
