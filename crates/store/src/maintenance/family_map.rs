//! Brings files into the family maps: the rows of a flush, and the rows of files without coverage.
//!
//! ```text
//! flush            inserts the rows while it writes the file; the file's version covers it
//! compaction       no change of the map: the new file gets the slots of its inputs
//! bulk load,       the file is not covered: its filter is asked, until the compaction thread has
//! import, open     read its rows
//! no room          the compaction thread copies the map without dead slots, or builds a larger one
//! ```
//!
//! A map is private until a version refers to it, and a file is covered only in versions that were
//! published after all of its rows were inserted. The compaction turn is held meanwhile, so that no
//! compaction replaces the files that are read. Flushes go on: they insert into the map of the
//! current version. If that map is replaced, their files are not covered, and are read afterwards.
//!
//! Nothing here can fail a write or a read. What cannot be done is counted, and the filters of the
//! files are asked.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use sstable::Caching;

use super::background::Maintenance;
use crate::files::catalog::Catalog;
use crate::files::family_map::coverage::Coverage;
use crate::files::family_map::map::{FamilyMap, Inserted, NotTaken};
use crate::files::family_map::row_hashes::RowHashes;
use crate::files::file_list::Files;
use crate::files::store_file::StoreFile;
use crate::files::version::{Family, FamilyVersion};
use crate::maintenance::filters::row_count;
use crate::options::MapMode;
use crate::sync::lock;

/// Files that a map can cover.
const FILES_MAX: usize = 64;

/// Fewer free slots than this, and the map is swept before a flush finds none.
const SLOTS_FREE_MIN: u32 = 4;

/// Rows of the smallest map, which takes 12 KiB.
const ROWS_MIN: u64 = 4096;

/// Cells between two checks whether the store closes.
const CELLS_PER_STEP: u64 = 4096;

/// The rows for which a map could not be built, by the id of the family.
///
/// A further attempt waits until the number of rows has halved or doubled.
pub(crate) type GivenUp = BTreeMap<u16, u64>;

/// The next step to cover all files of a family.
enum Step {
    /// Read this file into the present map.
    Cover(Arc<StoreFile>),
    /// Copy the map without the entries of dead slots.
    Sweep,
    /// Build a map for this number of rows.
    Build(u64),
}

/// Why a file was not read into a map.
enum NotRead {
    NotTaken,
    /// The file cannot be read, or changed.
    Damaged,
    /// The store closes.
    Stopped,
}

impl From<NotTaken> for NotRead {
    fn from(_: NotTaken) -> Self {
        Self::NotTaken
    }
}

impl Maintenance {
    /// Covers the files that the family maps do not cover: soon, if the store has threads.
    ///
    /// Called after each change of the files. The caller must hold no lock and no turn.
    pub(crate) fn files_changed(&self, catalog: &Catalog) {
        if catalog.family_map == MapMode::Off {
        } else if self.options.background {
            self.tasks.want_cover_files();
        } else {
            self.cover_files(catalog);
        }
    }

    /// Covers the files of all families.
    pub(super) fn cover_files(&self, catalog: &Catalog) {
        // Without the version, which would keep files on disk that are replaced meanwhile.
        let version = catalog.version();
        let families: Vec<_> =
            version.families.iter().map(|present| Arc::clone(&present.family)).collect();
        drop(version);
        for family in families {
            // Released between the families, for a compaction that waits.
            let Ok(_one_at_a_time) = self.take_turn(&self.compaction_turn) else { return };
            self.cover_family(catalog, &family);
        }
    }

    fn cover_family(&self, catalog: &Catalog, family: &Family) {
        while !self.tasks.is_stopping() {
            let version = catalog.version();
            let mut families = version.families.iter();
            let present = families.find(|present| present.family.id == family.id);
            let Some(files) = present.map(|present| &present.files) else { return };
            let Some(step) = self.next_step(family, files) else { return };
            let start = Instant::now();
            match step {
                Step::Cover(file) => self.cover_file(catalog, family, files, &file),
                Step::Sweep => self.sweep(catalog, family, files),
                Step::Build(rows) => self.build(catalog, family, files, rows),
            }
            self.count(|counts| counts.map_build_time += start.elapsed());
        }
    }

