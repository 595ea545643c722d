//! A store file that is being written.
//!
//! The file is written under a temporary name, synced and renamed; then its directory is synced. A file
//! with a final name is therefore complete. It belongs to the store once the manifest lists it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use filter::{FilterKind, Sizing};
use sstable::{
    CellRef, CellType, FileName, FilterOptions, SequenceId, Timestamp, Writer, WriterOptions,
};

use crate::checksum::Crc32c;
use crate::error::{Error, Result};
use crate::files::catalog::Catalog;
use crate::files::manifest::{FILE_ID_KEY, FileEntry, FileId, FlatKey};
use crate::files::names::identity::{TEMPORARY_SUFFIX, new_file_name};
use crate::files::version::store_version::Family;
use crate::files::version::write_failures::WriteFailures;
use crate::process::OwnProcess;
use crate::vfs::{AppendFile, Vfs};

/// The purpose of a new file, which decides its options and its file info.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilePurpose {
    /// The greatest sequence id of the writes that the file covers.
    pub(crate) sequence_max: SequenceId,
    pub(crate) has_tags: bool,
    pub(crate) is_major_compaction: bool,
    /// The row filter that the file gets.
    pub(crate) filter: Option<(FilterKind, Sizing)>,
}

/// A new name in a family's directory. The file has a temporary name until [`finish`](Self::finish);
/// dropping this earlier removes the file.
#[derive(Debug)]
pub(crate) struct PendingFile {
    vfs: Arc<dyn Vfs>,
    directory: PathBuf,
    name: String,
    /// The process that writes the file. A fork leaves the file alone.
    process: OwnProcess,
}

impl PendingFile {
    pub(crate) fn create(catalog: &Catalog, family: &Family) -> Result<(Self, Sink)> {
        let vfs = Arc::clone(catalog.opener.vfs());
        let name = new_file_name(catalog.store_id)?;
        Self::create_in(vfs, &catalog.opener.family_directory(family), name)
    }

    /// Creates a file with this name in a directory, which need not belong to a store.
    pub(crate) fn create_in(
        vfs: Arc<dyn Vfs>,
        directory: &Path,
        name: String,
    ) -> Result<(Self, Sink)> {
        let place =
            Self { vfs, directory: directory.to_path_buf(), name, process: OwnProcess::current() };
        let path = place.temporary_path();
        let file = place.vfs.create(&path).map_err(Error::io(&path, "create"))?;
        Ok((place, Sink { file, checksum: Crc32c::new() }))
    }

    /// Returns the name that the file gets.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the id that the file info gets.
    pub(crate) fn id(&self) -> FileId {
        FileId::from_name(&self.name).expect("drawn as one")
    }

    /// Syncs the file and gives it its final name. Returns the name and the checksum. The file is then on
    /// disk.
    pub(crate) fn finish(mut self, mut sink: Sink) -> Result<(String, u32)> {
        let temporary = self.temporary_path();
        sink.file.sync().map_err(Error::io(&temporary, "sync"))?;
        let checksum = sink.checksum.value();
        drop(sink);
        let path = self.directory.join(&self.name);
        self.vfs.rename(&temporary, &path).map_err(Error::io(&path, "rename to"))?;
        if let Err(error) = self.vfs.sync_directory(&self.directory) {
            let _ = self.vfs.unlink(&path);
            return Err(Error::io(&self.directory, "sync")(error));
        }
        Ok((std::mem::take(&mut self.name), checksum))
    }

    fn temporary_path(&self) -> PathBuf {
        self.directory.join(format!("{}{TEMPORARY_SUFFIX}", self.name))
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if !self.name.is_empty() && self.process.is_current() {
            // If this fails, the next open removes the file.
            let _ = self.vfs.unlink(&self.temporary_path());
        }
    }
}

/// A store file that is being written.
#[derive(Debug)]
pub(crate) struct NewFile {
    place: PendingFile,
    writer: Writer<Sink>,
    purpose: FilePurpose,
    sequence_min: SequenceId,
    times: Option<(Timestamp, Timestamp)>,
    family: String,
    failures: Arc<WriteFailures>,
}

impl NewFile {
    pub(crate) fn create(catalog: &Catalog, family: &Family, purpose: FilePurpose) -> Result<Self> {
        let (place, sink) = PendingFile::create(catalog, family)?;
        let shown = FileName::new(format!("{}/{}", family.name, place.name));
        let options =
            catalog.writer_options(family, purpose).file_info(FILE_ID_KEY, place.id().to_bytes());
        let writer = Writer::new(sink, shown, options)?;
        Ok(Self {
            place,
            writer,
            purpose,
            sequence_min: purpose.sequence_max,
            times: None,
            family: family.name.clone(),
            failures: Arc::clone(&family.failures),
        })
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
        let (name, checksum) = self.place.finish(sink)?;
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
        if let Some((kind, sizing)) = purpose.filter {
            let filter = FilterOptions { kind, sizing, seed: self.seed };
            // The rows can make the filter impossible. The file is needed without it, too.
            writer = writer.filter(filter).filter_is_optional(true);
        }
        writer
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
