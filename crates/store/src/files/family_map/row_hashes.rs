//! Inserts the rows of a sorted sequence of cells into a family map, each row once.

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
    /// The hashes of the rows that were not inserted yet.
    batch: Vec<KeyHash>,
}

impl RowHashes {
    /// The number of rows that are inserted under one lock of the map's writer.
    const BATCH: usize = 1024;

    /// Begins the insertion of rows under the slot of `slot`.
    ///
    /// `seed` is the hash seed of the store, which lookups use too.
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

    /// Returns the number of rows that were added so far.
    pub(crate) const fn rows(&self) -> u64 {
        self.rows
    }

    /// Inserts the last batch, and checks the insertion.
    pub(crate) fn finish(mut self) -> Result<Inserted, NotTaken> {
        self.slot.insert(&self.batch)?;
        self.slot.finish(self.rows)
    }
}
