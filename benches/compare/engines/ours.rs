//! This project's store, as a map from keys to values.
//!
//! `FAST_DIFF`, LZ4 and blocks of 4 KiB before compression, which is the default size of the
//! others. Only a row filter: an HBase Bloom filter would be a second filter.

use std::path::{Path, PathBuf};

use filter::{FilterKind, Sizing};
use sstable::{BloomType, Compression, DataBlockEncoding, Reader, ReaderOptions};
use store::{CompactionKind, FamilyOptions, KeyValueMap, MapMode, Store, StoreOptions};

use crate::engine::{BITS_PER_KEY, Counters, Engine, NewRows, OURS_DEFAULT, Settings, Shape};

const FAMILY: &str = "f";
/// HBase limits blocks by the size of plain cells; after `FAST_DIFF` 4 KiB are left.
const BLOCK_BYTES: u32 = 4608;
/// One index block per file, in memory, as in the other engines.
const INDEX_BYTES: u32 = 64 << 20;

struct Ours {
    directory: PathBuf,
    store: Store,
    keys: KeyValueMap,
    has_map: bool,
}

pub(crate) fn open(directory: &Path, settings: Settings) -> Box<dyn Engine> {
    let has_map = settings.name == OURS_DEFAULT;
    let options = StoreOptions::default()
        .cache_bytes(settings.cache_bytes)
        .memstore_flush_bytes(settings.memtable_bytes())
        .auto_compaction(settings.is_levelled)
        // The filters of files that a map covers leave memory, unless they are pinned.
        .pin_filters(!has_map)
        .index_block_size(INDEX_BYTES);
    let is_new = !directory.join("MANIFEST").exists();
    let store = Store::open(directory, options).expect("a writable directory");
    if is_new {
        let is_ribbon = settings.has("ribbon");
        let kind = if is_ribbon { FilterKind::Ribbon } else { FilterKind::BlockedBloom };
        let family = FamilyOptions::default()
            .key_value(true)
            .bloom_type(BloomType::None)
            .block_size(BLOCK_BYTES)
            .compression(Compression::Lz4)
            .data_block_encoding(DataBlockEncoding::FastDiff)
            .filter(kind, Sizing::BitsPerKey(BITS_PER_KEY))
            .family_map(if has_map { MapMode::Auto } else { MapMode::Off });
        store.create_family(FAMILY, family).expect("a new store");
    }
    let keys = store.map(FAMILY).expect("the family exists");
    Box::new(Ours { directory: directory.join(FAMILY), store, keys, has_map })
}

impl Engine for Ours {
    fn load(&self, rows: NewRows<'_>) {
        for (key, value) in rows {
            self.keys.insert(key, value).expect("the disk has room");
        }
    }

    fn arrange(&self, shape: Shape) {
        self.store.flush().expect("the disk has room");
        let compact = |kind| self.store.compact(FAMILY, kind).expect("sound");
        match shape {
            Shape::ManyFiles => {}
            Shape::Levelled => {
                // A requested compaction waits for the running one.
                let mut done = None;
                while done != Some(self.store.stats().compactions) {
                    done = Some(self.store.stats().compactions);
                    compact(CompactionKind::Minor);
                }
            }
            Shape::OneRun => compact(CompactionKind::Major),
        }
    }

    fn get(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) {
        // Without a copy, as the gets of the other engines.
        self.keys.get_with(key, |value| found(value)).expect("sound");
    }

    fn scan(&self, count: usize, visit: &mut dyn FnMut(&[u8], &[u8])) {
        let mut rows = self.keys.range::<&[u8]>(..);
        for _ in 0..count {
            let Some((key, value)) = rows.next_ref().expect("sound") else { break };
            visit(key, value);
        }
    }

    fn counters(&self) -> Option<Counters> {
        let reads = self.store.stats().families[0].reads;
        Some(Counters {
            filter_checks: reads.filter_checks,
            filter_negatives: reads.files_skipped_by_filter,
            map_false_files: reads.map_false_files,
            data_blocks: reads.data_blocks(),
        })
    }

    fn files(&self) -> Option<u64> {
        Some(self.store.stats().families[0].files)
    }

    fn filter_bytes(&self) -> Option<u64> {
        let files = std::fs::read_dir(&self.directory).ok()?.flatten();
        let bytes = files.map(|file| {
            let reader = Reader::open_file(file.path(), ReaderOptions::default()).ok()?;
            Some(reader.filters().row_filter().ok()??.byte_size)
        });
        bytes.sum()
    }

    fn memory_bytes(&self) -> Option<u64> {
        Some(self.store.stats().cache.reserved_bytes)
    }

    fn mapped_files(&self) -> Option<u64> {
        let covered = || self.store.stats().families[0].map.unwrap_or_default().covered_files;
        self.has_map.then(covered)
    }

    fn build_maps(&self) {
        self.store.build_family_maps();
    }
}
