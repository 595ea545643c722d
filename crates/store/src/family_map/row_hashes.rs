//! Inserts the rows of a sorted sequence of cells into a family map, each row once.

use filter::Seed;
use filter::engine::KeyHash;

use super::map::{Inserted, NotTaken, SlotWriter};

/// The hashes of the rows of cells that come in ascending order, each row once.
#[derive(Debug)]
pub(crate) struct DistinctRows {
    /// The hash seed of the store, which lookups use too.
    seed: Seed,
    /// The row of the last cell; `None` before the first.
    row: Option<Vec<u8>>,
    hashes: Vec<KeyHash>,
}

impl DistinctRows {
    pub(crate) const fn new(seed: Seed) -> Self {
        Self { seed, row: None, hashes: Vec::new() }
    }

    /// Adds the row of the next cell; returns whether the row is new.
    pub(crate) fn add(&mut self, row: &[u8]) -> bool {
        if self.row.as_deref() == Some(row) {
            return false;
        }
        let known = self.row.get_or_insert_default();
        known.clear();
        known.extend_from_slice(row);
        self.hashes.push(KeyHash::new(self.seed, row));
        true
    }

    /// Returns the number of rows.
    pub(crate) fn count(&self) -> u64 {
        self.hashes.len() as u64
    }

    /// Inserts the rows into a map.
    pub(crate) fn insert(self, mut slot: SlotWriter) -> Result<Inserted, NotTaken> {
        for batch in self.hashes.chunks(RowInserter::BATCH) {
            slot.insert(batch)?;
        }
        slot.finish(self.count())
    }
}

/// Inserts the rows of cells, which come in ascending order, into a map as they come.
#[derive(Debug)]
pub(crate) struct RowInserter {
    slot: SlotWriter,
    rows: u64,
    /// The rows that were not inserted yet.
    batch: DistinctRows,
}

impl RowInserter {
    /// The number of rows that are inserted under one lock of the map's writer.
    const BATCH: usize = 1024;

    /// Begins the insertion of rows under the writer's slot.
    pub(crate) const fn new(seed: Seed, slot: SlotWriter) -> Self {
        Self { slot, rows: 0, batch: DistinctRows::new(seed) }
    }

    /// Adds the row of the next cell.
    pub(crate) fn add(&mut self, row: &[u8]) -> Result<(), NotTaken> {
        if self.batch.add(row) {
            self.rows += 1;
        }
        if self.batch.hashes.len() == Self::BATCH {
            self.slot.insert(&self.batch.hashes)?;
            self.batch.hashes.clear();
        }
        Ok(())
    }

    /// Returns the number of rows that were added so far.
    pub(crate) const fn rows(&self) -> u64 {
        self.rows
    }

    /// Inserts the last batch, and checks the insertion.
    pub(crate) fn finish(mut self) -> Result<Inserted, NotTaken> {
        self.slot.insert(&self.batch.hashes)?;
        self.slot.finish(self.rows)
    }
}
