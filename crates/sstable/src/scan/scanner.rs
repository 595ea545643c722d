//! Cells of a file in their order.

use std::sync::Arc;

use super::read_ahead::ReadAhead;
use crate::block::data::{DataBlock, DataRef};
use crate::block::decoded::DecodedBlock;
use crate::block::encoded::{EncodedBlock, EncodedCursor};
use crate::block::origin::BlockOrigin;
use crate::buffers::Buffers;
use crate::encoding::{DamageReason, PlainCursor, Step};
use crate::file::index_cursor::IndexCursor;
use crate::file::open_file::OpenFile;
use crate::file::read_context::ReadContext;
use crate::{Caching, CellRef, Error, KeyRef, ReadTrace, Result};

/// A place in a file: on a cell, or behind the last one.
///
/// It returns a reference to the cell it stands on, straight from the block; nothing is copied. What it reads it
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
    place: Option<ScanPosition>,
    /// On the index entry of the current block, once that was looked up.
    cursor: Option<IndexCursor>,
    /// Cells of the row the scanner stands in, or of the row before it, that come before its cell:
    /// a cursor only moves forwards, so that going back has to remember them.
    before: Vec<usize>,
    /// Cells passed since the scan began at the first one: the file says how many there are.
    cells_passed: Option<u64>,
}

/// On a cell of a data block.
#[derive(Clone, Debug)]
pub(crate) enum ScanPosition {
    /// All cells of the block were checked.
    Decoded { block: Arc<DecodedBlock>, cursor: PlainCursor },
    /// The cells up to this one were checked.
    Encoded { block: Arc<EncodedBlock>, cursor: EncodedCursor },
}

impl ScanPosition {
    /// On the cell that starts at `at`.
    #[inline]
    pub(crate) fn decoded(block: Arc<DecodedBlock>, at: usize) -> Self {
        Self::Decoded { cursor: block.cursor_at(at), block }
    }

    /// On the first cell of a block.
    fn first_of(block: DataBlock) -> Result<Self, (BlockOrigin, DamageReason)> {
        match block {
            DataBlock::Decoded(block) => Ok(Self::decoded(block, 0)),
            DataBlock::Encoded(block) => match block.cursor() {
                Ok(cursor) => Ok(Self::Encoded { block, cursor }),
                Err(what) => Err((*block.origin(), what)),
            },
        }
    }

    #[inline]
    fn cell(&self) -> CellRef<'_> {
        match self {
            Self::Decoded { block, cursor } => block.cell(cursor),
            Self::Encoded { block, cursor } => block.cell(cursor),
        }
    }

    /// Goes to the next cell. Returns `false` behind the last one of the block, where it stays.
    #[inline]
    fn advance(&mut self) -> Result<bool, DamageReason> {
        match self {
            Self::Decoded { block, cursor } => Ok(block.advance(cursor)),
            Self::Encoded { block, cursor } => block.step(cursor).map(|step| step != Step::End),
        }
    }

    /// Where the cell starts in the block, or would if the block was plain.
    const fn position(&self) -> usize {
        match self {
            Self::Decoded { cursor, .. } => cursor.position(),
            Self::Encoded { cursor, .. } => cursor.position(),
        }
    }

    fn block(&self) -> DataRef<'_> {
        match self {
            Self::Decoded { block, .. } => DataRef::Decoded(block),
            Self::Encoded { block, .. } => DataRef::Encoded(block),
        }
    }

    fn into_block(self) -> DataBlock {
        match self {
            Self::Decoded { block, .. } => DataBlock::Decoded(block),
            Self::Encoded { block, .. } => DataBlock::Encoded(block),
        }
    }
}

impl Scanner {
    pub(crate) fn new(file: Arc<OpenFile>, caching: Caching) -> Self {
        Self::standing(file, caching, None)
    }

