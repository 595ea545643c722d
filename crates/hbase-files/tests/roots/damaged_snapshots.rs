//! Damaged snapshots: each damaged file is named with its rows. `damaged_tables.rs` damages their
//! descriptions.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cells::RowsBetween;
use hbase_files::verify::TableDamage;
use hbase_files::{Error, LocalTree, Result, Table, TableScan};
use sstable::Limits;
use support::root_directory::RootCopy;

use support::Random;

/// Returns what is wrong with a table, and with its HFiles whose path ends in `file`.
fn damages(table: &Table, file: &str) -> Vec<TableDamage> {
    let check = table.check();
    let mut damages = check.damages;
    for check in check.files.iter().filter(|check| check.path.ends_with(file)) {
        let mut found = Vec::new();
        check.run(&LocalTree, Limits::default(), |_| {}, &mut found).expect("readable");
        assert!(
            found.iter().all(|damage| damage.file.as_ref().is_some_and(|file| !file.is_empty()))
        );
        damages.extend(found);
    }
    damages
}

/// Returns the path of an HFile, which is in `data`, `mobdir` or the archive.
fn find(root: &Path, below_data: &str) -> PathBuf {
    let places = ["data", "mobdir/data", "archive/data"];
    let mut paths = places.iter().map(|data| root.join(data).join(below_data));
    paths.find(|path| path.exists()).expect("it is there")
}

#[test]
fn any_hfile_removed_shortened_or_flipped_is_named_with_its_rows() {
    let copy = RootCopy::new();
    let root = copy.open();
    let mut random = Random::new(7);
    for snapshot in ["s2", "s5", "s10"] {
        let table = root.snapshot(snapshot).expect("sound").table;
        let paths: BTreeSet<String> =
            table.check().files.into_iter().map(|file| file.path).collect();
        assert!(paths.len() > 10);
        for path in paths {
            let file = find(&copy.path(), &path);
            let sound = fs::read(&file).expect("there");
            assert_eq!(damages(&table, &path), []);
            let check = |what: &str| {
                let damages = damages(&table, &path);
                let name = path.rsplit_once('/').expect("a path").1;
                let is_named = |damage: &TableDamage| {
                    damage.file.as_ref().is_some_and(|file| file.contains(name))
                        && damage.region.is_some()
                        && damage.family.is_some()
                        && is_in_region(&table, damage)
                };
                assert!(!damages.is_empty(), "{snapshot} {path} {what}");
                assert!(damages.iter().all(is_named), "{path} {what}: {damages:?}");
            };
            fs::remove_file(&file).expect("ours");
            check("removed");
            for len in [0, random.below(sound.len()), sound.len() - 1] {
                fs::write(&file, &sound[..len]).expect("ours");
                check("shortened");
            }
            for _ in 0..3 {
                let mut flipped = sound.clone();
                let at = random.below(flipped.len());
                flipped[at] ^= 1 << random.below(8);
                fs::write(&file, &flipped).expect("ours");
                check(&format!("flipped at {at}"));
            }
            fs::write(&file, &sound).expect("ours");
        }
    }
}

/// Whether the lost rows are rows of the region, or of the whole table for a MOB file.
fn is_in_region(table: &Table, damage: &TableDamage) -> bool {
    let Some(region) =
        table.regions.iter().find(|region| damage.region.as_ref() == Some(region.name()))
    else {
        return table.mob.is_some();
    };
    // Damage to what no read needs costs no rows.
    let Some(RowsBetween { first, last }) = &damage.rows else { return true };
    let (start, end) = (&region.info.start_key, &region.info.end_key);
    let is_before_end = |row: &Vec<u8>| end.is_empty() || row <= end;
    (first.as_ref().is_some_and(|row| row >= start) || start.is_empty())
        && (last.as_ref().is_some_and(is_before_end) || end.is_empty())
}

#[test]
fn a_snapshot_without_its_own_files_is_an_error_that_names_them() {
    let copy = RootCopy::new();
    let root = copy.open();
    for (file, named) in
        [("s1/.snapshotinfo", ".snapshotinfo"), ("s2/data.manifest", "data.manifest")]
    {
        fs::remove_file(copy.path().join(".hbase-snapshot").join(file)).expect("ours");
        let error = root.snapshot(&file[..2]).expect_err("a part is missing");
        assert!(error.to_string().contains(named), "{error}");
    }
    fs::write(copy.path().join(".hbase-snapshot/s3/data.manifest"), vec![0; 10]).expect("ours");
    let error = root.snapshot("s3").expect_err("damaged");
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
}

#[test]
fn a_manifest_with_the_length_zero_of_an_hfile_does_not_fit_it() {
    let copy = RootCopy::new();
    let manifest = copy.path().join(".hbase-snapshot/s6/data.manifest");
    let mut bytes = fs::read(&manifest).expect("there");
    // The length 8336 as a variable-length integer, and 0 with as many bytes.
    let len = bytes.windows(3).position(|field| field == [0x18, 0x90, 0x41]).expect("a file");
    bytes[len + 1..len + 3].copy_from_slice(&[0x80, 0]);
    fs::write(&manifest, bytes).expect("ours");
    let table = copy.open().snapshot("s6").expect("readable").table;
    let damages = damages(&table, "");
    let whats: Vec<&str> = damages.iter().map(|damage| &*damage.what).collect();
    assert_eq!(whats, ["has 8,336 bytes; 0 are recorded"]);
    let scan = TableScan::default();
    let cells = table.scan(&scan).and_then(Iterator::collect::<Result<Vec<_>>>);
    let error = cells.expect_err("the length is wrong").to_string();
    assert!(error.contains("has 8,336 bytes; 0 are recorded"), "{error}");
}

#[test]
fn a_description_of_a_snapshot_without_the_time_is_no_description() {
    let copy = RootCopy::new();
    let path = copy.path().join(".hbase-snapshot/s9/.snapshotinfo");
    let bytes = fs::read(&path).expect("there");
    // The name and the table, which HBase writes first, are a message too.
    let cut = 4 + usize::from(bytes[1]) + usize::from(bytes[3 + usize::from(bytes[1])]);
    fs::write(&path, &bytes[..cut]).expect("ours");
    let error = copy.open().snapshot("s9").expect_err("it is cut off");
    assert!(error.to_string().contains("it has no creation time"), "{error}");
}

#[test]
fn sound_tables_and_snapshots_leave_nothing_in_doubt() {
    let copy = RootCopy::new();
    let root = copy.open();
    for name in root.tables().expect("readable") {
        let table = root.table(&name).expect("sound");
        assert_eq!((table.warnings, table.problems.len()), (Vec::new(), 0), "{name}");
    }
    for name in root.snapshot_names().expect("readable") {
        let table = root.snapshot(&name).expect("sound").table;
        assert_eq!((table.warnings, table.problems.len()), (Vec::new(), 0), "{name}");
    }
}
