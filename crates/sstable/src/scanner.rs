//! Cells of a file in their order.

use std::sync::Arc;

use crate::block::data::DataBlock;
use crate::block::loaded::Block;
use crate::{Caching, CellRef, KeyRef, ReadTrace, Reader, Result};

/// A place in a file: on a cell, or behind the last one.
///
/// It lends the cell it stands on, straight from the block; nothing is copied. What it reads it
/// counts by itself, in [`trace`](Self::trace).
#[derive(Debug)]
pub struct Scanner {
    reader: Reader,
    caching: Caching,
    trace: ReadTrace,
    /// `None` before the first seek and behind the last cell.
    place: Option<Place>,
    /// Cells of the row the scanner stands in, or of the row before it, that come before its cell:
    /// cells can only be walked forwards, so going back remembers them.
    before: Vec<usize>,
    /// Cells passed since the scan began at the first one: the file says how many there are.
    cells_passed: Option<u64>,
}

#[derive(Debug)]
struct Place {
    /// Always a data block.
    block: Arc<Block>,
    /// Where the cell starts.
    at: usize,
}

impl Place {
    fn data(&self) -> Option<&DataBlock> {
        match &*self.block {
            Block::Data(data) => Some(data),
            _ => None,
        }
    }
}

impl Scanner {
    pub(crate) fn new(reader: Reader, caching: Caching) -> Self {
        Self {
            reader,
            caching,
            trace: ReadTrace::default(),
            place: None,
            before: Vec::new(),
            cells_passed: None,
        }
    }

    /// A scanner that stands on a cell.
    pub(crate) fn at(reader: Reader, block: Arc<Block>, at: usize) -> Self {
        Self { place: Some(Place { block, at }), ..Self::new(reader, Caching::Use) }
    }

    /// Goes to the first cell of the file.
    ///
    /// # Errors
    ///
    /// If a block cannot be read; the scanner then stands nowhere.
    pub fn seek_to_first(&mut self) -> Result<()> {
        self.leave();
        self.place = None;
        self.cells_passed = Some(0);
        let block = self.reader.first_data_block(self.caching, &mut self.trace)?;
        self.enter(block);
        Ok(())
    }

    /// Goes to the first cell that is not before `key`, forwards or back.
    ///
    /// # Errors
    ///
    /// If a block cannot be read; the scanner then stands nowhere.
    pub fn seek(&mut self, key: KeyRef<'_>) -> Result<()> {
        let Some(block) = self.leave_for(&key)? else { return Ok(()) };
        let Block::Data(data) = &*block else { return Ok(()) };
        if let Some(at) = data.seek(&key) {
            self.place = Some(Place { block, at });
        } else {
            let next = self.reader.next_data_block(data, self.caching, &mut self.trace)?;
            self.enter(next);
        }
        Ok(())
    }

    /// Goes to the last cell that is before `key`, forwards or back.
    ///
    /// # Errors
    ///
    /// If a block cannot be read; the scanner then stands nowhere.
    pub fn seek_before(&mut self, key: KeyRef<'_>) -> Result<()> {
        let Some(block) = self.leave_for(&key)? else { return Ok(()) };
        let Block::Data(data) = &*block else { return Ok(()) };
        if let Some(at) = data.last_before(&key) {
            self.place = Some(Place { block, at });
            return Ok(());
        }
        let previous = self.reader.previous_data_block(data, self.caching, &mut self.trace)?;
        self.enter_at_end(previous);
        Ok(())
    }

    /// Goes to the last cell of the file.
    ///
    /// # Errors
    ///
    /// If a block cannot be read; the scanner then stands nowhere.
    pub fn seek_to_last(&mut self) -> Result<()> {
        self.leave();
        self.place = None;
        let last = self.reader.last_data_block(self.caching, &mut self.trace)?;
        self.enter_at_end(last);
        Ok(())
    }

    /// Goes to the cell before. Before the first one the scanner stands nowhere.
    ///
    /// # Errors
    ///
    /// If a block cannot be read; the scanner then stands nowhere.
    pub fn retreat(&mut self) -> Result<()> {
        self.cells_passed = None;
        let Some(Place { block, at }) = self.place.take() else { return Ok(()) };
        let Block::Data(data) = &*block else { return Ok(()) };
        if self.before.is_empty() {
            data.row_cells_before(at, &mut self.before);
        }
        if let Some(at) = self.before.pop() {
            self.place = Some(Place { block, at });
            return Ok(());
        }
        let previous = self.reader.previous_data_block(data, self.caching, &mut self.trace)?;
        self.enter_at_end(previous);
        Ok(())
    }

    /// The cell it stands on; `None` behind the last, and before the first seek.
    pub fn cell(&self) -> Option<CellRef<'_>> {
        let place = self.place.as_ref()?;
        place.data()?.cell_at(place.at).map(|(cell, _)| cell)
    }

    /// Goes to the next cell. Behind the last one it stays where it is.
    ///
    /// # Errors
    ///
    /// If a block cannot be read, or if all cells were passed and are not as many as the file says;
    /// the scanner then stands nowhere.
    pub fn advance(&mut self) -> Result<()> {
        self.before.clear();
        let Some(place) = &mut self.place else { return Ok(()) };
        let Block::Data(data) = &*place.block else { return Ok(()) };
        if place.at < data.last_cell_at()
            && let Some(next) = data.next_at(place.at)
        {
            place.at = next;
            return Ok(());
        }
        let passed = self.cells_passed.map(|passed| passed + data.cell_count());
        self.cells_passed = passed;
        let Some(Place { block, .. }) = self.place.take() else { return Ok(()) };
        let Block::Data(data) = &*block else { return Ok(()) };
        let next = self.reader.next_data_block(data, self.caching, &mut self.trace)?;
        self.enter(next);
        match passed {
            Some(passed) if self.place.is_none() => self.reader.check_cell_count(passed),
            _ => Ok(()),
        }
    }

    /// What it has read since it was made or [`take_trace`](Self::take_trace) was called.
    pub fn trace(&self) -> &ReadTrace {
        &self.trace
    }

    /// Hands over what it has read, and counts from zero again.
    pub fn take_trace(&mut self) -> ReadTrace {
        std::mem::take(&mut self.trace)
    }

    /// Leaves the place it stands at, and loads the block in which `key` is to be looked for.
    fn leave_for(&mut self, key: &KeyRef<'_>) -> Result<Option<Arc<Block>>> {
        self.leave();
        let held = self.place.take().map(|place| place.block);
        self.reader.data_block_for(key, held.as_ref(), self.caching, &mut self.trace)
    }

    /// Forgets what holds only where it stands.
    fn leave(&mut self) {
        self.before.clear();
        self.cells_passed = None;
    }

    fn enter_at_end(&mut self, block: Option<Arc<Block>>) {
        self.place = block.map(|block| {
            let at = match &*block {
                Block::Data(data) => data.last_cell_at(),
                _ => 0,
            };
            Place { block, at }
        });
    }

    fn enter(&mut self, block: Option<Arc<Block>>) {
        self.place = block.map(|block| Place { block, at: 0 });
    }
}
