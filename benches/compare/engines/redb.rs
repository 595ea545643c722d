//! redb, a B-tree in one file: the cost of a present get without a choice among files.
//!
//! It writes in transactions; here each has many rows and does not wait for the disk. One read
//! transaction, opened after the writes, serves all gets, which is the cheapest way.

use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError, RwLock};

use ::redb::{
    Database, Durability, ReadOnlyTable, ReadableDatabase, ReadableTable, TableDefinition,
};
use workload::Rows;

use super::TRANSACTION_ROWS;
use crate::engine::{Engine, Settings};

type Bytes = &'static [u8];
const TABLE: TableDefinition<'_, Bytes, Bytes> = TableDefinition::new("rows");

struct Redb {
    database: Mutex<Database>,
    /// The read transaction after the last write.
    table: RwLock<Option<ReadOnlyTable<Bytes, Bytes>>>,
}

pub(crate) fn open(directory: &Path, settings: Settings) -> Box<dyn Engine> {
    std::fs::create_dir_all(directory).expect("a writable directory");
    let database = Database::builder()
        .set_cache_size(settings.cache_size())
        .create(directory.join("redb"))
        .expect("a writable directory");
    let redb = Redb { database: Mutex::new(database), table: RwLock::default() };
    redb.show();
    Box::new(redb)
}

impl Redb {
    /// Opens a new read transaction, so that reads see all writes.
    fn show(&self) {
        let database = self.database.lock().unwrap_or_else(PoisonError::into_inner);
        let table = database.begin_read().expect("sound").open_table(TABLE).ok();
        *self.table.write().unwrap_or_else(PoisonError::into_inner) = table;
    }

    fn with_table<T>(&self, read: impl FnOnce(&ReadOnlyTable<Bytes, Bytes>) -> T) -> T {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        read(table.as_ref().expect("something was written"))
    }
}

impl Engine for Redb {
    fn load(&self, rows: Rows, indexes: Range<u64>) {
        let database = self.database.lock().unwrap_or_else(PoisonError::into_inner);
        for first in indexes.clone().step_by(TRANSACTION_ROWS) {
            let mut transaction = database.begin_write().expect("no other writer");
            transaction.set_durability(Durability::None).expect("no savepoint");
            {
                let mut table = transaction.open_table(TABLE).expect("sound");
                for index in first..indexes.end.min(first + TRANSACTION_ROWS as u64) {
                    let value = rows.value(index);
                    table.insert(rows.key(index).as_ref(), &value[..]).expect("the disk has room");
                }
            }
            transaction.commit().expect("the disk has room");
        }
    }

    fn flush(&self) {
        let database = self.database.lock().unwrap_or_else(PoisonError::into_inner);
        database.begin_write().expect("no other writer").commit().expect("the disk has room");
        drop(database);
        self.show();
    }

    fn settle(&self) {
        self.flush();
    }

    fn compact(&self) {
        *self.table.write().unwrap_or_else(PoisonError::into_inner) = None;
        let mut database = self.database.lock().unwrap_or_else(PoisonError::into_inner);
        database.compact().expect("no open reader");
        drop(database);
        self.show();
    }

    fn get(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) {
        self.with_table(|table| {
            if let Some(value) = table.get(key).expect("sound") {
                found(value.value());
            }
        });
    }

    fn scan(&self, count: u64, visit: &mut dyn FnMut(&[u8], &[u8])) {
        self.with_table(|table| {
            for row in table.iter().expect("sound").take(count as usize) {
                let (key, value) = row.expect("sound");
                visit(key.value(), value.value());
            }
        });
    }

    fn files(&self) -> Option<u64> {
        Some(1)
    }
}
