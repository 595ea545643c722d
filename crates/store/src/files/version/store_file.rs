//! An open store file, and a cursor over its cells.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cells::merge::CellCursor;
use sstable::tools::PooledFile;
use sstable::{
    Caching, CellRef, FileName, KeyRef, ReadAt, ReadTrace, Reader, ReaderOptions, Scanner,
    SequenceId, Timestamp,
};

use crate::checksum::Crc32c;
use crate::error::{Error, Result};
use crate::family_map::backoff::Backoff;
use crate::files::manifest::FileEntry;
use crate::stats::FilterProblem;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Mutex, lock};
use crate::telemetry;
use crate::vfs::Vfs;

/// An open store file. Once it is obsolete, dropping it unlinks the file.
#[derive(Debug)]
pub(crate) struct StoreFile {
    pub(crate) entry: FileEntry,
    pub(crate) reader: Reader,
    /// The sequence id of all cells; `None` if the file has one for each cell.
    sequence_id: Option<SequenceId>,
    path: PathBuf,
    vfs: Arc<dyn Vfs>,
    is_obsolete: AtomicBool,
    /// Whether it was logged that a filter of the file cannot be used.
    is_filter_logged: AtomicBool,
    /// When the family map, which could not read the rows of the file, reads them again.
    map_retry: Mutex<Option<Backoff>>,
    /// Whether the file was there when the store was opened.
    is_from_before: AtomicBool,
    /// Whether the file has more rows than its filter counts.
    is_miscounted: AtomicBool,
}

impl StoreFile {
    /// Opens the file that an entry of the manifest stands for.
    pub(crate) fn open(
        vfs: &Arc<dyn Vfs>,
        source: &Arc<PooledFile>,
        path: PathBuf,
        family: &str,
        entry: &FileEntry,
        options: ReaderOptions,
    ) -> Result<Arc<Self>> {
        let refuse =
            |what: Option<String>| what.map_or(Ok(()), |what| Err(Error::corrupt(&path, 0, what)));
        refuse(entry.wrong_len(source.len()))?;
        let name = FileName::new(format!("{family}/{}", entry.name));
        let reader = Reader::open(Arc::clone(source) as Arc<dyn ReadAt>, name, options)?;
        // The file info has the file's id.
        let identified = source.note_fingerprint(reader.trailer().file_info_offset.get());
        identified.map_err(Error::io(&path, "read"))?;
        refuse(entry.contradiction(&reader))?;
        let file = Self {
            entry: entry.clone(),
            reader,
            sequence_id: (!entry.carries_sequence_ids).then_some(entry.sequence_max),
            path,
            vfs: Arc::clone(vfs),
            is_obsolete: AtomicBool::new(false),
            is_filter_logged: AtomicBool::new(false),
            map_retry: Mutex::new(None),
            is_from_before: AtomicBool::new(false),
            is_miscounted: AtomicBool::new(false),
        };
        file.log_filter_problem(family);
        Ok(Arc::new(file))
    }

    /// Returns why a filter of the file cannot be used, if a read has found out.
    pub(crate) fn filter_problem(&self, family: &str) -> Option<FilterProblem> {
        let filters = self.reader.filters();
        let problem = filters.row_filter_problem().or_else(|| filters.bloom_problem())?;
        let (family, file) = (family.to_owned(), self.entry.name.clone());
        Some(FilterProblem { family, file, what: problem.to_string() })
    }

    /// Logs once why a filter of the file cannot be used.
    pub(crate) fn log_filter_problem(&self, family: &str) {
        if let Some(problem) = self.filter_problem(family)
            && !self.is_filter_logged.swap(true, Ordering::Relaxed)
        {
            telemetry::report_filter_problem(&problem);
        }
    }

    /// Returns when the rows of the file are read again for the family map; `None` if no attempt
    /// has failed.
    pub(crate) fn map_retry(&self) -> Option<Backoff> {
        *lock(&self.map_retry)
    }

    /// Notes that the family map could not read the rows of the file: its own filter is asked.
    pub(crate) fn set_map_retry(&self, retry: Option<Backoff>) {
        *lock(&self.map_retry) = retry;
    }

