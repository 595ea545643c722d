//! The options of stores, families and compactions.
//!
//! A method sets each setting, and returns the options. The fields are private, but for those of
//! [`FamilyOptions`]: a store returns them, so they are read as well as set.

use std::sync::Arc;
use std::time::Duration;

use filter::{ErrorRate, FilterKind, Sizing};
use sstable::{BloomType, Compression, DataBlockEncoding, WriterOptions};

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::map_mode::MapMode;
use crate::vfs::{RealFiles, Vfs};

/// When a write is acknowledged. The variants are named as in HBase.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub enum Durability {
    /// As soon as the write is readable. It is lost if the process ends before a flush.
    SkipWal,
    /// As soon as the write is readable; it is logged within some hundred milliseconds.
    AsyncWal,
    /// Once the operating system has the log record: the write survives the process.
    #[default]
    SyncWal,
    /// Once the log record is on disk: the write survives a power cut.
    FsyncWal,
}

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
            vfs: Arc::new(RealFiles),
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

    /// Sets the durability of writes that specify none. Default: [`Durability::SyncWal`].
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
    /// not in memory while a family map covers its file ([`FamilyOptions::family_map`]).
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

/// Which files a store compacts, and how fast. The defaults are HBase's.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct CompactionOptions {
    /// The minimum number of files of a compaction; less than 2 counts as 2.
    pub(crate) files_min: usize,
    /// The maximum number of files of a compaction.
    pub(crate) files_max: usize,
    /// The total size below which the ratio does not apply; `None` for the flush size.
    pub(crate) size_min: Option<u64>,
    /// The maximum total size of a minor compaction's files.
    pub(crate) size_max: u64,
    /// The maximum ratio of a file's size to the sum of the other files.
    pub(crate) ratio: f64,
    /// The hours in which another ratio applies.
    pub(crate) off_peak: Option<OffPeak>,
    /// The maximum bytes that all compactions of the store write per second.
    pub(crate) bytes_per_second: Option<u64>,
}

/// Hours of the day, in UTC, in which another ratio applies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OffPeak {
    /// The first hour, 0 to 23.
    pub(crate) from_hour: u8,
    /// The end, exclusive; may be less than the first hour.
    pub(crate) to_hour: u8,
    /// The ratio in these hours.
    pub(crate) ratio: f64,
}

impl Default for CompactionOptions {
    fn default() -> Self {
        Self {
            files_min: 3,
            files_max: 10,
            size_min: None,
            size_max: u64::MAX,
            ratio: 1.2,
            off_peak: None,
            bytes_per_second: None,
        }
    }
}

impl CompactionOptions {
    /// Sets the minimum number of files of a compaction (`hbase.hstore.compaction.min`); at least
    /// 2. Default: 3.
    pub const fn files_min(mut self, files: usize) -> Self {
        self.files_min = files;
        self
    }

    /// Sets the maximum number of files of a compaction (`hbase.hstore.compaction.max`). Default:
    /// 10.
    pub const fn files_max(mut self, files: usize) -> Self {
        self.files_max = files;
        self
    }

    /// Sets the total size below which files are compacted regardless of the ratio.
    ///
    /// HBase: `hbase.hstore.compaction.min.size`. Default: `None`, which means
    /// [`StoreOptions::memstore_flush_bytes`].
    pub const fn size_min(mut self, bytes: Option<u64>) -> Self {
        self.size_min = bytes;
        self
    }

    /// Sets the maximum total size of a minor compaction's files
    /// (`hbase.hstore.compaction.max.size`). Default: no limit.
    pub const fn size_max(mut self, bytes: u64) -> Self {
        self.size_max = bytes;
        self
    }

    /// Sets the maximum ratio of a file's size to the sum of the other files of its compaction.
    ///
    /// HBase: `hbase.hstore.compaction.ratio`. Default: 1.2.
    pub const fn ratio(mut self, ratio: f64) -> Self {
        self.ratio = ratio;
        self
    }

