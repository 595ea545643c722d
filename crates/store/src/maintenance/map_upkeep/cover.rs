//! Takes steps until the maps of all families cover all files that they can.

use std::sync::Arc;
use std::time::Instant;

use super::build::publish;
use super::next_step::{MapStep, OldFilesRead};
use crate::files::catalog::Catalog;
use crate::files::version::file_list::Files;
use crate::files::version::store_version::Family;
use crate::maintenance::background::Maintenance;

impl Maintenance {
    /// Covers the files of changed file lists. Call after each change.
    ///
    /// In a store with background threads, the compaction thread does so later. The caller must hold no lock,
    /// neither the lock of flushes nor the lock of compactions.
    pub(crate) fn files_changed(&self, catalog: &Catalog) {
        if self.options.background {
            self.tasks.want_cover_files();
            if self.options.auto_compaction {
                self.schedule_expiry(catalog);
            }
        } else {
            self.cover_files(catalog);
        }
    }

    /// Covers the files of all families.
    ///
    /// With [`MapMode::Auto`](crate::MapMode::Auto), a family without a map gets one only once its
    /// reads justify reading the files that were there when the store was opened.
    pub(crate) fn cover_files(&self, catalog: &Catalog) {
        self.cover_files_if(catalog, OldFilesRead::Worthwhile);
    }

    /// Covers the files of all families now, whatever was read so far. Also for a read-only store.
    pub(crate) fn cover_files_now(&self, catalog: &Catalog) {
        self.cover_files_if(catalog, OldFilesRead::Always);
    }

    fn cover_files_if(&self, catalog: &Catalog, condition: OldFilesRead) {
        let version = catalog.version();
        // Drop the version before waiting: it would keep replaced files on disk.
        let families: Vec<_> = version
            .families
            .iter()
            .filter(|present| {
                self.next_step(catalog, &present.family, &present.files, condition).is_some()
            })
            .map(|present| Arc::clone(&present.family))
            .collect();
        drop(version);
        for family in families {
            if !self.health.is_read_only() && self.health.check_writable().is_err() {
                return;
            }
            // The thread in the background comes back to a family on which work by hand runs: the other
            // families must not wait for it. Nobody else comes back.
            let may_come_back = self.options.background && condition == OldFilesRead::Worthwhile;
            let turn = if may_come_back {
                self.turns.try_take_for_map(&family.name)
            } else {
                Some(self.turns.take_for_map(&family.name))
            };
            if turn.is_none() {
                self.tasks.want_cover_files_later();
                continue;
            }
            self.cover_family(catalog, &family, condition);
        }
        if self.options.pin_filters {
            for present in &catalog.version().families {
                present.files.load_pinned_filters();
            }
        }
    }

    fn cover_family(&self, catalog: &Catalog, family: &Family, condition: OldFilesRead) {
        while !self.must_end(family) {
            // Not the whole version, which would keep replaced files of other families on disk.
            let present = catalog.version().family(family.name.as_bytes()).cloned();
            let Some(present) = present.filter(|present| present.family.id == family.id) else {
                return;
            };
            let (family, files) = (&*present.family, &present.files);
            let Some(step) = self.next_step(catalog, family, files, condition) else { return };
            let start = Instant::now();
            match step {
                MapStep::Cover(file) => self.cover_file(catalog, family, files, &file),
                MapStep::Sweep => self.sweep(catalog, family, files),
                MapStep::Build(form, rows) => self.build(catalog, family, files, form, rows),
                MapStep::Drop => publish(catalog, family, Files::without_map),
            }
            self.count(|counts| counts.map_build_time += start.elapsed());
        }
    }
}
