//! Trouble in a part that a read does not need does not fail the read: directories without files, and damage of other
//! families and rows.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cells::ndjson;
use hbase_files::{FormerTable, RootDirectory, Table, TableScan};
use support::root_directory::RootCopy;

use crate::refusing::Refusing;

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

/// The directory may have been made by hand, for a read with logs.
#[test]
fn an_empty_directory_of_logs_does_not_say_that_a_copy_keeps_empty_directories() {
    let copy = RootCopy::new();
    let of_tables = |root: &RootDirectory| {
        let names = root.tables().expect("readable").into_iter();
        let names = names.filter(|name| name.to_string() != "hbase:meta");
        let scan_all = |name| {
            let table = root.table(&name).expect("described");
            (name.to_string(), scan(&table, &raw().with_logs(false)))
        };
        names.map(scan_all).collect::<Vec<_>>()
    };
    fs::remove_dir_all(copy.path().join("WALs")).expect("ours");
    let before = of_tables(&copy.open());
    assert!(before.iter().all(|(_, cells)| cells.is_ok()), "{before:?}");
    assert!(remove_empty_directories(&copy.path()) > 0);
    let family = copy.path().join("data/default/t1/40ab6300693e3f01d37da6c46414d9c8/f2");
    let files = family.with_file_name("f1");
    fs::create_dir(copy.path().join("WALs")).expect("ours");
    assert!(of_tables(&copy.open()) == before);
    fs::remove_dir_all(&family).expect("ours");
    assert_eq!(copy.table("t1").problems.len(), 0, "it would be empty");
    fs::create_dir(files.with_file_name(".tmp")).expect("ours");
    assert_eq!(copy.table("t1").problems.len(), 1, "the copy keeps empty directories");
}

/// Opens a table of a tree that refuses to list a directory.
fn refused(copy: &RootCopy, name: &str, directory: impl Into<PathBuf>) -> Table {
    let root = RootDirectory::open(Arc::new(Refusing(directory.into())), &copy.path());
    root.and_then(|root| root.table(&name.parse().expect("a name"))).expect("described")
}

/// Checks that a scan without logs has all cells, though its table does not know which logs there are. A scan with logs
/// fails.
fn check_without_logs(copy: &RootCopy, name: &str, directory: &str) {
    let without = raw().with_logs(false);
    let expected = scan(&copy.table(name), &without).expect("sound");
    let table = refused(copy, name, directory);
    assert_eq!(scan(&table, &without), Ok(expected), "{name} {directory}");
    let said = |what: &str| table.warnings.iter().any(|warning| warning.what.contains(what));
    assert!(said("it may have cells that are in no store file"), "{:?}", table.warnings);
    scan(&table, &raw()).expect_err("it lacks a log");
    scan(&table, &raw().skip_damaged(true)).expect_err("it is not known to be damaged");
    let check = table.check();
    assert!(check.damages.is_empty() && !check.unread.is_empty(), "{:?}", check.damages);
}

#[test]
fn logs_that_cannot_be_listed_fail_only_scans_with_logs() {
    let (walt, copy) = (RootCopy::walt(), RootCopy::new());
    check_without_logs(&walt, "walt", "WALs");
    check_without_logs(&walt, "walt", "localhost,41253,1795621469921");
    for name in ["t1", "t6", "t7"] {
        check_without_logs(&copy, name, "WALs");
    }
    check_without_logs(&copy, "t1", "40ab6300693e3f01d37da6c46414d9c8/recovered.edits");
    let recovered = RootCopy::recovered_hfiles();
    check_without_logs(&recovered, "walt", "f/recovered.hfiles");
    // A scan with logs needs only logs of its rows.
    let table = refused(&copy, "t1", "40ab6300693e3f01d37da6c46414d9c8/recovered.edits");
    let other = table.regions.iter().find(|region| !region.name().as_str().starts_with("40ab"));
    let rows = raw().row(&other.expect("several regions").info.start_key);
    assert_eq!(scan(&table, &rows), scan(&copy.table("t1"), &rows));
}

