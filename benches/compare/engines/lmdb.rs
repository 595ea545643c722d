//! LMDB through the crate `heed`: a B-tree in one mapped file, beside redb.
//!
//! It writes in transactions; here each has many rows and does not wait for the disk. Each get has a read transaction of
//! its own. The page cache is its cache.

use std::path::Path;

use ::heed::types::Bytes;
use ::heed::{Database, Env, EnvFlags, EnvOpenOptions, WithoutTls};

use crate::engine::{Engine, NewRows, Settings, Shape};

struct Lmdb {
    environment: Env<WithoutTls>,
    database: Database<Bytes, Bytes>,
}

#[expect(unsafe_code, reason = "heed has no safe way to map a file")]
pub(crate) fn open(directory: &Path, _: Settings) -> Box<dyn Engine> {
    let mut options = EnvOpenOptions::new().read_txn_without_tls();
    options.map_size(64 << 30);
    // SAFETY: only this process opens the directory, which is its own and new, and nothing else changes the mapped file.
    let environment = unsafe { options.flags(EnvFlags::NO_SYNC).open(directory) };
    let environment = environment.expect("a writable directory");
    let mut transaction = environment.write_txn().expect("no other writer");
    let database = environment.create_database(&mut transaction, None).expect("sound");
    transaction.commit().expect("the disk has room");
    Box::new(Lmdb { environment, database })
}

impl Engine for Lmdb {
    fn load(&self, rows: NewRows<'_>) {
        let mut transaction = self.environment.write_txn().expect("no other writer");
        for (key, value) in rows {
            let put = self.database.put(&mut transaction, key.as_ref(), &value);
            put.expect("the disk has room");
        }
        transaction.commit().expect("the disk has room");
    }

    fn arrange(&self, _: Shape) {
        self.environment.force_sync().expect("the disk has room");
    }

    fn get(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) {
        let transaction = self.environment.read_txn().expect("a free slot");
        if let Some(value) = self.database.get(&transaction, key).expect("sound") {
            found(value);
        }
    }

    fn scan(&self, count: usize, visit: &mut dyn FnMut(&[u8], &[u8])) {
        let transaction = self.environment.read_txn().expect("a free slot");
        for row in self.database.iter(&transaction).expect("sound").take(count) {
            let (key, value) = row.expect("sound");
            visit(key, value);
        }
    }

    fn files(&self) -> Option<u64> {
        Some(1)
    }
}
