use std::path::Path;
use std::sync::Arc;

use super::build::publish;
use super::next_step::{MapStep, OldFilesRead};
use crate::family_map::coverage::Coverage;
use crate::family_map::mode::MapMode;
use crate::options::{FamilyOptions, StoreOptions};
use crate::store::{Store, StoreInner};
use crate::write::mutation::Put;

/// Opens a store with two files; the family map covers the older one.
fn with_an_uncovered_file(directory: &Path) -> StoreInner {
    let options = StoreOptions::default().background(false).auto_compaction(false);
    let store = Store::open(directory, options.clone()).unwrap();
    store.create_family("f", FamilyOptions::default().family_map(MapMode::Files)).unwrap();
    for row in ["row1", "row2"] {
        store.put(Put::new(row).column("f", "q", "value")).unwrap();
        store.flush().unwrap();
    }
    drop(store);
    let inner = StoreInner::open(directory, options).unwrap();
    inner.maintenance.cover_files(&inner.catalog);
    let version = inner.catalog.version();
    let (family, files) = (&version.families[0].family, &version.families[0].files);
    let coverage = files.coverage().unwrap();
    let older = [(Arc::clone(&files.by_time()[1].file), coverage.slots(1))];
    publish(&inner.catalog, family, |files| files.with_map(coverage.map(), &older));
    inner
}

fn covered_files(inner: &StoreInner) -> u32 {
    inner.catalog.version().families[0].files.coverage().map_or(0, Coverage::covered_files)
}

/// Flushes take the free slots between the choice of the step and the step.
#[test]
fn a_file_that_lost_the_race_for_the_last_slot_is_covered_by_the_next_step() {
    let directory = tempfile::tempdir().unwrap();
    let inner = with_an_uncovered_file(directory.path());
    let (catalog, maintenance) = (&*inner.catalog, &*inner.maintenance);
    assert_eq!(covered_files(&inner), 1);
    let version = catalog.version();
    let (family, files) = (&version.families[0].family, &version.families[0].files);
    let Some(MapStep::Cover(file)) =
        maintenance.next_step(catalog, family, files, OldFilesRead::Worthwhile)
    else {
        panic!("the map has room for the file")
    };
    let map = files.coverage().unwrap().map();
    while map.begin_slot().is_ok() {}
    maintenance.cover_file(catalog, family, files, &file);
    assert_eq!(covered_files(&inner), 1);
    let next = maintenance.next_step(catalog, family, files, OldFilesRead::Worthwhile);
    assert!(matches!(next, Some(MapStep::Sweep)), "the map has dead slots");
    maintenance.cover_files(catalog);
    assert_eq!((covered_files(&inner), maintenance.counts().map_failures), (2, 0));
}
