//! Entries of a table's directories that are not what their names say: symbolic links, directories in
//! place of files, and directories that are gone.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;

use hbase_files::{LocalTree, RootDirectory, Table, TableScan};
use sstable::{Cell, Limits};
use support::root_directory::{self, RootCopy};

const REGION: &str = "77a347dcd3a699aadaaa702b08393620";

fn scan() -> TableScan {
    root_directory::scan().raw(true)
}

fn cells(table: &Table) -> hbase_files::Result<Vec<Cell>> {
    table.scan(&scan())?.collect()
}

/// Returns the path of an HFile of the region.
fn hfile(copy: &RootCopy) -> PathBuf {
    let family = copy.path().join("data/default/t1").join(REGION).join("f1");
    let mut files: Vec<PathBuf> =
        fs::read_dir(family).expect("there").map(|item| item.expect("listed").path()).collect();
    files.retain(|path| path.extension().is_none());
    files.sort();
    files.swap_remove(0)
}

/// Checks that a problem in the family is found by a check, ends a scan, and is listed by one that
/// goes on.
fn check_is_found(copy: &RootCopy, all: &[Cell], what: &str) {
    let table = copy.table("t1");
    let damages = table.check().damages;
    assert_eq!(damages.len(), 1, "{damages:?}");
    assert!(damages[0].what.contains(what), "{damages:?}");
    assert_eq!(damages[0].region.as_ref().map(ToString::to_string).as_deref(), Some(REGION));
    assert_eq!(damages[0].family.as_deref(), Some(&b"f1"[..]));
    let rows = damages[0].rows.as_ref().expect("rows are lost");
    assert_eq!(rows.first.as_deref(), Some(&b"row-01500"[..]));
    assert_eq!(rows.last.as_deref(), Some(&b"row-02000"[..]));
    assert!(cells(&table).is_err(), "{what}");
    let mut scanned = table.scan(&scan().skip_damaged(true)).expect("it goes on");
    let left = scanned.by_ref().count();
    assert!(left < all.len(), "{what}");
    let missing = scanned.missing();
    assert_eq!(missing.len(), 1, "{missing:?}");
    assert!(missing[0].what.contains(what), "{missing:?}");
}

#[test]
fn a_store_file_that_is_no_file_is_damage() {
    let copy = RootCopy::new();
    let all = cells(&copy.table("t1")).expect("sound");
    let file = hfile(&copy);
    let away = copy.path().join("away");
    fs::rename(&file, &away).expect("renamed");
    symlink("/nonexistent", &file).expect("linked");
    check_is_found(&copy, &all, "the store file to which a symbolic link leads is missing");
    fs::remove_file(&file).expect("ours");
    fs::create_dir(&file).expect("ours");
    check_is_found(&copy, &all, "the store file is not a regular file");
    fs::remove_dir(&file).expect("ours");
    symlink(&away, &file).expect("linked");
    assert!(cells(&copy.table("t1")).expect("the link is followed") == all);
    assert_eq!(copy.table("t1").check().damages, []);
}

#[test]
fn linked_regions_and_families_are_read() {
    let copy = RootCopy::new();
    let all = cells(&copy.table("t1")).expect("sound");
    let region = copy.path().join("data/default/t1").join(REGION);
    for directory in [region.clone(), region.join("f1")] {
        let away = copy.path().join("away");
        fs::rename(&directory, &away).expect("renamed");
        symlink(&away, &directory).expect("linked");
        assert!(cells(&copy.table("t1")).expect("the link is followed") == all);
        fs::remove_file(&directory).expect("ours");
        symlink("/nonexistent", &directory).expect("linked");
        cells(&copy.table("t1")).expect_err("the link leads nowhere");
        fs::remove_file(&directory).expect("ours");
        fs::rename(&away, &directory).expect("renamed");
    }
}

#[test]
fn a_missing_directory_of_a_family_is_damage() {
    let copy = RootCopy::new();
    let all = cells(&copy.table("t1")).expect("sound");
    let region = copy.path().join("data/default/t1").join(REGION);
    fs::rename(region.join("f1"), copy.path().join("away")).expect("renamed");
    check_is_found(&copy, &all, "the directory of family f1, which HBase makes");
}

/// Returns the numbers of problems and warnings of table t1.
fn problems(copy: &RootCopy) -> (usize, usize) {
    let table = copy.table("t1");
    let is_failed = table.scan(&scan()).is_err();
    assert_eq!(is_failed, !table.problems.is_empty());
    (table.problems.len(), table.warnings.len())
}

#[test]
fn a_directory_of_a_family_that_hbase_may_not_have_made_is_a_warning() {
    let copy = RootCopy::new();
    let directory = copy.path().join("data/default/t1");
    let table = copy.table("t1");
    let regions: Vec<PathBuf> =
        table.regions.iter().map(|region| directory.join(region.name().as_str())).collect();
    // The parent of the split does not count.
    fs::remove_dir_all(directory.join("c65bc83cc9888373de3595d40b882f08/f1")).expect("ours");
    assert_eq!(problems(&copy), (0, 0));
    // A region that was never opened.
    fs::remove_dir_all(regions[0].join("recovered.edits")).expect("ours");
    for family in ["f1", "f2"] {
        fs::remove_dir_all(regions[0].join(family)).expect("ours");
    }
    assert_eq!(problems(&copy), (0, 2));
    // No region has the family, but the table was never altered.
    for region in &regions[1..] {
        fs::remove_dir_all(region.join("f2")).expect("ours");
    }
    assert_eq!(problems(&copy), (3, 2));
    // A family that was added.
    let schemas = directory.join(".tabledesc");
    fs::rename(
        schemas.join(".tableinfo.0000000001.659"),
        schemas.join(".tableinfo.0000000002.659"),
    )
    .expect("renamed");
    assert_eq!(problems(&copy), (0, 5));
}

