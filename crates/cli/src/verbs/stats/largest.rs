//! The largest row and the largest cell. Of equally large ones, the first.

use cells::escape;
use serde::Serialize;
use sstable::CellRef;

/// A row of the report.
#[derive(Clone, Debug, Serialize)]
pub(super) struct LargestRow {
    /// Escaped as HBase prints keys.
    pub(super) row: String,
    pub(super) file: String,
    pub(super) bytes: u64,
    pub(super) cells: u64,
}

/// A cell of the report.
#[derive(Clone, Debug, Serialize)]
pub(super) struct LargestCell {
    /// `row/family:qualifier/timestamp/Type`.
    pub(super) key: String,
    pub(super) file: String,
    pub(super) bytes: u64,
    pub(super) value_bytes: u64,
}

/// The largest rows and the largest cell so far.
#[derive(Debug, Default)]
pub(super) struct Largest {
    pub(super) row_by_bytes: Option<LargestRow>,
    pub(super) row_by_cells: Option<LargestRow>,
    pub(super) cell: Option<LargestCell>,
}

impl Largest {
    /// Compares a whole row with the largest so far.
    pub(super) fn add_row(&mut self, row: &[u8], file: &str, bytes: u64, cells: u64) {
        let report =
            || LargestRow { row: escape(row).to_string(), file: file.to_owned(), bytes, cells };
        if self.row_by_bytes.as_ref().is_none_or(|known| known.bytes < bytes) {
            self.row_by_bytes = Some(report());
        }
        if self.row_by_cells.as_ref().is_none_or(|known| known.cells < cells) {
            self.row_by_cells = Some(report());
        }
    }

    /// Compares a cell with the largest so far.
    pub(super) fn add_cell(&mut self, cell: &CellRef<'_>, file: &str, bytes: u64) {
        if self.cell.as_ref().is_none_or(|known| known.bytes < bytes) {
            self.cell = Some(LargestCell {
                key: cell.key().to_string(),
                file: file.to_owned(),
                bytes,
                value_bytes: cell.value.len() as u64,
            });
        }
    }

    /// Compares with the largest of a later file.
    pub(super) fn merge(&mut self, other: Self) {
        replace_if_larger(&mut self.row_by_bytes, other.row_by_bytes, |row| row.bytes);
        replace_if_larger(&mut self.row_by_cells, other.row_by_cells, |row| row.cells);
        replace_if_larger(&mut self.cell, other.cell, |cell| cell.bytes);
    }
}

fn replace_if_larger<T>(own: &mut Option<T>, other: Option<T>, size: impl Fn(&T) -> u64) {
    let Some(other) = other else { return };
    if own.as_ref().is_none_or(|own| size(own) < size(&other)) {
        *own = Some(other);
    }
}
