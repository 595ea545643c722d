//! A data block as read from the file: plain or delta-encoded cells, not yet checked for damage.
//!
//! Cells are read in one of two ways. [Decoding](EncodedBlock::decode) checks all cells and
//! builds a row index, so that the block can be searched. A [cursor](EncodedBlock::cursor) decodes
//! and checks one cell at a time; that suffices for a scan that bypasses the cache, and for the
//! first get that reads a delta-encoded block.

use std::cmp::Ordering;

use cells::CellRef;

use super::decoded::DecodedBlock;
use super::origin::BlockIdentity;
use super::row_index::RowIndexKind;
use crate::buffers::Buffers;
use crate::encoding::{
    CellLayout, Cells, CheckingCursor, CursorMove, DamageReason, DeltaCursor, RowStarts,
    decode_delta,
};

/// A data block whose cells are not yet checked.
#[derive(Debug)]
pub(crate) struct EncodedBlock {
    origin: BlockIdentity,
    cells: Cells,
    layout: CellLayout,
}

impl EncodedBlock {
    pub(crate) const fn new(origin: BlockIdentity, cells: Cells, layout: CellLayout) -> Self {
        Self { origin, cells, layout }
    }

    pub(crate) const fn origin(&self) -> &BlockIdentity {
        &self.origin
    }

    /// Returns the number of bytes of memory that the block takes.
    pub(crate) const fn bytes(&self) -> usize {
        size_of::<Self>() + self.cells.bytes()
    }

    pub(crate) const fn is_delta_encoded(&self) -> bool {
        matches!(self.cells, Cells::Delta(_))
    }

    /// Returns the total length of the cells in plain form, as the block states it.
    pub(crate) const fn plain_len(&self) -> usize {
        self.cells.plain_len()
    }

    /// Returns the length of the longest cell, or an upper bound that is at most `limit`.
    ///
    /// The total length of the cells is such a bound in most blocks, and needs no pass over them.
    pub(crate) fn longest_cell_len(&self, limit: usize) -> Result<usize, DamageReason> {
        let len = self.plain_len();
        if len <= limit {
            return Ok(len);
        }
        let mut cursor = self.cursor()?;
        let mut longest = cursor.cell_len();
        while self.step(&mut cursor)? != CursorMove::End {
            longest = longest.max(cursor.cell_len());
        }
        Ok(longest)
    }

    /// Returns the block's buffer to `buffers`.
    pub(crate) fn recycle(self, buffers: &mut Buffers) {
        buffers.recycle(self.cells.into_buffer());
    }

    /// Checks all cells and decodes them into plain form. `buffers` gets the memory that is freed.
    pub(crate) fn decode(
        self,
        row_index_kind: RowIndexKind,
        buffers: &mut Buffers,
    ) -> Result<DecodedBlock, DamageReason> {
        let Self { origin, cells, layout } = self;
        match cells {
            Cells::Plain(cells) => {
                let starts = RowStarts::from_plain(&cells, layout)?;
                Ok(DecodedBlock::new(origin, cells, layout, starts, row_index_kind))
            }
            Cells::Delta(_) => {
                let decoded = decoded_copy(&origin, &cells, layout, row_index_kind, buffers);
                buffers.recycle(cells.into_buffer());
                decoded
            }
        }
    }

    /// Like [`decode`](Self::decode), but leaves this block, which other readers may share.
    pub(crate) fn decode_copy(
        &self,
        row_index_kind: RowIndexKind,
        buffers: &mut Buffers,
    ) -> Result<DecodedBlock, DamageReason> {
        decoded_copy(&self.origin, &self.cells, self.layout, row_index_kind, buffers)
    }

    /// Checks the first cell and returns a cursor on it.
    pub(crate) fn cursor(&self) -> Result<EncodedCursor, DamageReason> {
        match &self.cells {
            Cells::Plain(cells) => {
                CheckingCursor::begin(cells, self.layout).map(EncodedCursor::Plain)
            }
            Cells::Delta(cells) => DeltaCursor::begin(cells, self.layout)
                .map(|cursor| EncodedCursor::Delta(Box::new(cursor))),
        }
    }

    /// Moves a cursor to the next cell and checks it.
    #[inline]
    pub(crate) fn step(&self, cursor: &mut EncodedCursor) -> Result<CursorMove, DamageReason> {
        match (cursor, &self.cells) {
            (EncodedCursor::Plain(cursor), Cells::Plain(cells)) => cursor.step(cells, self.layout),
            (EncodedCursor::Delta(cursor), Cells::Delta(cells)) => cursor.step(cells),
            _ => wrong_block(),
        }
    }

    /// Returns the cell at the cursor.
    #[inline]
    pub(crate) fn cell<'a>(&'a self, cursor: &'a EncodedCursor) -> CellRef<'a> {
        match (cursor, &self.cells) {
            (EncodedCursor::Plain(cursor), Cells::Plain(cells)) => cursor.cell(cells),
            (EncodedCursor::Delta(cursor), Cells::Delta(cells)) => cursor.cell(cells),
            _ => wrong_block(),
        }
    }

    /// Moves a cursor to the first cell whose row is at least `row`.
    ///
    /// Returns how that cell's row compares with `row`. If all rows are less, the cursor ends on
    /// the last cell.
    pub(crate) fn go_to_row(
        &self,
        cursor: &mut EncodedCursor,
        row: &[u8],
    ) -> Result<Ordering, DamageReason> {
        if let (EncodedCursor::Delta(cursor), Cells::Delta(cells)) = (&mut *cursor, &self.cells) {
            return cursor.go_to_row(cells, row);
        }
        loop {
            let ordering = self.layout.order.compare_rows(self.cell(cursor).row, row);
            if ordering.is_ge() || self.step(cursor)? == CursorMove::End {
                return Ok(ordering);
            }
        }
    }

    /// Moves a cursor to the last cell.
    pub(crate) fn go_to_last(&self, cursor: &mut EncodedCursor) -> Result<(), DamageReason> {
        while self.step(cursor)? != CursorMove::End {}
        Ok(())
    }
}

fn decoded_copy(
    origin: &BlockIdentity,
    cells: &Cells,
    layout: CellLayout,
    row_index_kind: RowIndexKind,
    buffers: &mut Buffers,
) -> Result<DecodedBlock, DamageReason> {
    let (plain, starts) = match cells {
        Cells::Plain(cells) => {
            let starts = RowStarts::from_plain(cells, layout)?;
            (cells.to_owned_in(buffers), starts)
        }
        Cells::Delta(cells) => decode_delta(cells, layout, buffers)?,
    };
    Ok(DecodedBlock::new(*origin, plain, layout, starts, row_index_kind))
}

/// A cursor over an [`EncodedBlock`]; the cell at the cursor is checked.
#[derive(Clone, Debug)]
pub(crate) enum EncodedCursor {
    Plain(CheckingCursor),
    Delta(Box<DeltaCursor>),
}

impl EncodedCursor {
    /// Returns the offset that the cell has in the plain form of the block.
    pub(crate) const fn position(&self) -> usize {
        match self {
            Self::Plain(cursor) => cursor.position(),
            Self::Delta(cursor) => cursor.position(),
        }
    }

    /// Returns the length of the cell in plain form.
    pub(crate) const fn cell_len(&self) -> usize {
        match self {
            Self::Plain(cursor) => cursor.cell_len(),
            Self::Delta(cursor) => cursor.cell_len(),
        }
    }
}

#[cold]
fn wrong_block() -> ! {
    panic!("a cursor was used with another block")
}
