//! The list of files of a lookup, in the order in which they are searched.

use std::ops::Deref;
use std::sync::Arc;

use cells::{Comparator, RowHead, Timestamp, row_head};

use crate::error::{Error, Result};
use crate::file::filters::file_filter::FileFilter;
use crate::file::open_file::OpenFile;

/// A file of a lookup list.
///
/// Holds the file's row range, time range and filter inline, so that a lookup skips most files
/// without a cache miss on their other data. Made by
/// [`Reader::lookup_file`](crate::Reader::lookup_file).
#[derive(Clone, Debug)]
pub struct LookupFile {
    pub(crate) file: Arc<OpenFile>,
    /// The leading bytes of the first and the last row; `None` if rows are not in byte order, or
    /// if there are none.
    pub(super) heads: Option<(RowHead, RowHead)>,
    pub(super) oldest: Timestamp,
    pub(super) newest: Timestamp,
    pub(crate) filter: FileFilter,
}

impl LookupFile {
    /// Makes a list element of a file that may hold cells of any time.
    pub(crate) fn new(file: Arc<OpenFile>) -> Self {
        let rows = file.rows.as_ref().filter(|_| file.trailer.comparator == Comparator::Bytes);
        let heads = rows.map(|rows| (row_head(&rows.first), row_head(&rows.last)));
        let (oldest, newest) = (Timestamp::OLDEST, Timestamp::LATEST);
        let filter = FileFilter::new(file.filters());
        Self { file, heads, oldest, newest, filter }
    }

    /// Sets the time range of the file's cells. Default: any time.
    ///
    /// Lookups skip files by these times. [`FileInfo::time_range`](crate::FileInfo::time_range) has the times of the
    /// cells; a delete marker extends the range down to the oldest time that the marker covers.
    #[must_use]
    pub fn times(self, oldest: Timestamp, newest: Timestamp) -> Self {
        Self { oldest, newest, ..self }
    }
}

/// What a lookup did with a file: skipped the file for one of five reasons, or searched it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum FileFate {
    /// All cells of the file are too old for the stop rule, the time range or the family's TTL.
    TooOld,
    /// All cells of the file are newer than the time range.
    TooNew,
    /// The row is before the first row or after the last row of the file.
    OutOfRange,
    /// The file's filter says that the file does not have the row.
    Denied,
    /// The family map, which covers the file, says that the file does not have the row.
    DeniedByMap,
    /// The file was searched and does not have the row.
    ///
    /// Either no filter answered, or its answer was a false positive.
    Absent,
    /// The file has the row, and its cells were read.
    Read,
}

impl FileFate {
    /// Returns a short description.
    pub const fn text(self) -> &'static str {
        match self {
            Self::TooOld => "skipped: too old",
            Self::TooNew => "skipped: too new",
            Self::OutOfRange => "skipped: out of range",
            Self::Denied => "skipped: filter says no",
            Self::DeniedByMap => "skipped: map says no",
            Self::Absent => "looked into: not there",
            Self::Read => "read",
        }
    }
}

/// Files ordered by their newest cell, newest first. Clones are cheap.
///
/// A lookup stops at the first file whose newest cell is too old, because all later files are
/// older.
#[derive(Clone, Debug)]
pub struct LookupFiles(Arc<[LookupFile]>);

impl LookupFiles {
    /// Makes a list of files, which must be ordered by their newest cell, newest first.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if a file's newest cell is newer than the newest cell of the file before it: lookups
    /// would stop too early.
    pub fn new(files: Vec<LookupFile>) -> Result<Self> {
        for pair in files.windows(2) {
            if let [before, after] = pair
                && before.newest < after.newest
            {
                let what = format!(
                    "its newest cell, of time {}, is newer than the newest cell of {}, the file before it in the list, \
                     of time {}; put the files of a lookup in the order of their newest cells, newest first",
                    after.newest.get(),
                    before.file.blocks.name,
                    before.newest.get()
                );
                return Err(Error::Invalid { file: after.file.blocks.name.clone(), what });
            }
        }
        Ok(Self(files.into()))
    }
}

impl Default for LookupFiles {
    fn default() -> Self {
        Self(Arc::new([]))
    }
}

impl Deref for LookupFiles {
    type Target = [LookupFile];

    fn deref(&self) -> &[LookupFile] {
        &self.0
    }
}
