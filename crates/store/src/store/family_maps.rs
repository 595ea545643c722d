//! Builds the family maps of a store on request.

use super::{Store, StoreInner};

/// # Upkeep: family maps
impl Store {
    /// Builds the family maps that the store should have now, and returns when they are complete.
    ///
    /// A store that is open for writing does so itself, in the background. A store that is open for
    /// reading only builds its maps only here. Nothing is written: maps are in memory. With
    /// [`MapMode::Auto`](crate::MapMode::Auto), the number of files and the block cache decide as
    /// usual, but the files that were there when the store was opened are read at once, not only
    /// after many gets.
    ///
    /// A map that cannot be built is no error, since gets then ask the filters of the files:
    /// [`Stats::map_failures`](crate::Stats::map_failures) counts failures, and
    /// [`FamilyStats::map`](crate::FamilyStats::map) says what is covered.
    ///
    /// ```
    /// use store::{FamilyOptions, MapMode, Put, Store, StoreOptions};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path();
    /// let store = Store::open(directory, StoreOptions::default())?;
    /// store.create_family("f", FamilyOptions::default().family_map(MapMode::Files))?;
    /// store.put(Put::new("row1").column("f", "q", "value"))?;
    /// store.flush()?;
    ///
    /// let reader = Store::open_read_only(directory, StoreOptions::default())?;
    /// reader.build_family_maps();
    /// let map = reader.stats().family("f").and_then(|family| family.map).expect("built above");
    /// assert_eq!((map.covered_files, map.entries), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn build_family_maps(&self) {
        let StoreInner { catalog, maintenance, .. } = &*self.inner;
        // A fork builds none: a thread of the parent may hold a lock.
        if catalog.health().process().is_current() {
            maintenance.cover_files_now(catalog);
        }
    }
}