    /// Notes that the file has more rows than its filter counts. The count is not used again.
    pub(crate) fn note_miscounted(&self) {
        self.is_miscounted.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_miscounted(&self) -> bool {
        self.is_miscounted.load(Ordering::Relaxed)
    }

    /// Notes that the file was there when the store was opened.
    pub(crate) fn note_from_before(&self) {
        self.is_from_before.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_from_before(&self) -> bool {
        self.is_from_before.load(Ordering::Relaxed)
    }

    /// Reads the whole file and compares its checksum with the manifest's. Returns `false` if `goes_on`
    /// stopped it.
    pub(crate) fn check_whole(&self, goes_on: impl FnMut(u64) -> bool) -> Result<bool> {
        let source = self.vfs.open(&self.path).map_err(Error::io(&self.path, "open"))?;
        let checksum = checksum_of(&*source, &self.path, self.entry.length, goes_on)?;
        let Some(checksum) = checksum else { return Ok(false) };
        match self.entry.wrong_checksum(checksum) {
            None => Ok(true),
            Some(what) => Err(Error::corrupt(&self.path, 0, what)),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Marks the file as removed from the manifest: dropping it unlinks it.
    pub(crate) fn retire(&self) {
        self.is_obsolete.store(true, Ordering::Relaxed);
    }

    /// Returns an upper bound of the timestamps of the file's cells.
    pub(crate) fn newest(&self) -> Timestamp {
        self.entry.times.map_or(Timestamp::LATEST, |(_, newest)| newest)
    }

    /// Returns a lower bound of the timestamps of the file's cells, and of the cells that its markers hide.
    pub(crate) fn oldest(&self) -> Timestamp {
        self.entry.times.map_or(Timestamp::OLDEST, |(oldest, _)| oldest)
    }

    /// Returns a cell of this file with its sequence id in the store.
    pub(crate) fn with_sequence_id<'a>(&self, cell: CellRef<'a>) -> CellRef<'a> {
        CellRef { sequence_id: self.sequence_id.unwrap_or(cell.sequence_id), ..cell }
    }
}

impl Drop for StoreFile {
    fn drop(&mut self) {
        if self.is_obsolete.load(Ordering::Relaxed) {
            // If this fails, the next open removes the file.
            let _ = self.vfs.unlink(&self.path);
        }
    }
}

/// Returns the CRC-32C of the first `len` bytes of a file, or `None` if `goes_on` stopped it.
///
/// `goes_on` receives the number of bytes read so far.
pub(crate) fn checksum_of(
    source: &dyn ReadAt,
    path: &Path,
    len: u64,
    mut goes_on: impl FnMut(u64) -> bool,
) -> Result<Option<u32>> {
    const CHUNK: usize = 1 << 20;
    let mut chunk = vec![0; CHUNK];
    let (mut checksum, mut at) = (Crc32c::new(), 0);
    while at < len {
        if !goes_on(at) {
            return Ok(None);
        }
        let bytes = &mut chunk[..CHUNK.min(usize::try_from(len - at).unwrap_or(CHUNK))];
        source.read_exact_at(bytes, at).map_err(Error::io(path, "read"))?;
        checksum.update(bytes);
        at += bytes.len() as u64;
    }
    Ok(Some(checksum.value()))
}

/// A cursor over the cells of one store file.
#[derive(Debug)]
pub(crate) struct FileCursor {
    file: Arc<StoreFile>,
    scanner: Scanner,
}

impl FileCursor {
    /// Creates a cursor without a position.
    pub(crate) fn new(file: &Arc<StoreFile>, caching: Caching) -> Self {
        Self::at(file, file.reader.scanner(caching))
    }

    /// Creates a cursor at the position of a scanner of the file.
    pub(crate) fn at(file: &Arc<StoreFile>, scanner: Scanner) -> Self {
        Self { file: Arc::clone(file), scanner }
    }

    pub(crate) fn may_delete_families(&self) -> bool {
        self.scanner.may_delete_families()
    }

    pub(crate) fn cell(&self) -> Option<CellRef<'_>> {
        self.scanner.cell().map(|cell| self.file.with_sequence_id(cell))
    }

    pub(crate) fn row(&self) -> Option<&[u8]> {
        self.scanner.row()
    }

    pub(crate) fn advance(&mut self) -> Result<()> {
        Ok(self.scanner.advance()?)
    }

    pub(crate) fn seek(&mut self, key: KeyRef<'_>) -> Result<()> {
        Ok(self.scanner.seek(key)?)
    }

    /// Moves to the first cell of the greatest row below `row`, or of all rows if `row` is `None`.
    pub(crate) fn seek_row_before(&mut self, row: Option<&[u8]>) -> Result<()> {
        Ok(self.scanner.seek_row_before(row)?)
    }

    pub(crate) fn retreat_row(&mut self) -> Result<()> {
        Ok(self.scanner.retreat_row()?)
    }

    /// Returns whether the current cell is known to be the last one of its row.
    pub(crate) fn is_at_row_end(&self) -> bool {
        self.scanner.is_at_row_end()
    }

    pub(crate) fn take_trace(&mut self) -> ReadTrace {
        self.scanner.take_trace()
    }
}
