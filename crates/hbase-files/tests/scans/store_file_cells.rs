//! Scans of one store file, with the parameters of a table's scan.

use std::fs;
use std::path::{Path, PathBuf};

use hbase_files::{LocalTree, Location, StoreFileCells, StoreFileReader, TableScan};
use sstable::{CellRef, FileName, ReaderOptions, WriterOptions};
use support::cells::{PUT, hfile};

const COLUMNS: usize = 2_000;

/// Writes a file of one row whose columns are in many blocks, with another row before and after it.
fn write(directory: &Path) -> PathBuf {
    let qualifiers: Vec<_> = (0..COLUMNS).map(|column| format!("q{column:05}")).collect();
    let wide = qualifiers.iter().map(|qualifier| CellRef {
        row: b"b",
        qualifier: qualifier.as_bytes(),
        ..PUT
    });
    let [first, last] = [&b"a"[..], b"c"].map(|row| CellRef { row, ..PUT });
    let cells = [first].into_iter().chain(wide).chain([last]);
    let path = directory.join("5a1f3c0de0f94a3d8c6d3f0a7e5b9c11");
    let options = WriterOptions::default().block_size(512);
    fs::write(&path, hfile(&path, options, cells)).expect("the disk has room");
    path
}

fn reader(path: &Path) -> StoreFileReader {
    let location = Location { path: path.into(), half: None };
    let name = FileName::new(path.display().to_string());
    StoreFileReader::open(&LocalTree, &location, name, ReaderOptions::default()).expect("sound")
}

/// Returns the rows and qualifiers of the cells, or the error.
fn read(cells: sstable::Result<StoreFileCells>) -> sstable::Result<Vec<String>> {
    let (mut cells, mut found) = (cells?, Vec::new());
    while let Some(cell) = cells.next_ref()? {
        let [row, qualifier] = [cell.row, cell.qualifier].map(String::from_utf8_lossy);
        found.push(format!("{row}/{qualifier}"));
    }
    Ok(found)
}

#[test]
fn both_ways_of_reading_find_the_wanted_cells() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let reader = reader(&write(directory.path()));
    for open in [StoreFileCells::open, StoreFileCells::open_in_full] {
        let read = |scan: &TableScan| read(open(&reader, scan)).expect("sound");
        let all = TableScan::default();
        assert_eq!(read(&all).len(), COLUMNS + 2);
        assert_eq!(read(&all.clone().row("c")), ["c/q"]);
        assert_eq!(
            read(&all.clone().column("f", "q01500").column("f", "q")),
            ["a/q", "b/q01500", "c/q"]
        );
        assert!(read(&all.clone().family("g")).is_empty());
        assert!(read(&all.start("d")).is_empty());
    }
}

/// An export must not call a damaged file complete because no wanted cell is in the damaged block.
#[test]
fn damage_between_wanted_cells_is_found_by_a_full_read_only() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = write(directory.path());
    let mut bytes = fs::read(&path).expect("there");
    let middle = bytes.len() / 3;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).expect("the disk has room");
    let reader = reader(&path);
    let scan = TableScan::default().column("f", "q00000");
    let found = read(StoreFileCells::open(&reader, &scan)).expect("the block is skipped");
    assert_eq!(found, ["b/q00000"]);
    let error = read(StoreFileCells::open_in_full(&reader, &scan)).expect_err("a damaged block");
    assert!(matches!(error, sstable::Error::Corrupt { .. }), "{error}");
}
