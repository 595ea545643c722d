//! `SurrealKV`, an LSM store with transactions: its default Bloom filter of ten bits, LZ4, blocks of 4 KiB.
//!
//! Its compaction cannot be turned off, so it takes part where each engine compacts by itself. A put is a transaction
//! that is in the log when it returns; a get is one that reads.

use std::path::Path;

use ::surrealkv::{CompactRangeOptions, LSMIterator as _, Mode, Tree, TreeBuilder};
use tokio::runtime::Runtime;

use crate::engine::{Engine, NewRows, Settings, Shape};

struct SurrealKv {
    tree: Tree,
    /// Runs the commits, and flushes and compactions meanwhile.
    runtime: Runtime,
}

pub(crate) fn open(directory: &Path, settings: Settings) -> Box<dyn Engine> {
    let runtime = Runtime::new().expect("threads can be started");
    let tree = {
        let _inside = runtime.enter();
        TreeBuilder::new()
            .with_path(directory.to_owned())
            .with_block_size(4096)
            .with_block_cache_capacity(settings.cache_bytes)
            .with_max_memtable_size(settings.memtable_bytes())
            .build()
            .expect("a writable directory")
    };
    Box::new(SurrealKv { tree, runtime })
}

impl Engine for SurrealKv {
    fn load(&self, rows: NewRows<'_>) {
        self.runtime.block_on(async {
            for (key, value) in rows {
                let mut transaction = self.tree.begin().expect("sound");
                transaction.set(key.as_ref(), &value[..]).expect("a writing transaction");
                transaction.commit().await.expect("the disk has room");
            }
        });
    }

    fn arrange(&self, _: Shape) {
        // Down to the first level only, which flushes and waits for the running compaction.
        let options = CompactRangeOptions { target_level: Some(1), ..Default::default() };
        self.tree.compact_range(None, None, &options).expect("sound");
    }

    fn get(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) {
        let transaction = self.tree.begin_with_mode(Mode::ReadOnly).expect("sound");
        if let Some(value) = transaction.get(key).expect("sound") {
            found(&value);
        }
    }

    fn scan(&self, count: usize, visit: &mut dyn FnMut(&[u8], &[u8])) {
        let transaction = self.tree.begin_with_mode(Mode::ReadOnly).expect("sound");
        let mut rows = transaction.iter().expect("sound");
        let mut has_row = rows.seek_first().expect("sound");
        for _ in 0..count {
            if !has_row {
                break;
            }
            visit(rows.key().user_key(), rows.value_encoded().expect("sound"));
            has_row = rows.next().expect("sound");
        }
    }

    fn files(&self) -> Option<u64> {
        None
    }
}

impl Drop for SurrealKv {
    fn drop(&mut self) {
        // A failure to close shows when the store is opened again.
        let _ = self.runtime.block_on(self.tree.close());
    }
}
