//! The options of an open store.

use std::sync::Arc;
use std::time::Duration;

use cells::Clock;
use filter::ErrorRate;
use sstable::{BloomType, WriterOptions};

use crate::error::{Error, Result};
use crate::vfs::{RealFiles, Vfs};

use super::compaction_options::CompactionOptions;
use super::durability::Durability;

/// Options of an open store. They are not stored.
#[derive(Clone, Debug)]
#[must_use]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "independent settings, each with a named setter")]
pub struct StoreOptions {
    /// The file system.
    pub(crate) vfs: Arc<dyn Vfs>,
    /// The clock.
    pub(crate) clock: Clock,
    /// Whether a missing store is created.
    pub(crate) create: bool,
    /// The durability of writes that specify none.
    pub(crate) durability: Durability,
    /// The memory budget of the block cache.
    pub(crate) cache_bytes: u64,
    /// The memory of all memstores together at which they are flushed.
    pub(crate) memstore_flush_bytes: usize,
    /// The length at which a log segment is closed.
    pub(crate) wal_segment_bytes: u64,
    /// Whether a family with many files is compacted automatically.
    pub(crate) auto_compaction: bool,
    /// Whether a flush adds its blocks to the block cache.
    pub(crate) cache_on_write: bool,
    /// Which files are compacted, and how fast.
    pub(crate) compaction: CompactionOptions,
    /// How long a write waits for memory.
    pub(crate) stall_max: Duration,
    /// Whether background threads flush and compact.
    pub(crate) background: bool,
    /// Whether filters are pinned in memory.
    pub(crate) pin_filters: bool,
    /// The maximum size of an index block in new files, in bytes.
    pub(crate) index_block_size: u32,
    /// The error rate of HBase's Bloom filters in new files.
    pub(crate) bloom_error_rate: ErrorRate,
    /// The maximum number of open store files; `None` for half of the process's descriptors.
    pub(crate) open_files_max: Option<usize>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            vfs: Arc::new(RealFiles::default()),
            clock: Clock::system(),
            create: true,
            durability: Durability::default(),
            cache_bytes: 256 << 20,
            memstore_flush_bytes: 64 << 20,
            wal_segment_bytes: 64 << 20,
            auto_compaction: true,
            cache_on_write: false,
            compaction: CompactionOptions::default(),
            stall_max: Duration::from_secs(60),
            background: true,
            pin_filters: false,
            bloom_error_rate: ErrorRate::HBASE,
            index_block_size: 128 << 10,
            open_files_max: None,
        }
    }
}

impl StoreOptions {
    /// Sets the file system. Default: the operating system's.
    pub fn vfs(mut self, vfs: Arc<dyn Vfs>) -> Self {
        self.vfs = vfs;
        self
    }

    /// Sets the clock. Default: the system clock.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Sets whether a missing store is created. Default: yes.
    pub const fn create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }

    /// Sets the durability of writes that specify none. Default: [`Durability::Logged`].
    pub const fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Sets the memory budget of the block cache, for blocks of all kinds and families. Default:
    /// 256 MiB.
    pub const fn cache_bytes(mut self, bytes: u64) -> Self {
        self.cache_bytes = bytes;
        self
    }

    /// Sets the memory of all memstores together at which they are flushed. Default: 64 MiB.
    ///
    /// At four times this memory writers wait for a flush, at most for
    /// [`stall_max`](Self::stall_max).
    pub const fn memstore_flush_bytes(mut self, bytes: usize) -> Self {
        self.memstore_flush_bytes = bytes;
        self
    }

    /// Sets the length at which a log segment is closed. Default: 64 MiB.
    pub const fn wal_segment_bytes(mut self, bytes: u64) -> Self {
        self.wal_segment_bytes = bytes;
        self
    }

    /// Sets whether background threads flush and compact. Default: yes.
    ///
    /// Without them, the writer that fills a memstore flushes and compacts, so all work happens in
    /// the order of the calls.
    pub const fn background(mut self, background: bool) -> Self {
        self.background = background;
        self
    }

    /// Sets which files are compacted, and how fast. Default: HBase's policy, without a speed
    /// limit.
    pub const fn compaction(mut self, compaction: CompactionOptions) -> Self {
        self.compaction = compaction;
        self
    }

    /// Sets how long a write waits for memory before it fails with
    /// [`Error::Busy`](crate::Error::Busy).
    ///
    /// Writes wait if flushes do not keep up. Default: 60 s.
    pub const fn stall_max(mut self, wait: Duration) -> Self {
        self.stall_max = wait;
        self
    }

    /// Sets whether filters are loaded when a store file is opened and pinned in memory. Default:
    /// no.
    ///
    /// Pinned filters count against the budget of the block cache. Without this option, filters
    /// stay in memory once loaded, while they take at most half of the budget. A filter over rows is
    /// not in memory while a family map covers its file ([`FamilyOptions::family_map`](crate::FamilyOptions::family_map)).
    pub const fn pin_filters(mut self, pin: bool) -> Self {
        self.pin_filters = pin;
        self
    }

    /// Sets the error rate of HBase's Bloom filters in new files (`io.storefile.bloom.error.rate`).
    ///
    /// From 10^−7 to 0.61; opening a store for writing refuses other rates. Default: 1 %.
    pub const fn bloom_error_rate(mut self, rate: ErrorRate) -> Self {
        self.bloom_error_rate = rate;
        self
    }

    /// Sets the maximum size of an index block in new files (`hfile.index.block.max.size`).
    ///
    /// An index of one block stays in memory, outside of the cache, while its file is open. A
    /// larger index is split into leaf blocks in the cache, and each read needs one of them.
    /// Less than 512 bytes counts as 512 bytes, more than 64 MiB as 64 MiB. Default: 128 KiB.
    pub const fn index_block_size(mut self, bytes: u32) -> Self {
        self.index_block_size = bytes;
        self
    }

    /// Sets the maximum number of store files that this store has open at the same time.
    ///
    /// The least recently used ones are closed, and opened again by their next read. Their indexes
    /// and filters stay in memory. In any case, the files of all stores of the process together
    /// take at most half of the descriptors that it may have (`ulimit -n`). Less than 1 counts as 1.
    /// Default: `None`, which means no further limit.
    pub const fn open_files_max(mut self, files: Option<usize>) -> Self {
        self.open_files_max = files;
        self
    }

    /// Sets whether a family with many files is compacted automatically. Default: yes.
    pub const fn auto_compaction(mut self, auto_compaction: bool) -> Self {
        self.auto_compaction = auto_compaction;
        self
    }

    /// Sets whether a flush adds its blocks to the block cache (`hbase.rs.cacheblocksonwrite`).
    /// Default: no.
    pub const fn cache_on_write(mut self, cache_on_write: bool) -> Self {
        self.cache_on_write = cache_on_write;
        self
    }
}

impl StoreOptions {
    /// Checks the settings that only a flush would refuse.
    pub(crate) fn check(&self) -> Result<()> {
        // The least rate of this type is greater than that of the others, whose greatest is less.
        for bloom_type in [BloomType::RowCol, BloomType::Row] {
            let options = WriterOptions::default().bloom_type(bloom_type);
            let checked = options.bloom_error_rate(self.bloom_error_rate).check();
            checked.map_err(|error| Error::invalid(error.to_string()))?;
        }
        Ok(())
    }
}
