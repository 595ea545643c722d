//! The hashes of the rows of cells, one for each row.

use filter::{KeyHash, Seed};

use super::map::{Inserted, NotTaken, SlotWriter};

/// Inserts the rows of cells, which come in ascending order, into a map.
#[derive(Debug)]
pub(crate) struct RowHashes {
    seed: Seed,
    slot: SlotWriter,
    /// The row of the last cell; `None` before the first.
    row: Option<Vec<u8>>,
    rows: u64,
    /// The hashes that were not inserted yet.
    batch: Vec<KeyHash>,
}

impl RowHashes {
    /// Rows that are inserted together: the lock of the map's writer is taken once for them.
    const BATCH: usize = 1024;

    /// `seed` is that of the store, which also the lookups use.
    pub(crate) fn new(seed: Seed, slot: SlotWriter) -> Self {
        Self { seed, slot, row: None, rows: 0, batch: Vec::with_capacity(Self::BATCH) }
    }

    /// Adds the row of the next cell.
    pub(crate) fn add(&mut self, row: &[u8]) -> Result<(), NotTaken> {
        if self.row.as_deref() == Some(row) {
            return Ok(());
        }
        let known = self.row.get_or_insert_default();
        known.clear();
        known.extend_from_slice(row);
        self.rows += 1;
        self.batch.push(KeyHash::new(self.seed, row));
        if self.batch.len() == Self::BATCH {
            self.slot.insert(&self.batch)?;
            self.batch.clear();
        }
        Ok(())
    }

    /// Ends the insertion after the last cell.
    pub(crate) fn finish(mut self) -> Result<Inserted, NotTaken> {
        self.slot.insert(&self.batch)?;
        self.slot.finish(self.rows)
    }
}
