//! The order of an external sort.

use std::cmp::Ordering;

use sstable::{Cell, CellRef, Comparator};

/// Compares by family, then in HBase's order by key, then by descending sequence id.
///
/// HBase's order begins with the row. Here the family comes first, because each family has its own
/// runs.
pub(super) fn compare(order: Comparator, a: &CellRef<'_>, b: &CellRef<'_>) -> Ordering {
    a.family
        .cmp(b.family)
        .then_with(|| order.compare(&a.key(), &b.key()))
        .then_with(|| b.sequence_id.cmp(&a.sequence_id))
}

/// Sorts cells; of equal ones, the later one comes first.
///
/// The input is a history: HBase's memstore keeps the cell that was written last, and a reader of a
/// file the first one. HBase: `CellSet.add`.
pub(super) fn sort(cells: &mut [Cell], order: Comparator) {
    cells.reverse();
    cells.sort_by(|one, other| compare(order, &one.as_ref(), &other.as_ref()));
}
