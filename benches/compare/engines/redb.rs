//! redb, a B-tree in one file: the cost of a present get without a choice among files.
//!
//! It writes in transactions; here each has many rows and does not wait for the disk. One read
//! transaction serves all gets, which is the cheapest way.

use std::path::Path;
use std::sync::OnceLock;

use ::redb::{
    Database, Durability, ReadOnlyTable, ReadableDatabase, ReadableTable, TableDefinition,
};

use crate::engine::{Engine, NewRows, Settings, Shape};

type Bytes = &'static [u8];
const TABLE: TableDefinition<'_, Bytes, Bytes> = TableDefinition::new("rows");

struct Redb {
    database: Database,
    /// The table as the first read found it. No store is written after a read.
    table: OnceLock<ReadOnlyTable<Bytes, Bytes>>,
}

pub(crate) fn open(directory: &Path, settings: Settings) -> Box<dyn Engine> {
    let mut builder = Database::builder();
    let database =
        builder.set_cache_size(settings.cache_bytes as usize).create(directory.join("redb"));
    Box::new(Redb { database: database.expect("a writable directory"), table: OnceLock::new() })
}

impl Redb {
    fn table(&self) -> &ReadOnlyTable<Bytes, Bytes> {
        self.table.get_or_init(|| {
            let transaction = self.database.begin_read().expect("sound");
            transaction.open_table(TABLE).expect("something was written")
        })
    }
}

impl Engine for Redb {
    fn load(&self, rows: NewRows<'_>) {
        let mut transaction = self.database.begin_write().expect("no other writer");
        transaction.set_durability(Durability::None).expect("no savepoint");
        let mut table = transaction.open_table(TABLE).expect("sound");
        for (key, value) in rows {
            table.insert(key.as_ref(), &value[..]).expect("the disk has room");
        }
        drop(table);
        transaction.commit().expect("the disk has room");
    }

    fn arrange(&self, _: Shape) {
        let transaction = self.database.begin_write().expect("no other writer");
        transaction.commit().expect("the disk has room");
    }

    fn get(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) {
        if let Some(value) = self.table().get(key).expect("sound") {
            found(value.value());
        }
    }

    fn scan(&self, count: usize, visit: &mut dyn FnMut(&[u8], &[u8])) {
        for row in self.table().iter().expect("sound").take(count) {
            let (key, value) = row.expect("sound");
            visit(key.value(), value.value());
        }
    }

    fn files(&self) -> Option<u64> {
        Some(1)
    }
}
