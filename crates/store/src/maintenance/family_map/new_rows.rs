//! Inserts the rows of a flush or of a compaction into the family map while the file is written.

use std::sync::Arc;

use super::next_step::SLOTS_FREE_MIN;
use crate::error::Result;
use crate::files::catalog::Catalog;
use crate::files::family_map::coverage::Coverage;
use crate::files::family_map::form::{MapForm, rows_of_new_map};
use crate::files::family_map::map::{FamilyMap, Inserted};
use crate::files::family_map::row_hashes::RowHashes;
use crate::files::version::store_file::StoreFile;
use crate::files::version::store_version::FamilyVersion;
use crate::map_mode::MapMode;

/// Inserts the rows of a new file into the family map while the file is written.
///
/// `None` if there is no map, or if it has no room for the rows.
pub(crate) struct NewRows(Option<RowHashes>);

impl NewRows {
    /// Begins the insertion of the rows of a flush.
    ///
    /// With [`MapMode::Files`] and [`MapMode::Blocks`], a flush into a family without files creates
    /// the map. If the map has no room, the compaction thread covers the file later.
    pub(crate) fn of_flush(
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
    /// Does nothing for a map of files: the new file gets the slots of the files that it replaces.
    /// With those slots alone, a map of blocks could not name the blocks of the new file. Leaves
    /// some slots to flushes, whose files would otherwise not be covered.
    pub(crate) fn of_compaction(catalog: &Catalog, version: &FamilyVersion, rows: u64) -> Self {
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
    pub(crate) fn add(&mut self, row: &[u8], block: u64) {
        if self.0.as_mut().is_some_and(|rows| rows.add(row, block).is_err()) {
            self.0 = None;
        }
    }

    /// Ends the insertion after the last cell; `None` if the map does not have all rows.
    ///
    /// A row that the map has lost is not counted as a failure here: the file is not covered, so the
    /// compaction thread reads it, and counts what then fails.
    pub(crate) fn finish(self, file: &StoreFile) -> Option<Inserted> {
        let inserted = self.0.and_then(|rows| rows.finish(&file.reader).ok())?;
        if !inserted.slots.has_blocks {
            file.note_without_block_numbers();
        }
        Some(inserted)
    }
}
