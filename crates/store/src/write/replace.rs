//! New cells that replace the unflushed versions which they were computed from.
//!
//! A counter that is incremented ten thousand times between two flushes would have ten thousand
//! versions in the memstore, of which a flush keeps one. So the cell of an increment or append takes
//! the place of the older ones, as in HBase, if
//!
//! * the family keeps one version and nothing that is deleted,
//! * no snapshot, read or flush holds the memstore, because it may see the older versions,
//! * the cell has no tags: one that expires by its own TTL may uncover an older version.
//!
//! What a flush would have dropped anyway is gone earlier: a raw scan, a read of an earlier time
//! range, or a read after a delete of just the newest version does not show the older ones. The log
//! records that a batch replaces, and a replay removes what was removed before a crash. It may remove
//! more: older versions that a reader or a flush still held.

use sstable::{Cell, Timestamp};

use crate::files::catalog::Catalog;
use crate::files::version::store_version::StoreVersion;

/// Returns whether cells may replace older versions; `false` also if a family does not exist.
///
/// The caller holds the lock of the log's writer.
pub(crate) fn may_replace(catalog: &Catalog, cells: &[Cell]) -> bool {
    let mut may = false;
    catalog.with_unread(|version| {
        may = cells.iter().all(|cell| {
            // Without a time, it is not the cell that will be written.
            assert_ne!(cell.timestamp(), Timestamp::LATEST, "the new cell has its time");
            let family = version.family(cell.family());
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
