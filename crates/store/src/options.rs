//! How a store behaves, and how a family keeps its cells.

use std::sync::Arc;
use std::time::Duration;

use filter::{ErrorRate, FilterKind, Sizing};
use sstable::{BloomType, Compression, DataBlockEncoding, FilterUse};

use crate::clock::Clock;
use crate::vfs::{RealFiles, Vfs};

/// When a write is acknowledged. The names are HBase's.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub enum Durability {
    /// Once it can be read. It survives nothing, until it is flushed.
    SkipWal,
    /// Once it can be read; the log follows within some hundred milliseconds.
    AsyncWal,
    /// Once the operating system has it: it survives the process.
    #[default]
    SyncWal,
    /// Once the disk has it: it survives a power cut.
    FsyncWal,
}

/// How a store behaves while it is open. Nothing of it is stored.
#[derive(Clone, Debug)]
#[must_use]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own, set by name")]
pub struct StoreOptions {
    pub(crate) vfs: Arc<dyn Vfs>,
    pub(crate) clock: Clock,
    pub(crate) create: bool,
    pub(crate) durability: Durability,
    pub(crate) cache_bytes: u64,
    pub(crate) memstore_flush_bytes: usize,
    pub(crate) wal_segment_bytes: u64,
    pub(crate) auto_compaction: bool,
    pub(crate) cache_on_write: bool,
    pub(crate) compaction: CompactionOptions,
    pub(crate) stall_max: Duration,
    pub(crate) background: bool,
    pub(crate) filter_use: FilterUse,
    pub(crate) pin_filters: bool,
    pub(crate) index_block_size: u32,
    pub(crate) bloom_error_rate: ErrorRate,
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
            filter_use: FilterUse::default(),
            pin_filters: false,
            bloom_error_rate: ErrorRate::HBASE,
            index_block_size: 128 << 10,
        }
    }
}

impl StoreOptions {
    /// Where files are. Default: the operating system's file system.
    pub fn vfs(mut self, vfs: Arc<dyn Vfs>) -> Self {
        self.vfs = vfs;
        self
    }

    /// What time it is. Default: the computer's clock.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Whether a store is made where there is none. Default: yes.
    pub const fn create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }

    /// When `put` and `delete` return. Default: [`Durability::SyncWal`].
    pub const fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Memory for blocks of all kinds and all families. Default: 256 MiB.
    pub const fn cache_bytes(mut self, bytes: u64) -> Self {
        self.cache_bytes = bytes;
        self
    }

    /// Memory that the memstores may take together before they are flushed. Writers wait once
    /// they take four times as much, for [`stall_max`](Self::stall_max) at most. Default: 64 MiB.
    pub const fn memstore_flush_bytes(mut self, bytes: usize) -> Self {
        self.memstore_flush_bytes = bytes;
        self
    }

    /// The length at which a log segment is closed and another begun. Default: 64 MiB.
    pub const fn wal_segment_bytes(mut self, bytes: u64) -> Self {
        self.wal_segment_bytes = bytes;
        self
    }

    /// Whether the store has a thread that flushes and compacts. Without it, the writer that fills
    /// a memstore does so itself, and nothing happens but in the order of the calls.
    /// Default: yes.
    pub const fn background(mut self, background: bool) -> Self {
        self.background = background;
        self
    }

    /// Which filters of the store files are asked. Default: the best that each file has.
    pub const fn filter_use(mut self, filter_use: FilterUse) -> Self {
        self.filter_use = filter_use;
        self
    }

    /// Which files are merged, and how fast. Default: HBase's choice, as fast as can be.
    pub const fn compaction(mut self, compaction: CompactionOptions) -> Self {
        self.compaction = compaction;
        self
    }

    /// How long a write waits for memory when flushes do not keep up, before it is refused with
    /// [`Error::Busy`](crate::Error::Busy). Default: a minute.
    pub const fn stall_max(mut self, wait: Duration) -> Self {
        self.stall_max = wait;
        self
    }

    /// Whether the filters of store files are loaded when they are opened, and stay in memory. They
    /// count against the memory for blocks. Default: no; they stay while they take at most half.
    pub const fn pin_filters(mut self, pin: bool) -> Self {
        self.pin_filters = pin;
        self
    }

    /// How often HBase's Bloom filters in new files may be wrong (`io.storefile.bloom.error.rate`).
    /// Default: 1 %.
    pub const fn bloom_error_rate(mut self, rate: ErrorRate) -> Self {
        self.bloom_error_rate = rate;
        self
    }

    /// Bytes after which an index block of a new file is cut (`hfile.index.block.max.size`). A file whose
    /// index is one block keeps it in memory while it is open, outside of the cache; that of a larger
    /// one is cut into blocks that come and go in the cache, of which each read needs one more. Taken
    /// to be 512 bytes at least and 64 MiB at most. Default: 128 KiB.
    pub const fn index_block_size(mut self, bytes: u32) -> Self {
        const MIN: u32 = 512;
        const MAX: u32 = 64 << 20;
        self.index_block_size = match bytes {
            ..MIN => MIN,
            MAX.. => MAX,
            bytes => bytes,
        };
        self
    }

    /// Whether files are merged on their own once a family has many. Default: yes.
    pub const fn auto_compaction(mut self, auto_compaction: bool) -> Self {
        self.auto_compaction = auto_compaction;
        self
    }

    /// Whether a flush leaves the blocks it wrote in the block cache
    /// (`hbase.rs.cacheblocksonwrite`), for those who read what they just wrote. Default: no.
    pub const fn cache_on_write(mut self, cache_on_write: bool) -> Self {
        self.cache_on_write = cache_on_write;
        self
    }
}

