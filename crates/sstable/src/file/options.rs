//! Options of a reader.

use std::sync::Arc;

use crate::cache::{BlockCache, FileInCache};
use crate::limits::Limits;

/// Options of a reader.
///
/// By default there is no block cache, so lookups read blocks from the file.
#[derive(Clone, Debug, Default)]
#[must_use]
#[non_exhaustive]
pub struct ReaderOptions {
    /// The block cache.
    pub(crate) cache: Option<Arc<BlockCache>>,
    /// The file's id in the cache, if the writer of the file has put its blocks there.
    pub(crate) file_id: Option<u64>,
    /// Which filter lookups ask before they read blocks.
    pub(crate) filter_use: FilterUse,
    /// Whether filter blocks stay in memory until the file is closed.
    pub(crate) pin_filters: bool,
    /// Whether the cache prefers the blocks of the file.
    pub(crate) in_memory: bool,
    /// The limits on what a file can ask for.
    pub(crate) limits: Limits,
}

impl ReaderOptions {
    /// Sets the block cache, which the readers of several files may share. Default: none.
    pub fn cache(mut self, cache: Arc<BlockCache>) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Sets the block cache, and the place in it that the [writer](crate::Writer::cached_in) of the file filled.
    ///
    /// The options then serve for that one file: blocks in the cache are not checked against a file.
    #[doc(hidden)]
    pub fn written_to(mut self, place: &FileInCache) -> Self {
        self.file_id = Some(place.file);
        self.cache(Arc::clone(&place.cache)).in_memory(place.is_preferred)
    }

    /// Sets the block cache that `make` returns, unless one is set.
    #[doc(hidden)]
    pub fn cache_or_else(mut self, make: impl FnOnce() -> Arc<BlockCache>) -> Self {
        self.cache.get_or_insert_with(make);
        self
    }

    /// Sets which filter lookups ask before they read blocks. Default: [`FilterUse::Best`].
    pub const fn filter_use(mut self, filter_use: FilterUse) -> Self {
        self.filter_use = filter_use;
        self
    }

    /// Sets whether filter blocks are loaded at open and stay in memory until the file is closed.
    ///
    /// Default: no. Pinned blocks count against the cache's budget, but stay even if they exceed
    /// the budget. Filter blocks that are not pinned are loaded at their first use; they stay in
    /// memory if the filters of all files then take at most half of the cache.
    pub const fn pin_filters(mut self, pin: bool) -> Self {
        self.pin_filters = pin;
        self
    }

    /// Sets whether the cache keeps this file's blocks apart from ordinary blocks. Default: no.
    ///
    /// Such blocks take at most a quarter of the cache's budget, and ordinary blocks do not evict
    /// them. HBase has the family attribute `IN_MEMORY` for this.
    pub const fn in_memory(mut self, in_memory: bool) -> Self {
        self.in_memory = in_memory;
        self
    }

    /// Sets the maximum sizes of blocks and cells that are accepted. Default: those of [`Limits`].
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}

/// The filter of a file that lookups ask before they read blocks.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum FilterUse {
    /// This project's filter in META blocks if the file has one that can be read, else HBase's.
    #[default]
    Best,
    /// No filter: a lookup searches every file whose row range includes the row.
    None,
}

/// Whether a read uses the block cache.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Caching {
    /// The read looks up blocks in the cache, and inserts those that it reads from the file.
    #[default]
    Use,
    /// The read does not use the cache.
    ///
    /// So compactions and bulk reads do not evict the blocks that point reads need. A block is decoded cell
    /// by cell, and its last key is compared with the index when the scan leaves the block. A scan that ends
    /// earlier needs [`Scanner::until`](crate::Scanner::until) or [`Scanner::limit`](crate::Scanner::limit),
    /// which compare the key at which the scan ends.
    /// See [`Reader::bulk_scanner`](crate::Reader::bulk_scanner) for long scans.
    Bypass,
}
