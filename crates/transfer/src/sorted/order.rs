//! The order of an external sort.

use std::cmp::Ordering;

use sstable::{Cell, CellRef, Comparator};

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

/// The cells between two calls of the observer while a buffer is sorted.
const CHUNK_CELLS: usize = 1 << 16;

/// Sorts cells; of equal ones, the later one comes first.
///
/// The input is a history: HBase's memstore keeps the cell that was written last, and a reader of a
/// file the first one. HBase: `CellSet.add`.
///
/// # Errors
///
/// [`Error::Cancelled`].
pub(super) fn sort(cells: &mut [Cell], order: Comparator, observer: &dyn Observer) -> Result<()> {
    cells.reverse();
    if cells.len() > CHUNK_CELLS {
        // The last sort, which cannot be cancelled, finds sorted chunks and only merges them.
        for chunk in cells.chunks_mut(CHUNK_CELLS) {
            check_cancelled(observer)?;
            chunk.sort_by(|one, other| compare(order, &one.as_ref(), &other.as_ref()));
        }
        check_cancelled(observer)?;
    }
    cells.sort_by(|one, other| compare(order, &one.as_ref(), &other.as_ref()));
    Ok(())
}

/// Returns [`Error::Cancelled`] if the observer ends the operation.
pub(crate) fn check_cancelled(observer: &dyn Observer) -> Result<()> {
    if observer.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
}
