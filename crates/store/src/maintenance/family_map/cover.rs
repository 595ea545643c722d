//! Takes steps until all files of all families are covered.

use std::sync::Arc;
use std::time::Instant;

use super::build::publish;
use super::next_step::{Condition, Step};
use crate::files::catalog::Catalog;
use crate::files::file_list::Files;
use crate::files::version::Family;
use crate::maintenance::background::Maintenance;

impl Maintenance {
    /// Inserts the files that are not covered into the family maps.
    ///
    /// In a store with background threads, one of them does so later. Call after each change of the
    /// file lists. The caller must hold no lock and no turn.
    pub(crate) fn files_changed(&self, catalog: &Catalog) {
        if self.options.background {
            self.tasks.want_cover_files();
        } else {
            self.cover_files(catalog);
        }
    }

    /// Covers the files of all families, if the reads so far justify it.
    pub(crate) fn cover_files(&self, catalog: &Catalog) {
        self.cover_files_if(catalog, Condition::Worthwhile);
    }

    /// Covers the files of all families now, in a store that is open for reading only, too.
    pub(crate) fn cover_files_now(&self, catalog: &Catalog) {
        self.cover_files_if(catalog, Condition::Always);
    }

    fn cover_files_if(&self, catalog: &Catalog, condition: Condition) {
        let version = catalog.version();
        // The version is not kept: it would keep files on disk that are replaced in the meantime.
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
            // The turn is released between families, so that a waiting compaction can run.
            let Ok(_one_at_a_time) = self.take_turn_of_maps() else { return };
            self.cover_family(catalog, &family, condition);
        }
        if self.options.pin_filters {
            for present in &catalog.version().families {
                present.files.load_pinned_filters();
            }
        }
    }

    fn cover_family(&self, catalog: &Catalog, family: &Family, condition: Condition) {
        while !self.tasks.is_stopping() {
            let version = catalog.version();
            let mut families = version.families.iter();
            let present = families.find(|present| present.family.id == family.id);
            let Some(present) = present else { return };
            let (family, files) = (&*present.family, &present.files);
            let Some(step) = self.next_step(catalog, family, files, condition) else { return };
            let start = Instant::now();
            match step {
                Step::Cover(file) => self.cover_file(catalog, family, files, &file),
                Step::Sweep => self.sweep(catalog, family, files),
                Step::Build(form, rows) => self.build(catalog, family, files, form, rows),
                Step::Drop => publish(catalog, family, Files::without_map),
            }
            self.count(|counts| counts.map_build_time += start.elapsed());
        }
    }
}
