//! The reader: an open file as the users of the crate see it.
//!
//! | question                             | answered by                                                |
//! |--------------------------------------|------------------------------------------------------------|
//! | does the file have a row, and where? | [`Reader::row`], [`Reader::look_up`]: the module `lookup`  |
//! | can it have a row or prefix?         | [`Reader::ask_filter`], [`Reader::may_contain_prefix`]     |
//! | which cells does it have?            | [`Reader::scanner`], [`Reader::bulk_scanner`]              |
//! | what does it consist of?             | [`Reader::blocks`], [`Reader::index`], [`Reader::filters`] |

use std::borrow::Cow;
use std::fmt;
use std::ops::Bound;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use cells::{FileName, Timestamp};
use filter::Seed;

use crate::error::{Error, Result};
use crate::file::file_info::FileInfo;
use crate::file::filters::file_filter::FileFilter;
use crate::file::filters::filter_answer::FilterAnswer;
use crate::file::open;
use crate::file::open_file::OpenFile;
use crate::file::options::{Caching, ReaderOptions};
use crate::file::parts::{FileBlocks, FileFilters, FileIndex};
use crate::file::trailer::Trailer;
use crate::lookup::{
    FilterQuestion, LookupFile, LookupLimits, RowBounds, RowInFile, RowLookup, WantedCells,
};
use crate::probe::RowProbe;
use crate::row_cells::RowCells;
use crate::scan::scanner::Scanner;
use crate::source::{FileSource, ReadAt};
use crate::trace::ReadTrace;

/// An open file. Clones are cheap and share the file; threads may share a reader.
///
/// ```
/// use bytes::Bytes;
/// use sstable::{Caching, FileName, Reader, ReaderOptions};
/// # let file: &'static [u8] = include_bytes!("../testdata/s03-one-cell.hfile");
/// # let name = FileName::new("4f1c.hfile");
///
/// # let source = std::sync::Arc::new(Bytes::from_static(file));
/// let reader = Reader::open(source, name, ReaderOptions::default())?;
/// let mut scanner = reader.scanner(Caching::Use);
/// scanner.seek_to_first()?;
/// while let Some(cell) = scanner.cell() {
///     println!("{cell:?}");
///     scanner.advance()?;
/// }
///
/// let absent = reader.row(b"no such row")?;
/// assert!(absent.cell().is_none());
/// assert_eq!(absent.trace().data_blocks(), 0);
/// # Ok::<(), sstable::Error>(())
/// ```
#[derive(Clone)]
pub struct Reader {
    file: Arc<OpenFile>,
    /// The file as the only one of a lookup; made at the first.
    lookup: OnceLock<LookupFile>,
}

impl Reader {
    /// Opens a file. Reads only the trailer and the load-on-open section.
    ///
    /// Errors call the file `name`.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the file contradicts the format, [`Error::Unsupported`] if it needs a
    /// feature that this build does not have, [`Error::Io`] if it cannot be read.
    pub fn open(source: Arc<dyn ReadAt>, name: FileName, options: ReaderOptions) -> Result<Self> {
        let file = Arc::new(open::open(source, name, options)?);
        Ok(Self { file, lookup: OnceLock::new() })
    }

