//! Options of a store and a family that say how cells are stored and found, never which are shown.

use std::time::Duration;

use filter::{ErrorRate, FilterKind, Sizing};
use proptest::prelude::*;
use proptest::sample::select;
use sstable::{BloomType, Compression, DataBlockEncoding};
use store::{CompactionOptions, FamilyOptions, KeepDeletedCells, MapMode, StoreOptions};

/// The options of a family that decide about answers; both stores have the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Family {
    versions: u32,
    pub(super) min_versions: u32,
    ttl: Option<u64>,
    keep: KeepDeletedCells,
}

impl Family {
    /// An increment then replaces the older version, unless some thread reads the memstore.
    fn replaces_increments(self) -> bool {
        self.versions == 1 && self.keep == KeepDeletedCells::False
    }
}

pub(super) fn family() -> impl Strategy<Value = Family> {
    let keep = select(vec![KeepDeletedCells::False, KeepDeletedCells::True, KeepDeletedCells::Ttl]);
    (1..4_u32, 0..2_u32, prop::option::weighted(0.3, 4..15_u64), keep).prop_map(
        |(versions, min_versions, ttl, keep)| {
            let min_versions = if ttl.is_some() { min_versions } else { 0 };
            Family { versions, min_versions, ttl, keep }
        },
    )
}

/// The other options.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    filter: Option<FilterKind>,
    bloom: BloomType,
    map: MapMode,
    encoding: DataBlockEncoding,
    compression: Compression,
    block_size: u32,
    index_block_size: u32,
    cache_bytes: u64,
    segment_bytes: u64,
    open_files_max: Option<usize>,
    /// `in_memory`, `cache_on_write`, `pin_filters` and `background`.
    flags: [bool; 4],
}

impl Layout {
    /// Without filters, maps, encodings, a cache and threads.
    pub(super) const fn plain() -> Self {
        Self {
            filter: None,
            bloom: BloomType::None,
            map: MapMode::Off,
            encoding: DataBlockEncoding::None,
            compression: Compression::None,
            block_size: 64 << 10,
            index_block_size: 128 << 10,
            cache_bytes: 0,
            segment_bytes: 64 << 20,
            open_files_max: None,
            flags: [false; 4],
        }
    }

    pub(super) fn family_options(&self, family: Family) -> FamilyOptions {
        let options = FamilyOptions::default()
            .versions(family.versions)
            .min_versions(family.min_versions)
            .ttl(family.ttl.map(Duration::from_millis))
            .keep_deleted_cells(family.keep)
            .bloom_type(self.bloom)
            .family_map(self.map)
            .data_block_encoding(self.encoding)
            .compression(self.compression)
            .block_size(self.block_size)
            .in_memory(self.flags[0]);
        let sizing = Sizing::ErrorRate(ErrorRate::new(0.05).unwrap());
        match self.filter {
            Some(kind) => options.filter(kind, sizing),
            None => options,
        }
    }

    pub(super) fn store_options(&self, family: Family) -> StoreOptions {
        // Minor compactions drop versions. With a maximum of files, the sizes of the files, and so the
        // layout, would say which of them are merged.
        let compaction = CompactionOptions::default().files_max(usize::MAX);
        StoreOptions::default()
            .compaction(compaction)
            .cache_bytes(self.cache_bytes)
            .wal_segment_bytes(self.segment_bytes)
            .index_block_size(self.index_block_size)
            .open_files_max(self.open_files_max)
            .cache_on_write(self.flags[1])
            .pin_filters(self.flags[2])
            .background(self.flags[3] && !family.replaces_increments())
    }
}

pub(super) fn layout() -> impl Strategy<Value = Layout> {
    let blooms = vec![
        BloomType::None,
        BloomType::Row,
        BloomType::RowCol,
        BloomType::RowPrefixFixedLength(1),
        BloomType::RowPrefixFixedLength(2),
    ];
    let found_by = (
        prop::option::weighted(0.7, select(FilterKind::IN_FILES)),
        select(blooms),
        select(&MapMode::ALL[..]),
    );
    let stored_as = (
        select(&DataBlockEncoding::ALL[..]),
        select(vec![Compression::None, Compression::Lz4]),
        select(vec![1, 100, 64 << 10]),
        select(vec![512, 128 << 10]),
    );
    let sizes = (
        select(vec![0, 20_000, 1 << 20]),
        select(vec![200, 64 << 20]),
        select(vec![None, Some(1), Some(3)]),
    );
    (found_by, stored_as, sizes, any::<[bool; 4]>()).prop_map(
        |((filter, bloom, map), (encoding, compression, block_size, index), sizes, flags)| {
            let (cache_bytes, segment_bytes, open_files_max) = sizes;
            Layout {
                filter,
                bloom,
                map,
                encoding,
                compression,
                block_size,
                index_block_size: index,
                cache_bytes,
                segment_bytes,
                open_files_max,
                flags,
            }
        },
    )
}
