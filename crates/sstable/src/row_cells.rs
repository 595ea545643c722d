//! The cells of one row of a file.

use cells::CellRef;

use crate::error::Result;
use crate::scan::scanner::Scanner;
use crate::trace::ReadTrace;

/// A cursor over the cells of one row of a file. It ends with the row.
///
/// Made by [`Reader::row`](crate::Reader::row) and [`Reader::look_up`](crate::Reader::look_up), on the first
/// cell of the row. A row that the file does not have has no cell.
#[derive(Debug)]
pub struct RowCells<'r> {
    row: &'r [u8],
    /// `None` if the file does not have the row.
    scanner: Option<Scanner>,
    /// The counters of the lookup.
    lookup: ReadTrace,
}

impl<'r> RowCells<'r> {
    pub(crate) const fn new(row: &'r [u8], scanner: Option<Scanner>, lookup: ReadTrace) -> Self {
        Self { row, scanner, lookup }
    }

    /// Returns no cells, for a row that is outside of the rows of its file. The trace counts the file as skipped.
    #[doc(hidden)]
    pub fn out_of_range(row: &'r [u8]) -> Self {
        let mut trace = ReadTrace::default();
        (trace.files_considered, trace.files_skipped_by_range) = (1, 1);
        Self::new(row, None, trace)
    }

    /// Returns the current cell; `None` after the last cell of the row.
    pub fn cell(&self) -> Option<CellRef<'_>> {
        self.scanner.as_ref()?.cell()
    }

    /// Moves to the next cell of the row.
    ///
    /// # Errors
    ///
    /// If a block cannot be read, or its cells break a rule of the format. There is no current cell then.
    pub fn advance(&mut self) -> Result<()> {
        let Some(scanner) = &mut self.scanner else { return Ok(()) };
        scanner.advance()?;
        if scanner.row().is_some_and(|row| row != self.row) { scanner.end_scan() } else { Ok(()) }
    }

    /// Returns what the lookup and the steps so far have read.
    ///
    /// Counts the file as considered and, if it was skipped, the reason.
    pub fn trace(&self) -> ReadTrace {
        let mut trace = self.lookup;
        if let Some(scanner) = &self.scanner {
            trace.add(scanner.trace());
        }
        trace
    }
}