    /// One piece: a get makes a scanner where it is wanted, and moves none.
    #[inline]
    fn standing(file: Arc<OpenFile>, caching: Caching, place: Option<ScanPosition>) -> Self {
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
    pub(crate) fn at(file: Arc<OpenFile>, place: ScanPosition) -> Self {
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
        let (file, mut context) = self.read();
        let first = file.first_data_block(&mut context)?;
        self.place = first.map(|block| ScanPosition::decoded(block, 0));
        Ok(())
    }

    /// Goes to the first cell that is not before `key`, forwards or back.
    ///
    /// # Errors
    ///
    /// If a block cannot be read; the scanner then stands nowhere.
    pub fn seek(&mut self, key: KeyRef<'_>) -> Result<()> {
        let Some(block) = self.leave_for(&key)? else { return Ok(()) };
        if let Some(at) = block.seek(&key) {
            self.place = Some(ScanPosition::decoded(block, at));
            return Ok(());
        }
        let next = self.next_block(DataRef::Decoded(&block), &block.last_key())?;
        self.enter(next)
    }

    /// Goes to the last cell that is before `key`, forwards or back.
    ///
    /// # Errors
    ///
    /// If a block cannot be read; the scanner then stands nowhere.
    pub fn seek_before(&mut self, key: KeyRef<'_>) -> Result<()> {
        let Some(block) = self.leave_for(&key)? else { return Ok(()) };
        if let Some(at) = block.last_before(&key) {
            self.place = Some(ScanPosition::decoded(block, at));
            return Ok(());
        }
        self.enter_previous(&block)
    }

    /// Goes to the last cell of the file.
    ///
    /// # Errors
    ///
    /// If a block cannot be read; the scanner then stands nowhere.
    pub fn seek_to_last(&mut self) -> Result<()> {
        self.leave();
        self.place = None;
        let (file, mut context) = self.read();
        if let Some(block) = file.last_data_block(&mut context)? {
            self.enter_at_end(block);
        }
        Ok(())
    }

    /// Goes to the cell before. Before the first one the scanner stands nowhere.
    ///
    /// # Errors
    ///
    /// If a block cannot be read; the scanner then stands nowhere.
    pub fn retreat(&mut self) -> Result<()> {
        self.cells_passed = None;
        self.stop_ahead();
        let Some(place) = self.place.take() else { return Ok(()) };
        let position = place.position();
        let block = self.file.decoded(place.into_block(), &mut self.buffers)?;
        if self.before.is_empty() {
            block.row_cells_before(position, &mut self.before);
        }
        if let Some(at) = self.before.pop() {
            self.place = Some(ScanPosition::decoded(block, at));
            return Ok(());
        }
        self.enter_previous(&block)
    }

    /// The cell it stands on; `None` behind the last, and before the first seek.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a call, and a copy of the cell, for each cell of a scan"
    )]
    pub fn cell(&self) -> Option<CellRef<'_>> {
        self.place.as_ref().map(ScanPosition::cell)
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
        if let Some(passed) = &mut self.cells_passed {
            *passed += 1;
        }
        match place.advance() {
            Ok(true) => Ok(()),
            Ok(false) => self.enter_next(),
            Err(what) => Err(self.leave_damaged(what)),
        }
    }

    /// Leaves a block whose next cell is damaged; returns the error.
    #[cold]
    fn leave_damaged(&mut self, what: DamageReason) -> Error {
        let place = self.place.take().expect("the scanner stands on the cell before");
        self.file.damage_in(place.block().origin(), what)
    }

    /// The place that it stands at.
    #[cfg(test)]
    pub(crate) fn place(&self) -> Option<&ScanPosition> {
        self.place.as_ref()
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
        let block = place.block();
        let Self { file, caching, buffers, trace, .. } = self;
        let cursor = if let Some(cursor) = self.cursor.take() {
            cursor
        } else {
            file.cursor_on(block, &mut ReadContext { caching: *caching, buffers, trace })?
        };
        let checked = file.check_upper_bound(block.origin(), &place.cell().key(), &cursor);
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

    /// Returns the file, and how this scanner reads it.
    fn read(&mut self) -> (&OpenFile, ReadContext<'_>) {
        let Self { file, caching, buffers, trace, .. } = self;
        (file, ReadContext { caching: *caching, buffers, trace })
    }

    /// Leaves the current place, and loads the block in which `key` is to be looked for.
    fn leave_for(&mut self, key: &KeyRef<'_>) -> Result<Option<Arc<DecodedBlock>>> {
        self.leave();
        let held = self.place.take().map(ScanPosition::into_block);
        let (file, mut context) = self.read();
        file.data_block_for(key, held, &mut context)
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

    /// Goes to the first cell of the next block: cold, so that the step to the next cell of the same block
    /// stays short.
    #[cold]
    fn enter_next(&mut self) -> Result<()> {
        let Some(place) = self.place.take() else { return Ok(()) };
        let next = self.next_block(place.block(), &place.cell().key())?;
        place.into_block().recycle(&mut self.buffers);
        if let (Some(ahead), Some(cursor)) = (&mut self.ahead, &self.cursor) {
            ahead.cross_edge(&self.file, cursor);
        }
        self.enter(next)?;
        match self.cells_passed {
            Some(passed) if self.place.is_none() => self.file.check_cell_count(passed),
            _ => Ok(()),
        }
    }

    /// The data block behind `block`, whose last key is `last`.
    fn next_block(&mut self, block: DataRef<'_>, last: &KeyRef<'_>) -> Result<Option<DataBlock>> {
        let cursor = self.take_cursor(block)?;
        let Self { file, caching, buffers, trace, ahead, .. } = self;
        let context = &mut ReadContext { caching: *caching, buffers, trace };
        file.check_upper_bound(block.origin(), last, &cursor)?;
        let Some(cursor) = cursor.into_next(file, context)? else {
            file.check_last(block.origin(), last)?;
            return Ok(None);
        };
        let place = cursor.block_place();
        let read = ahead.as_mut().and_then(|it| it.take(place, context.buffers, context.trace));
        let next = match read {
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

    /// Takes the cursor, or looks up the entry of `block`, which the scan leaves.
    fn take_cursor(&mut self, block: DataRef<'_>) -> Result<IndexCursor> {
        if let Some(cursor) = self.cursor.take() {
            return Ok(cursor);
        }
        let (file, mut context) = self.read();
        file.cursor_on(block, &mut context)
    }

    /// Stands on the first cell of a block.
    fn enter(&mut self, block: Option<DataBlock>) -> Result<()> {
        let Some(block) = block else { return Ok(()) };
        let place = ScanPosition::first_of(block);
        let damage = |(origin, what)| self.file.damage_in(&origin, what);
        self.place = Some(place.map_err(damage)?);
        Ok(())
    }

    fn enter_previous(&mut self, block: &DecodedBlock) -> Result<()> {
        let cursor = self.take_cursor(DataRef::Decoded(block))?;
        let (file, mut context) = self.read();
        let Some(cursor) = cursor.into_previous(file, &mut context)? else { return Ok(()) };
        let block = file.whole_data_block_at(&cursor, &mut context)?;
        self.cursor = Some(cursor);
        self.enter_at_end(block);
        Ok(())
    }

    fn enter_at_end(&mut self, block: Arc<DecodedBlock>) {
        let at = block.last_cell_at();
        self.place = Some(ScanPosition::decoded(block, at));
    }
}

#[cfg(test)]
mod tests;
