//! The families of a store: create, alter, drop, list, map in memory.

use super::handle::Store;
use super::inner::StoreInner;
use super::key_value_map::KeyValueMap;
use crate::error::Result;
use crate::options::FamilyOptions;
use crate::stats::FamilyStats;

/// # Upkeep: families
impl Store {
    /// Adds a family.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) if the family exists, the name is invalid, or no
    /// file can be written with the options ([`FamilyOptions::check`]); if the manifest cannot be
    /// written.
    pub fn create_family(&self, name: &str, options: FamilyOptions) -> Result<()> {
        self.inner.catalog.create_family(name, options)
    }

    /// Adds a key-value family with the default options, and returns it as a sorted map.
    ///
    /// For other options, create the family with [`create_family`](Self::create_family) and
    /// [`FamilyOptions::key_value`]; [`map`](Self::map) returns its map.
    ///
    /// # Errors
    ///
    /// As for [`create_family`](Self::create_family).
    pub fn create_map(&self, family: &str) -> Result<KeyValueMap> {
        self.create_family(family, FamilyOptions::default().key_value(true))?;
        self.map(family)
    }

    /// Replaces the options of a family.
    ///
    /// The new options are on disk when this returns. Reads follow them from then on; snapshots and
    /// scans that began before keep the old ones. Files get them when they are written: by the next
    /// flush or compaction, while one that runs already ends with the old options. What the old
    /// options have dropped from files stays dropped; what new options would drop stays until a
    /// compaction, and is shown again if the options are changed back before.
    ///
    /// ```
    /// use store::{FamilyOptions, Store, StoreOptions};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path();
    /// let store = Store::open(directory, StoreOptions::default())?;
    /// store.create_family("f", FamilyOptions::default())?;
    /// let options = store.family("f").expect("created above");
    /// store.alter_family("f", options.versions(3))?;
    /// assert_eq!(store.family("f").map(|options| options.retention().versions), Some(3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) if the family does not exist, if no file can be written with
    /// the options ([`FamilyOptions::check`]), or if it is to hold keys and has cells whose timestamps are
    /// no sequence ids; nothing changes then. If the manifest cannot be
    /// written, the store stops; the next open finds the old or the new options.
    pub fn alter_family(&self, name: &str, options: FamilyOptions) -> Result<()> {
        let StoreInner { catalog, log, maintenance, .. } = &*self.inner;
        catalog.health().check_writable()?;
        // A write follows one set of options.
        let no_write = log.writer();
        catalog.alter_family(name, options)?;
        drop(no_write);
        maintenance.family_altered(catalog, log)?;
        maintenance.files_changed(catalog);
        Ok(())
    }

    /// Drops a family with its cells, and returns its sizes and counters until then.
    ///
    /// The drop is on disk when this returns; a crash before leaves the whole family or none of it.
    /// No cell returns if a family of the same name is created later. Snapshots and scans that
    /// began before go on reading the family; its files are removed when the last of them ends, or
    /// by the next open.
    ///
    /// A compaction of the family is cancelled; that of another is not waited for. The memstores of
    /// the other families are flushed, and writers wait until that is done. A
    /// write to the family that runs at the same time is either done before the drop, or refused
    /// as a whole.
    ///
    /// ```
    /// use store::{FamilyOptions, Put, Store, StoreOptions};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path();
    /// let store = Store::open(directory, StoreOptions::default())?;
    /// store.create_family("f", FamilyOptions::default())?;
    /// store.put(Put::new("row1").column("f", "name", "Ada"))?;
    /// let dropped = store.drop_family("f")?;
    /// assert_eq!((dropped.files, dropped.memstore_cells), (0, 1));
    /// assert!(store.families().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) if the family does not exist.
    /// [`Error::FlushFailed`](crate::Error::FlushFailed) if another family cannot be flushed; nothing
    /// changes then. If a file cannot be written, the store stops; the next open finds the family, or
    /// all of it is gone.
    pub fn drop_family(&self, name: &str) -> Result<FamilyStats> {
        let StoreInner { catalog, log, maintenance, .. } = &*self.inner;
        maintenance.drop_family(catalog, log, name)
    }

    /// Removes all cells of a family; its options stay.
    ///
    /// The family is empty on disk when this returns; a crash before leaves all of its cells or none.
    /// It takes no time per cell: the files are removed as they are, and the other families are not
    /// flushed. Snapshots and scans that began before go on reading the cells; the files are removed
    /// when the last of them ends, or by the next open. A compaction of the family is cancelled.
    ///
    /// ```
    /// use store::{FamilyOptions, Get, Put, Store, StoreOptions};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path();
    /// let store = Store::open(directory, StoreOptions::default())?;
    /// store.create_family("f", FamilyOptions::default())?;
    /// store.put(Put::new("row1").column("f", "name", "Ada"))?;
    /// store.clear_family("f")?;
    /// assert!(store.get(&Get::row("row1"))?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) if the family does not exist. Without space for the
    /// manifest, nothing changes. If the log or the manifest cannot be written for another reason, the
    /// store stops; the next open finds all cells of the family or none.
    pub fn clear_family(&self, name: &str) -> Result<()> {
        let StoreInner { catalog, log, maintenance, .. } = &*self.inner;
        maintenance.clear_family(catalog, log, name)
    }

    /// Returns the options of a family, or `None` if the store has no family of this name.
    ///
    /// # Panics
    ///
    /// In a fork of the process that opened the store.
    pub fn family(&self, name: &str) -> Option<FamilyOptions> {
        self.inner.assert_is_no_fork();
        let version = self.inner.catalog.version();
        version.family(name.as_bytes()).map(|version| version.family.options.clone())
    }

    /// Returns the families with their options, sorted by name.
    ///
    /// # Panics
    ///
    /// In a fork of the process that opened the store.
    pub fn families(&self) -> Vec<(String, FamilyOptions)> {
        self.inner.assert_is_no_fork();
        let version = self.inner.catalog.version();
        version
            .families
            .iter()
            .map(|version| (version.family.name.clone(), version.family.options.clone()))
            .collect()
    }

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
