//! fjall with its best settings for point reads: unpartitioned filters and indexes pinned in
//! memory, LZ4 on every level, blocks of 4 KiB (the default).
//!
//! Its counters need a build that always counts, which is slower. So they are off here, and the
//! kernel's counts are used.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ::fjall::compaction::Leveled;
use ::fjall::config::{
    BloomConstructionPolicy, CompressionPolicy, FilterPolicy, FilterPolicyEntry,
    PartitioningPolicy, PinningPolicy,
};
use ::fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions};

use crate::engine::{BITS_PER_KEY, Engine, NewRows, Settings, Shape};

struct Fjall {
    database: Database,
    keyspace: Keyspace,
}

pub(crate) fn open(directory: &Path, settings: Settings) -> Box<dyn Engine> {
    let database = Database::builder(directory)
        .cache_size(settings.cache_bytes)
        .max_journaling_size(1 << 30)
        .open()
        .expect("a writable directory");
    let keyspace = database.keyspace("rows", || options(settings)).expect("a writable directory");
    Box::new(Fjall { database, keyspace })
}

fn options(settings: Settings) -> KeyspaceCreateOptions {
    let bits = BloomConstructionPolicy::BitsPerKey(BITS_PER_KEY as f32);
    let filter = FilterPolicyEntry::Bloom(bits);
    // Four is the default.
    let files_max = if settings.is_levelled { 4 } else { u8::MAX };
    KeyspaceCreateOptions::default()
        .max_memtable_size(settings.memtable_bytes() as u64)
        .filter_policy(FilterPolicy::all(filter))
        .filter_block_pinning_policy(PinningPolicy::all(true))
        .index_block_pinning_policy(PinningPolicy::all(true))
        .filter_block_partitioning_policy(PartitioningPolicy::all(false))
        .index_block_partitioning_policy(PartitioningPolicy::all(false))
        .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
        .compaction_strategy(Arc::new(Leveled::default().with_l0_threshold(files_max)))
}

impl Fjall {
    fn wait_for_compactions(&self) {
        // It only tells whether a compaction runs, not whether one is pending; a compaction starts
        // immediately after its trigger.
        let mut quiet = 0;
        while quiet < 5 {
            std::thread::sleep(Duration::from_millis(2));
            let is_busy =
                self.database.active_compactions() + self.database.outstanding_flushes() > 0;
            quiet = if is_busy { 0 } else { quiet + 1 };
        }
    }
}

impl Engine for Fjall {
    fn load(&self, rows: NewRows<'_>) {
        for (key, value) in rows {
            self.keyspace.insert(key.as_ref(), value).expect("the disk has room");
        }
    }

    fn arrange(&self, shape: Shape) {
        self.keyspace.rotate_memtable_and_wait().expect("the disk has room");
        while self.keyspace.sealed_memtable_count() > 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        match shape {
            Shape::ManyFiles => {}
            Shape::Levelled => self.wait_for_compactions(),
            Shape::OneRun => self.keyspace.major_compact().expect("sound"),
        }
    }

    fn get(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) {
        if let Some(value) = self.keyspace.get(key).expect("sound") {
            found(&value);
        }
    }

    fn scan(&self, count: usize, visit: &mut dyn FnMut(&[u8], &[u8])) {
        for row in self.keyspace.iter().take(count) {
            let (key, value) = row.into_inner().expect("sound");
            visit(&key, &value);
        }
    }

    fn files(&self) -> Option<u64> {
        Some(self.keyspace.table_count() as u64)
    }
}
