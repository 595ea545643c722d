//! Options of a reader.

use std::sync::Arc;

use crate::{BlockCache, Limits};

/// Options of a reader. By default there is no cache, and every block is read from the file.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct ReaderOptions {
    pub(crate) cache: Option<Arc<BlockCache>>,
    pub(crate) filter_use: FilterUse,
    pub(crate) pin_filters: bool,
    pub(crate) in_memory: bool,
    pub(crate) limits: Limits,
}

impl ReaderOptions {
    /// Sets the cache for blocks, which files may share. Default: none.
    pub fn cache(mut self, cache: Arc<BlockCache>) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Sets which filter is asked before blocks are read. Default: [`FilterUse::Best`].
    pub const fn filter_use(mut self, filter_use: FilterUse) -> Self {
        self.filter_use = filter_use;
        self
    }

    /// Sets whether filter blocks are loaded at open and stay in memory until the file is closed.
    ///
    /// They count against the cache's budget, but stay even if they exceed it. Default: no. Filter
    /// blocks are then loaded at their first use, and stay while the filters of all files take at
    /// most half of the cache.
    pub const fn pin_filters(mut self, pin: bool) -> Self {
        self.pin_filters = pin;
        self
    }

    /// Sets whether the cache prefers this file's blocks, in a quarter of its budget. Default: no.
    pub const fn in_memory(mut self, in_memory: bool) -> Self {
        self.in_memory = in_memory;
        self
    }

    /// Sets the sizes that are accepted. Default: those of [`Limits`].
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}

/// Which filter of a file is asked before its blocks are read.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum FilterUse {
    /// Our filter in META blocks if it can be read, else HBase's Bloom filter.
    #[default]
    Best,
    /// HBase's Bloom filter only.
    HBaseBloom,
    /// Our filter in META blocks only.
    MetaFilter,
    /// None: every file whose row range has the row is searched.
    None,
}

/// Whether a read uses the block cache.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Caching {
    /// Blocks are looked up in the cache and inserted into it.
    #[default]
    Use,
    /// The cache is not used, so that compactions and bulk reads evict no blocks of point reads.
    ///
    /// See [`Reader::bulk_scanner`](crate::Reader::bulk_scanner) for long scans.
    Bypass,
}
