//! The choice of the next step that covers files of a family.

use std::sync::Arc;
use std::time::Instant;

use sstable::BlockCache;

use super::missing::{mappable, rows_at_most, rows_of, uncovered};
use crate::family_map::choice::{MapNeeds, rows_of_new_map};
use crate::family_map::coverage::Coverage;
use crate::family_map::form::MapForm;
use crate::family_map::map::FamilyMap;
use crate::family_map::mode::MapMode;
use crate::files::catalog::Catalog;
use crate::files::version::file_list::Files;
use crate::files::version::store_file::StoreFile;
use crate::files::version::store_version::Family;
use crate::maintenance::background::Maintenance;
use crate::sync::lock;

/// A map with fewer free slots is swept, so that the next flushes find a slot.
const SLOTS_FREE_MIN: u32 = 4;

/// The next step to cover all files of a family.
pub(super) enum MapStep {
    /// Insert the rows of this file into the present map.
    Cover(Arc<StoreFile>),
    /// Copy the map without the entries of dead slots.
    Sweep,
    /// Build a new map of this form for this number of rows, and read all files.
    Build(MapForm, u64),
    /// Drop the map: the filters of the files serve reads better.
    Drop,
}

/// When [`MapMode::Auto`] reads the files from before the open, for a family without a map.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum OldFilesRead {
    /// Once the reads so far justify it.
    Worthwhile,
    /// In any case.
    Always,
}

/// What the choice of the next step depends on.
struct Situation<'f> {
    files: &'f Files,
    cache: &'f BlockCache,
    mode: MapMode,
    needs: MapNeeds,
    /// The form that the family's map should have.
    form: MapForm,
    /// The files that the present map does not cover, newest first.
    uncovered: Vec<&'f Arc<StoreFile>>,
    /// Whether a map may be built or copied now; `false` for a while after that has failed.
    may_build: bool,
}

impl Maintenance {
    /// Returns the next step; `None` if there is nothing to do, or nothing that can be done now.
    pub(super) fn next_step(
        &self,
        catalog: &Catalog,
        family: &Family,
        files: &Files,
        condition: OldFilesRead,
    ) -> Option<MapStep> {
        let mode = family.options.family_map;
        let present = files.coverage().map(|coverage| coverage.map().form());
        // Checked first, because counting the rows takes time and may read filters.
        if !MapForm::may_be_chosen(mode, files.by_time().len()) {
            return present.map(|_| MapStep::Drop);
        }
        let now = Instant::now();
        let cache = catalog.opener.cache();
        let needs = map_needs(files, cache, now);
        let Some(form) = MapForm::choose(mode, &needs) else {
            return present.map(|_| MapStep::Drop);
        };
        let must_be_worth_it =
            mode == MapMode::Auto && present.is_none() && condition == OldFilesRead::Worthwhile;
        if must_be_worth_it && !is_worth_reading(family, files, now) {
            self.tasks.want_cover_files_later();
            return None;
        }
        let failed = lock(&self.failed_maps).get(&family.id).copied();
        let may_build = failed.is_none_or(|failed| failed.may_try(needs.rows, now));
        let uncovered = uncovered(files, now).collect();
        let situation = Situation { files, cache, mode, needs, form, uncovered, may_build };
        match files.coverage() {
            Some(coverage) => situation.step_with_map(coverage),
            None => situation.build_for_uncovered(),
        }
    }
}

impl Situation<'_> {
    /// Returns the next step of a family that has a map.
    fn step_with_map(&self, coverage: &Coverage) -> Option<MapStep> {
        if coverage.map().form() != self.form && self.may_build {
            return Some(self.build(self.form));
        }
        let room = coverage.map().room();
        let has_room =
            |file: &&&Arc<StoreFile>| room.slots > 0 && room.entries >= rows_at_most(file);
        if let Some(file) = self.uncovered.first().filter(has_room) {
            return Some(MapStep::Cover(Arc::clone(file)));
        }
        // A sweep also frees all slots but one of a file that has several.
        let has_dead_slots = coverage.map().used_slots() > coverage.covered_files();
        // While all files are covered, do not drop the map to make room for another one.
        let needs_slots = !self.uncovered.is_empty()
            || room.slots < SLOTS_FREE_MIN && coverage.map().has_room_for_copy(self.cache);
        if has_dead_slots && needs_slots && self.may_build {
            return Some(MapStep::Sweep);
        }
        // No sweep can free a slot now, and a new map would have no more of them.
        if room.slots == 0 {
            return None;
        }
        self.build_for_uncovered()
    }

    /// Returns the step that builds a map with room for the files that are not covered, if any.
    fn build_for_uncovered(&self) -> Option<MapStep> {
        let may_build = !self.uncovered.is_empty() && self.may_build;
        // With room for growth, the map may fit only in another form than the present one.
        may_build.then(|| self.build(self.needs.form_of_first_map(self.mode).unwrap_or(self.form)))
    }

    /// Returns the step that builds a map for the present rows, and with room for growth if it fits.
    fn build(&self, form: MapForm) -> MapStep {
        let (rows, with_room) = (self.needs.rows, rows_of_new_map(self.needs.rows));
        let fits_with_room = match (self.mode, self.needs.form_of_first_map(self.mode)) {
            // These modes make a map of any size for which the budget has room.
            (MapMode::Files | MapMode::Wide, _) => {
                let present = self.files.coverage().map(Coverage::map);
                FamilyMap::would_fit(with_room, form, present, self.cache)
            }
            (_, Some(MapForm::Wide)) => true,
            (_, Some(MapForm::Narrow)) => form == MapForm::Narrow,
            (_, None) => false,
        };
        MapStep::Build(form, if fits_with_room { with_room } else { rows })
    }
}

/// Returns what the choice of a map for these files depends on.
pub(super) fn map_needs(files: &Files, cache: &BlockCache, now: Instant) -> MapNeeds {
    MapNeeds {
        files: files.by_time().len(),
        rows: rows_of(files, now),
        cache_bytes: cache.stats().capacity_bytes,
        present: files.coverage().map(|coverage| coverage.map().form()),
    }
}

/// Returns whether the reads since the store was opened justify reading the older files.
///
/// They do once they have queried as many filters as these files have rows; reading a row takes
/// about as long as two to four filter lookups. Files written since the store was opened do not
/// count: reading them takes a small part of the time of writing them.
fn is_worth_reading(family: &Family, files: &Files, now: Instant) -> bool {
    let older = mappable(files, now).filter(|(_, file)| file.is_from_before());
    let rows: u64 = older.map(|(_, file)| rows_at_most(file)).sum();
    rows <= family.reads.snapshot().filter_checks
}
