//! Scans of damaged directories: a clear error, or the cells of what is left and a list of the rest.

use std::fs;
use std::path::PathBuf;

use hbase_files::{Error, LocalTree, MissingCells, StoreFile, StoreFileName, Table, TableScan};
use sstable::Cell;
use support::root_directory::{self, RootCopy, until_error};

fn scan() -> TableScan {
    root_directory::scan().raw(true)
}

/// Returns the cells of what is left, and what is missing.
fn left(table: &Table, threads: usize) -> (Vec<Cell>, Vec<MissingCells>) {
    let mut scanned =
        table.scan(&scan().skip_damaged(true).threads(threads).part_len(4096)).expect("it goes on");
    let cells = scanned.by_ref().collect::<Result<_, _>>().expect("it goes on");
    (cells, scanned.missing())
}

fn path(file: &StoreFile) -> PathBuf {
    file.locate(&LocalTree).expect("it is there").path
}

/// Returns whether a row is in the rows that may have lost cells.
fn is_in(missing: &[MissingCells], row: &[u8]) -> bool {
    missing.iter().any(|MissingCells { rows, .. }| {
        rows.first.as_deref().is_none_or(|first| first <= row)
            && rows.last.as_deref().is_none_or(|last| row <= last)
    })
}

/// Checks that what is left is the same but for the rows that are named.
fn check_left(all: &[Cell], table: &Table, what: &str) {
    let (one, missing) = left(table, 1);
    assert!(!missing.is_empty(), "{what}: nothing is named");
    let not_named = |cells: &[Cell]| -> Vec<Cell> {
        cells.iter().filter(|cell| !is_in(&missing, cell.row())).cloned().collect()
    };
    assert!(not_named(all) == not_named(&one), "{what}: {missing:?}");
    let (several, also_missing) = left(table, 3);
    assert!(one == several, "{what}");
    assert_eq!(missing.len(), also_missing.len(), "{what}");
}

#[test]
fn each_missing_file_is_named_with_the_rows_of_its_region() {
    let copy = RootCopy::new();
    for name in ["s6", "s9", "s11"] {
        let table = copy.snapshot(name);
        let (all, error) = until_error(&table, &scan());
        assert_eq!(error, None);
        let files: Vec<_> = table.regions.iter().flat_map(hbase_files::Region::files).collect();
        for file in files {
            let path = path(file);
            let away = path.with_extension("away");
            fs::rename(&path, &away).expect("renamed");
            let name = path.file_name().and_then(|name| name.to_str()).expect("UTF-8");
            let (_, error) = until_error(&table, &scan());
            assert!(error.expect("it is missing").contains(name));
            check_left(&all, &table, name);
            fs::rename(&away, &path).expect("renamed");
        }
    }
}

#[test]
fn a_missing_mob_file_loses_the_values_that_are_named() {
    let copy = RootCopy::new();
    let table = copy.snapshot("s5");
    let (all, error) = until_error(&table, &scan());
    assert_eq!(error, None);
    let mob = table.mob.as_ref().expect("a MOB region");
    let path = path(mob.files().next().expect("a MOB file"));
    fs::remove_file(&path).expect("removed");
    let name = path.file_name().and_then(|name| name.to_str()).expect("UTF-8").to_owned();
    let (_, error) = until_error(&table, &scan());
    assert!(error.expect("missing").contains(&name));
    check_left(&all, &table, &name);
    let references = scan().mob(hbase_files::MobValues::Reference);
    let (cells, error) = until_error(&table, &references);
    assert_eq!((cells.len(), error), (all.len(), None));
}

/// After a restore, the archive may still have the file. HBase looks for a tracked file in its family alone.
#[test]
fn a_tracked_file_that_only_the_archive_has_is_missing() {
    let copy = RootCopy::new();
    let table = copy.table("t5");
    let files = || {
        table.regions.iter().flat_map(|region| &region.families).flat_map(|family| &family.files)
    };
    let file = files().find(|file| matches!(file.name, StoreFileName::HFile(_))).expect("a file");
    let there = file.locate(&LocalTree).expect("there").path;
    let archived = copy.path().join("archive/data/default/t5").join(file.short_path());
    fs::create_dir_all(archived.parent().expect("a directory")).expect("disk takes it");
    fs::rename(&there, &archived).expect("disk takes it");
    let error = file.locate(&LocalTree).expect_err("not in the directory of the table");
    assert!(matches!(&error, Error::Missing { searched, .. } if *searched == [there]), "{error}");
    assert!(error.to_string().contains("which the store file tracker lists"), "{error}");
    let error = table.scan(&TableScan::default()).expect("sound").find_map(Result::err);
    assert!(matches!(error, Some(Error::Missing { .. })), "{error:?}");
}
