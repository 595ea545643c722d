//! Copies of stores: exports for HBase's bulk load, checkpoints, and imports of row ranges.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use filter::{ErrorRate, FilterKind, Sizing};
use sstable::{Cell, Reader, ReaderOptions};
use store::vfs::Vfs;
use store::{
    Age, CompactionKind, Delete, Error, FamilyOptions, Get, ImportOptions, Put, Scan, Store,
    StoreOptions, Timestamp,
};
use support::disk::{Disk, Fault, Faults};
use support::test_store::open;
use support::{hex, judge, say};

fn row(number: usize) -> String {
    format!("row{number:03}")
}

/// Makes a store with two families; each has versions and deletes in two files and a memstore.
fn filled(directory: &Path) -> Store {
    let store = open(directory).unwrap();
    for family in ["f", "g"] {
        let options = FamilyOptions::default().versions(2).block_size(512);
        store.create_family(family, options).unwrap();
    }
    for round in 0..3 {
        for number in (0..300).filter(|number| number % 7 != round) {
            let time = Timestamp::new(1000 + round as i64);
            let value = format!("{number}.{round}");
            let put = Put::new(row(number)).column_at("f", "q", time, &value);
            store.put(put.column_at("g", "q", time, &value)).unwrap();
        }
        for number in (0..300).filter(|number| number % 50 == round) {
            let time = Timestamp::new(1001);
            store.delete(Delete::row(row(number)).column_at("f", "q", time)).unwrap();
        }
        if round < 2 {
            store.flush().unwrap();
        }
    }
    store
}

fn shown(store: &Store, family: &str) -> Vec<String> {
    let cells = store.scan(Scan::family(family).versions(2)).unwrap().map(Result::unwrap);
    cells
        .map(|cell| {
            let [row, value] =
                [cell.row(), cell.value()].map(|bytes| str::from_utf8(bytes).unwrap());
            format!("{row}/{}={value}", cell.timestamp())
        })
        .collect()
}

#[test]
fn an_export_is_split_at_regions_and_loads_into_another_store() {
    let directory = tempfile::tempdir().unwrap();
    let store = filled(&directory.path().join("store"));
    let out = directory.path().join("out");
    let splits = ["row0", "row100", "row1005", "row250", "row9"].map(|row| row.as_bytes().to_vec());
    let export = store.export(&out, &splits).unwrap();
    assert_eq!(export.files.len(), 2 * 4, "regions without rows have no file");
    for file in &export.files {
        let reader = Reader::open_file(file, ReaderOptions::default()).unwrap();
        let (first, last) = (reader.first_row().unwrap(), reader.last_row().unwrap());
        let region = |row: &[u8]| splits.iter().filter(|split| &split[..] <= row).count();
        assert_eq!(region(first), region(last), "{}", file.display());
        assert!(!reader.file_info().includes_mvcc());
    }
    assert!(
        matches!(store.export(&out, &splits), Err(Error::Invalid { .. })),
        "an export does not overwrite another"
    );
    let other = open(&directory.path().join("other")).unwrap();
    for family in ["f", "g"] {
        other.create_family(family, FamilyOptions::default().versions(2)).unwrap();
        // Deletes in the export hide existing cells.
        other.put(Put::new(row(50)).column_at(family, "q", Timestamp::new(7), "old")).unwrap();
        let ends = |file: &&std::path::PathBuf| file.parent().unwrap().ends_with(family);
        let files: Vec<_> = export.files.iter().filter(ends).cloned().collect();
        other.import(family, &files, Age::Newest).unwrap();
    }
    assert_eq!(shown(&other, "f"), shown(&store, "f"));
    assert_eq!(shown(&other, "g").len(), shown(&store, "g").len());
}

#[test]
fn a_bulk_load_of_a_row_range_takes_only_its_rows() {
    let directory = tempfile::tempdir().unwrap();
    let store = filled(&directory.path().join("store"));
    let export = store.export(directory.path().join("out"), &[b"row200".to_vec()]).unwrap();
    let files: Vec<_> = export.files.iter().take(2).cloned().collect();
    let other = open(&directory.path().join("other")).unwrap();
    other.create_family("f", FamilyOptions::default().versions(2)).unwrap();
    let rows = ImportOptions::new(Age::Newest).start("row050").stop("row150");
    other.import("f", &files, rows).unwrap();
    let expected: Vec<_> = shown(&store, "f")
        .into_iter()
        .filter(|line| (b"row050".as_slice()..b"row150").contains(&&line.as_bytes()[..6]))
        .collect();
    assert_eq!(shown(&other, "f"), expected);
    assert_eq!(other.stats().families[0].files, 1, "the second file has no row of the range");
}

#[test]
fn a_checkpoint_is_an_independent_store_that_shares_files() {
    let directory = tempfile::tempdir().unwrap();
    let store = filled(&directory.path().join("store"));
    let before = shown(&store, "f");
    let backup = directory.path().join("backup");
    store.checkpoint(&backup).unwrap();
    assert!(
        matches!(store.checkpoint(&backup), Err(Error::Invalid { .. })),
        "a checkpoint does not overwrite a store"
    );
    store.put(Put::new("later").column("f", "q", "1")).unwrap();
    store.compact("f", CompactionKind::Major).unwrap();
    let copy = open(&backup).unwrap();
    assert_eq!(shown(&copy, "f"), before);
    assert_eq!(shown(&copy, "g"), shown(&store, "g"));
    copy.put(Put::new("elsewhere").column("f", "q", "2")).unwrap();
    drop(copy);
    let copy = open(&backup).unwrap();
    assert!(copy.get(&Get::row("later")).unwrap().is_empty());
    assert_eq!(copy.get(&Get::row("elsewhere")).unwrap().len(), 1);
    drop(store);
    let names = |directory: &Path| fs::read_dir(directory).unwrap().count();
    assert_eq!(names(&backup.join("g")), 3, "shared files remain");
}

