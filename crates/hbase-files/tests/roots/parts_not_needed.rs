//! Trouble in a part that a read does not need does not fail the read: directories without files, and damage of other
//! families and rows.

use std::fs;
use std::path::Path;

use hbase_files::{RootDirectory, Table, TableScan};
use sstable::ndjson;
use support::root_directory::RootCopy;

/// Returns the cells of a table as lines of JSON, or the error.
fn scan(table: &Table, scan: &TableScan) -> Result<String, String> {
    let mut lines = Vec::new();
    let mut cells = table.scan(scan).map_err(|error| error.to_string())?;
    while let Some(cell) = cells.next_ref().map_err(|error| error.to_string())? {
        ndjson::write_cell(&mut lines, &cell).expect("memory takes it");
    }
    Ok(String::from_utf8(lines).expect("JSON"))
}

fn raw() -> TableScan {
    TableScan::default().raw(true).with_logs(true)
}

/// Returns the name and the cells of each table and snapshot.
fn all(root: &RootDirectory) -> Vec<(String, Result<String, String>)> {
    let tables = root.tables().expect("readable").into_iter().map(|name| {
        let table = root.table(&name).expect("described");
        (name.to_string(), scan(&table, &raw()))
    });
    let snapshots = root.snapshot_names().expect("readable").into_iter().map(|name| {
        let table = root.snapshot(&name).expect("described").table;
        let cells = scan(&table, &raw().with_logs(false));
        (name, cells)
    });
    tables.chain(snapshots).collect()
}

/// Removes the empty directories below a directory, and those that become empty.
fn remove_empty_directories(directory: &Path) -> u32 {
    let mut removed = 0;
    for entry in fs::read_dir(directory).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            removed += remove_empty_directories(&path);
            removed += u32::from(fs::remove_dir(&path).is_ok());
        }
    }
    removed
}

/// Object stores, and copies by way of them, have no empty directories.
#[test]
fn a_copy_without_empty_directories_has_the_same_cells() {
    const SAID: &str = "has no empty directories";
    for copy in [RootCopy::walt(), RootCopy::new()] {
        let before = all(&copy.open());
        assert!(before.iter().any(|(_, cells)| cells.is_ok()));
        assert!(remove_empty_directories(&copy.path()) > 0);
        let root = copy.open();
        for ((name, before), (_, after)) in before.iter().zip(all(&root)) {
            assert!(*before == after, "{name}: {after:?}");
        }
        for name in root.tables().expect("readable") {
            let warnings = root.table(&name).expect("described").warnings;
            let said = warnings.iter().filter(|warning| warning.what.contains(SAID));
            assert!(said.count() <= 1, "{name}: {warnings:?}");
        }
    }
    let copy = RootCopy::walt();
    remove_empty_directories(&copy.path());
    let warnings = copy.table("walt").warnings;
    assert!(warnings.iter().any(|warning| warning.what.contains(SAID)), "{warnings:?}");
}

#[test]
fn damage_of_another_family_or_of_other_rows_does_not_fail_a_scan() {
    let copy = RootCopy::new();
    let table = copy.table("t1");
    let families: Vec<Vec<u8>> =
        table.schema.families.iter().map(|family| family.name.clone()).collect();
    let of_families = families.iter().map(|family| raw().family(family.clone()));
    let before: Vec<_> = of_families.map(|wanted| scan(&table, &wanted)).collect();
    for (damaged, region) in
        families.iter().flat_map(|family| table.regions.iter().map(move |region| (family, region)))
    {
        let family = String::from_utf8_lossy(damaged).into_owned();
        let directory = table.path.join(region.name().as_str()).join(&family);
        let kept = copy.path().join("kept");
        fs::rename(&directory, &kept).expect("renamed");
        fs::write(&directory, "a file").expect("written");
        let now = copy.table("t1");
        for (family, before) in families.iter().zip(&before) {
            let after = scan(&now, &raw().family(family.clone()));
            assert_eq!(after.is_err(), family == damaged, "{after:?}");
            assert!(family == damaged || after == *before);
        }
        let (start, end) = (&region.info.start_key, &region.info.end_key);
        if !start.is_empty() {
            let rows = raw().stop(start.clone());
            assert_eq!(scan(&now, &rows), scan(&table, &rows));
            assert!(scan(&now, &raw().row(start.clone())).is_err());
        }
        if !end.is_empty() {
            let rows = raw().start(end.clone());
            assert_eq!(scan(&now, &rows), scan(&table, &rows));
            assert!(scan(&now, &raw().stop(end.clone())).is_err());
        }
        fs::remove_file(&directory).expect("removed");
        fs::rename(&kept, &directory).expect("renamed");
    }
}

/// HBase splits the logs of a dead server also for tables that were dropped in the meantime.
#[test]
fn recovered_edits_of_a_dropped_table_are_no_table() {
    let copy = RootCopy::walt();
    let names = copy.open().tables().expect("readable");
    let gone = copy.path().join("data/default/gone/0123456789abcdef0123456789abcdef");
    fs::create_dir_all(gone.join("recovered.edits")).expect("made");
    fs::write(gone.join("recovered.edits/0000000000000000007"), "a log").expect("written");
    assert_eq!(copy.open().tables().expect("readable"), names);
    fs::create_dir(gone.join("f")).expect("made");
    assert_eq!(copy.open().tables().expect("readable").len(), names.len() + 1);
}
