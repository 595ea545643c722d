//! Seeks and steps of a scanner towards the start of the file, from cell to cell and from row to row.
//!
//! From row to row:
//!
//! ```text
//! blocks    0: r1 r1 r2 r3   1: r3 r3   2: r3 r4
//! call 1    r4 of block 2
//! call 2    r3: the first row of block 2, also the only one of block 1, begins in block 0
//! call 3    r2 of block 0
//! ```

use std::sync::Arc;

use cells::KeyRef;

use super::position::{RowPlace, ScanPosition};
use super::scanner::Scanner;
use crate::block::data::DataRef;
use crate::block::decoded::DecodedBlock;
use crate::error::Result;

impl Scanner {
    /// Moves to the last cell before `key`, forwards or backwards.
    ///
    /// # Errors
    ///
    /// If a block cannot be read. The scanner then has no position.
    pub fn seek_before(&mut self, key: KeyRef<'_>) -> Result<()> {
        let stop = self.stop();
        let key = stop.as_ref().filter(|_| self.ends_by(&key)).map_or(key, |stop| stop.key());
        let Some(block) = self.seek_block(&key)? else { return Ok(()) };
        if let Some(at) = block.last_before(&key) {
            self.position = Some(ScanPosition::decoded(block, at));
            return Ok(());
        }
        self.move_to_previous_block(&block)
    }

    /// Moves to the last cell of the file.
    ///
    /// # Errors
    ///
    /// If a block cannot be read. The scanner then has no position.
    pub fn seek_to_last(&mut self) -> Result<()> {
        if let Some(stop) = self.stop() {
            return self.seek_before(stop.key());
        }
        self.clear_position_state();
        self.position = None;
        let (file, mut context) = self.file_and_context();
        if let Some(block) = file.last_data_block(&mut context)? {
            self.move_to_last_cell(block);
        }
        Ok(())
    }

    /// Moves to the previous cell. Before the first cell the scanner has no position.
    ///
    /// # Errors
    ///
    /// If a block cannot be read. The scanner then has no position.
    pub fn retreat(&mut self) -> Result<()> {
        self.cells_passed = None;
        self.stop_read_ahead();
        let Some(position) = self.position.take() else { return Ok(()) };
        let cell_offset = position.cell_offset();
        let was_encoded = matches!(position, ScanPosition::Encoded { .. });
        let block = self.file.decode(position.into_block(), &mut self.buffers)?;
        if was_encoded {
            self.check_last_key(&block)?;
        }
        if self.previous_cells.is_empty() {
            block.row_cells_before(cell_offset, &mut self.previous_cells);
        }
        if let Some(at) = self.previous_cells.pop() {
            self.position = Some(ScanPosition::decoded(block, at));
            return Ok(());
        }
        self.move_to_previous_block(&block)
    }

    /// Moves to the first cell of the greatest row below `row`, or of all rows if `row` is `None`.
    ///
    /// Without such a row the scanner has no position. A call with the row that the last call found is about
    /// as cheap as [`advance`](Self::advance), even after the row was read.
    ///
    /// # Errors
    ///
    /// If a block cannot be read. The scanner then has no position.
    pub fn seek_row_before(&mut self, row: Option<&[u8]>) -> Result<()> {
        if self.row_found.as_ref().is_some_and(|found| row == Some(found.row())) {
            return self.retreat_row();
        }
        self.forget_steps();
        self.row_found = None;
        if let Some(stop) = self.stop()
            && row.is_none_or(|row| self.ends_by(&KeyRef::before_row(row)))
        {
            return self.seek_row_before_stop(stop.key());
        }
        let Some(row) = row else {
            self.seek_to_last()?;
            let Some(ScanPosition::Decoded { block, .. }) = self.position.take() else {
                return Ok(());
            };
            let count = block.row_count();
            return self.move_to_row_before(block, count);
        };
        self.move_before_row(row)
    }

    /// Moves to the first cell of the greatest row with cells before `stop`.
    fn seek_row_before_stop(&mut self, stop: KeyRef<'_>) -> Result<()> {
        // The row of `stop` itself, if it has cells before `stop`.
        self.move_before_row(&[stop.row, b"\0"].concat())?;
        let order = self.file.blocks.layout.order;
        while self.cell().is_some_and(|cell| order.compare(&cell.key(), &stop).is_ge()) {
            self.retreat_row()?;
        }
        Ok(())
    }

    fn move_before_row(&mut self, row: &[u8]) -> Result<()> {
        let key = KeyRef::before_row(row);
        let Some(block) = self.seek_block(&key)? else { return Ok(()) };
        let count = block.seek(&key).map_or_else(|| block.row_count(), |at| block.rows_before(at));
        self.move_to_row_before(block, count)
    }