    /// Sets another ratio for the hours `from_hour..to_hour` in UTC, which may pass midnight.
    ///
    /// HBase: `hbase.offpeak.start.hour`, `hbase.offpeak.end.hour` and
    /// `hbase.hstore.compaction.ratio.offpeak`, whose default is 5. Default: no off-peak hours.
    pub const fn off_peak(mut self, from_hour: u8, to_hour: u8, ratio: f64) -> Self {
        self.off_peak = Some(OffPeak { from_hour, to_hour, ratio });
        self
    }

    /// Limits the bytes that all compactions of the store write per second. Default: `None`, no limit.
    pub const fn bytes_per_second(mut self, bytes: Option<u64>) -> Self {
        self.bytes_per_second = bytes;
        self
    }
}

/// Whether deleted cells are kept. The variants are named as in HBase.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum KeepDeletedCells {
    /// Compactions drop deleted cells.
    #[default]
    False,
    /// Deleted cells are kept within the limits of versions and TTL. Reads whose time range ends
    /// before the marker show them.
    True,
    /// As `True`, until the marker itself is older than the TTL.
    Ttl,
}

/// Options of a family, which are stored in the manifest. The defaults are HBase's.
///
/// [`Store::family`](crate::Store::family) returns them: `options.versions` is the number of
/// versions, and `options.versions(3)` sets it.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct FamilyOptions {
    /// The type of HBase's Bloom filter in each file.
    pub bloom_type: BloomType,
    /// The maximum number of versions of a column that are kept and shown.
    pub versions: u32,
    /// The number of versions of a column that are kept although they have expired.
    pub min_versions: u32,
    /// The time after which cells expire; `None` for never.
    pub ttl: Option<Duration>,
    /// Whether deleted cells are kept.
    pub keep_deleted_cells: KeepDeletedCells,
    /// The size at which a data block is closed, in bytes.
    pub block_size: u32,
    /// The encoding of cells in data blocks.
    pub data_block_encoding: DataBlockEncoding,
    /// The compression of blocks.
    pub compression: Compression,
    /// Whether the cache prefers this family's blocks.
    pub in_memory: bool,
    /// The row filter in each file, and its size.
    ///
    /// A store that an earlier version made can have a filter that files no longer have.
    /// [`FamilyStats::filter_refusal`](crate::FamilyStats::filter_refusal) names it.
    pub filter: Option<(FilterKind, Sizing)>,
    /// Whether the family has a map of its rows in memory.
    pub family_map: MapMode,
    /// Whether the family holds keys and values, and is written through
    /// [`keys`](crate::Store::keys) only.
    pub key_value: bool,
}

impl Default for FamilyOptions {
    fn default() -> Self {
        Self {
            bloom_type: BloomType::Row,
            versions: 1,
            min_versions: 0,
            ttl: None,
            keep_deleted_cells: KeepDeletedCells::False,
            block_size: 64 << 10,
            data_block_encoding: DataBlockEncoding::None,
            compression: Compression::None,
            in_memory: false,
            filter: None,
            family_map: MapMode::Auto,
            key_value: false,
        }
    }
}

impl FamilyOptions {
    /// Sets the type of HBase's Bloom filter in each file. Default: `ROW`.
    pub const fn bloom_type(mut self, bloom_type: BloomType) -> Self {
        self.bloom_type = bloom_type;
        self
    }

    /// Sets the maximum number of versions of a column that are kept and shown, at least 1.
    /// Default: 1.
    pub const fn versions(mut self, versions: u32) -> Self {
        self.versions = versions;
        self
    }

    /// Sets the number of versions of a column that are kept although they have expired. Default:
    /// 0.
    pub const fn min_versions(mut self, versions: u32) -> Self {
        self.min_versions = versions;
        self
    }

    /// Sets the TTL, after which cells expire, in milliseconds, at least one. Default: `None`,
    /// never.
    pub const fn ttl(mut self, ttl: Option<Duration>) -> Self {
        self.ttl = ttl;
        self
    }

    /// Sets whether deleted cells are kept. Default: [`KeepDeletedCells::False`].
    pub const fn keep_deleted_cells(mut self, keep: KeepDeletedCells) -> Self {
        self.keep_deleted_cells = keep;
        self
    }

