//! The order of an external sort.

use std::cmp::Ordering;

use sstable::{CellRef, Comparator};

use crate::error::{Error, Result};
use crate::progress::Observer;

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

/// Returns [`Error::Cancelled`] if the observer ends the operation.
pub(crate) fn check_cancelled(observer: &dyn Observer) -> Result<()> {
    if observer.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
}
