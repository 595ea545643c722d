//! `hfile snapshot` and `hfile table`: scan and get on the command line.
//!
//! `data/snapshots/README.md` describes the root directory, which HBase wrote.

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