    /// Moves to the first cell of the row before the row that the last call of this method or of
    /// [`seek_row_before`](Self::seek_row_before) found, even after that row was read.
    ///
    /// Without such a row, or if that call found none, the scanner has no position.
    ///
    /// # Errors
    ///
    /// If a block cannot be read. The scanner then has no position.
    pub fn retreat_row(&mut self) -> Result<()> {
        self.forget_steps();
        if let (Some(found), Some(ScanPosition::Decoded { block, cursor })) =
            (&mut self.row_found, &mut self.position)
            && found.number > 1
            && Arc::ptr_eq(block, &found.block)
        {
            found.number -= 1;
            *cursor = block.cursor_at(block.start_of_row(found.number));
            return Ok(());
        }
        let Some(RowPlace { block, number }) = self.row_found.take() else {
            self.position = None;
            return Ok(());
        };
        self.move_to_row_before(block, number)
    }

    /// Returns whether the current cell is known to be the last one of its row.
    ///
    /// `false` if the scanner would have to look at the next cell: it knows the ends of the rows to which
    /// [`seek_row_before`](Self::seek_row_before) moves, unless the row is the last one of a block.
    pub fn is_at_row_end(&self) -> bool {
        let (Some(found), Some(ScanPosition::Decoded { block, cursor })) =
            (&self.row_found, &self.position)
        else {
            return false;
        };
        Arc::ptr_eq(block, &found.block)
            && block.start_of_row_after(found.number) == Some(cursor.end())
    }

    /// Moves to the first cell of the last row that begins before the row `number` of `block`.
    fn move_to_row_before(&mut self, block: Arc<DecodedBlock>, number: usize) -> Result<()> {
        let is_in_block = matches!(
            &self.position,
            Some(ScanPosition::Decoded { block: held, .. }) if Arc::ptr_eq(held, &block)
        );
        if !is_in_block {
            self.cursor = None;
        }
        let mut place = if let Some(number) = number.checked_sub(1) {
            RowPlace { block, number }
        } else {
            self.position = None;
            let Some(before) = self.block_before(&block)? else { return Ok(()) };
            RowPlace::last_of(before)
        };
        while place.number == 0
            && let Some(earlier) = self.part_in_block_before(&place)?
        {
            place = earlier;
        }
        let at = place.block.start_of_row(place.number);
        self.position = Some(ScanPosition::decoded(Arc::clone(&place.block), at));
        self.row_found = Some(place);
        Ok(())
    }

    /// Returns the last row of the block before the block of `place`, if both are the same row.
    fn part_in_block_before(&mut self, place: &RowPlace) -> Result<Option<RowPlace>> {
        self.position = None;
        let cursor = self.take_index_cursor(DataRef::Decoded(&place.block))?;
        // The index key is greater than all cells of the block before.
        let index_key = KeyRef::parse(cursor.entry(self.file.data_index()).key);
        let order = self.file.blocks.layout.order;
        let begins_here = index_key
            .is_some_and(|key| order.compare(&key, &KeyRef::before_row(place.row())).is_le());
        self.cursor = Some(cursor);
        if begins_here {
            return Ok(None);
        }
        let Some(before) = self.block_before(&place.block)? else { return Ok(None) };
        let last = RowPlace::last_of(before);
        if last.row() == place.row() {
            return Ok(Some(last));
        }
        self.cursor = None; // The cursor is on the block before.
        Ok(None)
    }
    /// Moves to the last cell of the block before `block`.
    fn move_to_previous_block(&mut self, block: &DecodedBlock) -> Result<()> {
        if let Some(block) = self.block_before(block)? {
            self.move_to_last_cell(block);
        }
        Ok(())
    }

    /// Returns the block before `block`, and moves the index cursor to it.
    fn block_before(&mut self, block: &DecodedBlock) -> Result<Option<Arc<DecodedBlock>>> {
        let cursor = self.take_index_cursor(DataRef::Decoded(block))?;
        let (file, mut context) = self.file_and_context();
        let Some(cursor) = cursor.into_previous(file, &mut context)? else { return Ok(None) };
        let block = file.decoded_data_block_at(&cursor, &mut context)?;
        self.cursor = Some(cursor);
        Ok(Some(block))
    }

    /// Checks the last key of a block that was decoded at a step backwards against the index.
    fn check_last_key(&mut self, block: &DecodedBlock) -> Result<()> {
        let cursor = self.take_index_cursor(DataRef::Decoded(block))?;
        let checked = self.file.check_upper_bound(block.origin(), &block.last_key(), &cursor);
        self.cursor = Some(cursor);
        checked
    }

    fn move_to_last_cell(&mut self, block: Arc<DecodedBlock>) {
        let at = block.last_cell_at();
        self.position = Some(ScanPosition::decoded(block, at));
    }
}
