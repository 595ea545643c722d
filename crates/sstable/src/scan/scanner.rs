//! Cells of a file in their order.

use std::sync::Arc;

use super::ahead::ReadAhead;
use crate::block::body::Buffers;
use crate::block::data::DataBlock;
use crate::block::loaded::Block;
use crate::block::walk::{Step, Walk};
use crate::encoding::What;
use crate::file::index_cursor::IndexCursor;
use crate::file::open_file::OpenFile;
use crate::{Caching, CellRef, Error, KeyRef, ReadTrace, Result};

/// A place in a file: on a cell, or behind the last one.
///
/// It lends the cell it stands on, straight from the block; nothing is copied. What it reads it
/// counts by itself, in [`trace`](Self::trace).
#[derive(Debug)]
pub struct Scanner {
    file: Arc<OpenFile>,
    caching: Caching,
    trace: ReadTrace,
    /// Of blocks that were read past the cache and are done with.
    buffers: Buffers,
    /// Blocks that come next, if it reads ahead.
    ahead: Option<Box<ReadAhead>>,
    /// `None` before the first seek and behind the last cell.
    place: Option<Place>,
    /// On the index entry of the current block, once that was looked up.
    cursor: Option<IndexCursor>,
    /// Cells of the row the scanner stands in, or of the row before it, that come before its cell:
    /// cells can only be walked forwards, so going back remembers them.
    before: Vec<usize>,
    /// Cells passed since the scan began at the first one: the file says how many there are.
    cells_passed: Option<u64>,
}

/// On a cell of a block.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Always a data block.
    block: Arc<Block>,
    walk: Walk,
}

impl Place {
    /// Where a walk through a data block stands.
    pub(crate) const fn new(block: Arc<Block>, walk: Walk) -> Self {
        Self { block, walk }
    }

    #[cfg(test)]
    pub(crate) const fn block(&self) -> &Arc<Block> {
        &self.block
    }

    fn data(&self) -> Option<&DataBlock> {
        match &*self.block {
            Block::Data(data) => Some(data),
            _ => None,
        }
    }
}

impl Scanner {
    pub(crate) fn new(file: Arc<OpenFile>, caching: Caching) -> Self {
        Self::standing(file, caching, None)
    }

    /// One piece: a get makes a scanner where it is wanted, and moves none.
    #[inline]
    fn standing(file: Arc<OpenFile>, caching: Caching, place: Option<Place>) -> Self {
        Self {
            file,
            caching,
            trace: ReadTrace::default(),
            buffers: Buffers::default(),
            ahead: None,
            place,
            cursor: None,
            before: Vec::new(),
            cells_passed: None,
        }
    }

    /// A scanner past the cache that reads ahead.
    pub(crate) fn reading_ahead(file: Arc<OpenFile>) -> Self {
        let scanner = Self::new(file, Caching::Bypass);
        Self { ahead: Some(Box::default()), buffers: ReadAhead::buffers(), ..scanner }
    }

    /// A scanner that stands on the first cell of a row. It mostly ends there.
    #[inline]
    pub(crate) fn at(file: Arc<OpenFile>, place: Place) -> Self {
        Self::standing(file, Caching::Use, Some(place))
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
        let block = self.file.first_data_block(self.caching, &mut self.buffers, &mut self.trace)?;
        self.enter(block)
    }

    /// Goes to the first cell that is not before `key`, forwards or back.
    ///
    /// # Errors
    ///
    /// If a block cannot be read; the scanner then stands nowhere.
    pub fn seek(&mut self, key: KeyRef<'_>) -> Result<()> {
        let Some(block) = self.leave_for(&key)? else { return Ok(()) };
        let Block::Data(data) = &*block else { return Ok(()) };
        let searchable = self.file.check(data)?;
        if let Some(at) = searchable.seek(&key) {
            self.stand(block, at);
            return Ok(());
        }
        let last = searchable.last_key();
        let next = self.next_block(data, last)?;
        self.enter(next)
    }

