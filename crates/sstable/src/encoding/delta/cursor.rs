//! A cursor over the cells of a delta-encoded block, which decodes and checks one cell at a time.

use std::cmp::Ordering;

use cells::CellRef;

use super::cell_reader::CellReader;
use super::cells::{DELTA_HEADER_LEN, DeltaCells, DeltaEncoding};
use super::current_cell::CurrentCell;
use super::fault::DeltaFault;
use super::{diff, fast_diff, prefix};
use crate::buffers::Buffers;
use crate::encoding::{CellLayout, CursorMove, DamageReason, PlainCells, RowStarts, plain};
use crate::input::Input;

/// A cursor over delta-encoded cells; the cell at the cursor is checked.
///
/// Every call must pass the same cells as `begin`. After an error, the cursor has no valid cell and
/// must not be used again.
#[derive(Clone, Debug)]
pub(crate) struct DeltaCursor {
    encoding: DeltaEncoding,
    cell: CurrentCell,
}

impl DeltaCursor {
    /// Decodes and checks the first cell, and returns a cursor at that cell.
    pub(crate) fn begin(cells: &DeltaCells, layout: CellLayout) -> Result<Self, DamageReason> {
        let encoding = cells.encoding();
        let mut cell = CurrentCell::before_first(cells, layout, DELTA_HEADER_LEN);
        if encoding == DeltaEncoding::Diff {
            let mut input = Input::new(cells.body().tail(DELTA_HEADER_LEN));
            cell.set_family(diff::decode_family(&mut input)?);
            cell.next_at = cells.body().len() - input.len();
        }
        if cells.body().tail(cell.next_at).is_empty() {
            return Err("no cells".into());
        }
        let at = cell.next_at;
        let first = match encoding {
            DeltaEncoding::Prefix => prefix::decode(&mut cell, cells),
            DeltaEncoding::Diff => diff::decode_first(&mut cell, cells),
            DeltaEncoding::FastDiff => fast_diff::decode_first(&mut cell, cells),
        };
        first.map_err(|fault| damage_at(at, &fault.reason(&cell)))?;
        let mut cursor = Self { encoding, cell };
        if layout.tags {
            cursor.read_tail(cells, at)?;
        }
        Ok(cursor)
    }

    /// Moves to the next cell, and decodes and checks it.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as the body")]
    pub(crate) fn step(&mut self, cells: &DeltaCells) -> Result<CursorMove, DamageReason> {
        let at = self.cell.next_at;
        let read = match self.encoding {
            DeltaEncoding::Prefix => prefix::decode(&mut self.cell, cells),
            DeltaEncoding::Diff => diff::decode(&mut self.cell, cells),
            DeltaEncoding::FastDiff => fast_diff::decode(&mut self.cell, cells),
        };
        match read {
            Ok(step) if !self.cell.layout.tags => Ok(step),
            Ok(step) => self.read_tail(cells, at).map(|()| step),
            Err(fault) => self.end(cells, at, fault),
        }
    }

    /// Reads the fields that follow the value in files with tags. The cell starts at `at`.
    #[inline(never)]
    fn read_tail(&mut self, cells: &DeltaCells, at: usize) -> Result<(), DamageReason> {
        CellReader::new(&mut self.cell, cells).read_tail().map_err(|what| damage_at(at, &what))
    }

    /// Returns the result of a step to `at` if no cell could be decoded there.
    ///
    /// At the end of the body this is `CursorMove::End` if the cells have the size stated by the block.
    /// Otherwise it is the damage.
    #[cold]
    fn end(
        &self,
        cells: &DeltaCells,
        at: usize,
        fault: DeltaFault,
    ) -> Result<CursorMove, DamageReason> {
        if !cells.body().tail(at).is_empty() {
            return Err(damage_at(at, &fault.reason(&self.cell)));
        }
        let (len, size) = (self.cell.plain.end, self.cell.stated_len);
        if len != size {
            return Err(format!("{len} bytes of cells where {size} are stated").into());
        }
        Ok(CursorMove::End)
    }

    /// Moves forward to the first cell whose row is at least `row`.
    ///
    /// Returns how that cell's row compares with `row`. If all rows are less, the cursor stays on
    /// the last cell, and the result is `Less`.
    pub(crate) fn go_to_row(
        &mut self,
        cells: &DeltaCells,
        row: &[u8],
    ) -> Result<Ordering, DamageReason> {
        loop {
            let found = self.cell.layout.order.compare_rows(self.cell.row(), row);
            if found.is_ge() {
                return Ok(found);
            }
            loop {
                match self.step(cells)? {
                    CursorMove::SameRow => {}
                    CursorMove::NextRow => break,
                    CursorMove::End => return Ok(found),
                }
            }
        }
    }

    /// Returns the offset of the cell in the plain form of the block.
    pub(crate) const fn position(&self) -> usize {
        self.cell.plain.start
    }

    /// Returns the length of the cell in plain form.
    pub(crate) const fn cell_len(&self) -> usize {
        self.cell.plain.end - self.cell.plain.start
    }

    /// Returns the cell at the cursor.
    pub(crate) fn cell<'a>(&'a self, cells: &'a DeltaCells) -> CellRef<'a> {
        self.cell.cell(cells)
    }

    /// Returns the flat key of the cell at the cursor.
    #[cfg(test)]
    pub(super) fn flat_key(&self) -> &[u8] {
        self.cell.flat_key()
    }
}

/// Decodes all cells into plain cells, and returns these and the offsets of their rows.
///
/// The cursor checks each cell and the order of rows, so the plain cells need no further check.
pub(crate) fn decode_delta(
    cells: &DeltaCells,
    layout: CellLayout,
    buffers: &mut Buffers,
) -> Result<(PlainCells, RowStarts), DamageReason> {
    // The stated size is not trusted: beyond 8 times the body, memory grows with the decoded cells.
    let likely_len = cells.plain_len().min(cells.body().len().saturating_mul(8));
    let mut out = buffers.take_empty(likely_len);
    let mut cursor = DeltaCursor::begin(cells, layout)?;
    let mut starts = RowStarts::begin(likely_len);
    loop {
        plain::write_cell_with(&mut out, cursor.cell.flat_key(), &cursor.cell(cells), layout);
        match cursor.step(cells)? {
            CursorMove::End => return Ok((PlainCells::new(out.into()), starts)),
            step => starts.push_cell(step == CursorMove::NextRow, cursor.position())?,
        }
    }
}

#[cold]
fn damage_at(at: usize, what: &str) -> DamageReason {
    format!("cell at {at} in the encoded block: {what}").into()
}
