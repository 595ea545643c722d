//! A data block as it was read from the file: plain or delta-encoded cells, not yet checked.
//!
//! No cell is used before it is checked. To be searched the block is [decoded](EncodedBlock::decode),
//! which checks all cells. A scan past the cache, and the first get that reads a delta-encoded block,
//! need neither a row index nor all plain cells: their [cursor](EncodedBlock::cursor) decodes and checks
//! each cell it comes to.
#![allow(clippy::arithmetic_side_effects, reason = "bytes in memory")]

use std::cmp::Ordering;

use super::decoded::DecodedBlock;
use super::origin::BlockOrigin;
use super::row_index::RowIndexKind;
use crate::CellRef;
use crate::buffers::Buffers;
use crate::encoding::{
    CellLayout, Cells, CheckingCursor, DamageReason, DeltaCursor, RowStarts, Step, decode_delta,
};

/// A data block whose cells are still to be checked.
#[derive(Debug)]
pub(crate) struct EncodedBlock {
    origin: BlockOrigin,
    cells: Cells,
    layout: CellLayout,
}

impl EncodedBlock {
    /// Takes the cells of a block.
    pub(crate) const fn new(origin: BlockOrigin, cells: Cells, layout: CellLayout) -> Self {
        Self { origin, cells, layout }
    }

    /// Where it is in its file.
    pub(crate) const fn origin(&self) -> &BlockOrigin {
        &self.origin
    }

    /// Bytes it takes in memory.
    pub(crate) const fn bytes(&self) -> usize {
        size_of::<Self>() + self.cells.bytes()
    }

    /// Whether a cursor has to decode its cells.
    pub(crate) const fn is_delta_encoded(&self) -> bool {
        matches!(self.cells, Cells::Delta(_))
    }

    /// Bytes of all its cells as plain cells, as the block states.
    pub(crate) const fn plain_len(&self) -> usize {
        self.cells.plain_len()
    }

    /// The bytes of the longest cell, or of all cells if these are at most `enough`.
    pub(crate) fn longest_cell_len(&self, enough: usize) -> Result<usize, DamageReason> {
        let len = self.plain_len();
        if len <= enough {
            return Ok(len);
        }
        let mut cursor = self.cursor()?;
        let mut longest = cursor.cell_len();
        while self.step(&mut cursor)? != Step::End {
            longest = longest.max(cursor.cell_len());
        }
        Ok(longest)
    }

    /// Recycles its buffer.
    pub(crate) fn give_back(self, buffers: &mut Buffers) {
        buffers.give_back(self.cells.into_buffer());
    }

    /// Checks all cells and makes them plain; `buffers` get what is no longer needed.
    pub(crate) fn decode(
        self,
        lookup: RowIndexKind,
        buffers: &mut Buffers,
    ) -> Result<DecodedBlock, DamageReason> {
        let Self { origin, cells, layout } = self;
        match cells {
            Cells::Plain(cells) => {
                let starts = RowStarts::of_plain(&cells, layout)?;
                Ok(DecodedBlock::new(origin, cells, layout, starts, lookup))
            }
            Cells::Delta(_) => {
                let decoded = decoded_copy(&origin, &cells, layout, lookup, buffers);
                buffers.give_back(cells.into_buffer());
                decoded
            }
        }
    }

    /// Decodes a copy, for a block that others share.
    pub(crate) fn decode_copy(
        &self,
        lookup: RowIndexKind,
        buffers: &mut Buffers,
    ) -> Result<DecodedBlock, DamageReason> {
        decoded_copy(&self.origin, &self.cells, self.layout, lookup, buffers)
    }

    /// Returns a cursor on the first cell.
    pub(crate) fn cursor(&self) -> Result<EncodedCursor, DamageReason> {
        match &self.cells {
            Cells::Plain(cells) => {
                CheckingCursor::begin(cells, self.layout).map(EncodedCursor::Plain)
            }
            Cells::Delta(cells) => DeltaCursor::begin(cells, self.layout)
                .map(|cursor| EncodedCursor::Delta(Box::new(cursor))),
        }
    }

    /// Moves a cursor to the next cell, and checks that cell.
    #[inline]
    pub(crate) fn step(&self, cursor: &mut EncodedCursor) -> Result<Step, DamageReason> {
        match (cursor, &self.cells) {
            (EncodedCursor::Plain(cursor), Cells::Plain(cells)) => cursor.step(cells, self.layout),
            (EncodedCursor::Delta(cursor), Cells::Delta(cells)) => cursor.step(cells),
            _ => of_another_block(),
        }
    }

    /// The cell that a cursor stands on.
    #[inline]
    pub(crate) fn cell<'a>(&'a self, cursor: &'a EncodedCursor) -> CellRef<'a> {
        match (cursor, &self.cells) {
            (EncodedCursor::Plain(cursor), Cells::Plain(cells)) => cursor.cell(cells),
            (EncodedCursor::Delta(cursor), Cells::Delta(cells)) => cursor.cell(cells),
            _ => of_another_block(),
        }
    }

    /// Moves a cursor to the first cell whose row is not less than `row`, and returns how that row
    /// compares with it. If all rows are less, the cursor ends on the last cell.
    pub(crate) fn go_to_row(
        &self,
        cursor: &mut EncodedCursor,
        row: &[u8],
    ) -> Result<Ordering, DamageReason> {
        if let (EncodedCursor::Delta(cursor), Cells::Delta(cells)) = (&mut *cursor, &self.cells) {
            return cursor.go_to_row(cells, row);
        }
        loop {
            let found = self.layout.order.compare_rows(self.cell(cursor).row, row);
            if found.is_ge() || self.step(cursor)? == Step::End {
                return Ok(found);
            }
        }
    }

    /// Moves a cursor to the last cell.
    pub(crate) fn go_to_last(&self, cursor: &mut EncodedCursor) -> Result<(), DamageReason> {
        while self.step(cursor)? != Step::End {}
        Ok(())
    }
}

fn decoded_copy(
    origin: &BlockOrigin,
    cells: &Cells,
    layout: CellLayout,
    lookup: RowIndexKind,
    buffers: &mut Buffers,
) -> Result<DecodedBlock, DamageReason> {
    let (plain, starts) = match cells {
        Cells::Plain(cells) => {
            let starts = RowStarts::of_plain(cells, layout)?;
            (cells.to_owned_in(buffers), starts)
        }
        Cells::Delta(cells) => decode_delta(cells, layout, buffers)?,
    };
    Ok(DecodedBlock::new(*origin, plain, layout, starts, lookup))
}

/// A cursor over an [`EncodedBlock`]: on a cell that it has checked.
#[derive(Clone, Debug)]
pub(crate) enum EncodedCursor {
    Plain(CheckingCursor),
    Delta(Box<DeltaCursor>),
}

impl EncodedCursor {
    /// Where the cell starts, or would if the block was plain.
    pub(crate) const fn position(&self) -> usize {
        match self {
            Self::Plain(cursor) => cursor.position(),
            Self::Delta(cursor) => cursor.position(),
        }
    }

    /// Bytes of the cell as a plain one.
    pub(crate) const fn cell_len(&self) -> usize {
        match self {
            Self::Plain(cursor) => cursor.cell_len(),
            Self::Delta(cursor) => cursor.cell_len(),
        }
    }
}

#[cold]
fn of_another_block() -> ! {
    panic!("a cursor was used with another block than its own")
}
