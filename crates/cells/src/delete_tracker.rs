//! The delete markers of a row, and the cells that they hide.

use std::collections::BTreeSet;

use crate::cell::CellRef;
use crate::key::CellType;
use crate::units::Timestamp;

/// The cells of a column that a delete marker hides, from the current cell on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum HiddenCells {
    /// The current cell and all older cells.
    ThisAndOlder,
    /// Only the current cell.
    This,
}

/// The delete markers of a row that can hide later cells: HBase's `ScanDeleteTracker`.
#[derive(Debug, Default)]
pub(crate) struct DeleteTracker {
    /// The timestamp up to which all cells of the row are deleted.
    family: Option<Timestamp>,
    /// The timestamps with which all cells of the row are deleted.
    family_versions: BTreeSet<Timestamp>,
    /// The marker that can hide the next cells of the column `qualifier`.
    column: Option<(CellType, Timestamp)>,
    qualifier: Vec<u8>,
}

impl DeleteTracker {
    /// Returns whether no marker can hide a cell.
    pub(crate) fn is_empty(&self) -> bool {
        self.family.is_none() && self.column.is_none() && self.family_versions.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.family = None;
        self.family_versions.clear();
        self.column = None;
    }

    pub(crate) fn add(&mut self, marker: &CellRef<'_>) {
        if self.deletes_row_at(marker.timestamp) {
            return;
        }
        match marker.cell_type {
            CellType::DeleteFamily => self.family = Some(marker.timestamp),
            CellType::DeleteFamilyVersion => {
                self.family_versions.insert(marker.timestamp);
            }
            column_marker => {
                let is_covered = self.column.is_some_and(|(known, _)| column_marker < known);
                if is_covered && self.qualifier == marker.qualifier {
                    return; // A newer marker deletes the whole column already.
                }
                self.qualifier.clear();
                self.qualifier.extend_from_slice(marker.qualifier);
                self.column = Some((column_marker, marker.timestamp));
            }
        }
    }

    /// Returns whether a marker hides all cells of the row with this timestamp, and all older ones.
    pub(crate) fn deletes_row_at(&self, timestamp: Timestamp) -> bool {
        self.family.is_some_and(|family| timestamp <= family)
    }

    /// Returns the cells that a marker hides; `None` if no marker hides `cell`.
    pub(crate) fn hides(&mut self, cell: &CellRef<'_>) -> Option<HiddenCells> {
        if self.deletes_row_at(cell.timestamp) {
            return Some(HiddenCells::ThisAndOlder);
        }
        if self.family_versions.contains(&cell.timestamp) {
            return Some(HiddenCells::This);
        }
        let (marker, timestamp) = self.column?;
        if self.qualifier != cell.qualifier {
            self.column = None;
            return None;
        }
        if marker == CellType::DeleteColumn {
            return Some(HiddenCells::ThisAndOlder);
        }
        if cell.timestamp == timestamp {
            return Some(HiddenCells::This);
        }
        self.column = None; // All later cells are older than the version that the marker deletes.
        None
    }
}
