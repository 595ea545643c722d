//! The cells of one HFile, or of the half of one that a reference stands for.
//!
//! A file has one family. The scan begins with a seek, ends at the first row after the range, and
//! seeks past columns that are not wanted, so that it reads only the blocks that it needs.

use std::borrow::Cow;

use hbase_files::{CellScanner, StoreFileReader};
use sstable::{Caching, CellRef, KeyRef, ReadTrace};
use store::rules::{Rules, Verdict};

use crate::selection::Selection;
use crate::source::CellSource;
use crate::{Error, Result};

/// Unwanted cells that are skipped one by one before a seek.
const SKIPS_MAX: u32 = 16;

/// The cells of a file.
pub(crate) struct HFileSource {
    scanner: CellScanner,
    /// Which cells are shown; `None` if all are.
    rules: Option<Rules<'static>>,
    /// The wanted qualifiers, ascending; `None` if all are wanted.
    qualifiers: Option<Vec<Vec<u8>>>,
    end_row: Option<Vec<u8>>,
    state: State,
    trace: ReadTrace,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    /// The scanner is at a cell that was not judged.
    Unjudged,
    /// The scanner is at the cell that was returned last.
    Returned,
    Done,
}

/// The step from a cell that is not shown to the next one.
enum Skip {
    /// The next cell.
    Cell,
    /// The cells after this column.
    Column,
    /// The next wanted column, or the next row.
    Unwanted,
}

impl HFileSource {
    /// Moves to the first cell of the selection.
    pub(crate) fn open(reader: &StoreFileReader, selection: &Selection) -> Result<Self> {
        let (start, end) = (selection.first_row(), selection.end_row());
        let mut scanner = reader.scanner(Caching::Bypass);
        let mut state = State::Unjudged;
        if is_in_range(reader, start, end.as_deref()) {
            // Another thread reads ahead only where the scan will arrive.
            if end.is_none() && selection.columns.is_empty() {
                scanner = reader.bulk_scanner();
            }
            if start.is_empty() {
                scanner.seek_to_first()?;
            } else {
                scanner.seek(KeyRef::before_row(start))?;
            }
        }
        let mut qualifiers = None;
        match scanner.cell() {
            Some(cell) if selection.wants_family(cell.family) => {
                qualifiers = selection.qualifiers(cell.family);
            }
            _ => state = State::Done,
        }
        let rules = selection.rules_of_file(qualifiers.as_deref());
        let end_row = end.map(Cow::into_owned);
        Ok(Self { scanner, rules, qualifiers, end_row, state, trace: ReadTrace::default() })
    }

    /// Returns whether the cell at the scanner is beyond the range, or there is none.
    fn is_at_end(&self) -> bool {
        let row = self.scanner.cell().map(|cell| cell.row);
        row.is_none_or(|row| self.end_row.as_deref().is_some_and(|end| row >= end))
    }

    /// Moves to the next cell that is shown. Returns whether there is one.
    fn find(&mut self) -> Result<bool> {
        let mut skips = 0;
        while !self.is_at_end() {
            let Some(rules) = &mut self.rules else { return Ok(true) };
            let cell = self.scanner.cell().ok_or_else(no_cell)?;
            let skip = match rules.judge(&cell) {
                Verdict::Include => return Ok(true),
                // Markers for the family are under the empty qualifier, and must all be judged.
                _ if cell.qualifier.is_empty() => Skip::Cell,
                Verdict::SkipColumn => Skip::Column,
                Verdict::Skip => Skip::Cell,
            };
            let is_wanted = self.qualifiers.as_ref().is_none_or(|wanted| {
                wanted.binary_search_by(|known| known[..].cmp(cell.qualifier)).is_ok()
            });
            let skip = if is_wanted || cell.qualifier.is_empty() { skip } else { Skip::Unwanted };
            skips += u32::from(!matches!(skip, Skip::Cell));
            if skips > SKIPS_MAX {
                skips = 0;
                self.skip(&skip)?;
            } else {
                self.scanner.advance()?;
            }
        }
        // A scan without cache checks the rest of a block when it leaves the block.
        self.scanner.check_place()?;
        Ok(false)
    }

    /// Seeks past cells that are not shown.
    fn skip(&mut self, skip: &Skip) -> Result<()> {
        let cell = self.scanner.cell().ok_or_else(no_cell)?.to_cell();
        let (row, family, qualifier) = (cell.row(), cell.family(), cell.qualifier());
        let wanted = self.qualifiers.iter().flatten().find(|wanted| &wanted[..] > qualifier);
        let key = match (skip, wanted) {
            (Skip::Cell, _) => return Ok(self.scanner.advance()?),
            (Skip::Column, _) => KeyRef::after_column(row, family, qualifier),
            (Skip::Unwanted, Some(wanted)) => KeyRef::before_column(row, family, wanted),
            (Skip::Unwanted, None) => KeyRef::after_row(row),
        };
        Ok(self.scanner.seek(key)?)
    }

    fn move_to_next(&mut self) -> Result<bool> {
        if self.state == State::Returned {
            self.scanner.advance()?;
        }
        let found = self.find();
        self.trace.add(&self.scanner.take_trace());
        found
    }
}

fn no_cell() -> Error {
    Error::Internal("a scanner has no cell within its range".to_owned())
}

/// Returns whether the file can have rows of the range.
fn is_in_range(reader: &StoreFileReader, start: &[u8], end: Option<&[u8]>) -> bool {
    let file = reader.whole();
    let (Some(first), Some(last)) = (file.first_row(), file.last_row()) else { return false };
    last >= start && end.is_none_or(|end| first < end)
}

impl CellSource for HFileSource {
    fn next_cell(&mut self) -> Result<Option<CellRef<'_>>> {
        if self.state == State::Done {
            return Ok(None);
        }
        let found = self.move_to_next();
        self.state = if matches!(found, Ok(true)) { State::Returned } else { State::Done };
        if found? { Ok(self.scanner.cell()) } else { Ok(None) }
    }

    fn trace(&mut self) -> ReadTrace {
        self.trace
    }
}
