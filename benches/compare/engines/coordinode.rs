//! `coordinode-lsm-tree`, a descendant of fjall's tree: Bloom filters and indexes pinned in memory, LZ4, blocks of 4 KiB.
//!
//! It has no log and no threads: a fill writes no log, and flushes and compacts in the calling thread.

use std::path::Path;
use std::sync::Arc;

use ::coordinode::compaction::{CompactionAction, Leveled};
use ::coordinode::config::{
    BloomConstructionPolicy, CompressionPolicy, FilterPolicy, FilterPolicyEntry, PinningPolicy,
};
use ::coordinode::{
    AbstractTree as _, AnyTree, Cache, CompressionType, Config, Guard as _, SeqNo,
    SequenceNumberCounter,
};

use crate::engine::{BITS_PER_KEY, Engine, NewRows, Settings, Shape};

struct Coordinode {
    tree: AnyTree,
    numbers: SequenceNumberCounter,
    memtable_bytes: u64,
}

pub(crate) fn open(directory: &Path, settings: Settings) -> Box<dyn Engine> {
    let numbers = SequenceNumberCounter::default();
    let bits = BloomConstructionPolicy::BitsPerKey(BITS_PER_KEY as f32);
    let tree = Config::new(directory, numbers.clone(), SequenceNumberCounter::default())
        .use_cache(Arc::new(Cache::with_capacity_bytes(settings.cache_bytes)))
        .filter_policy(FilterPolicy::all(FilterPolicyEntry::Bloom(bits)))
        .filter_block_pinning_policy(PinningPolicy::all(true))
        .index_block_pinning_policy(PinningPolicy::all(true))
        .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
        .open()
        .expect("a writable directory");
    Box::new(Coordinode { tree, numbers, memtable_bytes: settings.memtable_bytes() as u64 })
}

impl Engine for Coordinode {
    fn load(&self, rows: NewRows<'_>) {
        for (key, value) in rows {
            let (_, memtable) = self.tree.insert(key.as_ref(), &value[..], self.numbers.next());
            if memtable > self.memtable_bytes {
                self.arrange(Shape::Levelled);
            }
        }
    }

    fn arrange(&self, shape: Shape) {
        self.tree.flush_active_memtable(0).expect("the disk has room");
        let strategy = Arc::new(Leveled::default());
        let compact = || self.tree.compact(strategy.clone(), 0).expect("sound").action;
        match shape {
            Shape::ManyFiles => {}
            Shape::Levelled => while compact() != CompactionAction::Nothing {},
            Shape::OneRun => drop(self.tree.major_compact(u64::MAX, 0).expect("sound")),
        }
    }

    fn get(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) {
        if let Some(value) = self.tree.get(key, SeqNo::MAX).expect("sound") {
            found(&value);
        }
    }

    fn scan(&self, count: usize, visit: &mut dyn FnMut(&[u8], &[u8])) {
        for row in self.tree.iter(SeqNo::MAX, None).take(count) {
            let (key, value) = row.into_inner().expect("sound");
            visit(&key, &value);
        }
    }

    fn files(&self) -> Option<u64> {
        Some(self.tree.table_count() as u64)
    }
}
