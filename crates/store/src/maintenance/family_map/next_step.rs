//! The choice of the next step that covers files of a family.

use std::sync::Arc;
use std::time::Instant;

use sstable::BlockCache;

use super::missing::{mappable, rows_at_most, rows_of, uncovered, without_blocks};
use crate::files::catalog::Catalog;
use crate::files::family_map::coverage::Coverage;
use crate::files::family_map::form::{MapForm, MapNeeds};
use crate::files::file_list::Files;
use crate::files::store_file::StoreFile;
use crate::files::version::Family;
use crate::maintenance::background::Maintenance;
use crate::map_mode::MapMode;
use crate::sync::lock;

/// A map with fewer free slots is swept, so that the next flushes find a slot.
pub(super) const SLOTS_FREE_MIN: u32 = 4;

/// The next step to cover all files of a family.
pub(super) enum Step {
    /// Insert the rows of this file into the present map.
    Cover(Arc<StoreFile>),
    /// Copy the map without the entries of dead slots.
    Sweep,
    /// Build a new map of this form for the present number of rows, and read all files.
    Build(MapForm, u64),
    /// Drop the map: the filters of the files serve reads better.
    Drop,
}

/// When the older files of a family without a map are read for [`MapMode::Auto`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Condition {
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
    /// Whether a map may be built or copied now: not soon after that has failed.
    may_build: bool,
    now: Instant,
}

impl Maintenance {
    /// Returns the next step; `None` if all files are covered, or no further file can be now.
    pub(super) fn next_step(
        &self,
        catalog: &Catalog,
        family: &Family,
        files: &Files,
        condition: Condition,
    ) -> Option<Step> {
        let mode = family.options.family_map;
        let present = files.coverage().map(|coverage| coverage.map().form());
        // The rows are counted only if the number of files permits a map.
        if !MapForm::may_be_chosen(mode, files.by_time().len()) {
            return present.map(|_| Step::Drop);
        }
        let now = Instant::now();
        let cache = catalog.opener.cache();
        let needs = MapNeeds {
            files: files.by_time().len(),
            rows: rows_of(files, now),
            cache_bytes: cache.stats().capacity_bytes,
            present,
        };
        let Some(form) = MapForm::choose(mode, &needs) else {
            return present.map(|_| Step::Drop);
        };
        let must_be_worth_it =
            mode == MapMode::Auto && present.is_none() && condition == Condition::Worthwhile;
        if must_be_worth_it && !is_worth_reading(family, files, now) {
            self.tasks.want_cover_files_later();
            return None;
        }
        let given_up = lock(&self.maps_given_up).get(&family.id).copied();
        let may_build = given_up.is_none_or(|given_up| given_up.may_try(needs.rows, now));
        let uncovered = uncovered(files, now).collect();
        let situation = Situation { files, cache, mode, needs, form, uncovered, may_build, now };
        match files.coverage() {
            Some(coverage) => situation.step_with_map(coverage),
            None => situation.build_for_uncovered(),
        }
    }
}

impl Situation<'_> {
    /// Returns the next step of a family that has a map.
    fn step_with_map(&self, coverage: &Coverage) -> Option<Step> {
        if coverage.map().form() != self.form && self.may_build {
            return Some(self.build(self.form));
        }
        let room = coverage.map().room();
        let has_room = |file: &StoreFile, slots_min| {
            room.slots >= slots_min && room.entries >= rows_at_most(file)
        };
        if let Some(file) = self.uncovered.first().filter(|file| has_room(file, 1)) {
            return Some(Step::Cover(Arc::clone(file)));
        }
        let without_blocks: Vec<_> = without_blocks(self.files, coverage, self.now).collect();
        let first_without_blocks = without_blocks.first();
        if let Some(file) = first_without_blocks.filter(|file| has_room(file, SLOTS_FREE_MIN + 1)) {
            return Some(Step::Cover(Arc::clone(file)));
        }
        let has_dead_slots = coverage.map().used_slots() > coverage.covered_files();
        // While all files are covered, only a copy that fits beside the map is worth it.
        let may_copy = || coverage.map().fits_again(self.cache);
        let needs_slots = !self.uncovered.is_empty()
            || (!without_blocks.is_empty() || room.slots < SLOTS_FREE_MIN) && may_copy();
        if has_dead_slots && needs_slots && self.may_build {
            return Some(Step::Sweep);
        }
        // Another map would have no more slots.
        if room.slots == 0 {
            return None;
        }
        let rows_without_blocks: u64 = without_blocks.iter().map(|file| rows_at_most(file)).sum();
        if rows_without_blocks > self.needs.rows / 2 && self.may_build && may_copy() {
            return Some(self.build(self.form));
        }
        self.build_for_uncovered()
    }

    /// Returns the step that builds a map with room for the files that are not covered, if any.
    fn build_for_uncovered(&self) -> Option<Step> {
        // A larger map can have another form.
        let larger = MapForm::choose(self.mode, &MapNeeds { present: None, ..self.needs });
        let may_build = !self.uncovered.is_empty() && self.may_build;
        may_build.then(|| self.build(larger.unwrap_or(self.form)))
    }

    const fn build(&self, form: MapForm) -> Step {
        Step::Build(form, self.needs.rows)
    }
}

/// Returns whether the reads since the store was opened justify reading the older files.
///
/// A row is read in about the time of two to four filter lookups. Files that were written since the
/// store was opened are read in any case: this takes a small part of the time of writing them.
fn is_worth_reading(family: &Family, files: &Files, now: Instant) -> bool {
    let older = mappable(files, now).filter(|(_, file)| file.is_from_before());
    let rows: u64 = older.map(|(_, file)| rows_at_most(file)).sum();
    rows <= family.reads.snapshot().filter_checks
}