#[test]
fn a_checkpoint_that_fails_at_any_of_its_calls_leaves_nothing() {
    let backup = Path::new("/data/backup");
    for is_there in [false, true] {
        let checkpoint = |faults| {
            let disk = Disk::default();
            let options = StoreOptions::default().vfs(Arc::new(disk.clone())).background(false);
            let store = Store::open("/data/store", options).unwrap();
            store.create_family("f", FamilyOptions::default()).unwrap();
            store.put(Put::new("row").column("f", "q", "1")).unwrap();
            store.flush().unwrap();
            if is_there {
                disk.create_directory(backup).unwrap();
            }
            disk.set_faults(faults);
            let made = store.checkpoint(backup);
            let calls = disk.calls();
            disk.set_faults(Faults::default());
            (disk, store, calls, made)
        };
        let (.., calls, made) = checkpoint(Faults::default());
        made.unwrap();
        assert!(calls > 8, "{calls}");
        for failing in 1..=calls {
            let (disk, store, _, made) = checkpoint(Faults::once(failing, Fault::NoSpace));
            assert!(made.is_err(), "call {failing}");
            match disk.list(backup) {
                Ok(left) => assert!(is_there && left.is_empty(), "call {failing}: {left:?}"),
                Err(_) => assert!(!is_there, "call {failing}: the directory is removed"),
            }
            store.put(Put::new("later").column("f", "q", "2")).unwrap();
            store.checkpoint(backup).unwrap();
        }
    }
}

#[test]
fn hbase_loads_an_export_and_answers_as_the_store() {
    if !judge::is_enabled("store: export") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let store = filled(&directory.path().join("store"));
    let out = directory.path().join("out");
    let splits = ["row100", "row250"];
    store.export(&out, &splits.map(|row| row.as_bytes().to_vec())).unwrap();
    let expected = directory.path().join("expected.ndjson");
    let cells = store.scan(Scan::family("f").versions(2)).unwrap().map(Result::unwrap);
    write_cells(&expected, &cells.collect::<Vec<_>>());
    let splits = splits.map(|row| hex(row.as_bytes()));
    let (out, expected) = (out.display().to_string(), expected.display().to_string());
    let answer = judge::confirm(&[
        "bulkload",
        &out,
        "--family",
        "f",
        "--versions",
        "2",
        "--max-versions",
        "2",
        "--splits",
        &splits.join(","),
        "--expect",
        &expected,
    ]);
    assert_eq!(answer["loaded"], 3, "{answer:#}");
    say("store: an export of three regions is bulk loaded by HBase, which answers as the store");
}

fn write_cells(path: &Path, cells: &[Cell]) {
    let mut lines = Vec::new();
    for cell in cells {
        cells::ndjson::write_cell(&mut lines, &cell.as_ref()).unwrap();
    }
    fs::write(path, lines).unwrap();
}

/// HBase reads the three files of a store, of 200 cells each, with their ids as their names.
fn assert_read_by_hbase(store: &Path) {
    let mut count = 0;
    for entry in fs::read_dir(store.join("f")).unwrap() {
        let path = entry.unwrap().path();
        let answer = judge::confirm(&["read", path.to_str().unwrap()]);
        assert_eq!(answer["entries"], 200, "{answer:#}");
        let name = path.file_name().unwrap().to_str().unwrap();
        assert_eq!(answer["fileInfo"]["STORE_FILE_ID"]["hex"], name, "{answer:#}");
        count += 1;
    }
    assert_eq!(count, 3);
}

/// Unchanged: with sequence ids, a row filter, and the store's file id.
#[test]
fn hbase_reads_and_loads_store_files_unchanged() {
    if !judge::is_enabled("store: its own files") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("store");
    let store = open(&place).unwrap();
    let sizing = Sizing::ErrorRate(ErrorRate::new(0.01).unwrap());
    let options = FamilyOptions::default().block_size(512).filter(FilterKind::Ribbon, sizing);
    store.create_family("f", options).unwrap();
    // The files have different rows, because HBase orders equal cells of one bulk load arbitrarily.
    for file in 0..3 {
        for number in (0..300).filter(|number| number % 3 == file) {
            let put = Put::new(row(number)).column("f", "q", format!("{number}"));
            store.put(put.column("f", "r", "second")).unwrap();
        }
        // A delete marker, and one cell less.
        store.delete(Delete::row(row(file)).column("f", "r")).unwrap();
        store.flush().unwrap();
    }
    assert_read_by_hbase(&place);
    // Each file is copied with a rebuilt filter, and gets a new id.
    store.rebuild_filters("f").unwrap();
    assert_read_by_hbase(&place);
    let cells: Vec<_> = store.scan(Scan::family("f")).unwrap().map(Result::unwrap).collect();
    drop(store);

    let expected = directory.path().join("expected.ndjson");
    write_cells(&expected, &cells);
    let (place, expected) = (place.display().to_string(), expected.display().to_string());
    let answer = judge::confirm(&["bulkload", &place, "--family", "f", "--expect", &expected]);
    assert_eq!(answer["loaded"], 3, "{answer:#}");
    say("store: 3 of 3 of its files, each with its id, are read and bulk loaded by HBase");
}
