//! A cursor over the cells of a delta-encoded block. It decodes and checks each cell it comes to.

use std::cmp::Ordering;

use super::cell_reader::CellReader;
use super::cells::{DELTA_HEADER_LEN, DeltaCells, DeltaEncoding};
use super::current_cell::CurrentCell;
use super::wrong::DeltaFault;
use super::{diff, fast_diff, prefix};
use crate::CellRef;
use crate::buffers::Buffers;
use crate::encoding::{CellLayout, DamageReason, PlainCells, RowStarts, Step, plain};
use crate::input::Input;

/// A cursor: on a cell that it has checked.
///
/// Every call must be given the cells that it was made for. After an error it stands on no cell, and must
/// not be used again.
#[derive(Clone, Debug)]
pub(crate) struct DeltaCursor {
    encoding: DeltaEncoding,
    cell: CurrentCell,
}

impl DeltaCursor {
    /// Returns a cursor on the first cell.
    pub(crate) fn begin(cells: &DeltaCells, layout: CellLayout) -> Result<Self, DamageReason> {
        let encoding = cells.encoding();
        let mut cell = CurrentCell::before_first(cells, layout, DELTA_HEADER_LEN);
        if encoding == DeltaEncoding::Diff {
            let mut input = Input::new(cells.body().behind(DELTA_HEADER_LEN));
            cell.set_family(diff::decode_family(&mut input)?);
            cell.next_at = cells.body().len() - input.len();
        }
        if cells.body().behind(cell.next_at).is_empty() {
            return Err("no cells".into());
        }
        let at = cell.next_at;
        let first = match encoding {
            DeltaEncoding::Prefix => prefix::decode(&mut cell, cells),
            DeltaEncoding::Diff => diff::decode_first(&mut cell, cells),
            DeltaEncoding::FastDiff => fast_diff::decode_first(&mut cell, cells),
        };
        first.map_err(|wrong| located(at, &wrong.what(&cell)))?;
        let mut cursor = Self { encoding, cell };
        if layout.tags {
            cursor.read_tail(cells, at)?;
        }
        Ok(cursor)
    }

    /// Goes to the next cell.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as what it does")]
    pub(crate) fn step(&mut self, cells: &DeltaCells) -> Result<Step, DamageReason> {
        let at = self.cell.next_at;
        let read = match self.encoding {
            DeltaEncoding::Prefix => prefix::decode(&mut self.cell, cells),
            DeltaEncoding::Diff => diff::decode(&mut self.cell, cells),
            DeltaEncoding::FastDiff => fast_diff::decode(&mut self.cell, cells),
        };
        match read {
            Ok(step) if !self.cell.layout.tags => Ok(step),
            Ok(step) => self.read_tail(cells, at).map(|()| step),
            Err(wrong) => self.end(cells, at, wrong),
        }
    }

    /// Reads what follows the value of the cell that starts at `at`, in files with tags.
    #[inline(never)]
    fn read_tail(&mut self, cells: &DeltaCells, at: usize) -> Result<(), DamageReason> {
        CellReader::new(&mut self.cell, cells).read_tail().map_err(|what| located(at, &what))
    }

    /// Ends at `at`, where no sound cell is: there is none, or it is damaged.
    #[cold]
    fn end(&self, cells: &DeltaCells, at: usize, wrong: DeltaFault) -> Result<Step, DamageReason> {
        if !cells.body().behind(at).is_empty() {
            return Err(located(at, &wrong.what(&self.cell)));
        }
        let (len, size) = (self.cell.plain.end, self.cell.size);
        if len != size {
            return Err(format!("cells of {len} bytes where {size} are stated").into());
        }
        Ok(Step::End)
    }

    /// Goes on to the first cell whose row is not less than `row`; returns how that row compares with
    /// it. Where all rows are less it ends on the last cell.
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
                    Step::SameRow => {}
                    Step::NextRow => break,
                    Step::End => return Ok(found),
                }
            }
        }
    }

    /// Where the cell would start in a plain block.
    pub(crate) const fn position(&self) -> usize {
        self.cell.plain.start
    }

    /// Bytes of the cell in a plain block.
    pub(crate) const fn cell_len(&self) -> usize {
        self.cell.plain.end - self.cell.plain.start
    }

    /// The cell it stands on.
    pub(crate) fn cell<'a>(&'a self, cells: &'a DeltaCells) -> CellRef<'a> {
        self.cell.cell(cells)
    }

    /// The flat key of that cell.
    #[cfg(test)]
    pub(super) fn flat_key(&self) -> &[u8] {
        self.cell.flat_key()
    }
}

/// Decodes all cells into plain cells, and returns where their rows start.
///
/// The cursor checks each cell and compares its row with the one before, so that what is written here
/// needs no second check.
pub(crate) fn decode_delta(
    cells: &DeltaCells,
    layout: CellLayout,
    buffers: &mut Buffers,
) -> Result<(PlainCells, RowStarts), DamageReason> {
    // The stated size is not proven yet; past this the vector grows with what is decoded.
    let likely_len = cells.plain_len().min(cells.body().len().saturating_mul(8));
    let mut out = buffers.take_empty(likely_len);
    let mut cursor = DeltaCursor::begin(cells, layout)?;
    let mut starts = RowStarts::begin(likely_len);
    loop {
        plain::write_cell_with(&mut out, cursor.cell.flat_key(), &cursor.cell(cells), layout);
        match cursor.step(cells)? {
            Step::End => return Ok((PlainCells::new(out.into()), starts)),
            step => starts.pass(step == Step::NextRow, cursor.position())?,
        }
    }
}

#[cold]
fn located(at: usize, what: &str) -> DamageReason {
    format!("cell at {at} in the encoded block: {what}").into()
}
