//! An open file, as users of the crate see it.
//!
//! | question                           | answered by                                                 |
//! |------------------------------------|-------------------------------------------------------------|
//! | has the file this row, and where?  | [`Reader::get_row`]: the module `lookup`                     |
//! | can it have this row or prefix?    | [`Reader::ask_filter`], [`Reader::may_contain_prefix`]       |
//! | which cells are in it, in order?   | [`Reader::scanner`], [`Reader::bulk_scanner`]                |
//! | what does it consist of?           | [`Reader::blocks`], [`Reader::index`], [`Reader::filters`]   |
#![allow(clippy::arithmetic_side_effects, reason = "counters")]

use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::file::open;
use crate::file::open_file::OpenFile;
use crate::file::parts::{FileBlocks, FileFilters, FileIndex};
use crate::lookup::LookupFile;
use crate::{
    Caching, Comparator, Error, FileInfo, FileName, FileSource, FilterAnswer, ReadAt, ReadTrace,
    ReaderOptions, Result, RowProbe, Scanner, Trailer,
};

/// An open file. Cloning it is cheap, and all clones are one file; threads may share it.
///
/// ```
/// use bytes::Bytes;
/// use filter::Seed;
/// use sstable::{Caching, FileName, ReadTrace, Reader, ReaderOptions, RowProbe};
/// # let file: &'static [u8] = include_bytes!("../../../tests/data/hfile/s03-one-cell.hfile");
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
/// let mut trace = ReadTrace::default();
/// let absent = RowProbe::new(b"no such row", Seed::default());
/// assert!(reader.get_row(&absent, &mut trace)?.is_none());
/// assert_eq!(trace.data_blocks(), 0);
/// # Ok::<(), sstable::Error>(())
/// ```
#[derive(Clone)]
pub struct Reader(LookupFile);

impl Reader {
    /// Opens a file. Reads its trailer and what the trailer says to load, and nothing else; errors
    /// call the file `name`.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if what was read contradicts the format, [`Error::Unsupported`] if it
    /// needs something this build does not have, [`Error::Io`] if it cannot be read.
    pub fn open(source: Arc<dyn ReadAt>, name: FileName, options: ReaderOptions) -> Result<Self> {
        open::open(source, name, options).map(Arc::new).map(LookupFile::new).map(Self)
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

    /// The file behind the facade.
    pub(crate) const fn file(&self) -> &Arc<OpenFile> {
        &self.0.file
    }

    /// Returns the file for a list that lookups ask, such as [`Lookup::rows`](crate::Lookup::rows).
    pub fn lookup_file(&self) -> LookupFile {
        self.0.clone()
    }

    /// Looks a row up: by range, filter, index and block. Returns a scanner on its first cell.
    ///
    /// Counts the file as considered, and why it was skipped if it was.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    #[inline]
    pub fn get_row(&self, probe: &RowProbe<'_>, trace: &mut ReadTrace) -> Result<Option<Scanner>> {
        self.0.get_row(probe, trace)
    }

    /// Asks the filter about a row; counts the question and the filter's blocks.
    pub fn ask_filter(&self, probe: &RowProbe<'_>, trace: &mut ReadTrace) -> FilterAnswer {
        if self.is_empty() {
            return FilterAnswer::No;
        }
        self.file().filters.ask(&self.file().blocks, probe, trace)
    }

    /// Returns whether the file can hold a row that begins with `prefix`, as far as its range and its filter
    /// know: HBase's Bloom filter can tell if it is over prefixes as long or shorter. Counts the file as
    /// considered, and why it was skipped if it was.
    pub fn may_contain_prefix(&self, prefix: &[u8], trace: &mut ReadTrace) -> bool {
        trace.files_considered += 1;
        let by_bytes = self.trailer().comparator == Comparator::Bytes;
        let spans = self.file().rows.as_ref().is_some_and(|rows| {
            let reaches_prefix = *rows.last >= *prefix;
            let begins_by_prefix = *rows.first <= *prefix || rows.first.starts_with(prefix);
            !by_bytes || (reaches_prefix && begins_by_prefix)
        });
        if !spans {
            trace.files_skipped_by_range += 1;
            return false;
        }
        self.file().filters.ask_prefix(&self.file().blocks, prefix, trace) != FilterAnswer::No
    }

    /// What errors call the file.
    pub fn name(&self) -> &FileName {
        &self.file().blocks.name
    }

    /// Where everything is.
    pub fn trailer(&self) -> &Trailer {
        &self.file().trailer
    }

    /// What the file says about itself.
    pub fn file_info(&self) -> &FileInfo {
        &self.file().file_info
    }

    /// Bytes of the file.
    pub fn len(&self) -> u64 {
        self.file().blocks.source.len()
    }

    /// Whether it holds no cells.
    pub fn is_empty(&self) -> bool {
        self.trailer().entry_count == 0
    }

    /// The first row, unless there are no cells.
    pub fn first_row(&self) -> Option<&[u8]> {
        self.file().rows.as_ref().map(|rows| &*rows.first)
    }

    /// The last row, unless there are no cells.
    pub fn last_row(&self) -> Option<&[u8]> {
        self.file().rows.as_ref().map(|rows| &*rows.last)
    }

    /// Returns whether `row` lies between the first row and the last.
    pub fn spans_row(&self, row: &[u8]) -> bool {
        self.file().spans_row(row)
    }

    /// Returns the file's blocks as such.
    pub fn blocks(&self) -> FileBlocks<'_> {
        FileBlocks(self.file())
    }

    /// Returns the file's data index.
    pub fn index(&self) -> FileIndex<'_> {
        FileIndex(self.file())
    }

    /// Returns the file's filters.
    pub fn filters(&self) -> FileFilters<'_> {
        FileFilters(self.file())
    }

    /// A scanner that stands nowhere yet.
    pub fn scanner(&self, caching: Caching) -> Scanner {
        Scanner::new(Arc::clone(self.file()), caching)
    }

    /// A scanner that reads ahead, for long scans: while it walks through a block, a thread of its own
    /// reads, verifies and decompresses those behind it. It stands nowhere yet.
    ///
    /// It is as one past the cache ([`Caching::Bypass`]) in all but time: it gives the same cells, and
    /// the same error at the same cell. The thread starts when the scan has crossed two block edges, so
    /// that a short one does without. It ends with the file or the scanner, at a seek, and at a step
    /// back; dropping the scanner waits until it has ended, no longer than for one block. At most 16
    /// blocks are read ahead, and none of more than 512 KiB. Each counts in the scan's trace when the
    /// scan comes to it; those that were read in vain, when it goes elsewhere. If there is no thread to
    /// be had, the scan reads by itself.
    ///
    /// For scans that are many at once, as those of a merge, there are only so many processors.
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