    /// Returns what to do next; `None` if all files are covered that can be.
    fn next_step(&self, family: &Family, files: &Files) -> Option<Step> {
        let uncovered: Vec<_> = uncovered(files).collect();
        let rows: u64 = mappable(files).map(|(_, file)| rows_at_most(file)).sum();
        let given_up = lock(&self.maps_given_up).get(&family.id).copied();
        let may_build =
            given_up.is_none_or(|then| rows > then.saturating_mul(2) || rows < then / 2);
        if let Some(coverage) = files.coverage() {
            let room = coverage.map().room();
            if let Some(file) = uncovered.first()
                && room.slots > 0
                && room.entries >= rows_at_most(file)
            {
                return Some(Step::Cover(Arc::clone(file)));
            }
            let has_dead_slots = coverage.map().used_slots() > coverage.covered_files();
            let needs_slots = !uncovered.is_empty() || room.slots < SLOTS_FREE_MIN;
            if has_dead_slots && needs_slots && may_build {
                return Some(Step::Sweep);
            }
            // Another map would have no more slots.
            if room.slots == 0 {
                return None;
            }
        }
        (!uncovered.is_empty() && may_build).then_some(Step::Build(rows))
    }

    /// Reads a file into the present map.
    fn cover_file(&self, catalog: &Catalog, family: &Family, files: &Files, file: &Arc<StoreFile>) {
        let map = files.coverage().expect("the step was chosen for a list with a map").map();
        match self.read_into(map, catalog, file) {
            Ok(inserted) => publish(catalog, family, |files| files.cover(file, &inserted)),
            Err(NotRead::Stopped) => {}
            Err(NotRead::NotTaken | NotRead::Damaged) => self.leave_out(file),
        }
    }

    /// Replaces the map by a copy without the entries of dead slots.
    fn sweep(&self, catalog: &Catalog, family: &Family, files: &Files) {
        let coverage = files.coverage().expect("the step was chosen for a list with a map");
        let slots: Vec<_> = covered(files, coverage).map(|index| coverage.slots(index)).collect();
        let Some(swept) = coverage.map().swept(&slots, catalog.opener.cache()) else {
            return self.give_up(family, files);
        };
        let covered = covered(files, coverage).map(|index| &files.by_time()[index].file);
        let covered: Vec<_> = covered.cloned().zip(swept.first_slots()).collect();
        publish(catalog, family, |files| files.with_map(&swept, &covered));
    }

    /// Builds a map from the rows of all files, and replaces the present one.
    fn build(&self, catalog: &Catalog, family: &Family, files: &Files, rows: u64) {
        // Room for half as many rows again, so that the map is not built for each flush.
        let rows = (rows.saturating_mul(6) / 5).max(ROWS_MIN);
        let Some(map) = FamilyMap::new(rows, catalog.opener.cache()) else {
            return self.give_up(family, files);
        };
        let mut covered = Vec::new();
        for (_, file) in mappable(files) {
            match self.read_into(&map, catalog, file) {
                Ok(inserted) => covered.push((Arc::clone(file), inserted.slots)),
                Err(NotRead::Stopped) => return,
                Err(NotRead::NotTaken) => return self.give_up(family, files),
                Err(NotRead::Damaged) => self.leave_out(file),
            }
        }
        publish(catalog, family, |files| files.with_map(&map, &covered));
        self.count(|counts| counts.map_builds += 1);
    }