    /// Sets the size at which a data block is closed, in bytes, at most 1 GiB. Default: 64 KiB.
    pub const fn block_size(mut self, bytes: u32) -> Self {
        self.block_size = bytes;
        self
    }

    /// Sets the encoding of cells in data blocks. Default: none.
    pub const fn data_block_encoding(mut self, encoding: DataBlockEncoding) -> Self {
        self.data_block_encoding = encoding;
        self
    }

    /// Sets the compression of blocks. Default: none.
    pub const fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// Sets whether the cache prefers this family's blocks, up to a quarter of its budget. Default:
    /// no.
    pub const fn in_memory(mut self, in_memory: bool) -> Self {
        self.in_memory = in_memory;
        self
    }

    /// Adds a filter over rows to each file, which reads ask before HBase's Bloom filter. Default:
    /// none.
    ///
    /// An error rate or bits per key apply to each file. [`Sizing::Bytes`] is a budget for the
    /// filters of all files of the family, distributed to minimize false positives
    /// ([`allocate_bits`](filter::allocate_bits)). The share of a new file depends on all files at
    /// its creation. Existing filters keep their size until a compaction or
    /// [`rebuild_filters`](crate::Store::rebuild_filters), so all filters together may exceed the
    /// budget.
    ///
    /// The kind must be one of [`FilterKind::IN_FILES`]. Each has a lowest error rate and a least
    /// number of bits per key ([`FilterKind::check_sizing`]); creating and altering a family refuse
    /// a filter beyond them.
    /// Near these limits, the number of rows decides whether a filter is possible. A file without a
    /// possible filter is written without one, and
    /// [`FamilyStats::filters_omitted`](crate::FamilyStats::filters_omitted) counts it.
    pub const fn filter(mut self, filter: Option<(FilterKind, Sizing)>) -> Self {
        self.filter = filter;
        self
    }

    /// Sets whether the family has a map of its rows in memory. Default: [`MapMode::Auto`].
    ///
    /// The store adds the rows of each flush to the map. It reads the rows of other files (loaded
    /// ones, and those that exist when the store is opened) in the background. Without
    /// [`background`](crate::StoreOptions::background) threads, the call that loads or flushes files
    /// reads the rows. Gets query the filter of a file until its rows are in the map, or if they do
    /// not fit: maps and filters take at most half of the cache's budget. A store that is open for
    /// reading only has a map after [`build_family_maps`](crate::Store::build_family_maps).
    ///
    /// ```
    /// use store::{FamilyOptions, Get, MapMode, Put, Store, StoreOptions};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path();
    /// let store = Store::open(directory, StoreOptions::default().background(false))?;
    /// store.create_family("f", FamilyOptions::default().family_map(MapMode::Files))?;
    /// for row in ["row1", "row2"] {
    ///     store.put(Put::new(row).column("f", "name", "Ada"))?;
    ///     store.flush()?;
    /// }
    /// let (cells, trace) = store.get_traced(&Get::row("row2"))?;
    /// assert_eq!(cells[0].value(), b"Ada");
    /// assert_eq!((trace.map_lookups, trace.files_skipped_by_map), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn family_map(mut self, mode: MapMode) -> Self {
        self.family_map = mode;
        self
    }

    /// Sets whether the family holds keys and values, and is written through
    /// [`Store::keys`](crate::Store::keys) only. Default: no.
    ///
    /// The timestamps of such a family are sequence ids, far below those of a clock. It therefore
    /// refuses [`Put`](crate::Put), [`Delete`](crate::Delete) and a TTL, and a delete of a whole row
    /// leaves it out. `keys` sets this on an empty family. A family that `keys` wrote before the
    /// setting existed needs it once, by [`alter_family`](crate::Store::alter_family):
    ///
    /// ```
    /// # use store::{FamilyOptions, Store, StoreOptions};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = Store::open(directory.path(), StoreOptions::default())?;
    /// # store.create_family("cache", FamilyOptions::default())?;
    /// let options = store.family("cache").expect("created before");
    /// store.alter_family("cache", options.key_value(true))?;
    /// store.keys("cache")?.insert("key", "value")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn key_value(mut self, key_value: bool) -> Self {
        self.key_value = key_value;
        self
    }
}
