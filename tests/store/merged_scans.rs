//! Scans of a store of this project with the parameters of a table's.

use std::fs;
use std::path::Path;

use hbase_files::TableScan;
use store::{FamilyOptions, MergedScans, Put, Scan, Store, StoreOptions};

const ROWS: usize = 500;

/// Makes a store with the same rows in two families, in files of many blocks.
fn make(directory: &Path) {
    let store = Store::open(directory, StoreOptions::default()).expect("new");
    for family in ["f", "g"] {
        store.create_family(family, FamilyOptions::default().block_size(512)).expect("new");
    }
    for row in 0..ROWS {
        let put = Put::new(format!("row{row:03}")).column("g", "q", "value");
        store.put(put.column("f", "q", "value")).expect("sound");
    }
    store.flush().expect("the disk has room");
}

fn open(directory: &Path, scan: &TableScan) -> MergedScans {
    let store = Store::open(directory, StoreOptions::default()).expect("sound");
    let scans = ["f", "g"]
        .into_iter()
        .filter_map(|family| Some(Scan::of_selection(family, &scan.of_family(family.as_bytes())?)));
    MergedScans::open(&store.snapshot(), scans).expect("sound")
}

#[test]
fn the_families_of_a_row_follow_each_other() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    make(directory.path());
    let read = |scan: &TableScan| {
        let mut cells = open(directory.path(), scan);
        let mut names = Vec::new();
        while let Some(cell) = cells.next_ref().expect("sound") {
            let [row, family] = [cell.row, cell.family].map(String::from_utf8_lossy);
            names.push(format!("{row}/{family}"));
        }
        names
    };
    let all = TableScan::default();
    assert_eq!(read(&all).len(), 2 * ROWS);
    let two = all.clone().start("row100").stop("row102");
    assert_eq!(read(&two), ["row100/f", "row100/g", "row101/f", "row101/g"]);
    assert_eq!(read(&all.clone().row("row100")), ["row100/f", "row100/g"]);
    assert_eq!(read(&all.clone().prefix("row49").column("g", "q")).len(), 10);
    assert!(read(&all.column("g", "other").family("h")).is_empty());
}

#[test]
fn no_cells_follow_an_error() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    make(directory.path());
    let file = fs::read_dir(directory.path().join("f")).expect("there").next().expect("a file");
    let path = file.expect("there").path();
    let mut bytes = fs::read(&path).expect("there");
    bytes[3000] ^= 1; // In one of the first data blocks.
    fs::write(&path, bytes).expect("the disk has room");
    let mut cells = open(directory.path(), &TableScan::default());
    let mut count = 0;
    while cells.next_ref().is_ok() {
        count += 1;
        assert!(count < 2 * ROWS, "a block is damaged");
    }
    assert!(count > 2, "the blocks before it are read");
    for _ in 0..3 {
        assert!(cells.next_ref().expect("the error was returned").is_none());
    }
}

#[test]
fn families_come_in_order_and_reverse_scans_are_refused() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    make(directory.path());
    let store = Store::open(directory.path(), StoreOptions::default()).expect("sound");
    let scans = ["g", "f"].map(|family| Scan::family(family).stop("row001"));
    let mut cells = MergedScans::open(&store.snapshot(), scans).expect("sound");
    for family in [&b"f"[..], b"g"] {
        let cell = cells.next_ref().expect("sound").expect("a cell of the row");
        assert_eq!(cell.family, family);
    }
    for scans in
        [[Scan::family("f"), Scan::family("g").reverse(true)], ["f", "f"].map(Scan::family)]
    {
        let refused = MergedScans::open(&store.snapshot(), scans).expect_err("cannot be merged");
        assert!(refused.to_string().contains("cannot be merged"), "{refused}");
    }
}
