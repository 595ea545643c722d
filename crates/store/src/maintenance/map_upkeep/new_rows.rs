//! Inserts the rows of a flush into the family map once its file is written.

use std::sync::Arc;

use crate::family_map::choice::rows_of_new_map;
use crate::family_map::form::MapForm;
use crate::family_map::map::{FamilyMap, Inserted};
use crate::family_map::mode::MapMode;
use crate::family_map::row_hashes::DistinctRows;
use crate::files::catalog::Catalog;
use crate::files::version::store_version::FamilyVersion;

/// The rows of a flush, for the family map.
///
/// Their hashes are kept until all are known: only their number tells whether the map has room, and how large a new
/// map has to be.
pub(crate) struct NewRows<'f> {
    catalog: &'f Catalog,
    place: Place<'f>,
    rows: DistinctRows,
}

/// The map that the rows get into.
enum Place<'f> {
    Known(&'f Arc<FamilyMap>),
    New(MapForm),
}

impl<'f> NewRows<'f> {
    /// Begins to collect the rows of a flush; `None` if its file does not get into a map.
    ///
    /// With [`MapMode::Files`] and [`MapMode::Wide`], a flush into a family without files will create
    /// the map. If the map has no room, the compaction thread covers the file later.
    pub(crate) fn of_flush(catalog: &'f Catalog, version: &'f FamilyVersion) -> Option<Self> {
        let mode = version.family.options.family_map;
        let form = match mode {
            // `Maintenance::next_step` decides whether there is a map.
            MapMode::Off | MapMode::Auto => None,
            MapMode::Files => Some(MapForm::Narrow),
            MapMode::Wide => Some(MapForm::Wide),
        };
        let place = match version.files.coverage().filter(|_| mode != MapMode::Off) {
            Some(coverage) => Place::Known(coverage.map()),
            None => form.filter(|_| version.files.by_time().is_empty()).map(Place::New)?,
        };
        Some(Self { catalog, place, rows: DistinctRows::new(catalog.seed) })
    }

    /// Adds the row of the next cell of the file.
    pub(crate) fn add(&mut self, row: &[u8]) {
        self.rows.add(row);
    }

    /// Inserts the rows after the last cell; `None` if no map has all of them.
    ///
    /// A row that the map has lost is not counted as a failure here: the file is not covered, so the
    /// compaction thread reads it, and counts what then fails.
    pub(crate) fn finish(self) -> Option<Inserted> {
        let rows = self.rows.count();
        let map = match self.place {
            Place::Known(map) => Some(Arc::clone(map)).filter(|map| rows <= map.room().entries),
            // For the rows of about four such flushes.
            Place::New(form) => {
                let rows = rows_of_new_map(rows.saturating_mul(3));
                FamilyMap::new(rows, form, self.catalog.opener.cache())
            }
        };
        self.rows.insert(map?.begin_slot().ok()?).ok()
    }
}
