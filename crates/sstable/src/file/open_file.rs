//! What is known of a file while it is open.

use std::sync::atomic::AtomicBool;

use bytes::Bytes;

use super::blocks::Blocks;
use super::file_info::FileInfo;
use super::filters::file_filters::FileFilters;
use super::index::DataIndex;
use super::options::FilterUse;
use super::trailer::Trailer;
use crate::block::index::{BlockPlace, MiddleEntry};

/// Names of META blocks in their order, and where the blocks are.
pub(crate) type MetaIndex = Vec<(Bytes, BlockPlace)>;

/// The first and the last row of a file.
pub(crate) struct Rows {
    pub(crate) first: Box<[u8]>,
    pub(crate) last: Box<[u8]>,
}

/// A file that is open: what was loaded when it was opened, and the way to its blocks.
pub(crate) struct OpenFile {
    pub(crate) blocks: Blocks,
    pub(crate) trailer: Trailer,
    pub(crate) file_info: FileInfo,
    /// `None` in a file without cells.
    pub(crate) index: Option<DataIndex>,
    pub(crate) middle: Option<MiddleEntry>,
    pub(crate) metas: MetaIndex,
    /// `None` in a file without cells.
    pub(crate) rows: Option<Rows>,
    pub(crate) filters: FileFilters,
    pub(crate) filter_use: FilterUse,
    /// Whether the filter let the row through that was looked up last.
    pub(crate) had_last_row: AtomicBool,
}