/// How a store chooses the files that it merges, and how fast. The defaults are HBase's.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct CompactionOptions {
    pub(crate) files_min: usize,
    pub(crate) files_max: usize,
    pub(crate) size_min: Option<u64>,
    pub(crate) size_max: u64,
    pub(crate) ratio: f64,
    pub(crate) off_peak: Option<OffPeak>,
    pub(crate) bytes_per_second: Option<u64>,
}

/// Hours of the day, in UTC, in which larger files are merged too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OffPeak {
    pub(crate) from_hour: u8,
    pub(crate) to_hour: u8,
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
    /// Fewer files than this are not worth a compaction (`hbase.hstore.compaction.min`); at least
    /// two. Default: 3.
    pub const fn files_min(mut self, files: usize) -> Self {
        self.files_min = if files < 2 { 2 } else { files };
        self
    }

    /// More files than this are not merged at once (`hbase.hstore.compaction.max`). Default: 10.
    pub const fn files_max(mut self, files: usize) -> Self {
        self.files_max = files;
        self
    }

    /// Files that come to less than this together are merged however uneven they are
    /// (`hbase.hstore.compaction.min.size`). Default: `None`, what a memstore is flushed at.
    pub const fn size_min(mut self, bytes: Option<u64>) -> Self {
        self.size_min = bytes;
        self
    }

    /// Files that come to more than this together are merged by a major compaction only
    /// (`hbase.hstore.compaction.max.size`). Default: no limit.
    pub const fn size_max(mut self, bytes: u64) -> Self {
        self.size_max = bytes;
        self
    }

    /// How large a file may be for those it is merged with: this many times their sum
    /// (`hbase.hstore.compaction.ratio`). Default: 1.2.
    pub const fn ratio(mut self, ratio: f64) -> Self {
        self.ratio = ratio;
        self
    }

    /// Another ratio from one hour of the day, in UTC, up to but without another, which may be past
    /// midnight (`hbase.offpeak.start.hour`, `hbase.offpeak.end.hour`,
    /// `hbase.hstore.compaction.ratio.offpeak`, whose default is 5). Default: at no hour.
    pub const fn off_peak(mut self, from_hour: u8, to_hour: u8, ratio: f64) -> Self {
        self.off_peak = Some(OffPeak { from_hour, to_hour, ratio });
        self
    }

    /// How many bytes of files a compaction makes in a second. Default: `None`, as many as it can.
    pub const fn bytes_per_second(mut self, bytes: Option<u64>) -> Self {
        self.bytes_per_second = bytes;
        self
    }
}

/// What becomes of cells that a delete marker hides. The names are HBase's.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum KeepDeletedCells {
    /// They go at the next compaction.
    #[default]
    False,
    /// They stay, as long as versions and TTL let them, and are shown to reads whose time range
    /// ends before the marker.
    True,
    /// As `True` until the marker itself is older than the TTL.
    Ttl,
}

/// How a family keeps its cells. The defaults are those of an HBase column family.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct FamilyOptions {
    pub(crate) bloom_type: BloomType,
    pub(crate) versions: u32,
    pub(crate) min_versions: u32,
    pub(crate) ttl: Option<Duration>,
    pub(crate) keep_deleted_cells: KeepDeletedCells,
    pub(crate) block_size: u32,
    pub(crate) data_block_encoding: DataBlockEncoding,
    pub(crate) compression: Compression,
    pub(crate) in_memory: bool,
    pub(crate) filter: Option<(FilterKind, Sizing)>,
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
        }
    }
}

impl FamilyOptions {
    /// What HBase's Bloom filter in each file is asked about. Default: rows.
    pub const fn bloom_type(mut self, bloom_type: BloomType) -> Self {
        self.bloom_type = bloom_type;
        self
    }

    /// How many versions of a column are kept and shown at most. Default: 1.
    pub const fn versions(mut self, versions: u32) -> Self {
        self.versions = versions;
        self
    }

    /// How many versions of a column are kept although their time to live is over. Default: 0.
    pub const fn min_versions(mut self, versions: u32) -> Self {
        self.min_versions = versions;
        self
    }

    /// How long cells live. Default: `None`, for ever.
    pub const fn ttl(mut self, ttl: Option<Duration>) -> Self {
        self.ttl = ttl;
        self
    }

    /// What becomes of deleted cells. Default: they go.
    pub const fn keep_deleted_cells(mut self, keep: KeepDeletedCells) -> Self {
        self.keep_deleted_cells = keep;
        self
    }

    /// The size at which a data block is closed, in bytes. Default: 64 KiB.
    pub const fn block_size(mut self, bytes: u32) -> Self {
        self.block_size = bytes;
        self
    }

    /// How cells are stored in data blocks. Default: as they are.
    pub const fn data_block_encoding(mut self, encoding: DataBlockEncoding) -> Self {
        self.data_block_encoding = encoding;
        self
    }

    /// How blocks are compressed. Default: not at all.
    pub const fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// Whether the cache prefers this family's blocks to those of others, up to a quarter of its
    /// budget. Default: no.
    pub const fn in_memory(mut self, in_memory: bool) -> Self {
        self.in_memory = in_memory;
        self
    }

    /// A filter over rows beside HBase's Bloom filter in each file; reads ask it first. An error rate
    /// and bits per key are those of each file. [`Sizing::Bytes`] is a budget for the filters of all
    /// files together, shared out so that reads are misled as seldom as possible
    /// ([`allocate_bits`](filter::allocate_bits)): a new file gets what the whole set of files then
    /// says, and those before it keep theirs until they are compacted or
    /// [`rebuild_filters`](crate::Store::rebuild_filters) is called; until then all together may
    /// have more than the budget. Default: none.
    pub const fn filter(mut self, filter: Option<(FilterKind, Sizing)>) -> Self {
        self.filter = filter;
        self
    }
}