    /// Opens a local file.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_file(path: impl AsRef<Path>, options: ReaderOptions) -> Result<Self> {
        let path = path.as_ref();
        let name = FileName::new(path.display().to_string());
        let failed =
            |source| Error::Io { file: name.clone(), action: Cow::Borrowed("open it"), source };
        let source = FileSource::open(path).map_err(failed)?;
        Self::open(Arc::new(source), name, options)
    }

    /// Returns the open file.
    pub(crate) const fn file(&self) -> &Arc<OpenFile> {
        &self.file
    }

    /// Returns the file as an element of a lookup's file list.
    ///
    /// See [`RowLookup::new`](crate::lookup::RowLookup::new).
    pub fn lookup_file(&self) -> LookupFile {
        LookupFile::new(Arc::clone(&self.file))
    }

    /// Returns the cells of a row; none if the file does not have the row.
    ///
    /// Asks the filter, if the file has one, then reads the block in which the row begins.
    ///
    /// ```
    /// # let path = "testdata/s01-default.hfile";
    /// let reader = sstable::Reader::open_file(path, sstable::ReaderOptions::default())?;
    /// let mut cells = reader.row(b"row1")?;
    /// while let Some(cell) = cells.cell() {
    ///     println!("{cell:?}: {}", cell.value.escape_ascii());
    ///     cells.advance()?;
    /// }
    /// # Ok::<(), sstable::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn row<'r>(&self, row: &'r [u8]) -> Result<RowCells<'r>> {
        self.look_up(&RowProbe::new(row, Seed::default()))
    }

    /// Returns the cells of the row of a probe, as [`row`](Self::row).
    ///
    /// A probe can serve many files, for which it hashes its row once, and can name a column, about which it asks
    /// filters over columns; the cells are nevertheless those of the row.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn look_up<'r>(&self, probe: &RowProbe<'r>) -> Result<RowCells<'r>> {
        let file = self.lookup.get_or_init(|| self.lookup_file());
        let limits = LookupLimits::default();
        let mut lookup = RowLookup::new(std::slice::from_ref(file), probe, limits);
        let scanner = lookup.next_file()?.map(RowInFile::into_scanner);
        Ok(RowCells::new(probe.row(), scanner, *lookup.trace()))
    }

    /// Asks the filter about a row. Counts the question, the filter's blocks and, if the answer is no, the file as skipped.
    pub fn ask_filter(&self, probe: &RowProbe<'_>, trace: &mut ReadTrace) -> FilterAnswer {
        if self.is_empty() {
            return FilterAnswer::No;
        }
        let answer = FileFilter::new(self.file().filters()).ask(&self.file().blocks, probe, trace);
        trace.files_skipped_by_filter += u64::from(answer == FilterAnswer::No);
        answer
    }

    /// Returns whether the file can hold a row that begins with `prefix`, by its row range and
    /// filter.
    ///
    /// Only HBase's Bloom filter over prefixes that are at most as long as `prefix` can answer.
    /// Counts the file as considered and, if it was skipped, the reason.
    pub fn may_contain_prefix(&self, prefix: &[u8], trace: &mut ReadTrace) -> bool {
        let rows = RowBounds::new(Bound::Unbounded, Bound::Unbounded, self.trailer().comparator);
        let wanted = WantedCells { rows, rules: None, question: FilterQuestion::Prefix(prefix) };
        self.may_have(&wanted, None, trace) != FilterAnswer::No
    }

    /// Returns the answer of the filter if the file may have cells that a scan wants, or [`FilterAnswer::No`].
    ///
    /// `times` are the times of the oldest and the newest cell, if they are known. If the file has delete markers, the oldest
    /// time must be at most the time of any cell that they hide. Counts the file as considered and, if it was skipped, the reason.
    pub fn may_have(
        &self,
        wanted: &WantedCells<'_>,
        times: Option<(Timestamp, Timestamp)>,
        trace: &mut ReadTrace,
    ) -> FilterAnswer {
        wanted.ask(self.file(), times, trace)
    }

    /// Returns whether the file may have rows in a range, by its first and last row.
    pub fn overlaps(&self, rows: &RowBounds<'_>) -> bool {
        rows.overlap(self.file())
    }

    /// Returns the name that errors call the file.
    pub fn name(&self) -> &FileName {
        &self.file().blocks.name
    }

    /// Returns the trailer.
    pub fn trailer(&self) -> &Trailer {
        &self.file().trailer
    }

    /// Returns the file info.
    pub fn file_info(&self) -> &FileInfo {
        &self.file().file_info
    }

    /// Returns the length of the file in bytes.
    pub fn len(&self) -> u64 {
        self.file().blocks.source.len()
    }

    /// Returns whether the file has no cells.
    pub fn is_empty(&self) -> bool {
        self.trailer().entry_count == 0
    }

    /// Returns the first row; `None` without cells.
    pub fn first_row(&self) -> Option<&[u8]> {
        self.file().rows.as_ref().map(|rows| &*rows.first)
    }

    /// Returns the last row; `None` without cells.
    pub fn last_row(&self) -> Option<&[u8]> {
        self.file().rows.as_ref().map(|rows| &*rows.last)
    }

    /// Returns whether `row` is between the first and the last row.
    pub fn spans_row(&self, row: &[u8]) -> bool {
        self.file().spans_row(row)
    }

    /// Returns the file's blocks.
    pub fn blocks(&self) -> FileBlocks<'_> {
        FileBlocks(self.file())
    }

    /// Returns the file's data index.
    pub fn index(&self) -> FileIndex<'_> {
        FileIndex(self.file())
    }

    /// Returns the file's filters.
    pub fn filters(&self) -> FileFilters<'_> {
        FileFilters { file: self.file(), filters: self.file().filters() }
    }

    /// Returns a scanner without a position. Call a seek method first.
    pub fn scanner(&self, caching: Caching) -> Scanner {
        Scanner::new(Arc::clone(self.file()), caching)
    }

    /// Returns a scanner for long scans, which prefetches blocks in a thread. It has no position
    /// yet.
    ///
    /// Returns the same cells and errors as a scanner that bypasses the cache
    /// ([`Caching::Bypass`]). The thread reads, verifies and decompresses the blocks after the
    /// scan's current block:
    ///
    /// * It starts when the scan enters its third block, so that short scans need no thread. If no
    ///   thread can be started, the scan reads the blocks itself.
    /// * It ends at the end of the file, at a seek or a step backwards, and when the scanner is
    ///   dropped. Dropping waits for at most one block read.
    /// * At most 16 blocks are prefetched, none larger than 512 KiB.
    /// * A prefetched block counts in the scan's trace when the scan enters the block or, if it never
    ///   does, when the thread ends.
    ///
    /// Many concurrent scanners, for example those of a merge, compete for the processors.
    pub fn bulk_scanner(&self) -> Scanner {
        Scanner::with_read_ahead(Arc::clone(self.file()))
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("name", self.name()).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "reader_tests.rs"]
pub(crate) mod tests;
