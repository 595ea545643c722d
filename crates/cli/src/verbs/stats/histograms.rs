//! The histograms of the cells and rows of files.

use serde::Serialize;

use super::histogram::Histogram;

/// The histograms of lengths and counts. The JSON output has the names of the fields.
#[derive(Debug, Default, Serialize)]
pub(super) struct Histograms {
    pub(super) row_key_bytes: Histogram,
    /// Key lengths as HBase counts them: with the lengths of row and family, timestamp and type.
    pub(super) key_bytes: Histogram,
    pub(super) value_bytes: Histogram,
    /// Cell lengths as HBase serializes them.
    pub(super) cell_bytes: Histogram,
    pub(super) row_bytes: Histogram,
    pub(super) cells_per_row: Histogram,
    pub(super) columns_per_row: Histogram,
}

impl Histograms {
    /// Returns all histograms with their names in the text report.
    pub(super) fn named(&self) -> [(&'static str, &Histogram); 7] {
        [
            ("row key bytes", &self.row_key_bytes),
            ("key bytes", &self.key_bytes),
            ("value bytes", &self.value_bytes),
            ("cell bytes", &self.cell_bytes),
            ("row bytes", &self.row_bytes),
            ("cells a row", &self.cells_per_row),
            ("columns a row", &self.columns_per_row),
        ]
    }

    /// Adds the counts of other files.
    pub(super) fn merge(&mut self, other: &Self) {
        self.row_key_bytes.merge(&other.row_key_bytes);
        self.key_bytes.merge(&other.key_bytes);
        self.value_bytes.merge(&other.value_bytes);
        self.cell_bytes.merge(&other.cell_bytes);
        self.row_bytes.merge(&other.row_bytes);
        self.cells_per_row.merge(&other.cells_per_row);
        self.columns_per_row.merge(&other.columns_per_row);
    }
}
