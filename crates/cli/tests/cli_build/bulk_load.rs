//! Files for HBase's bulk load: `hfile build --splits`, and `export --to hfiles` in `bulk_load/exported.rs`.
//!
//! Both ask one running HBase, which takes 20 seconds to start.

mod exported;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;
use sstable::Cell;
use support::cells::bulk_load_cells;
use support::people::{self, Person};
use support::{hex, judge, say};
use tempfile::TempDir;

use crate::command_line::{directory, entries, json, path, stdout, tells};

const ROWS: u64 = 3000;
const SPLITS: [&str; 4] = ["row0500", "row1700", "row1701", "row4000"];

/// Writes unordered cells of two families with two versions.
fn write_cells(directory: &TempDir) -> String {
    let mut csv = "row,family,qualifier,ts,type,value,seq\n".to_owned();
    for number in 0..4 * ROWS {
        let number = number * 7919 % (4 * ROWS);
        let (row, family, version) = (number / 4, ["f", "g"][number as usize % 2], number / 2 % 2);
        // The first family has no cells in one region.
        if family == "f" && (500..1700).contains(&row) {
            continue;
        }
        let time = 1_000 + version;
        writeln!(csv, "row{row:04},{family},q,{time},Put,v{number},{number}").expect("memory");
    }
    let place = path(directory, "cells.csv");
    fs::write(&place, csv).expect("the directory is ours");
    place
}

/// Returns the cells of each family's files, in report order.
fn families(report: &Value) -> BTreeMap<String, Vec<Vec<Cell>>> {
    let mut families: BTreeMap<String, Vec<Vec<Cell>>> = BTreeMap::new();
    for file in report["files"].as_array().expect("files") {
        let file = Path::new(file.as_str().expect("a path"));
        let name = file.file_name().and_then(|name| name.to_str()).expect("text");
        // HBase silently ignores many other names.
        assert!(name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}");
        let family = file.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        families.entry(family.expect("text").to_owned()).or_default().push(bulk_load_cells(file));
    }
    families
}

fn build_table(directory: &TempDir, out: &str, more: &[&str]) -> Value {
    let cells = write_cells(directory);
    let splits = SPLITS.join(",");
    let build = ["build", "--from", "csv", &cells, "--output", out, "--json", "--sort"];
    json(&[&build[..], &["--splits", &splits, "--table", "users"], more].concat())
}

#[test]
fn each_family_has_a_file_per_region_with_cells() {
    let directory = directory();
    for (out, memory) in [("in-memory", "256MiB"), ("in-runs", "4KiB")] {
        let out = path(&directory, out);
        let report = build_table(&directory, &out, &["--sort-memory", memory]);
        let shown: Vec<_> = report["files"].as_array().into_iter().flatten().collect();
        assert!(shown.iter().all(|file| file.as_str().is_some_and(|file| file.starts_with(&out))));
        assert_eq!(report["command"], format!("hbase completebulkload {out} users"));
        let create = report["create"].as_str().expect("a statement");
        let splits: Vec<String> = SPLITS.iter().map(|row| format!("'{row}'")).collect();
        let splits = format!("}}, SPLITS => [{}]", splits.join(", "));
        assert!(create.starts_with("create 'users', {NAME => 'f', "), "{create}");
        assert!(create.ends_with(&splits), "{create}");
        let families = families(&report);
        let of_files = |family: &str| families[family].iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(of_files("f"), [1000, 2, 2598], "none for the region without cells");
        assert_eq!(of_files("g"), [1000, 2400, 2, 2598]);
        assert_eq!(report["cells"], 9600);
        for (family, files) in &families {
            let mut regions = BTreeSet::new();
            for cells in files {
                let of =
                    |cell: &Cell| SPLITS.iter().filter(|row| row.as_bytes() <= cell.row()).count();
                let region = of(&cells[0]);
                assert!(regions.insert(region), "{family}: a second file for region {region}");
                assert!(cells.iter().all(|cell| of(cell) == region), "{family}: over a split");
                assert!(cells.iter().all(|cell| cell.family() == family.as_bytes()));
                assert!(cells.is_sorted_by(|one, other| one.as_ref().key() < other.as_ref().key()));
            }
        }
    }
    assert_eq!(entries(&directory), 3, "the input and two outputs");
}

/// In HBase's order: by row, with the families of a row adjacent.
#[test]
fn sorted_cells_of_many_families_need_no_sort() {
    let directory = directory();
    let (input, out) = (path(&directory, "cells.csv"), path(&directory, "out"));
    let mut csv = "row,family,ts\n".to_owned();
    for row in 0..200 {
        for family in ["f", "g", "h"] {
            writeln!(csv, "row{row:03},{family},1").expect("memory");
        }
    }
    fs::write(&input, csv).expect("the directory is ours");
    let build = ["build", "--from", "csv", &input, "--output", &out, "--splits", "row100"];
    let families = families(&json(&[&build[..], &["--json"]].concat()));
    assert_eq!(families.keys().collect::<Vec<_>>(), ["f", "g", "h"]);
    assert!(
        families
            .values()
            .all(|files| files.len() == 2 && files.iter().all(|file| file.len() == 100))
    );
    tells(3, &build).has("is not an empty directory");
}

