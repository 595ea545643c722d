//! The steps that cover files: read a file into a map, copy a map, or build one.

use std::sync::Arc;
use std::time::Instant;

use sstable::Caching;

use super::missing::{covered, mappable, rows_at_most, uncovered};
use super::next_step::map_needs;
use crate::family_map::choice::rows_of_new_map;
use crate::family_map::coverage::Coverage;
use crate::family_map::form::MapForm;
use crate::family_map::map::{FamilyMap, Inserted, NotTaken};
use crate::family_map::row_hashes::RowInserter;
use crate::files::catalog::Catalog;
use crate::files::version::file_list::Files;
use crate::files::version::store_file::StoreFile;
use crate::files::version::store_version::Family;
use crate::maintenance::background::Maintenance;
use crate::sync::lock;

/// The number of cells between two checks whether the work must end.
const CELLS_PER_STEP: u64 = 4096;

/// Why the rows of a file were not inserted into a map.
enum NotRead {
    /// The map has no room for them.
    Full,
    /// The file could not be read.
    Failed,
    /// The file is damaged, or the map lost a row: another attempt would end in the same way.
    Unsound,
    /// The store closes, or the family is to be dropped.
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
        match self.read_into(map, catalog, family, file) {
            Ok(inserted) => {
                file.set_map_retry(None);
                publish(catalog, family, |files| files.cover(file, &inserted));
            }
            // A flush has taken the room meanwhile, the stash is full, or the file has more rows than
            // its filter counts. `next_step` now sees that the map has too little room for the file.
            Err(NotRead::Full | NotRead::Stopped) => {}
            Err(NotRead::Failed) => self.retry_later(file),
            Err(NotRead::Unsound) => self.leave_out(file),
        }
    }

    /// Replaces the map with a copy without the entries of dead slots.
    pub(super) fn sweep(&self, catalog: &Catalog, family: &Family, files: &Files) {
        let coverage = files.coverage().expect("the step was chosen for a list with a map");
        let slots: Vec<_> = covered(files, coverage).map(|index| coverage.slots(index)).collect();
        let Some(swept) = coverage.map().swept(&slots, catalog.opener.cache()) else {
            let now = Instant::now();
            // All files are covered: keep this map, rather than drop it to make room for a copy
            // that would only have more free slots.
            if uncovered(files, now).next().is_none() {
                return self.give_up(family, files);
            }
            let needs = map_needs(files, catalog.opener.cache(), now);
            let (form, rows) = (coverage.map().form(), rows_of_new_map(needs.rows));
            return self.make_way(catalog, family, files, form, rows);
        };
        let covered = covered(files, coverage).map(|index| &files.by_time()[index].file);
        let covered: Vec<_> = covered.cloned().zip(swept.given_out_slots()).collect();
        publish(catalog, family, |files| files.with_map(&swept, &covered));
        lock(&self.failed_maps).remove(&family.id);
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
        let Some(map) = FamilyMap::new(rows, form, catalog.opener.cache()) else {
            return self.make_way(catalog, family, files, form, rows);
        };
        let mut covered = Vec::new();
        for (_, file) in mappable(files, Instant::now()) {
            match self.read_into(&map, catalog, family, file) {
                Ok(inserted) => {
                    file.set_map_retry(None);
                    covered.push((Arc::clone(file), inserted.slots));
                }
                Err(NotRead::Stopped) => return,
                // The stash is full, or a file has more rows than its filter counts. Of such a file,
                // the next attempt counts the cells.
                Err(NotRead::Full) => return self.give_up(family, files),
                Err(NotRead::Failed) => self.retry_later(file),
                Err(NotRead::Unsound) => self.leave_out(file),
            }
        }
        publish(catalog, family, |files| files.with_map(&map, &covered));
        lock(&self.failed_maps).remove(&family.id);
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
        family: &Family,
        file: &StoreFile,
    ) -> Result<Inserted, NotRead> {
        let counted = rows_at_most(file);
        let mut rows = RowInserter::new(catalog.seed, map.begin_slot()?);
        let read = self.read_rows(&mut rows, family, file);
        // Otherwise the next step would again expect that the map has room for the file.
        if rows.rows() > counted {
            file.note_miscounted();
        }
        read?;
        Ok(rows.finish()?)
    }

    /// Adds the rows of a file.
    fn read_rows(
        &self,
        rows: &mut RowInserter,
        family: &Family,
        file: &StoreFile,
    ) -> Result<(), NotRead> {
        let mut cells = file.reader.scanner(Caching::Bypass);
        let mut count = 0_u64;
        cells.seek_to_first()?;
        while let Some(cell) = cells.cell() {
            if count.is_multiple_of(CELLS_PER_STEP) && self.must_end(family) {
                return Err(NotRead::Stopped);
            }
            count += 1;
            rows.add(cell.row)?;
            cells.advance()?;
        }
        if count == file.entry.cells { Ok(()) } else { Err(NotRead::Unsound) }
    }

    /// Drops the present map if a new one fits into its memory; otherwise gives up.
    ///
    /// The next step can then build the new map. Until then, reads query the filters of the files.
    /// With [`MapMode::Auto`](crate::MapMode::Auto), the map stays if the budget would not allow a
    /// new one.
    fn make_way(
        &self,
        catalog: &Catalog,
        family: &Family,
        files: &Files,
        form: MapForm,
        rows: u64,
    ) {
        let cache = catalog.opener.cache();
        let would_fit =
            |coverage: &Coverage| FamilyMap::would_fit(rows, form, Some(coverage.map()), cache);
        let needs = map_needs(files, cache, Instant::now());
        let is_made_again = needs.form_of_first_map(family.options.family_map).is_some();
        if is_made_again && files.coverage().is_some_and(would_fit) {
            publish(catalog, family, Files::without_map);
        } else {
            self.give_up(family, files);
        }
    }
}

/// Publishes a version after `change` has replaced the coverage of a family's file list.
pub(super) fn publish(catalog: &Catalog, family: &Family, change: impl Fn(&Files) -> Files) {
    catalog.publish_version(|version| {
        version.with(family, |changed| changed.files = change(&changed.files))
    });
}
