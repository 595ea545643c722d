//! What is known of a file while it is open.

use std::fmt;
use std::sync::atomic::AtomicBool;

use bytes::Bytes;

use super::block_reader::BlockReader;
use super::file_info::FileInfo;
use super::filters::file_filters::Filters;
use super::index::DataIndex;
use super::trailer::Trailer;
use crate::block::index::{BlockHandle, MiddleEntry};

/// Names of META blocks in their order, and where the blocks are.
pub(crate) type MetaIndex = Vec<(Bytes, BlockHandle)>;

/// The first and the last row of a file.
pub(crate) struct Rows {
    pub(crate) first: Box<[u8]>,
    pub(crate) last: Box<[u8]>,
}

/// A file that is open: what was loaded when it was opened, and the way to its blocks.
pub(crate) struct OpenFile {
    pub(crate) blocks: BlockReader,
    pub(crate) trailer: Trailer,
    pub(crate) file_info: FileInfo,
    /// `None` in a file without cells.
    pub(crate) index: Option<DataIndex>,
    pub(crate) middle: Option<MiddleEntry>,
    pub(crate) metas: MetaIndex,
    /// `None` in a file without cells.
    pub(crate) rows: Option<Rows>,
    pub(crate) filters: Filters,
    /// Whether the filter let the row pass that was looked up last, in this file alone.
    pub(crate) had_last_row: AtomicBool,
}

impl OpenFile {
    /// Returns whether `row` lies between the first row and the last.
    #[inline]
    pub(crate) fn spans_row(&self, row: &[u8]) -> bool {
        let order = self.trailer.comparator;
        self.rows.as_ref().is_some_and(|rows| {
            order.compare_rows(&rows.first, row).is_le()
                && order.compare_rows(row, &rows.last).is_le()
        })
    }
}

impl fmt::Debug for OpenFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenFile").field("name", &self.blocks.name).finish_non_exhaustive()
    }
}
