//! The steps that cover files: reads a file into a map, copies a map or builds one, and publishes it.

use std::sync::Arc;
use std::time::Instant;

use sstable::Caching;

use super::missing::{covered, mappable, rows_of, uncovered};
use crate::files::catalog::Catalog;
use crate::files::family_map::coverage::Coverage;
use crate::files::family_map::form::{MapForm, rows_of_new_map};
use crate::files::family_map::map::{FamilyMap, Inserted, NotTaken};
use crate::files::family_map::row_hashes::RowHashes;
use crate::files::family_map::slots::FileSlots;
use crate::files::file_list::Files;
use crate::files::store_file::StoreFile;
use crate::files::version::Family;
use crate::maintenance::background::Maintenance;
use crate::sync::lock;

/// The number of cells between two checks for a closing store.
const CELLS_PER_STEP: u64 = 4096;

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
    /// Inserts the rows of a file into the present map.
    pub(super) fn cover_file(
        &self,
        catalog: &Catalog,
        family: &Family,
        files: &Files,
        file: &Arc<StoreFile>,
    ) {
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
    pub(super) fn sweep(&self, catalog: &Catalog, family: &Family, files: &Files) {
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
    pub(super) fn build(
        &self,
        catalog: &Catalog,
        family: &Family,
        files: &Files,
        form: MapForm,
        rows: u64,
    ) {
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
}

/// Publishes a version in which `change` has replaced the coverage of a family's file list.
pub(super) fn publish(catalog: &Catalog, family: &Family, change: impl Fn(&Files) -> Files) {
    catalog.replace_version(|version| {
        version.with(family, |changed| changed.files = change(&changed.files))
    });
}
