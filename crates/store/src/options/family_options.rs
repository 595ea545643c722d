//! The options of a family.

use std::time::Duration;

use cells::{KeepDeletedCells, Retention};
use filter::{FilterKind, Sizing};
use sstable::{BloomType, Compression, DataBlockEncoding};

use super::row_filter::RowFilter;
use crate::family_map::mode::MapMode;

/// Options of a family, which are stored in the manifest. The defaults are HBase's.
///
/// [`Store::family`](crate::Store::family) returns them. [`retention`](Self::retention) has the
/// settings that decide which cells are kept, [`hbase_settings`](Self::hbase_settings) all settings as text.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct FamilyOptions {
    /// The type of HBase's Bloom filter in each file.
    pub(crate) bloom_type: BloomType,
    /// The maximum number of versions of a column that are kept and shown.
    pub(crate) versions: u32,
    /// The number of versions of a column that are kept although they have expired.
    pub(crate) min_versions: u32,
    /// The time after which cells expire; `None` for never.
    pub(crate) ttl: Option<Duration>,
    /// Whether deleted cells are kept.
    pub(crate) keep_deleted_cells: KeepDeletedCells,
    /// The size at which a data block is closed, in bytes.
    pub(crate) block_size: u32,
    /// The encoding of cells in data blocks.
    pub(crate) data_block_encoding: DataBlockEncoding,
    /// The compression of blocks.
    pub(crate) compression: Compression,
    /// Whether the cache prefers this family's blocks.
    pub(crate) in_memory: bool,
    /// The row filter in each file, and its size.
    pub(crate) filter: Option<RowFilter>,
    /// Whether the family has a map of its rows in memory.
    pub(crate) family_map: MapMode,
    /// Whether the family holds keys and values.
    pub(crate) key_value: bool,
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
    /// Returns the settings that decide which cells are kept and shown.
    ///
    /// ```
    /// use store::FamilyOptions;
    ///
    /// assert_eq!(FamilyOptions::default().versions(3).retention().versions, 3);
    /// ```
    pub const fn retention(&self) -> Retention {
        let Self { versions, min_versions, ttl, keep_deleted_cells, .. } = *self;
        Retention { versions, min_versions, ttl, keep_deleted_cells }
    }

    /// Returns the type of HBase's Bloom filter in each file.
    #[doc(hidden)]
    pub const fn bloom(&self) -> BloomType {
        self.bloom_type
    }

    /// Returns whether the family has a map of its rows in memory.
    #[doc(hidden)]
    pub const fn map_mode(&self) -> MapMode {
        self.family_map
    }

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
    ///
    /// ```
    /// use filter::{ErrorRate, FilterKind, Sizing};
    /// use store::FamilyOptions;
    ///
    /// let sizing = Sizing::ErrorRate(ErrorRate::new(0.01)?);
    /// let options = FamilyOptions::default().filter(FilterKind::BlockedBloom, sizing);
    /// assert_eq!(options.no_filter(), FamilyOptions::default());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn filter(mut self, kind: FilterKind, sizing: Sizing) -> Self {
        self.filter = Some(RowFilter { kind, sizing });
        self
    }

    /// Removes the filter over rows that [`filter`](Self::filter) adds.
    pub const fn no_filter(mut self) -> Self {
        self.filter = None;
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

    /// Sets whether the family holds keys and values, as a [`KeyValueMap`](crate::KeyValueMap) reads
    /// and writes them. Default: no.
    ///
    /// The timestamps of such a family are sequence ids, far below those of a clock. It therefore
    /// refuses a TTL, timestamps of the caller, and columns but the one with the empty name. A delete
    /// of a whole row leaves it out. [`create_map`](crate::Store::create_map) sets this.
    /// [`alter_family`](crate::Store::alter_family) sets it on an empty family, and again after a salvage that
    /// lost the settings:
    ///
    /// ```
    /// # use store::{FamilyOptions, Store, StoreOptions};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = Store::open(directory.path(), StoreOptions::default())?;
    /// # store.create_family("cache", FamilyOptions::default())?;
    /// let options = store.family("cache").expect("created before");
    /// store.alter_family("cache", options.key_value(true))?;
    /// store.map("cache")?.insert("key", "value")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn key_value(mut self, key_value: bool) -> Self {
        self.key_value = key_value;
        self
    }
}
