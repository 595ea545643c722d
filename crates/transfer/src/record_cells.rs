//! What the inputs have in common whose records become several cells: CSV and record batches.

use sstable::{Cell, FileName, Timestamp};

use crate::columns::{BadLines, Mapping};
use crate::error::Result;

/// The cells of the records of an input.
pub(crate) trait RecordCells: Iterator<Item = Result<Cell>> {
    /// Returns where the last returned cell's record begins: its line, or its number.
    fn line(&self) -> u64;

    /// Returns the file of the last returned cell, if there are several files.
    fn file(&self) -> Option<&FileName> {
        None
    }

    /// Whether the last returned cell was the last one of its record.
    fn is_between_records(&self) -> bool;

    /// Returns how columns become cells; `None` if each record is a cell.
    fn mapping(&self) -> Option<&Mapping>;

    /// Returns the families of all cells, if the columns determine them.
    fn families(&self) -> Option<Vec<Vec<u8>>> {
        self.mapping().map(Mapping::families)
    }

    /// Returns the timestamp of all cells, if the columns and options determine it.
    fn fixed_timestamp(&self) -> Option<Timestamp> {
        self.mapping().and_then(Mapping::fixed_timestamp)
    }

    /// Returns the number of records read, without bad ones.
    fn record_count(&self) -> u64;

    /// Returns the bad records.
    fn bad_records(&self) -> &BadLines;

    /// Returns the bad records.
    fn bad_records_mut(&mut self) -> &mut BadLines;
}
