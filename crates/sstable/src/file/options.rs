//! How a file is read.

use std::sync::Arc;

use crate::{BlockCache, Limits};

/// How a file is read. By default without a cache: every block comes from the file.
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
    /// Where blocks are kept, for this file and others. Default: nowhere.
    pub fn cache(mut self, cache: Arc<BlockCache>) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Which filter is asked before blocks are read. Default: [`FilterUse::Best`].
    pub const fn filter_use(mut self, filter_use: FilterUse) -> Self {
        self.filter_use = filter_use;
        self
    }

    /// Whether the filter's blocks are loaded when the file is opened, and kept until it is closed
    /// even where the cache would not grant the room. They count against its budget all the same.
    /// Default: no; they are loaded when they are first asked, and kept while filters have no more
    /// than half of the cache.
    pub const fn pin_filters(mut self, pin: bool) -> Self {
        self.pin_filters = pin;
        self
    }

    /// Whether the cache prefers this file's blocks to those of others, up to a quarter of it.
    /// Default: no.
    pub const fn in_memory(mut self, in_memory: bool) -> Self {
        self.in_memory = in_memory;
        self
    }

    /// What is accepted. Default: that of [`Limits`].
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}

/// Which filter of a file is asked before its blocks are read.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum FilterUse {
    /// Our own filter in META blocks if there is one that can be read, else HBase's Bloom filter.
    #[default]
    Best,
    /// HBase's Bloom filter only.
    HBaseBloom,
    /// Our own filter in META blocks only.
    MetaFilter,
    /// None: every file whose rows span the key is looked into.
    None,
}

/// Whether blocks are looked up and left in the cache.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Caching {
    /// They are.
    #[default]
    Use,
    /// They are not: compactions and bulk reads would push out what point reads need. See
    /// [`Reader::bulk_scanner`](crate::Reader::bulk_scanner) for long scans.
    Bypass,
}