#[test]
fn a_running_hbase_loads_the_files_and_returns_every_cell() {
    if !judge::is_enabled("hfile build --splits") {
        return;
    }
    let directory = directory();
    let out = path(&directory, "out");
    let options = ["--sort-memory", "16KiB", "--compression", "LZ4", "--bloom-type", "ROWCOL"];
    let more = ["--data-block-encoding", "FAST_DIFF", "--block-size", "2KiB"];
    let report = build_table(&directory, &out, &[&options[..], &more].concat());
    let splits = SPLITS.map(|row| hex(row.as_bytes())).join(",");
    for (family, files) in families(&report) {
        let expected = path(&directory, "expected.ndjson");
        let mut lines = Vec::new();
        for cell in files.iter().flatten() {
            cells::ndjson::write_cell(&mut lines, &cell.as_ref()).expect("memory");
        }
        fs::write(&expected, lines).expect("the directory is ours");
        let answer = judge::confirm(&[
            "bulkload",
            &out,
            "--family",
            &family,
            "--versions",
            "2",
            "--max-versions",
            "2",
            "--splits",
            &splits,
            "--expect",
            &expected,
        ]);
        assert_eq!(answer["loaded"], files.len(), "no file had to be cut: {answer:#}");
    }
    let files = report["files"].as_array().expect("files");
    for file in files {
        judge::confirm(&["read", file.as_str().expect("a path")]);
    }
    let count = files.len();
    say(&format!(
        "hfile build --splits: {count} of {count} files are bulk loaded by HBase, which answers with every cell"
    ));
}

/// The recipe of the page on recovery: the put hides no longer, because it is newer than the marker.
#[test]
fn a_deleted_row_comes_back_with_new_timestamps() {
    let directory = directory();
    let place = |name: &str| path(&directory, name);
    let cell = |qualifier: &str, millis: u64, kind: &str, value: &str| {
        let (qualifier, value) = (hex(qualifier.as_bytes()), hex(value.as_bytes()));
        format!(
            "{{\"row\":\"72\",\"family\":\"66\",\"qualifier\":\"{qualifier}\",\"ts\":{millis},\"type\":\"{kind}\",\"value\":\"{value}\"}}\n"
        )
    };
    let table = [
        cell("", 9, "DeleteFamily", ""),
        cell("a", 8, "Put", "newest"),
        cell("a", 7, "Put", "older"),
        cell("b", 9, "Put", "other"),
    ];
    let raw = place("raw.ndjson");
    fs::write(&raw, table.concat()).expect("the directory is ours");
    let script = "grep '\"type\":\"Put\"' raw.ndjson | awk -F '\"ts\":' '!seen[$1]++' | \
                  sed 's/\"ts\":[0-9]*/\"ts\":10/' > row.ndjson";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script]).current_dir(directory.path());
    assert!(shell.status().expect("there is a shell").success());
    let expected = [cell("a", 10, "Put", "newest"), cell("b", 10, "Put", "other")].concat();
    let row = place("row.ndjson");
    assert_eq!(fs::read_to_string(&row).expect("written"), expected);

    let files = place("files");
    fs::create_dir(&files).expect("the directory is ours");
    for (name, input) in [("0001", &raw), ("0002", &row)] {
        stdout(&["build", "--from", "cells", input, "--output", &format!("{files}/{name}")]);
    }
    if !judge::is_enabled("a deleted row") {
        return;
    }
    let nothing = place("nothing.ndjson");
    fs::write(&nothing, "").expect("the directory is ours");
    let deleted = place("deleted");
    fs::create_dir(&deleted).expect("the directory is ours");
    fs::copy(format!("{files}/0001"), format!("{deleted}/0001")).expect("disk takes it");
    for (files, expected) in [(&deleted, &nothing), (&files, &row)] {
        judge::confirm(&["store", files, "--family", "f", "--bulk", "--expect", expected]);
    }
    say("a deleted row: HBase shows it again after the bulk load");
}

/// Expected cells are computed here, not read from our files.
#[test]
fn a_running_hbase_loads_csv_and_returns_every_cell() {
    if !judge::is_enabled("hfile build --row") {
        return;
    }
    let directory = directory();
    let (input, out) = (path(&directory, "people.csv"), path(&directory, "out"));
    let mut expected: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    let mut csv = format!("{}\n", people::HEADER).into_bytes();
    for number in 0..ROWS {
        Person::new(number * 7919 % ROWS, 4).write_csv(&mut csv).expect("memory");
        Person::new(number, 4).cells(|cell| {
            let lines = expected.entry(cell.family.to_vec()).or_default();
            cells::ndjson::write_cell(lines, &cell).expect("memory");
        });
    }
    fs::write(&input, csv).expect("the directory is ours");
    let splits = SPLITS.join(",");
    let build = ["build", "--from", "csv", &input, "--output", &out, "--json", "--sort"];
    let more = ["--sort-memory", "16KiB", "--splits", &splits];
    let report = json(&[&build[..], &more, &people::OPTIONS].concat());
    assert_eq!(report["cells"], 3 * ROWS);
    let splits = SPLITS.map(|row| hex(row.as_bytes())).join(",");
    for (family, lines) in expected {
        let family = String::from_utf8(family).expect("text");
        let place = path(&directory, "expected.ndjson");
        fs::write(&place, lines).expect("the directory is ours");
        let load = ["bulkload", &out, "--family", &family, "--splits", &splits, "--expect", &place];
        judge::confirm(&load);
    }
    say("hfile build --row: HBase answers with every cell of somebody's CSV");
}
