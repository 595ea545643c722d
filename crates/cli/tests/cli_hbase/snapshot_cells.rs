//! `hfile snapshot` and `hfile table`: scan and get on the command line.
//!
//! `data/snapshots/README.md` describes the root directory, which HBase wrote.

use std::fs;

use serde_json::Value;
use support::directory_cases::without_sequence;
use support::gunzip;
use support::root_directory::{RootCopy, data, manifest};

use crate::command_line;

/// Runs a verb of a noun on a copy of the root directory; it must exit with this status.
fn run(copy: &RootCopy, status: i32, args: &[&str]) -> (String, String) {
    let root = copy.path();
    let mut args = args.to_vec();
    args.splice(2..2, ["--root", root.to_str().expect("UTF-8")]);
    command_line::run(status, &args)
}

/// Returns the cells that HBase returned, one a line.
fn truth(file: &Value) -> String {
    gunzip(&data().join(file.as_str().expect("the name of a file")))
}

/// `scans::scan` of the library compares the cells of all snapshots and tables with HBase's.
#[test]
fn scans_print_the_cells_that_hbase_returns() {
    let (copy, manifest) = (RootCopy::new(), manifest());
    let (mob, table) = (&manifest["snapshots"]["s5"], &manifest["liveTables"]["t1"]);
    for (args, file) in [
        (&["snapshot", "scan", "s5", "--format", "cells", "--now", "creation"][..], "cellsFile"),
        (&["snapshot", "scan", "s5", "--raw", "--threads", "3", "--json"], "rawFile"),
        (&["snapshot", "scan", "s5", "--json", "--mob-references"], "mobrefsFile"),
        (&["table", "scan", "t1", "--json", "--with-wal"], "liveFile"),
    ] {
        let (out, told) = run(&copy, 0, args);
        let expected = if args[0] == "table" { table } else { mob };
        assert!(without_sequence(&out) == truth(&expected[file]), "{file}");
        assert_eq!(told, "", "{file}");
    }
}

#[test]
fn a_scan_without_the_logs_says_that_there_are_logs() {
    let copy = RootCopy::new();
    let (out, told) = run(&copy, 0, &["table", "scan", "t1", "--count"]);
    assert_eq!(out, "2,941 rows, 6,050 cells\n");
    assert!(told.contains("--with-wal reads them too"), "{told}");
    let (out, told) = run(&copy, 0, &["table", "scan", "t1", "--count", "--with-wal"]);
    assert_eq!((&*out, &*told), ("2,942 rows, 6,277 cells\n", ""));
}

#[test]
fn a_log_that_was_cut_off_is_named() {
    let copy = RootCopy::new();
    let logs = copy.path().join("WALs/localhost,36349,1795412714489");
    let log = logs.join("localhost%2C36349%2C1795412714489.1795412744013");
    let bytes = fs::read(&log).expect("there");
    fs::write(&log, &bytes[..1000]).expect("ours");
    let output = copy.path().join("../export");
    let export = ["export", "t1", "--to", "cells", "--output", output.to_str().expect("UTF-8")];
    let gets = [&["get", "t1", "row-00077"][..], &["get", "t1", "row-00077", "row-01077"]];
    for args in [&["scan", "t1", "--count"][..], &export, gets[0], gets[1]] {
        let (_, told) = run(&copy, 0, &[&["table"], args, &["--with-wal"]].concat());
        assert_eq!(told.matches("744013: torn: an entry at offset ").count(), 1, "{told}");
    }
}

#[test]
fn cells_of_logs_that_are_older_than_a_region_are_left_out_with_a_warning() {
    let copy = RootCopy::new();
    // As if each region had been opened after all writes, with the files that it has.
    for region in fs::read_dir(copy.path().join("data/default/t1")).expect("listed") {
        let region = region.expect("readable").path();
        if region.join(".regioninfo").exists() {
            let edits = region.join("recovered.edits");
            fs::create_dir_all(&edits).expect("disk takes it");
            fs::write(edits.join("1000000.seqid"), "").expect("disk takes it");
        }
    }
    let check = |told: &str| {
        let warnings: Vec<&str> =
            told.lines().filter(|line| line.contains("warning: region")).collect();
        assert!(!warnings.is_empty(), "{told}");
        assert!(
            warnings.iter().all(|line| line.contains("left out") && line.contains("sequence ids"))
        );
    };
    let (out, told) = run(&copy, 0, &["table", "scan", "t1", "--count", "--with-wal"]);
    assert_eq!(out, "2,941 rows, 6,050 cells\n");
    check(&told);
    let output = copy.path().join("../export");
    let output = output.to_str().expect("UTF-8");
    let export = ["table", "export", "t1", "--with-wal", "--to", "cells", "--output", output];
    check(&run(&copy, 0, &export).1);
}

#[test]
fn rows_columns_and_versions_are_chosen() {
    let copy = RootCopy::new();
    let lines = |args: &[&str]| {
        let (out, _) = run(&copy, 0, &[&["snapshot", "scan", "s4"], args].concat());
        out.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let rows = lines(&["--start", "row-00010", "--stop", "row-00012", "--versions", "1"]);
    assert!(
        rows.iter().all(|row| row.starts_with("K: row-00010/") || row.starts_with("K: row-00011/"))
    );
    assert_eq!(lines(&["--prefix", "hex:726f772d3030303130"]), lines(&["--prefix", "row-00010"]));
    let columns = lines(&["--columns", "f2:q2,f1:bb"]);
    assert!(columns.iter().all(|line| line.contains("/f2:q2/") || line.contains("/f1:bb/")));
    assert_eq!(lines(&["--family", "f2"]), lines(&["--columns", "f2"]));
    assert_eq!(lines(&["--limit", "3"]).len(), 3);
    let (out, told) =
        run(&copy, 1, &["snapshot", "get", "s4", "row-00010", "no such row", "--explain"]);
    assert!(out.lines().all(|line| line.starts_with("K: row-00010/")) && !out.is_empty());
    assert!(told.contains("row not found: no such row"), "{told}");
    assert!(told.contains("files considered"), "{told}");
    run(&copy, 2, &["snapshot", "scan", "s4", "--start", "b", "--stop", "a"]);
    // In hbase:meta, a table's rows are before those of tables with longer names.
    let meta = ["table", "scan", "hbase:meta", "--with-wal"];
    run(&copy, 0, &[&meta[..], &["--start", "t1,,", "--stop", "t1\\x00,,"]].concat());
    let (out, _) = run(&copy, 0, &[&meta[..], &["--start", "t,x,", "--stop", "t-1,,"]].concat());
    assert_eq!(out, "");
    run(&copy, 2, &[&meta[..], &["--start", "t-1,,", "--stop", "t,x,"]].concat());
    run(&copy, 2, &["table", "scan", "t1", "--now", "creation"]);
    let (_, told) = run(&copy, 2, &["snapshot", "scan", "s4", "--family", "f9"]);
    assert!(told.contains("has no family f9; it has f1, f2"), "{told}");
}
