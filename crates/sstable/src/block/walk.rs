//! One cell after the other through a data block, each found and checked once.
//!
//! What a walk holds against each other: the cell's own lengths, type, time and tags; its row and
//! the row before it; and, where the block came with a row index, that index. Beyond the step from
//! cell to cell nothing is taken apart a second time: the walk remembers where the parts stand.
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

use std::cmp::Ordering;

use crate::CellRef;
use crate::encoding::{CellLayout, CellParts, Decoded, DeltaWalk, What};

/// A place in a block of plain cells: on a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainWalk {
    parts: CellParts,
    /// Rows begun since the first cell; `None` where the block was checked before.
    rows: Option<usize>,
}

/// A place in a block: on a cell.
#[derive(Clone, Debug)]
pub(crate) enum Walk {
    Plain(PlainWalk),
    /// Differences are undone on the way, and all that is found is checked.
    Deltas(Box<DeltaWalk>),
}

impl Walk {
    /// Where the cell starts, or would if the block was plain.
    pub(crate) const fn position(&self) -> usize {
        match self {
            Self::Plain(walk) => walk.position(),
            Self::Deltas(walk) => walk.position(),
        }
    }

    /// Bytes of the cell as a plain one.
    pub(crate) const fn cell_len(&self) -> usize {
        match self {
            Self::Plain(walk) => walk.cell_len(),
            Self::Deltas(walk) => walk.cell_len(),
        }
    }
}

/// What a step has come to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Step {
    /// A further cell of the row.
    SameRow,
    /// The first cell of the next row.
    NextRow,
    /// A further cell of a block that was checked before; whether of the same row was not asked.
    Cell,
    /// No cell: the walk still stands on the last one.
    End,
}

impl PlainWalk {
    /// Begins on the first cell of a block, all of which is still to be checked.
    pub(crate) fn begin(decoded: &Decoded, layout: CellLayout) -> Result<Self, What> {
        let cells = decoded.cells();
        if cells.is_empty() {
            return Err("no cells".into());
        }
        let parts = CellParts::read(cells, 0, layout).map_err(|what| located(0, &what))?;
        decoded.check_row(0, 0)?;
        Ok(Self { parts, rows: Some(1) })
    }

    /// Begins on the cell that starts at `at` in a block that was checked before.
    pub(crate) fn at(decoded: &Decoded, layout: CellLayout, at: usize) -> Option<Self> {
        let parts =
            CellParts::read(decoded.cells().behind(at).unwrap_or_default(), at, layout).ok()?;
        Some(Self { parts, rows: None })
    }

    /// Goes to the next cell.
    #[inline]
    pub(crate) fn step(&mut self, decoded: &Decoded, layout: CellLayout) -> Result<Step, What> {
        let at = self.parts.end();
        let rest = decoded.cells().behind(at).unwrap_or_default();
        if rest.is_empty() {
            return match self.rows {
                Some(rows) => decoded.check_row_count(rows).map(|()| Step::End),
                None => Ok(Step::End),
            };
        }
        let row_before = self.parts.row();
        self.parts.go_on(rest, layout).map_err(|what| located(at, &what))?;
        let Some(rows) = &mut self.rows else { return Ok(Step::Cell) };
        match row_before.compare(&self.parts.row(), decoded, layout.order) {
            Ordering::Equal => Ok(Step::SameRow),
            Ordering::Less => {
                decoded.check_row(*rows, at)?;
                *rows = rows.saturating_add(1);
                Ok(Step::NextRow)
            }
            Ordering::Greater => Err(located(at, "its row is out of order")),
        }
    }

    /// Where the cell starts.
    pub(crate) const fn position(&self) -> usize {
        self.parts.at()
    }

    /// Bytes of the cell.
    pub(crate) const fn cell_len(&self) -> usize {
        self.parts.end().saturating_sub(self.parts.at())
    }

    /// The cell it stands on.
    #[inline]
    pub(crate) fn cell<'a>(&self, decoded: &'a Decoded) -> Option<CellRef<'a>> {
        self.parts.cell(decoded.cells().between(self.position(), self.parts.end())?)
    }
}

#[cold]
fn located(at: usize, what: &str) -> What {
    format!("cell at {at} in the block: {what}").into()
}