    /// Goes to the last cell that is before `key`, forwards or back.
    ///
    /// # Errors
    ///
    /// If a block cannot be read; the scanner then stands nowhere.
    pub fn seek_before(&mut self, key: KeyRef<'_>) -> Result<()> {
        let Some(block) = self.leave_for(&key)? else { return Ok(()) };
        let Block::Data(data) = &*block else { return Ok(()) };
        if let Some(at) = self.file.check(data)?.last_before(&key) {
            self.stand(block, at);
            return Ok(());
        }
        self.enter_previous(data)
    }

    /// Goes to the last cell of the file.
    ///
    /// # Errors
    ///
    /// If a block cannot be read; the scanner then stands nowhere.
    pub fn seek_to_last(&mut self) -> Result<()> {
        self.leave();
        self.place = None;
        let last = self.file.last_data_block(self.caching, &mut self.buffers, &mut self.trace)?;
        self.enter_at_end(last)
    }

    /// Goes to the cell before. Before the first one the scanner stands nowhere.
    ///
    /// # Errors
    ///
    /// If a block cannot be read; the scanner then stands nowhere.
    pub fn retreat(&mut self) -> Result<()> {
        self.cells_passed = None;
        self.stop_ahead();
        let Some(Place { block, walk }) = self.place.take() else { return Ok(()) };
        let block = self.file.searchable(block, &mut self.buffers)?;
        let Block::Data(data) = &*block else { return Ok(()) };
        if self.before.is_empty() {
            self.file.check(data)?.row_cells_before(walk.position(), &mut self.before);
        }
        if let Some(at) = self.before.pop() {
            self.stand(block, at);
            return Ok(());
        }
        self.enter_previous(data)
    }

