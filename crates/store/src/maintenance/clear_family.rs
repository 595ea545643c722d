//! Clears a family: one manifest lists none of its files, and says that its writes so far are flushed.
//!
//! Recovery skips the family's records up to that sequence id, as it does after a flush that failed
//! for another family. So the other families need no flush, and the log stays.
//!
//! ```text
//! 1  no flush runs, and no compaction of the family
//! 2  writers wait; the log is synced, so that the clear does not outlive an earlier write
//! 3  one manifest, then a version: no files, a new memstore
//! 4  readers of older versions keep the family's files until they end; then the files are unlinked
//! ```

use std::mem;
use std::sync::Arc;

use super::background::Maintenance;
use crate::error::Result;
use crate::files::catalog::Catalog;
use crate::files::manifest::Manifest;
use crate::files::version::file_list::Files;
use crate::files::version::store_version::FamilyVersion;
use crate::memstore::Memstore;
use crate::write::log::Log;

impl Maintenance {
    /// Removes all cells of a family.
    pub(crate) fn clear_family(&self, catalog: &Catalog, log: &Log, name: &str) -> Result<()> {
        self.health.check_writable()?;
        // First ends a compaction of the family; flushes continue meanwhile.
        let no_compaction = self.turns.take_to_drop(name);
        let no_flush = self.take_flush_turn()?;
        // The turn keeps the family: a drop would wait for it.
        catalog.version().known_family(name.as_bytes())?;
        let watch = self.health.poison_on_panic();
        let cleared = remove_cells(catalog, log, name);
        self.tasks.flush_ended();
        let removed = cleared.map_err(|error| self.health.poison_unless_shortage(error))?;
        for ranked in removed.by_time() {
            ranked.file.retire();
        }
        drop(removed); // Unlinks the files, unless a reader has them.
        drop((watch, no_flush, no_compaction));
        self.files_changed(catalog);
        Ok(())
    }
}

/// Removes the memstores and files of a family, and returns the files.
fn remove_cells(catalog: &Catalog, log: &Log, name: &str) -> Result<Files> {
    // Writers wait until the manifest is replaced: recovery would skip their records.
    let mut writer = log.writer();
    let family = Arc::clone(&catalog.version().known_family(name.as_bytes())?.family);
    writer.sync()?;
    let newest = writer.newest();
    let update_manifest = |manifest: &mut Manifest| {
        // The file with the last sequence id may be of the family.
        manifest.flushed = manifest.flushed.max(newest);
        let entry = manifest.family_mut(family.id);
        entry.files.clear();
        entry.flushed = Some(newest);
    };
    let mut removed = Files::default();
    catalog.publish_change(update_manifest, |version| {
        version.with(&family, |changed: &mut FamilyVersion| {
            removed = mem::take(&mut changed.files);
            changed.active = Arc::new(Memstore::new());
            changed.flushing.clear();
            changed.family.failures.flush_succeeded();
        })
    })?;
    Ok(removed)
}
