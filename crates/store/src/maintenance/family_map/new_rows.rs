//! Inserts the rows of a flush into the family map while the file is written.

use std::sync::Arc;

use crate::error::Result;
use crate::files::catalog::Catalog;
use crate::files::family_map::choice::rows_of_new_map;
use crate::files::family_map::form::MapForm;
use crate::files::family_map::map::{FamilyMap, Inserted};
use crate::files::family_map::row_hashes::RowHashes;
use crate::files::version::store_version::FamilyVersion;
use crate::map_mode::MapMode;

/// Inserts the rows of a flushed file into the family map while the file is written.
///
/// `None` if there is no map, or if it has no room for the rows.
pub(crate) struct NewRows(Option<RowHashes>);

impl NewRows {
    /// Begins the insertion of the rows of a flush.
    ///
    /// With [`MapMode::Files`] and [`MapMode::Wide`], a flush into a family without files creates
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
            MapMode::Files => Some(MapForm::Narrow),
            MapMode::Wide => Some(MapForm::Wide),
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
        let slot = map.and_then(|map| map.begin_slot().ok());
        Ok(Self(slot.map(|slot| RowHashes::new(catalog.seed, slot))))
    }

    /// Adds the row of the next cell of the file.
    pub(crate) fn add(&mut self, row: &[u8]) {
        if self.0.as_mut().is_some_and(|rows| rows.add(row).is_err()) {
            self.0 = None;
        }
    }

    /// Ends the insertion after the last cell; `None` if the map does not have all rows.
    ///
    /// A row that the map has lost is not counted as a failure here: the file is not covered, so the
    /// compaction thread reads it, and counts what then fails.
    pub(crate) fn finish(self) -> Option<Inserted> {
        self.0.and_then(|rows| rows.finish().ok())
    }
}
