//! Keeps the family maps complete: inserts the rows of flushes and of files that are not covered.
//!
//! ```text
//! flush            inserts the rows while it writes the file, whose first version covers it
//! compaction       does not change a map of files: the new file gets the slots of its inputs;
//!                  inserts its rows into a map of blocks, if there is room
//! bulk load,       the file is not covered: reads query its filter until the compaction thread has
//! import, open     inserted its rows
//! no room          the compaction thread copies the map without dead slots, or builds a larger one
//! ```
//!
//! A map is private until a version refers to it, and a file is covered only in versions that were
//! published after all of its rows were inserted. While files are read, the compaction turn is
//! held, so that no compaction replaces them. Flushes continue, and insert into the map of the
//! current version. If that map is replaced during a flush, the flushed file is not covered, and is
//! read later.
//!
//! No failure here fails a write or a read. Failures are counted in `Stats::map_failures`, and
//! reads query the filters of the files that are not covered. What failed is tried again, after
//! delays that double up to ten minutes, because memory or the disk may return.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use sstable::Caching;

use super::background::Maintenance;
use crate::error::Result;
use crate::files::catalog::Catalog;
use crate::files::family_map::coverage::Coverage;
use crate::files::family_map::form::{MapForm, MapNeeds, rows_of_new_map};
use crate::files::family_map::map::{FamilyMap, Inserted, NotTaken};
use crate::files::family_map::row_hashes::RowHashes;
use crate::files::family_map::slots::FileSlots;
use crate::files::file_list::Files;
use crate::files::map_retry::MapRetry;
use crate::files::store_file::StoreFile;
use crate::files::version::{Family, FamilyVersion};
use crate::maintenance::filters::row_count;
use crate::map_mode::MapMode;
use crate::sync::lock;

/// The number of files that a map can cover.
const FILES_MAX: usize = 64;

/// A map with fewer free slots is swept, so that the next flushes find a slot.
const SLOTS_FREE_MIN: u32 = 4;

/// The number of cells between two checks for a closing store.
const CELLS_PER_STEP: u64 = 4096;

/// The families whose map could not be built or swept, by id.
pub(super) type GivenUp = BTreeMap<u16, GivenUpMap>;

/// A map that could not be built or swept.
#[derive(Clone, Copy, Debug)]
pub(super) struct GivenUpMap {
    /// The number of rows of the family at the last attempt.
    rows: u64,
    retry: MapRetry,
}

impl GivenUpMap {
    /// Returns whether the next attempt may be made, for this number of rows.
    ///
    /// Far fewer rows may fit, and far more rows need a map more.
    fn may_try(self, rows: u64, now: Instant) -> bool {
        rows > self.rows.saturating_mul(2) || rows < self.rows / 2 || self.retry.is_due(now)
    }
}

