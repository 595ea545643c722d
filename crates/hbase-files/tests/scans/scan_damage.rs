//! Scans of damaged directories: a clear error, or the cells of what is left and a list of the rest.

use std::fs;
use std::path::PathBuf;

use hbase_files::{LocalTree, MissingCells, StoreFile, Table, TableScan};
use sstable::{Cell, Timestamp};
use support::root_directory::RootCopy;

fn scan() -> TableScan {
    TableScan::default().now(Timestamp::new(1_795_412_744_014)).raw(true)
}

/// Returns the cells before the first error, and the error.
fn until_error(table: &Table, scan: &TableScan) -> (Vec<Cell>, Option<String>) {
    let mut cells = Vec::new();
    let scanned = match table.scan(scan) {
        Ok(scanned) => scanned,
        Err(error) => return (cells, Some(error.to_string())),
    };
    for cell in scanned {
        match cell {
            Ok(cell) => cells.push(cell),
            Err(error) => return (cells, Some(error.to_string())),
        }
    }
    (cells, None)
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
fn a_shortened_file_is_named() {
    let copy = RootCopy::new();
    let table = copy.snapshot("s1");
    let (all, _) = until_error(&table, &scan());
    for file in table.regions.iter().flat_map(hbase_files::Region::files).take(6) {
        let path = path(file);
        let bytes = fs::read(&path).expect("readable");
        for len in [0, 1, bytes.len() / 2, bytes.len() - 1] {
            fs::write(&path, &bytes[..len]).expect("disk takes it");
            let (_, error) = until_error(&table, &scan());
            assert!(error.expect("damaged").contains(&*path.to_string_lossy()), "{len} bytes");
            check_left(&all, &table, &format!("{} bytes of {}", len, path.display()));
        }
        fs::write(&path, bytes).expect("disk takes it");
    }
}

#[test]
fn a_damaged_block_loses_only_the_rows_that_are_named() {
    let copy = RootCopy::new();
    let table = copy.snapshot("s2");
    let (all, _) = until_error(&table, &scan());
    let mut narrow = 0;
    for file in table.regions.iter().flat_map(hbase_files::Region::files).step_by(5) {
        let path = path(file);
        let bytes = fs::read(&path).expect("readable");
        // In data blocks, which come first, and in other blocks.
        for at in (40..bytes.len()).step_by(bytes.len() / 7) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            fs::write(&path, damaged).expect("disk takes it");
            let (before, error) = until_error(&table, &scan());
            let Some(error) = error else {
                // A filter, or a half of the file that no region of the snapshot has.
                assert!(before == all, "byte {at} of {}", path.display());
                continue;
            };
            assert!(error.contains(&*path.to_string_lossy()), "{error}");
            assert!(all.starts_with(&before), "byte {at} of {}", path.display());
            check_left(&all, &table, &format!("byte {at} of {}", path.display()));
            let (_, missing) = left(&table, 1);
            let is_narrow = |missing: &MissingCells| {
                missing.rows.first.is_some() && missing.rows.last.is_some()
            };
            narrow += usize::from(missing.iter().all(is_narrow));
        }
        fs::write(&path, bytes).expect("disk takes it");
    }
    assert!(narrow > 0, "no damage was between two rows");
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

#[test]
fn a_damaged_log_is_named() {
    let copy = RootCopy::new();
    let table = copy.table("t1");
    let (all, _) = until_error(&table, &scan().with_logs(true));
    let log = table.logs.iter().max_by_key(|log| fs::metadata(log).expect("there").len());
    let log = log.expect("a log");
    let mut bytes = fs::read(log).expect("readable");
    bytes[100..120].fill(0xff);
    fs::write(log, bytes).expect("disk takes it");
    let (_, error) = until_error(&table, &scan().with_logs(true));
    assert!(error.expect("damaged").contains(&*log.to_string_lossy()));
    let scan = scan().with_logs(true).skip_damaged(true);
    let mut scanned = table.scan(&scan).expect("it goes on");
    let cells = scanned.by_ref().count();
    assert!(cells <= all.len());
    let missing = scanned.missing();
    assert_eq!(missing.len(), 1);
    let what = "bytes from offset 85 on are left out; the next sound entries follow";
    assert!(missing[0].what.contains(what), "{missing:?}");
}