/// Without markers of compactions, a scan would return the cells of replaced files as well.
#[test]
fn logs_that_cannot_be_listed_fail_scans_of_files_that_do_not_say_what_they_replaced() {
    let copy = RootCopy::merged_2_1();
    scan(&copy.table("m"), &raw().with_logs(false)).expect("sound");
    let table = refused(&copy, "m", "WALs");
    scan(&table, &raw().with_logs(false)).expect_err("a log may name replaced files");
    let splits = table.splits(&raw().with_logs(false), None).expect("found").splits;
    let read = splits.iter().try_for_each(|split| {
        let sent = split.to_bytes().expect("UTF-8");
        let sent = hbase_files::ScanSplit::from_bytes(&sent, Arc::new(hbase_files::LocalTree));
        let mut cells = sent.expect("just written").cells()?;
        while cells.next_ref()?.is_some() {}
        Ok::<_, hbase_files::Error>(())
    });
    read.expect_err("a log may name replaced files");
}

#[test]
fn a_family_that_the_schema_lacks_is_told_of_and_left_out() {
    let copy = RootCopy::new();
    let before = scan(&copy.table("t1"), &raw()).expect("sound");
    let region = copy.path().join("data/default/t1/40ab6300693e3f01d37da6c46414d9c8");
    fs::create_dir(region.join("zz")).expect("ours");
    fs::copy(
        region.join("f1/3ff3925dca6149e1907a944a0461591c"),
        region.join("zz/3ff3925dca6149e1907a944a0461591c"),
    )
    .expect("ours");
    for table in [copy.table("t1"), refused(&copy, "t1", "40ab6300693e3f01d37da6c46414d9c8/zz")] {
        assert_eq!(scan(&table, &raw()).as_ref(), Ok(&before));
        let warnings = table.warnings.iter().filter(|warning| warning.path.ends_with("zz"));
        assert_eq!(warnings.count(), 1, "{:?}", table.warnings);
        assert_eq!(table.check().damages, []);
    }
}

#[test]
fn mob_files_and_split_parents_that_cannot_be_listed_do_not_fail_a_scan() {
    let copy = RootCopy::new();
    let before = scan(&copy.table("t3"), &raw()).expect("sound");
    let table = refused(&copy, "t3", "2dcf4f6cf40c0e2a9160d893ff1d9f63/m");
    assert_eq!(scan(&table, &raw()), Ok(before), "its cells name the files");
    assert_eq!(table.check().unread.len(), 1);
    let before = scan(&copy.table("t1"), &raw()).expect("sound");
    let parent = copy.path().join("data/default/t1/c65bc83cc9888373de3595d40b882f08");
    let without_meta = raw().with_logs(false);
    let by_ranges = scan(&copy.table("t1"), &without_meta).expect("sound");
    fs::write(parent.join("f1/copying"), "of an operator").expect("ours");
    for part in ["", "/f1", "/.regioninfo"] {
        let refusing = format!("c65bc83cc9888373de3595d40b882f08{part}");
        let table = refused(&copy, "t1", refusing);
        assert_eq!(scan(&table, &raw()).as_ref(), Ok(&before), "{part}");
        assert_eq!(table.check().damages, [], "{part}");
    }
    fs::remove_dir_all(copy.path().join("data/hbase/meta")).expect("ours");
    assert_eq!(scan(&copy.table("t1"), &without_meta), Ok(by_ranges));
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
    let error = copy.open().table(&"gone".parse().expect("a name")).expect_err("gone");
    assert!(error.to_string().contains("only recovered edits are left"), "{error}");
    let former = copy.open().former_tables().expect("readable");
    let [table] = &former[..] else { panic!("{former:?}") };
    assert_eq!((table.place, table.files, table.bytes), (FormerTable::RECOVERED_EDITS, 1, 5));
    fs::create_dir(gone.join("f")).expect("made");
    assert_eq!(copy.open().tables().expect("readable").len(), names.len() + 1);
}