/// The next step to cover all files of a family.
enum Step {
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
enum Condition {
    /// Once the reads so far justify it.
    Worthwhile,
    /// In any case.
    Always,
}

/// Why the rows of a file were not inserted into a map.
enum NotRead {
    /// The map has no room for them.
    Full,
    /// The file could not be read.
    Failed,
    /// The file is damaged, or the map lost a row: another attempt would end in the same way.
    Unsound,
    /// The store closes.
    Stopped,
}

impl From<NotTaken> for NotRead {
    fn from(why: NotTaken) -> Self {
        match why {
            NotTaken::Full => Self::Full,
            NotTaken::Unsound => Self::Unsound,
        }
    }
}

impl From<sstable::Error> for NotRead {
    fn from(error: sstable::Error) -> Self {
        match error {
            sstable::Error::Io { .. } => Self::Failed,
            _ => Self::Unsound,
        }
    }
}

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
    pub(super) fn cover_files(&self, catalog: &Catalog) {
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

    /// Returns the next step; `None` if all files are covered, or no further file can be now.
    fn next_step(
        &self,
        catalog: &Catalog,
        family: &Family,
        files: &Files,
        condition: Condition,
    ) -> Option<Step> {
        let mode = family.options.family_map;
        let present = files.coverage().map(|coverage| coverage.map().form());
        if !MapForm::may_be_chosen(mode, files.by_time().len(), present) {
            return present.map(|_| Step::Drop);
        }
        let now = Instant::now();
        let uncovered: Vec<_> = uncovered(files, now).collect();
        let rows = rows_of(files, now);
        let cache_bytes = catalog.opener.cache().stats().capacity_bytes;
        let needs = MapNeeds { files: files.by_time().len(), rows, cache_bytes, present };
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
        let may_build = given_up.is_none_or(|given_up| given_up.may_try(rows, now));
        if present.is_some_and(|present| present != form) && may_build {
            return Some(Step::Build(form, rows));
        }
        if let Some(coverage) = files.coverage() {
            let room = coverage.map().room();
            if let Some(file) = uncovered.first()
                && room.slots > 0
                && room.entries >= rows_at_most(file)
            {
                return Some(Step::Cover(Arc::clone(file)));
            }
            let without_blocks: Vec<_> = without_blocks(files, coverage, now).collect();
            if let Some(file) = without_blocks.first()
                && room.slots > SLOTS_FREE_MIN
                && room.entries >= rows_at_most(file)
            {
                return Some(Step::Cover(Arc::clone(file)));
            }
            let has_dead_slots = coverage.map().used_slots() > coverage.covered_files();
            let lacks = !uncovered.is_empty() || !without_blocks.is_empty();
            // While all files are covered, only a copy that fits beside the map is worth it.
            let may_copy = || coverage.map().fits_again(catalog.opener.cache());
            let needs_slots =
                !uncovered.is_empty() || (lacks || room.slots < SLOTS_FREE_MIN) && may_copy();
            if has_dead_slots && needs_slots && may_build {
                return Some(Step::Sweep);
            }
            // Another map would have no more slots.
            if room.slots == 0 {
                return None;
            }
            let rows_without_blocks: u64 =
                without_blocks.iter().map(|file| rows_at_most(file)).sum();
            if rows_without_blocks > rows / 2 && may_build && may_copy() {
                return Some(Step::Build(form, rows));
            }
        }
        // A larger map can have another form.
        let form = MapForm::choose(mode, &MapNeeds { present: None, ..needs }).unwrap_or(form);
        (!uncovered.is_empty() && may_build).then_some(Step::Build(form, rows))
    }

    /// Inserts the rows of a file into the present map.
    fn cover_file(&self, catalog: &Catalog, family: &Family, files: &Files, file: &Arc<StoreFile>) {
        let map = files.coverage().expect("the step was chosen for a list with a map").map();
        match self.read_into(map, catalog, file) {
            Ok(inserted) => {
                file.set_map_retry(None);
                publish(catalog, family, |files| files.cover(file, &inserted));
            }
            // A flush took the room that the step was chosen for, or the stash is full. The map now
            // has less room, so the next step is another one.
            Err(NotRead::Full | NotRead::Stopped) => {}
            // The file keeps the slots that it has.
            Err(_) if !uncovered(files, Instant::now()).any(|other| Arc::ptr_eq(other, file)) => {
                file.note_without_block_numbers();
            }
            Err(NotRead::Failed) => self.retry_later(file),
            Err(NotRead::Unsound) => self.leave_out(file),
        }
    }

    /// Replaces the map with a copy without the entries of dead slots.
    fn sweep(&self, catalog: &Catalog, family: &Family, files: &Files) {
        let coverage = files.coverage().expect("the step was chosen for a list with a map");
        let slots: Vec<_> = covered(files, coverage).map(|index| coverage.slots(index)).collect();
        let of_files: Vec<_> = slots.iter().map(|file| file.slots).collect();
        let Some(swept) = coverage.map().swept(&of_files, catalog.opener.cache()) else {
            let now = Instant::now();
            // Only slots are short while all files are covered: the map is worth more than a copy.
            if uncovered(files, now).next().is_none() {
                return self.give_up(family, files);
            }
            let (form, rows) = (coverage.map().form(), rows_of_new_map(rows_of(files, now)));
            return self.make_way(catalog, family, files, form, rows);
        };
        let covered = covered(files, coverage).map(|index| &files.by_time()[index].file);
        let moved = swept.first_slots().zip(slots);
        let moved = moved.map(|(slots, before)| FileSlots { slots, ..before });
        let covered: Vec<_> = covered.cloned().zip(moved).collect();
        publish(catalog, family, |files| files.with_map(&swept, &covered));
        lock(&self.maps_given_up).remove(&family.id);
        self.count(|counts| counts.map_rebuilds += 1);
    }

    /// Builds a map from the rows of all files, and replaces the present map with it.
    fn build(&self, catalog: &Catalog, family: &Family, files: &Files, form: MapForm, rows: u64) {
        let rows = rows_of_new_map(rows);
        let Some(map) = FamilyMap::new(rows, form, catalog.opener.cache()) else {
            return self.make_way(catalog, family, files, form, rows);
        };
        let mut covered = Vec::new();
        for (_, file) in mappable(files, Instant::now()) {
            match self.read_into(&map, catalog, file) {
                Ok(inserted) => {
                    file.set_map_retry(None);
                    covered.push((Arc::clone(file), inserted.slots));
                }
                Err(NotRead::Stopped) => return,
                // The map was made for these files, so its stash is full.
                Err(NotRead::Full) => return self.give_up(family, files),
                Err(NotRead::Failed) => self.retry_later(file),
                Err(NotRead::Unsound) => self.leave_out(file),
            }
        }
        publish(catalog, family, |files| files.with_map(&map, &covered));
        lock(&self.maps_given_up).remove(&family.id);
        let replaced = u64::from(files.coverage().is_some());
        self.count(|counts| {
            counts.map_builds += 1;
            counts.map_rebuilds += replaced;
        });
    }

    /// Inserts the rows of a file into a map, under a slot number of its own.
    fn read_into(
        &self,
        map: &Arc<FamilyMap>,
        catalog: &Catalog,
        file: &StoreFile,
    ) -> Result<Inserted, NotRead> {
        let mut rows = RowHashes::new(catalog.seed, map.form(), map.begin_slot()?);
        let mut cells = file.reader.scanner(Caching::Bypass);
        let (mut count, mut block) = (0_u64, 0_u64);
        let mut block_at = None;
        cells.seek_to_first()?;
        while let Some(cell) = cells.cell() {
            if count.is_multiple_of(CELLS_PER_STEP) && self.tasks.is_stopping() {
                return Err(NotRead::Stopped);
            }
            count += 1;
            let at = cells.block_offset();
            block += u64::from(block_at.is_some() && block_at != at);
            block_at = at;
            rows.add(cell.row, block)?;
            cells.advance()?;
        }
        if count != file.entry.cells {
            return Err(NotRead::Unsound);
        }
        let inserted = rows.finish(&file.reader)?;
        if !inserted.slots.has_blocks {
            file.note_without_block_numbers();
        }
        Ok(inserted)
    }

    /// Leaves a file out of all maps until the store is opened again.
    fn leave_out(&self, file: &StoreFile) {
        file.set_map_retry(Some(MapRetry::NEVER));
        self.count(|counts| counts.map_failures += 1);
    }

    /// Leaves a file that could not be read out of the maps for a while.
    fn retry_later(&self, file: &StoreFile) {
        let retry = MapRetry::after(file.map_retry(), Instant::now());
        file.set_map_retry(Some(retry));
        self.failed(retry);
    }

    /// Drops the present map if only its memory is missing for a new one. Otherwise gives up.
    ///
    /// The next step builds the new map. Until then, reads query the filters of the files.
    fn make_way(
        &self,
        catalog: &Catalog,
        family: &Family,
        files: &Files,
        form: MapForm,
        rows: u64,
    ) {
        let cache = catalog.opener.cache();
        let would_fit = |coverage: &Coverage| coverage.map().could_be_replaced(rows, form, cache);
        if files.coverage().is_some_and(would_fit) {
            publish(catalog, family, Files::without_map);
        } else {
            self.give_up(family, files);
        }
    }

    /// Notes that the map of these files cannot be built or swept now.
    fn give_up(&self, family: &Family, files: &Files) {
        let now = Instant::now();
        let mut given_up = lock(&self.maps_given_up);
        let before = given_up.get(&family.id).map(|given_up| given_up.retry);
        let retry = MapRetry::after(before, now);
        given_up.insert(family.id, GivenUpMap { rows: rows_of(files, now), retry });
        drop(given_up);
        self.failed(retry);
    }

    /// Counts a failure, and requests the next attempt.
    fn failed(&self, retry: MapRetry) {
        self.count(|counts| counts.map_failures += 1);
        if let Some(due) = retry.due() {
            self.tasks.want_cover_files_at(due);
        }
    }
}

/// Publishes a version in which `change` has replaced the coverage of a family's file list.
fn publish(catalog: &Catalog, family: &Family, change: impl Fn(&Files) -> Files) {
    catalog.replace_version(|version| {
        version.with(family, |changed| changed.files = change(&changed.files))
    });
}

/// Returns the files that a map can cover now, with their indexes in the list.
fn mappable(files: &Files, now: Instant) -> impl Iterator<Item = (usize, &Arc<StoreFile>)> {
    let files = files.by_time().iter().take(FILES_MAX).map(|ranked| &ranked.file).enumerate();
    files.filter(move |(_, file)| file.map_retry().is_none_or(|retry| retry.is_due(now)))
}

/// Returns an estimate of the rows of the files that a map can cover now.
fn rows_of(files: &Files, now: Instant) -> u64 {
    mappable(files, now).map(|(_, file)| rows_at_most(file)).sum()
}

/// Returns the files that a map can cover now but the present one does not, newest first.
fn uncovered(files: &Files, now: Instant) -> impl Iterator<Item = &Arc<StoreFile>> {
    let is_covered =
        |index| files.coverage().is_some_and(|coverage: &Coverage| coverage.covers(index));
    mappable(files, now).filter(move |(index, _)| !is_covered(*index)).map(|(_, file)| file)
}

/// Returns the covered files for which a map of blocks lacks the blocks, newest first.
///
/// They have replaced other files, whose slots they have got.
fn without_blocks<'f>(
    files: &'f Files,
    coverage: &'f Coverage,
    now: Instant,
) -> impl Iterator<Item = &'f Arc<StoreFile>> {
    let of_blocks = coverage.map().form() == MapForm::Blocks;
    let lacks = move |(index, file): &(usize, &Arc<StoreFile>)| {
        of_blocks
            && coverage.covers(*index)
            && !coverage.slots(*index).has_blocks
            && !file.has_no_block_numbers()
    };
    mappable(files, now).filter(lacks).map(|(_, file)| file)
}

