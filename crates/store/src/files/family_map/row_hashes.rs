//! Inserts the rows of a sorted sequence of cells into a family map, each row once.

use filter::{KeyHash, Seed};
use sstable::{MapBlocks, Reader};

use super::form::MapForm;
use super::map::{Inserted, MapRow, NotTaken, SlotWriter};

/// Inserts the rows of cells, which come in ascending order, into a map.
#[derive(Debug)]
pub(crate) struct RowHashes {
    seed: Seed,
    form: MapForm,
    slot: SlotWriter,
    /// The row of the last cell; `None` before the first.
    row: Option<Vec<u8>>,
    rows: u64,
    /// The rows that were not inserted yet.
    batch: Vec<MapRow>,
    /// The number of the data block of the last row's first cell.
    last_block: u64,
    /// Some rows with the numbers of their blocks; `finish` compares them with the index.
    sample: Vec<(Box<[u8]>, u16)>,
}

impl RowHashes {
    /// The number of rows that are inserted under one lock of the map's writer.
    const BATCH: usize = 1024;
    /// One row in this many is compared with the index of the file.
    const ROWS_PER_SAMPLE: u64 = 4093;

    /// Begins the insertion of rows under the slot of `slot`. `seed` is the hash seed of the store, which lookups use too.
    pub(crate) fn new(seed: Seed, form: MapForm, slot: SlotWriter) -> Self {
        Self {
            seed,
            form,
            slot,
            row: None,
            rows: 0,
            batch: Vec::with_capacity(Self::BATCH),
            last_block: 0,
            sample: Vec::new(),
        }
    }

    /// Adds the row of the next cell, which is in the data block with this number.
    pub(crate) fn add(&mut self, row: &[u8], block: u64) -> Result<(), NotTaken> {
        if self.row.as_deref() == Some(row) {
            return Ok(());
        }
        let known = self.row.get_or_insert_default();
        known.clear();
        known.extend_from_slice(row);
        self.last_block = block;
        let block = u16::try_from(block).unwrap_or(MapBlocks::UNKNOWN);
        if self.form == MapForm::Blocks && self.rows.is_multiple_of(Self::ROWS_PER_SAMPLE) {
            self.sample.push((row.into(), block));
        }
        self.rows += 1;
        self.batch.push(MapRow { hash: KeyHash::new(self.seed, row), block });
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

    /// Inserts the last batch, and checks the insertion. `reader` reads the file of the cells.
    pub(crate) fn finish(mut self, reader: &Reader) -> Result<Inserted, NotTaken> {
        self.slot.insert(&self.batch)?;
        let has_blocks = self.form == MapForm::Blocks && self.blocks_are_known(reader)?;
        self.slot.finish(self.rows, has_blocks)
    }

    /// Returns whether reads find the blocks by their numbers.
    ///
    /// Not if the file has too many blocks, or if its index cannot be kept in memory.
    ///
    /// # Errors
    ///
    /// [`NotTaken::Unsound`] if a number is not that of the block in the index. It would hide a row.
    fn blocks_are_known(&self, reader: &Reader) -> Result<bool, NotTaken> {
        let Ok(Some(count)) = reader.keep_index_in_memory() else { return Ok(false) };
        let fits = |(row, block): &(Box<[u8]>, u16)| {
            reader.row_can_begin_in(row, *block).unwrap_or_default()
        };
        if self.last_block >= u64::from(count) || !self.sample.iter().all(fits) {
            return Err(NotTaken::Unsound);
        }
        Ok(true)
    }
}