    /// Inserts the rows of a file into a map, under a slot number of its own.
    fn read_into(
        &self,
        map: &Arc<FamilyMap>,
        catalog: &Catalog,
        file: &StoreFile,
    ) -> Result<Inserted, NotRead> {
        let mut rows = RowHashes::new(catalog.seed, map.begin_slot()?);
        let mut cells = file.reader.scanner(Caching::Bypass);
        let mut count = 0_u64;
        cells.seek_to_first().map_err(|_| NotRead::Damaged)?;
        while let Some(cell) = cells.cell() {
            if count.is_multiple_of(CELLS_PER_STEP) && self.tasks.is_stopping() {
                return Err(NotRead::Stopped);
            }
            count += 1;
            rows.add(cell.row)?;
            cells.advance().map_err(|_| NotRead::Damaged)?;
        }
        if count != file.entry.cells {
            return Err(NotRead::Damaged);
        }
        Ok(rows.finish()?)
    }

    /// Leaves a file out of the map: it is damaged, or has more rows than its filter counts.
    fn leave_out(&self, file: &StoreFile) {
        file.leave_out_of_map();
        self.count(|counts| counts.map_failures += 1);
    }

    /// Notes that the map of these files cannot be built.
    fn give_up(&self, family: &Family, files: &Files) {
        let rows = mappable(files).map(|(_, file)| rows_at_most(file)).sum();
        lock(&self.maps_given_up).insert(family.id, rows);
        self.count(|counts| counts.map_failures += 1);
    }
}

/// Replaces the list of files of a family in the current version by one with another coverage.
fn publish(catalog: &Catalog, family: &Family, change: impl Fn(&Files) -> Files) {
    catalog.replace_version(|version| {
        version.with(family, |changed| changed.files = change(&changed.files))
    });
}

/// Returns the files that a map can cover, with their indexes in the list.
fn mappable(files: &Files) -> impl Iterator<Item = (usize, &Arc<StoreFile>)> {
    let files = files.by_time().iter().take(FILES_MAX).map(|ranked| &ranked.file).enumerate();
    files.filter(|(_, file)| !file.is_left_out_of_map())
}

/// Returns the files that a map can cover, but does not, newest first.
fn uncovered(files: &Files) -> impl Iterator<Item = &Arc<StoreFile>> {
    let is_covered =
        |index| files.coverage().is_some_and(|coverage: &Coverage| coverage.covers(index));
    mappable(files).filter(move |(index, _)| !is_covered(*index)).map(|(_, file)| file)
}

/// Returns the indexes of the covered files.
fn covered<'f>(files: &'f Files, coverage: &'f Coverage) -> impl Iterator<Item = usize> + 'f {
    (0..files.by_time().len()).filter(|index| coverage.covers(*index))
}

/// Returns the number of rows of a file as its filter counts them, at most its number of cells.
fn rows_at_most(file: &StoreFile) -> u64 {
    row_count(file).min(file.entry.cells)
}

/// The rows of a file that a flush writes, on their way into the family map.
pub(super) struct FlushedRows(Option<RowHashes>);

impl FlushedRows {
    /// Begins the insertion into the family's map. The first flush of a family creates the map.
    ///
    /// If there is no room, the file will not be covered until the compaction thread reads it.
    pub(super) fn begin(catalog: &Catalog, version: &FamilyVersion) -> Self {
        if catalog.family_map == MapMode::Off {
            return Self(None);
        }
        let cells: usize = version.flushing.iter().map(|memstore| memstore.len()).sum();
        let cells = cells as u64;
        let map = match version.files.coverage() {
            Some(coverage) => Some(Arc::clone(coverage.map())),
            // Room for further flushes.
            None if version.files.by_time().is_empty() => {
                FamilyMap::new(cells.saturating_mul(4).max(ROWS_MIN), catalog.opener.cache())
            }
            None => None,
        };
        let map = map.filter(|map| map.room().entries >= cells);
        let slot = map.and_then(|map| map.begin_slot().ok());
        Self(slot.map(|slot| RowHashes::new(catalog.seed, slot)))
    }

    /// Adds the row of the next cell of the file.
    pub(super) fn add(&mut self, row: &[u8]) {
        if self.0.as_mut().is_some_and(|rows| rows.add(row).is_err()) {
            self.0 = None;
        }
    }

    /// Ends the insertion after the last cell.
    pub(super) fn finish(self) -> Option<Inserted> {
        self.0.and_then(|rows| rows.finish().ok())
    }
}
