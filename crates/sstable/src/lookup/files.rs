//! Files that lookups ask, in the order in which they are asked.

use std::cmp::{Ordering, Reverse};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use filter::StoredFilter;

use crate::file::filters::file_filters::ResidentFilter;
use crate::file::open_file::OpenFile;
use crate::row_head::{RowHead, row_head};
use crate::{Comparator, RowProbe, Timestamp};

/// A file that lookups ask, and beside it what decides about most lookups: so a lookup passes over many files
/// without touching the memory of any of them.
///
/// Made by [`Reader::lookup_file`](crate::Reader::lookup_file).
#[derive(Clone, Debug)]
pub struct LookupFile {
    pub(crate) file: Arc<OpenFile>,
    /// The heads of the first and the last row; `None` where rows are not in the order of their bytes.
    heads: Option<(RowHead, RowHead)>,
    oldest: Timestamp,
    newest: Timestamp,
    /// The file's filter, if it is one block, from the moment that it is in memory.
    filter: OnceLock<WholeFilter>,
}

/// A filter in one block. A clone shares the bytes with the block.
#[derive(Clone, Debug)]
struct WholeFilter {
    filter: StoredFilter<Bytes>,
    bytes: usize,
}

impl LookupFile {
    /// Takes a file that may hold cells of any time.
    pub(crate) fn new(file: Arc<OpenFile>) -> Self {
        let rows = file.rows.as_ref().filter(|_| file.trailer.comparator == Comparator::Bytes);
        let heads = rows.map(|rows| (row_head(&rows.first), row_head(&rows.last)));
        let (oldest, newest) = (Timestamp::OLDEST, Timestamp::LATEST);
        Self { file, heads, oldest, newest, filter: OnceLock::new() }
    }

    /// States the times of the file's cells. A delete marker that reaches further back counts as old as that.
    /// Default: any time.
    #[must_use]
    pub fn times(self, oldest: Timestamp, newest: Timestamp) -> Self {
        Self { oldest, newest, ..self }
    }

    /// Returns the time of the oldest cell that the file may hold.
    pub const fn oldest(&self) -> Timestamp {
        self.oldest
    }

    /// Returns the time of the newest cell that the file may hold.
    pub const fn newest(&self) -> Timestamp {
        self.newest
    }

    /// Returns whether the row lies between the file's first row and its last.
    #[inline]
    pub(crate) fn spans(&self, probe: &RowProbe<'_>) -> bool {
        let Some((first, last)) = self.heads else { return self.file.spans_row(probe.row()) };
        match (probe.head().cmp(&first), probe.head().cmp(&last)) {
            (Ordering::Less, _) | (_, Ordering::Greater) => false,
            (Ordering::Greater, Ordering::Less) => true,
            _ => self.file.spans_row(probe.row()),
        }
    }

    /// Returns the filter of ours that answers for a row, if it is in memory.
    #[inline]
    pub(crate) fn resident_filter(&self, probe: &RowProbe<'_>) -> Option<ResidentFilter<'_>> {
        match self.filter.get() {
            Some(WholeFilter { filter, bytes }) => Some(ResidentFilter { filter, bytes: *bytes }),
            None => self.find_resident_filter(probe),
        }
    }

    #[inline(never)]
    fn find_resident_filter(&self, probe: &RowProbe<'_>) -> Option<ResidentFilter<'_>> {
        if let Some(ResidentFilter { filter, bytes }) = self.file.filters.resident_whole() {
            self.filter.get_or_init(|| WholeFilter { filter: filter.clone(), bytes });
        }
        self.file.filters.resident(probe)
    }
}

/// Files in the order of their newest cell, the newest first. Cloning is cheap.
///
/// A lookup stops at the first file all of whose cells are too old to matter: so are those of all files
/// behind it.
#[derive(Clone, Debug)]
pub struct LookupFiles(Arc<[LookupFile]>);

impl LookupFiles {
    /// Takes files in their order.
    ///
    /// # Panics
    ///
    /// If a file's newest cell is newer than that of the file in front of it: lookups would stop too early.
    pub fn new(files: Vec<LookupFile>) -> Self {
        assert!(
            files.is_sorted_by_key(|file| Reverse(file.newest)),
            "the files of a lookup are in the order of their newest cells"
        );
        Self(files.into())
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