/// Returns the indexes of the covered files.
fn covered<'f>(files: &'f Files, coverage: &'f Coverage) -> impl Iterator<Item = usize> + 'f {
    (0..files.by_time().len()).filter(|index| coverage.covers(*index))
}

/// Returns an estimate of the rows of a file: the keys of its filter, but at most its cells.
fn rows_at_most(file: &StoreFile) -> u64 {
    row_count(file).min(file.entry.cells)
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

/// Inserts the rows of a new file into the family map while it is written; `None` if it cannot.
pub(super) struct NewRows(Option<RowHashes>);

impl NewRows {
    /// Begins the insertion of the rows of a flush.
    ///
    /// A flush into a family without files creates the map. If the map has no room, the compaction
    /// thread covers the file later.
    pub(super) fn of_flush(
        catalog: &Catalog,
        version: &FamilyVersion,
        count_rows: impl Fn() -> Result<u64>,
    ) -> Result<Self> {
        let form = match version.family.options.family_map {
            MapMode::Off => return Ok(Self(None)),
            // `Maintenance::next_step` decides whether there is a map.
            MapMode::Auto => None,
            MapMode::Files => Some(MapForm::Files),
            MapMode::Blocks => Some(MapForm::Blocks),
        };
        let map = match version.files.coverage() {
            Some(coverage) => {
                let room = coverage.map().room().entries;
                let cells: usize = version.flushing.iter().map(|memstore| memstore.len()).sum();
                // Counting the rows takes time, and there are at most as many rows as cells.
                let has_room = cells as u64 <= room || count_rows()? <= room;
                has_room.then(|| Arc::clone(coverage.map()))
            }
            None => match form.filter(|_| version.files.by_time().is_empty()) {
                // For the rows of about four such flushes.
                Some(form) => {
                    let rows = rows_of_new_map(count_rows()?.saturating_mul(3));
                    FamilyMap::new(rows, form, catalog.opener.cache())
                }
                None => None,
            },
        };
        Ok(Self::into_map(catalog, map.as_ref(), 0, 1))
    }

    /// Begins the insertion of the rows of a compaction, of which there are at most `rows`.
    ///
    /// A map of files needs no insertion: the new file gets the slots of the files that it replaces.
    /// In a map of blocks, reads would then search the index of the new file.
    pub(super) fn of_compaction(catalog: &Catalog, version: &FamilyVersion, rows: u64) -> Self {
        let map = version.files.coverage().map(Coverage::map);
        let map = map.filter(|map| map.form() == MapForm::Blocks);
        Self::into_map(catalog, map, rows, SLOTS_FREE_MIN)
    }

    /// Begins the insertion, if the map has room for the rows and `slots_min` free slots.
    fn into_map(
        catalog: &Catalog,
        map: Option<&Arc<FamilyMap>>,
        rows: u64,
        slots_min: u32,
    ) -> Self {
        let has_room = |map: &&Arc<FamilyMap>| {
            let room = map.room();
            room.entries >= rows && room.slots >= slots_min
        };
        Self(map.filter(has_room).and_then(|map| {
            let slot = map.begin_slot().ok()?;
            Some(RowHashes::new(catalog.seed, map.form(), slot))
        }))
    }

    /// Adds the row of the next cell of the file, in the data block with this number.
    pub(super) fn add(&mut self, row: &[u8], block: u64) {
        if self.0.as_mut().is_some_and(|rows| rows.add(row, block).is_err()) {
            self.0 = None;
        }
    }

    /// Ends the insertion after the last cell; `None` if the map does not have all rows.
    pub(super) fn finish(self, file: &StoreFile) -> Option<Inserted> {
        let inserted = self.0.and_then(|rows| rows.finish(&file.reader).ok())?;
        if !inserted.slots.has_blocks {
            file.note_without_block_numbers();
        }
        Some(inserted)
    }
}

#[cfg(test)]
#[path = "family_map_tests.rs"]
mod tests;