    /// The cell it stands on; `None` behind the last, and before the first seek.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a call, and a copy of the cell, for each cell of a scan"
    )]
    pub fn cell(&self) -> Option<CellRef<'_>> {
        let place = self.place.as_ref()?;
        place.data()?.cell(&place.walk)
    }

    /// Goes to the next cell. Behind the last one it stays where it is.
    ///
    /// # Errors
    ///
    /// If a block cannot be read or its cells break a rule, or if all cells were passed and are not
    /// as many as the file says; the scanner then stands nowhere.
    #[inline]
    pub fn advance(&mut self) -> Result<()> {
        self.before.clear();
        let Some(place) = &mut self.place else { return Ok(()) };
        let Block::Data(data) = &*place.block else { return Ok(()) };
        if let Some(passed) = &mut self.cells_passed {
            *passed += 1;
        }
        match data.step(&mut place.walk) {
            Ok(Step::SameRow | Step::NextRow | Step::Cell) => Ok(()),
            Ok(Step::End) => self.enter_next(),
            Err(what) => Err(self.leave_damaged(what)),
        }
    }

    /// Leaves a block whose next cell is damaged; returns the error.
    #[cold]
    fn leave_damaged(&mut self, what: What) -> Error {
        let place = self.place.take().expect("the scanner stands on the cell before");
        match &*place.block {
            Block::Data(data) => self.file.damage_in(data, what),
            _ => unreachable!("a scanner stands in data blocks"),
        }
    }

    /// The block that it stands in.
    #[cfg(test)]
    pub(crate) fn block(&self) -> Option<&Arc<Block>> {
        self.place.as_ref().map(Place::block)
    }

    /// Checks the key of the current cell against the next index key.
    ///
    /// Call it when a scan past the cache ([`Caching::Bypass`]) stops at a cell before the end of the file.
    /// Such a scan checks the first key of a block when it enters the block, and the last key when it leaves
    /// it.
    ///
    /// # Errors
    ///
    /// If the cell belongs behind the block's range.
    pub fn check_place(&mut self) -> Result<()> {
        let Some(place) = &self.place else { return Ok(()) };
        let Some(data) = place.data() else { unreachable!("a scanner stands in data blocks") };
        let cursor = match self.cursor.take() {
            Some(cursor) => cursor,
            None => self.file.cursor_on(data, self.caching, &mut self.trace)?,
        };
        let key = data.cell(&place.walk).map(|cell| cell.key());
        let checked = self.file.check_upper_bound(data, key, &cursor);
        self.cursor = Some(cursor);
        checked
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
        let (held, buffers) = (held.as_ref(), &mut self.buffers);
        self.file.data_block_for(key, held, self.caching, buffers, &mut self.trace)
    }

    /// Forgets what holds only where it stands.
    fn leave(&mut self) {
        self.before.clear();
        self.cells_passed = None;
        self.cursor = None;
        self.stop_ahead();
    }

    /// Reads ahead no more until it has gone on for a while.
    fn stop_ahead(&mut self) {
        if let Some(ahead) = &mut self.ahead {
            ahead.stop(&mut self.trace);
        }
    }

    /// Stands on a cell of a block that was checked.
    fn stand(&mut self, block: Arc<Block>, at: usize) {
        let walk = match &*block {
            Block::Data(data) => data.walk_from(at),
            _ => None,
        };
        self.place = walk.map(|walk| Place { block, walk });
    }

    /// Goes to the first cell of the next block: cold, so that the step to the next cell of the same block
    /// stays short.
    #[cold]
    fn enter_next(&mut self) -> Result<()> {
        let Some(Place { block, walk }) = self.place.take() else { return Ok(()) };
        let Block::Data(data) = &*block else { return Ok(()) };
        let last = data.cell(&walk).map(|cell| cell.key());
        let next = self.next_block(data, last)?;
        if let Some(Block::Data(data)) = Arc::into_inner(block) {
            data.give_back(&mut self.buffers);
        }
        if let (Some(ahead), Some(cursor)) = (&mut self.ahead, &self.cursor) {
            ahead.cross_edge(&self.file, cursor);
        }
        self.enter(next)?;
        match self.cells_passed {
            Some(passed) if self.place.is_none() => self.file.check_cell_count(passed),
            _ => Ok(()),
        }
    }

    /// The data block behind `data`, whose last key is `last`.
    fn next_block(
        &mut self,
        data: &DataBlock,
        last: Option<KeyRef<'_>>,
    ) -> Result<Option<Arc<Block>>> {
        let cursor = self.take_cursor(data)?;
        let Self { file, caching, buffers, trace, .. } = self;
        file.check_upper_bound(data, last, &cursor)?;
        let Some(cursor) = file.next_cursor(cursor, *caching, trace)? else {
            file.check_last(data, last)?;
            return Ok(None);
        };
        let read = self.ahead.as_mut().and_then(|it| it.take(cursor.block_place(), buffers, trace));
        let next = match read {
            Some(data) => file.check_read_ahead(data?, &cursor)?,
            None => file.data_block_at(&cursor, *caching, buffers, trace)?,
        };
        self.cursor = Some(cursor);
        Ok(Some(next))
    }

    /// Takes the cursor, or looks up the entry of `data`, the block that the scan leaves.
    fn take_cursor(&mut self, data: &DataBlock) -> Result<IndexCursor> {
        match self.cursor.take() {
            Some(cursor) => Ok(cursor),
            None => self.file.cursor_on(data, self.caching, &mut self.trace),
        }
    }

    /// Stands on the first cell of a block.
    fn enter(&mut self, block: Option<Arc<Block>>) -> Result<()> {
        let Some(block) = block else { return Ok(()) };
        let Block::Data(data) = &*block else { return Ok(()) };
        let walk = data.walk().map_err(|what| self.file.damage_in(data, what))?;
        self.place = Some(Place { block, walk });
        Ok(())
    }

    fn enter_previous(&mut self, data: &DataBlock) -> Result<()> {
        let cursor = self.take_cursor(data)?;
        let Self { file, caching, buffers, trace, .. } = self;
        let Some(cursor) = file.previous_cursor(cursor, *caching, trace)? else { return Ok(()) };
        let block = file.whole_data_block_at(&cursor, *caching, buffers, trace)?;
        self.cursor = Some(cursor);
        self.enter_at_end(Some(block))
    }

    fn enter_at_end(&mut self, block: Option<Arc<Block>>) -> Result<()> {
        let Some(block) = block else { return Ok(()) };
        let Block::Data(data) = &*block else { return Ok(()) };
        let at = self.file.check(data)?.last_cell_at();
        self.stand(block, at);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
