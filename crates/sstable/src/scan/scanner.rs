//! The scanner: a cursor over the cells of a file, which reads the file block by block.

use std::sync::Arc;

use cells::merge::CellCursor;
use cells::{CellRef, KeyRef};

use super::position::{RowPlace, ScanPosition};
use super::read_ahead::ReadAhead;
use super::stop::ScanEnd;
use crate::block::data::{DataBlock, DataRef};
use crate::block::decoded::DecodedBlock;
use crate::buffers::Buffers;
use crate::encoding::DamageReason;
use crate::error::{Error, Result};
use crate::file::index_cursor::IndexCursor;
use crate::file::open_file::OpenFile;
use crate::file::options::Caching;
use crate::file::read_context::ReadContext;
use crate::trace::ReadTrace;

/// A cursor over the cells of a file.
///
/// [`cell`](Self::cell) borrows the current cell from its block, without a copy.
/// [`trace`](Self::trace) returns the counters of the scanner's reads. To end a scan before the end of
/// the file, use [`until`](Self::until) or [`limit`](Self::limit), which also check the last block.
#[derive(Debug)]
pub struct Scanner {
    pub(super) file: Arc<OpenFile>,
    pub(super) caching: Caching,
    trace: ReadTrace,
    /// Reusable buffers for blocks that bypass the cache.
    pub(super) buffers: Buffers,
    /// The state of prefetching; `None` if the scanner does not read ahead.
    read_ahead: Option<Box<ReadAhead>>,
    /// The current cell; `None` before the first seek, after the last cell, and after an error.
    pub(super) position: Option<ScanPosition>,
    /// The index entry of the current block; `None` if it was not looked up yet.
    pub(super) cursor: Option<IndexCursor>,
    /// The offsets of the cells to which `retreat` moves next, the nearest one last.
    ///
    /// A block cursor only moves forwards. So `retreat` iterates over the cells of a row, collects
    /// their offsets here, and takes one offset for each step.
    pub(super) previous_cells: Vec<usize>,
    /// The row to which [`seek_row_before`](Self::seek_row_before) moved last.
    pub(super) row_found: Option<RowPlace>,
    /// The number of cells passed, to compare it with the count in the trailer.
    ///
    /// `None` unless the scan began at the first cell and has only advanced since.
    pub(super) cells_passed: Option<u64>,
    /// Where the scan ends before the end of the file. Boxed, because most scans have no such end.
    pub(super) end: Option<Box<ScanEnd>>,
}

impl Scanner {
    pub(crate) fn new(file: Arc<OpenFile>, caching: Caching) -> Self {
        Self::with_position(file, caching, None)
    }

    /// All constructors use this one. Inlined, so that a get builds its scanner without a copy.
    fn with_position(
        file: Arc<OpenFile>,
        caching: Caching,
        position: Option<ScanPosition>,
    ) -> Self {
        Self {
            file,
            caching,
            trace: ReadTrace::default(),
            buffers: Buffers::default(),
            read_ahead: None,
            position,
            cursor: None,
            previous_cells: Vec::new(),
            row_found: None,
            cells_passed: None,
            end: None,
        }
    }

    /// Returns a scanner that bypasses the cache and reads ahead.
    pub(crate) fn with_read_ahead(file: Arc<OpenFile>) -> Self {
        let scanner = Self::new(file, Caching::Bypass);
        Self { read_ahead: Some(Box::default()), buffers: ReadAhead::buffers(), ..scanner }
    }

    /// Returns the scanner of a get, at the position that the get has found.
    pub(crate) fn at(file: Arc<OpenFile>, position: ScanPosition) -> Self {
        Self::with_position(file, Caching::Use, Some(position))
    }

    /// Moves to the first cell of the file.
    ///
    /// # Errors
    ///
    /// If a block cannot be read. The scanner then has no position.
    pub fn seek_to_first(&mut self) -> Result<()> {
        self.clear_position_state();
        self.position = None;
        self.cells_passed = Some(0);
        let (file, mut context) = self.file_and_context();
        let first = file.first_data_block(&mut context)?;
        self.position = first.map(|block| ScanPosition::decoded(block, 0));
        self.end_at_stop()
    }

    /// Moves to the first cell at or after `key`, forwards or backwards.
    ///
    /// # Errors
    ///
    /// If a block cannot be read. The scanner then has no position.
    pub fn seek(&mut self, key: KeyRef<'_>) -> Result<()> {
        if self.ends_by(&key) {
            return self.end_scan();
        }
        self.seek_in_file(key)?;
        self.end_at_stop()
    }

