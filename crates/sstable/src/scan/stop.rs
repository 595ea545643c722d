//! Where a bounded scan ends: a key, or a number of cells.

use std::cmp::Ordering;
use std::sync::Arc;

use cells::{Comparator, KeyRef, Timestamp};

use super::position::ScanPosition;

/// Where a scan ends before the end of its file.
#[derive(Debug)]
pub(super) struct ScanEnd {
    /// The first key that the scan does not return.
    pub(super) stop: Option<Arc<StopKey>>,
    /// The number of cells that the scan may still return, with the current one.
    pub(super) cells_left: u64,
}

/// A key of any length: a flat key could not hold a stop row that exceeds the maximum.
#[derive(Debug)]
pub(super) struct StopKey {
    row: Vec<u8>,
    family: Vec<u8>,
    qualifier: Vec<u8>,
    timestamp: Timestamp,
    type_code: u8,
}

impl StopKey {
    pub(super) fn new(key: KeyRef<'_>) -> Self {
        Self {
            row: key.row.to_vec(),
            family: key.family.to_vec(),
            qualifier: key.qualifier.to_vec(),
            timestamp: key.timestamp,
            type_code: key.type_code,
        }
    }

    pub(super) fn key(&self) -> KeyRef<'_> {
        let Self { row, family, qualifier, timestamp, type_code } = self;
        KeyRef { row, family, qualifier, timestamp: *timestamp, type_code: *type_code }
    }

    pub(super) fn is_after(&self, position: &ScanPosition, order: Comparator) -> bool {
        match order.compare_rows(position.row(), &self.row) {
            Ordering::Equal => position.cell().key().compare_in_row(&self.key()).is_lt(),
            by_rows => by_rows.is_lt(),
        }
    }
}
