//! A store of files whose key ranges overlap, and the answers that its gets must give.

use sstable::Cell;
use store::{Durability, Put, Store, StoreOptions, WriteBatch};

use super::gets::PlannedGet;
use super::keys::KeySet;
use super::random::fill_value;

/// The family of all cells.
pub const FAMILY: &str = "f";
/// The qualifier of all cells.
pub const QUALIFIER: &str = "q";

/// Rows per write batch.
const BATCH_ROWS: usize = 1000;

/// The value of each row, generated from a seed and the index of its key.
#[derive(Clone, Copy, Debug)]
pub struct Values {
    /// The seed of all values.
    pub seed: u64,
    /// The length of each value in bytes.
    pub size: usize,
}

impl Values {
    /// Checks the cells that a get found, and returns whether its key was loaded.
    ///
    /// `expected` is a buffer of the size of a value.
    ///
    /// # Errors
    ///
    /// What is wrong: a loaded key must have exactly its cell, and an absent key none.
    pub fn check(
        self,
        planned_get: &PlannedGet<'_>,
        cells: &[Cell],
        expected: &mut [u8],
    ) -> Result<bool, String> {
        match (planned_get.member, cells) {
            (None, []) => Ok(false),
            (None, _) => Err("found, but never loaded".to_owned()),
            (Some(_), []) => Err("loaded, but not found".to_owned()),
            (Some(index), [cell]) => {
                fill_value(self.seed, index as u64, expected);
                let right = cell.row() == planned_get.key && cell.value() == expected;
                if right {
                    Ok(true)
                } else {
                    Err("has another value than the loaded one".to_owned())
                }
            }
            (Some(_), cells) => Err(format!("loaded once, but has {} cells", cells.len())),
        }
    }
}

/// Returns options of a store whose flushes write one file each, and whose files stay as they are.
pub fn unmerged(cache_bytes: u64) -> StoreOptions {
    StoreOptions::default()
        .cache_bytes(cache_bytes)
        .memstore_flush_bytes(usize::MAX / 8)
        .auto_compaction(false)
}

/// Writes the present keys to [`FAMILY`], and flushes after the keys of each file.
///
/// `advance` is called with the numbers of rows that were written.
///
/// # Errors
///
/// Errors of the store.
pub fn load(
    store: &Store,
    keys: &KeySet,
    values: Values,
    durability: Durability,
    mut advance: impl FnMut(u64),
) -> store::Result<()> {
    let mut value = vec![0; values.size];
    for file in 0..keys.files() {
        let mut batch = WriteBatch::new();
        for index in keys.file_range(file) {
            fill_value(values.seed, index as u64, &mut value);
            batch.put(Put::new(keys.present.key(index)).column(FAMILY, QUALIFIER, &value));
            if batch.len() == BATCH_ROWS {
                store.write(std::mem::take(&mut batch), durability)?;
                advance(BATCH_ROWS as u64);
            }
        }
        store.write(batch, durability)?;
        store.flush()?;
    }
    Ok(())
}
