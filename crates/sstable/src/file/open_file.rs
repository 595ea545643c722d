//! An open file: its metadata in memory, and the reader of its blocks.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::data_index::DataIndex;
use super::file_info::FileInfo;
use super::filters::file_filter::Filters;
use super::load_block::BlockReader;
use super::trailer::Trailer;
use crate::block::index_entry::{MetaIndex, MiddleEntry};

/// The first and the last row of a file.
pub(crate) struct Rows {
    pub(crate) first: Box<[u8]>,
    pub(crate) last: Box<[u8]>,
}

/// An open file: the contents of the load-on-open section, and the reader of the blocks.
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
    /// The flat key of the last cell, as the file info states it; empty in a file without cells.
    pub(crate) last_key: Vec<u8>,
    /// The current filters. A lookup list keeps those that it was made with.
    pub(super) filters: Mutex<Arc<Filters>>,
    /// Whether the filter that lookups ask has columns, not rows.
    pub(crate) is_filter_over_columns: bool,
}

impl OpenFile {
    /// Returns the current filters.
    pub(crate) fn filters(&self) -> Arc<Filters> {
        Arc::clone(&self.lock_filters())
    }

    /// Replaces the filters by a copy without blocks in memory, unless lookups still ask them.
    ///
    /// The blocks leave memory, and their bytes the budget of the cache, when the last lookup list
    /// that was made with the old filters is dropped.
    pub(crate) fn unload_filters(&self) {
        let mut filters = self.lock_filters();
        if let Some(unloaded) = filters.unloaded() {
            let old = std::mem::replace(&mut *filters, Arc::new(unloaded));
            // Giving the bytes back can take a while.
            drop(filters);
            drop(old);
        }
    }

    fn lock_filters(&self) -> MutexGuard<'_, Arc<Filters>> {
        // The filters are replaced in one step, so a panic cannot leave them incomplete.
        self.filters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether `row` is between the first and the last row of the file.
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