    /// Moves to the first cell at or after `key`, even if the scan ends before that cell.
    fn seek_in_file(&mut self, key: KeyRef<'_>) -> Result<()> {
        if self.seek_in_block(&key)? {
            return Ok(());
        }
        let Some(block) = self.seek_block(&key)? else { return Ok(()) };
        if let Some(at) = block.seek(&key) {
            self.position = Some(ScanPosition::decoded(block, at));
            return Ok(());
        }
        let next = self.next_block(DataRef::Decoded(&block), &block.last_key())?;
        self.move_to_first_cell(next)
    }

    /// Returns the current cell; `None` after the last cell and before the first seek.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "avoids a call and a copy of the cell for each cell of a scan"
    )]
    pub fn cell(&self) -> Option<CellRef<'_>> {
        self.position.as_ref().map(ScanPosition::cell)
    }

    /// Returns the row of the current cell, without the rest of the cell.
    pub fn row(&self) -> Option<&[u8]> {
        self.position.as_ref().map(ScanPosition::row)
    }

    /// Moves to the next cell. After the last cell the scanner has no position.
    ///
    /// # Errors
    ///
    /// If a block cannot be read, if its cells break a rule of the format, or if the scan has
    /// passed all cells and their number is not that in the trailer. The scanner then has no
    /// position.
    #[inline]
    pub fn advance(&mut self) -> Result<()> {
        if self.end.is_none() { self.advance_in_file() } else { self.advance_to_end() }
    }

    /// Moves to the next cell, even if the scan ends before that cell.
    #[inline]
    pub(super) fn advance_in_file(&mut self) -> Result<()> {
        self.previous_cells.clear();
        let Some(position) = &mut self.position else { return Ok(()) };
        if let Some(passed) = &mut self.cells_passed {
            *passed += 1;
        }
        match position.advance() {
            Ok(true) => Ok(()),
            Ok(false) => self.move_to_next_block(),
            Err(what) => Err(self.fail(what)),
        }
    }

    /// Clears the position, because the next cell of the block is damaged. Returns the error.
    #[cold]
    fn fail(&mut self, what: DamageReason) -> Error {
        let position =
            self.position.take().expect("the scanner is at the cell before the damaged one");
        self.file.damage_in(position.block().origin(), what)
    }

    /// Returns the position of the current cell.
    #[cfg(test)]
    pub(crate) fn position(&self) -> Option<&ScanPosition> {
        self.position.as_ref()
    }

    /// Returns the reads since the scanner was created or since [`take_trace`](Self::take_trace).
    pub fn trace(&self) -> &ReadTrace {
        &self.trace
    }

    /// Returns the same counters as `trace`, and resets them.
    pub fn take_trace(&mut self) -> ReadTrace {
        std::mem::take(&mut self.trace)
    }

    /// Returns the file and the context of this scanner's reads.
    pub(super) fn file_and_context(&mut self) -> (&OpenFile, ReadContext<'_>) {
        let Self { file, caching, buffers, trace, .. } = self;
        (file, ReadContext { caching: *caching, buffers, trace })
    }

    /// Clears the position, and returns the block in which `key` is or would be.
    pub(super) fn seek_block(&mut self, key: &KeyRef<'_>) -> Result<Option<Arc<DecodedBlock>>> {
        self.clear_position_state();
        let held = self.position.take().map(ScanPosition::into_block);
        let (file, mut context) = self.file_and_context();
        file.data_block_for(key, held, &mut context)
    }

    /// Moves forwards to the first cell at or after `key`, if the current block certainly has it.
    ///
    /// Passes the cells up to there. Neither searches the index nor decodes the rest of the block.
    fn seek_in_block(&mut self, key: &KeyRef<'_>) -> Result<bool> {
        let order = self.file.blocks.layout.order;
        let is_before =
            |position: &ScanPosition| order.compare(&position.cell().key(), key).is_lt();
        let Some(position) = self.position.as_mut().filter(|position| is_before(position)) else {
            return Ok(false);
        };
        let has_key = match position {
            ScanPosition::Decoded { block, .. } => order.compare(&block.last_key(), key).is_ge(),
            ScanPosition::Encoded { .. } => self.cursor.as_ref().is_some_and(|cursor| {
                let next_key = cursor.entry(self.file.data_index()).next_key;
                let next_key = next_key.and_then(KeyRef::parse);
                next_key.is_some_and(|next_key| order.compare(&next_key, key).is_gt())
            }),
        };
        if !has_key {
            return Ok(false);
        }
        self.previous_cells.clear();
        self.cells_passed = None;
        while is_before(position) {
            match position.advance() {
                Ok(true) => {}
                Ok(false) => return Ok(false), // The first cell of the next block.
                Err(what) => return Err(self.fail(what)),
            }
        }
        Ok(true)
    }

    /// Clears the state that belongs to the current position.
    pub(super) fn clear_position_state(&mut self) {
        self.forget_steps();
        self.cursor = None;
    }

    /// Clears what only steps from cell to cell need.
    pub(super) fn forget_steps(&mut self) {
        self.previous_cells.clear();
        self.cells_passed = None;
        self.stop_read_ahead();
    }

    /// Stops prefetching. It restarts once the scan has entered some further blocks.
    pub(super) fn stop_read_ahead(&mut self) {
        if let Some(read_ahead) = &mut self.read_ahead {
            read_ahead.stop(&mut self.trace);
        }
    }

    /// Moves to the first cell of the next block.
    ///
    /// Cold, so that `advance`, which is inlined, stays small.
    #[cold]
    fn move_to_next_block(&mut self) -> Result<()> {
        let Some(position) = self.position.take() else { return Ok(()) };
        let next = self.next_block(position.block(), &position.cell().key())?;
        position.into_block().recycle(&mut self.buffers);
        if let (Some(read_ahead), Some(cursor)) = (&mut self.read_ahead, &self.cursor) {
            read_ahead.enter_block(&self.file, cursor);
        }
        self.move_to_first_cell(next)?;
        match self.cells_passed {
            Some(passed) if self.position.is_none() => self.file.check_cell_count(passed),
            _ => Ok(()),
        }
    }

    /// Returns the data block after `block`; `None` after the last block of the file.
    ///
    /// Also checks `last`, the last key of `block`, against the next index key or the file's last
    /// key.
    fn next_block(&mut self, block: DataRef<'_>, last: &KeyRef<'_>) -> Result<Option<DataBlock>> {
        let cursor = self.take_index_cursor(block)?;
        let Self { file, caching, buffers, trace, read_ahead, .. } = self;
        let context = &mut ReadContext { caching: *caching, buffers, trace };
        file.check_upper_bound(block.origin(), last, &cursor)?;
        let Some(cursor) = cursor.into_next(file, context)? else {
            file.check_end_of_file(block.origin(), last)?;
            return Ok(None);
        };
        let place = cursor.block_place();
        let prefetched = read_ahead
            .as_mut()
            .and_then(|read_ahead| read_ahead.take(place, context.buffers, context.trace));
        let next = match prefetched {
            Some(block) => {
                let block = block?;
                file.check_read_ahead(&block, &cursor)?;
                block
            }
            None => file.data_block_at(&cursor, context)?,
        };
        self.cursor = Some(cursor);
        Ok(Some(next))
    }

    /// Takes the scanner's index cursor, or looks up the index entry of `block`, the current block.
    pub(super) fn take_index_cursor(&mut self, block: DataRef<'_>) -> Result<IndexCursor> {
        if let Some(cursor) = self.cursor.take() {
            return Ok(cursor);
        }
        let (file, mut context) = self.file_and_context();
        file.cursor_on(block, &mut context)
    }

    /// Moves to the first cell of a block; `None` leaves the scanner without a position.
    fn move_to_first_cell(&mut self, block: Option<DataBlock>) -> Result<()> {
        let Some(block) = block else { return Ok(()) };
        let position = ScanPosition::first_of(block);
        let damage = |(origin, what)| self.file.damage_in(&origin, what);
        self.position = Some(position.map_err(damage)?);
        Ok(())
    }
}

impl CellCursor for Scanner {
    type Error = Error;

    #[inline]
    fn cell(&self) -> Option<CellRef<'_>> {
        Self::cell(self)
    }

    fn row(&self) -> Option<&[u8]> {
        Self::row(self)
    }

    fn may_delete_families(&self) -> bool {
        self.file.file_info.delete_family_count() != Some(0)
    }

    fn is_at_row_end(&self) -> bool {
        Self::is_at_row_end(self)
    }

    #[inline]
    fn advance(&mut self) -> Result<()> {
        Self::advance(self)
    }

    fn seek(&mut self, key: KeyRef<'_>) -> Result<()> {
        Self::seek(self, key)
    }
}

#[cfg(test)]
#[path = "scanner_tests.rs"]
mod tests;
