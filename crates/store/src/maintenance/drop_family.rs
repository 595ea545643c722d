//! Drops a family: a flush of the other families whose manifest no longer lists the family.
//!
//! The log has records of the dropped family, and recovery cannot replay a record of a family that
//! the manifest does not list. The drop therefore ends the log as a flush does: the memstores of
//! the other families are written to files, and the manifest without the family requires the log
//! only from the next segment on. So no record of the dropped family is ever replayed, even if a
//! family with the same name or id is created later.
//!
//! ```text
//! 1  no flush runs, and no compaction of the family; the family is marked on disk (`files::families::dropped`)
//! 2  writers wait; the memstores of the other families are written to files
//!    (if one of them cannot be written, the drop ends here with an error)
//! 3  one manifest lists the new files, the first segment still needed, and not the family
//! 4  readers of older versions keep the family's files until they end; then the files are unlinked
//! ```

use std::sync::Arc;

use super::background::Maintenance;
use super::flush::{Flush, publish_flushed, rotate_memstores, unlink_segments};
use crate::error::{Error, Result};
use crate::files::catalog::{Catalog, discard_unless_listed};
use crate::files::families::dropped;
use crate::files::manifest::Manifest;
use crate::files::version::store_version::FamilyVersion;
use crate::stats::FamilyStats;
use crate::write::log::Log;

impl Maintenance {
    /// Drops a family. Returns its sizes and counters before the drop.
    pub(crate) fn drop_family(
        &self,
        catalog: &Catalog,
        log: &Log,
        name: &str,
    ) -> Result<FamilyStats> {
        self.health.check_writable()?;
        // First ends a compaction of the family; flushes continue meanwhile.
        let no_compaction = self.turns.take_to_drop(name);
        let no_flush = self.take_flush_turn()?;
        // No other drop can remove the family from here on: it would wait for the turn.
        catalog.version().known_family(name.as_bytes())?;
        dropped::mark(&**catalog.opener.vfs(), catalog.opener.directory(), name)?;
        let watch = self.health.poison_on_panic();
        let removed = self.remove_family(catalog, log, name);
        self.tasks.flush_ended();
        let removed = removed.map_err(|error| {
            if !error.is_shortage() && !matches!(error, Error::FlushFailed { .. }) {
                return self.health.poison(error);
            }
            // The family stays. A failure is ignored: the next open removes the mark.
            let _ = dropped::unmark(&**catalog.opener.vfs(), catalog.opener.directory(), name);
            error
        })?;
        let stats = removed.stats();
        for ranked in removed.files.by_time() {
            ranked.file.retire();
        }
        drop(removed); // Unlinks the files, unless a reader has them.
        catalog.finish_drop(name);
        drop((watch, no_flush, no_compaction));
        // The memstores of the other families have become files.
        self.files_changed(catalog);
        Ok(stats)
    }

    /// Removes a family from the manifest and from the version, and returns it.
    fn remove_family(
        &self,
        catalog: &Catalog,
        log: &Log,
        name: &str,
    ) -> Result<Arc<FamilyVersion>> {
        // Writers wait until the manifest is replaced: recovery would replay a record of the family
        // that is written to the new segment.
        let mut writer = log.writer();
        let rotated = rotate_memstores(catalog, &mut writer, 0)?;
        let version = catalog.version();
        let removed = Arc::clone(version.known_family(name.as_bytes())?);
        let others =
            || version.families.iter().filter(|other| other.family.id != removed.family.id);
        let mut flushed =
            rotated.map(|rotated| self.write_families(catalog, others(), rotated)).transpose()?;
        if let Some(failed) = flushed.as_mut().filter(|flushed| !flushed.failed.is_empty()) {
            // The family stays, and its memstores are not written.
            failed.failed.push(removed.family.id);
            // The log is needed for the failed family, and it has records of the dropped one.
            let published = publish_flushed(catalog, failed);
            discard_unless_listed(&published, failed.files());
            published?;
            others().try_for_each(|version| version.family.check_flushed())?;
        }
        let newest = writer.newest();
        let mut unneeded = 0..0;
        let update_manifest = |manifest: &mut Manifest| {
            if let Some(flushed) = &flushed {
                unneeded = flushed.list_in(manifest);
            }
            // The file with the last sequence id may be of the dropped family.
            manifest.flushed = manifest.flushed.max(newest);
            manifest.families.retain(|family| family.id != removed.family.id);
        };
        let published = catalog.publish_change(update_manifest, |version| {
            let version = version.without(&removed.family);
            flushed.as_ref().map_or_else(|| version.clone(), |flushed| flushed.replace_in(&version))
        });
        discard_unless_listed(&published, flushed.iter().flat_map(Flush::files));
        published?;
        drop(writer);
        unlink_segments(catalog, unneeded)?;
        Ok(removed)
    }
}
