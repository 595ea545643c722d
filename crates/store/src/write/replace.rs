//! Increments and appends replace the older versions of their columns in the memstore.
//!
//! A counter that is incremented ten thousand times between two flushes would have ten thousand versions in the
//! memstore, and a flush keeps one of them. So the cell of an increment or append takes the place of the older
//! ones, as in HBase, if
//!
//! * the family keeps one version and no deleted cells,
//! * no snapshot, read or flush holds the memstore, because it may see the older versions,
//! * the cell has no tags: one that expires by its own TTL may uncover an older version.
//!
//! A raw scan, a read of an earlier time range, and a read after a delete of just the newest version no
//! longer find the older versions, which the next flush would have dropped. The log
//! records that a batch replaces, and a replay removes what was removed before a crash. It may remove
//! more: older versions that a reader or a flush still held.

use sstable::{Cell, Timestamp};

use crate::files::catalog::Catalog;
use crate::files::version::store_version::StoreVersion;

/// Returns whether cells may replace older versions; `false` also if a family does not exist.
///
/// The caller holds the lock of the log's writer. A read may begin after the answer, so
/// [`remove_replaced`] is called in [`Catalog::with_unread`], too.
pub(crate) fn may_replace(catalog: &Catalog, cells: &[Cell]) -> bool {
    let mut may = false;
    catalog.with_unread(|version| {
        may = cells.iter().all(|cell| {
            let family = version.family(cell.family());
            // Otherwise the cell in the log would differ from this one.
            let has_time = cell.timestamp() != Timestamp::LATEST;
            assert!(has_time || version.is_key_value(cell.family()), "the new cell has its time");
            cell.as_ref().tags.is_empty()
                && family.is_some_and(|known| known.family.keeps_one_version())
        });
    });
    may
}

/// Removes older versions of the columns of `cells` from the active memstores.
///
/// A call removes a limited number of them, and the next one goes on.
pub(crate) fn remove_replaced(version: &StoreVersion, cells: &[Cell]) {
    for cell in cells {
        let family = version.family(cell.family()).expect("the cells' families are not dropped");
        family.active.remove_older_puts(&cell.as_ref());
    }
}
