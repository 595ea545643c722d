//! Scans of snapshots and tables return the cells that HBase's own offline reader returns.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use directories::{
    Error, LocalTree, MobValues, RootDirectory, Table, TableCells, TableName, TableScan,
};
use flate2::read::GzDecoder;
use serde_json::Value;
use sstable::{Timestamp, ndjson};
use support::root_directory::{RootCopy, data, manifest};

fn open(copy: &RootCopy) -> RootDirectory {
    RootDirectory::open(Arc::new(LocalTree), &copy.path()).expect("a root directory")
}

fn table(root: &RootDirectory, name: &str) -> Table {
    let name: TableName = name.parse().expect("the name of a table");
    root.table(&name).expect("sound")
}

/// Returns the lines of a file of cells that HBase returned.
fn truth(file: &Value) -> Vec<String> {
    let path = data().join(file.as_str().expect("the name of a file"));
    let mut text = String::new();
    GzDecoder::new(File::open(path).expect("there")).read_to_string(&mut text).expect("gzip");
    text.lines().map(str::to_owned).collect()
}

/// Returns the cells as lines, as in the files of cells that HBase returned.
fn lines(mut cells: TableCells) -> Vec<String> {
    let mut lines = Vec::new();
    while let Some(cell) = cells.next_ref().expect("sound") {
        let mut line = Vec::new();
        ndjson::write_cell_without_seq(&mut line, &cell).expect("memory takes it");
        lines.push(String::from_utf8(line).expect("text").trim_end().to_owned());
    }
    lines
}

#[track_caller]
fn check(what: &str, cells: TableCells, expected: &[String]) {
    let found = lines(cells);
    let differs = found.iter().zip(expected).position(|(found, expected)| found != expected);
    if let Some(at) = differs {
        panic!("{what}, cell {at}:\n{}\nexpected:\n{}", found[at], expected[at]);
    }
    assert_eq!(found.len(), expected.len(), "{what}");
}

/// The time at which all cells of the fixture are unexpired.
fn scan() -> TableScan {
    TableScan::default().now(Timestamp::new(1_795_412_744_014))
}

#[test]
fn each_snapshot_has_the_cells_that_hbase_reads_offline() {
    let (copy, manifest) = (RootCopy::new(), manifest());
    let root = open(&copy);
    for (name, expected) in manifest["snapshots"].as_object().expect("an object") {
        let table = root.snapshot(name).expect("sound").table;
        let (shown, raw) = (truth(&expected["cellsFile"]), truth(&expected["rawFile"]));
        for threads in [1, 2, 5] {
            let scan = scan().threads(threads);
            check(name, table.scan(&scan).expect("sound"), &shown);
            check(&format!("{name} raw"), table.scan(&scan.raw(true)).expect("sound"), &raw);
        }
        if expected["mob"] == true {
            let references = scan().mob(MobValues::Reference);
            let cells = table.scan(&references).expect("sound");
            check("references", cells, &truth(&expected["mobrefsFile"]));
        }
    }
}

#[test]
fn each_table_with_its_logs_has_the_cells_of_the_running_cluster() {
    let (copy, manifest) = (RootCopy::new(), manifest());
    let root = open(&copy);
    for (name, expected) in manifest["liveTables"].as_object().expect("an object") {
        let table = table(&root, name);
        let scan = scan().with_logs(true);
        check(name, table.scan(&scan).expect("sound"), &truth(&expected["liveFile"]));
        let raw = truth(&expected["liveRawFile"]);
        check(&format!("{name} raw"), table.scan(&scan.raw(true)).expect("sound"), &raw);
    }
}

#[test]
fn without_the_logs_a_table_has_the_cells_of_its_files() {
    let (copy, manifest) = (RootCopy::new(), manifest());
    let table = table(&open(&copy), "t1");
    // Taken at the same moment, without a flush.
    let expected = &manifest["snapshots"]["s13"];
    check("t1", table.scan(&scan()).expect("sound"), &truth(&expected["cellsFile"]));
    let few = scan().with_logs(true).log_bytes_max(1000);
    assert!(matches!(table.scan(&few), Err(Error::TooMany { .. })));
}