#[test]
fn a_missing_region_loses_its_rows() {
    let copy = RootCopy::new();
    let region = copy.path().join("data/default/t1").join(REGION);
    fs::remove_dir_all(region).expect("ours");
    let table = copy.table("t1");
    let mut scanned = table.scan(&scan().skip_damaged(true)).expect("it goes on");
    assert!(scanned.by_ref().count() > 0);
    let missing = scanned.missing();
    let regions: Vec<&str> = missing.iter().map(|missing| &*missing.region).collect();
    assert_eq!(regions, [REGION, ""]);
    let damages = table.check().damages;
    let rows = missing.iter().map(|missing| &missing.rows);
    for rows in
        rows.chain(damages.iter().map(|damage| damage.rows.as_ref().expect("rows are lost")))
    {
        assert_eq!(rows.to_string(), "rows from row-01500 to row-02000");
    }
    assert_eq!(damages.len(), 2);
}

#[test]
fn recovered_edits_are_the_files_whose_names_are_numbers() {
    let copy = RootCopy::new();
    let region = copy.path().join("data/default/t1").join(REGION);
    let edits = region.join("recovered.edits");
    for name in ["0000000000000000031", "-7", "31.temp", "31.1795412744013", "32.seqid", "x", "-"] {
        fs::write(edits.join(name), "PWAL").expect("ours");
    }
    symlink("/nonexistent", edits.join("33")).expect("linked");
    let table = copy.table("t1");
    let region = table.regions.iter().find(|region| region.name().as_str() == REGION);
    let names = region.expect("there").recovered_edits.iter();
    let names: Vec<_> = names.map(|path| path.file_name().expect("a name")).collect();
    assert_eq!(names, ["-7", "0000000000000000031", "33"]);
}

/// Returns the error that ends a scan with logs.
fn scan_error(copy: &RootCopy) -> String {
    let root = copy.open();
    let scanned = root.table(&"t1".parse().expect("a name")).and_then(|table| {
        table.scan(&scan().with_logs(true))?.collect::<hbase_files::Result<Vec<_>>>()
    });
    cells::error_line(&scanned.expect_err("the link is not followed"))
}

#[test]
fn links_out_of_the_root_are_errors_that_name_them() {
    let copy = RootCopy::new();
    let outside = tempfile::tempdir().expect("a temporary directory");
    let away = fs::canonicalize(outside.path()).expect("ours").join("away");
    let table = copy.path().join("data/default/t1");
    let region = table.join(REGION);
    let root = fs::canonicalize(copy.path()).expect("there");
    for path in [
        hfile(&copy),
        region.join("recovered.edits"),
        region.join("f1"),
        region.clone(),
        table.join(".tabledesc"),
        table.clone(),
        copy.path().join("data/default"),
        copy.path().join("WALs"),
    ] {
        fs::rename(&path, &away).expect("renamed");
        symlink(&away, &path).expect("linked");
        let error = scan_error(&copy);
        let link = root.join(path.strip_prefix(copy.path()).expect("below"));
        let target = format!("leads to {}", away.display());
        assert!(error.contains(&format!("{}: ", link.display())), "{}: {error}", link.display());
        assert!(error.contains(&target), "{}: {error}", link.display());
        fs::remove_file(&path).expect("ours");
        fs::rename(&away, &path).expect("renamed");
    }
    // hbase:meta has the description of the region too.
    let description = region.join(".regioninfo");
    fs::rename(&description, &away).expect("renamed");
    symlink(&away, &description).expect("linked");
    let warnings = copy.table("t1").warnings;
    assert!(
        matches!(&warnings[..], [warning] if warning.what.contains("leads to")),
        "{warnings:?}"
    );
    fs::remove_file(&description).expect("ours");
    fs::rename(&away, &description).expect("renamed");
    // The root itself may be a link.
    let linked = outside.path().join("root");
    symlink(copy.path(), &linked).expect("linked");
    let opened = RootDirectory::open(Arc::new(LocalTree), &linked).expect("a root directory");
    assert!(
        !cells(&opened.table(&"t1".parse().expect("a name")).expect("sound"))
            .expect("sound")
            .is_empty()
    );
}

#[test]
fn a_scan_that_skips_damage_names_a_link_out_of_the_root() {
    let copy = RootCopy::new();
    let all = cells(&copy.table("t1")).expect("sound");
    let outside = tempfile::tempdir().expect("a temporary directory");
    let file = hfile(&copy);
    let away = outside.path().join("away");
    fs::copy(&file, &away).expect("copied");
    fs::remove_file(&file).expect("ours");
    symlink(&away, &file).expect("linked");
    let table = copy.table("t1");
    let mut scanned = table.scan(&scan().skip_damaged(true)).expect("it goes on");
    assert!(scanned.by_ref().count() < all.len());
    let missing = scanned.missing();
    assert!(matches!(&missing[..], [lost] if lost.what.contains("out of the root")), "{missing:?}");
    let mut damages = Vec::new();
    for file in table.check().files {
        file.run(&**table.tree(), Limits::default(), |_| {}, &mut damages).expect("checked");
    }
    let what: Vec<_> = damages.iter().map(|damage| &damage.what).collect();
    assert!(matches!(&what[..], [what] if what.contains("out of the root")), "{damages:?}");
}
