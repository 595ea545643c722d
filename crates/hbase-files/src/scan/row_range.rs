//! The rows of a scan, or of a part of it.

use cells::RowsBetween;
use sstable::lookup::RowBounds;
use sstable::{Comparator, KeyRef, Reader};

use crate::table::CellScanner;

/// The rows of a scan, or of a part of it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct RowRange {
    /// The first row; empty for the first of all.
    pub(super) start: Vec<u8>,
    /// The row before which the range ends.
    pub(super) stop: Option<Vec<u8>>,
}

impl RowRange {
    /// Makes a scanner end with the range.
    pub(super) fn end(&self, scanner: CellScanner) -> CellScanner {
        match &self.stop {
            Some(stop) => scanner.until(KeyRef::before_row(stop)),
            None => scanner,
        }
    }

    /// Returns whether a row is before the end of the range.
    pub(super) fn ends_after(&self, row: &[u8], order: Comparator) -> bool {
        self.stop.as_deref().is_none_or(|stop| order.compare_rows(row, stop).is_lt())
    }

    /// Returns the first and the last row in the order of a table.
    pub(super) fn bounds(&self, order: Comparator) -> RowBounds<'_> {
        RowBounds::from_start(&self.start, self.stop.as_deref(), order)
    }

    /// Returns whether a file has rows in the range, by its first and last row.
    pub(super) fn overlaps(&self, file: &Reader, order: Comparator) -> bool {
        file.overlaps(&self.bounds(order))
    }

    /// Returns whether the range has rows of a region, whose last key is exclusive.
    pub(super) fn overlaps_region(&self, rows: &RowsBetween, order: Comparator) -> bool {
        let RowsBetween { first, last } = rows;
        self.ends_after(first.as_deref().unwrap_or_default(), order)
            && last.as_deref().is_none_or(|last| order.compare_rows(last, &self.start).is_gt())
    }

    /// Returns the row, if the range has only one in the order of bytes.
    pub(super) fn single_row(&self) -> Option<&[u8]> {
        let stop = self.stop.as_deref()?;
        (stop.strip_suffix(b"\0") == Some(&self.start)).then_some(&self.start)
    }
}
