//! `hfile export` and `hfile store export --to`: cells of HFiles and of stores in files of other formats.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use support::cells::bulk_load_cells;
use tempfile::TempDir;

use crate::command_line::{directory, field, json as report, path, stdout};

/// Puts, delete markers, and cells with tags.
const FILES: [&str; 3] =
    ["s01-default.hfile", "s08-only-deletes.hfile", "s10-tags-compressed-diff.hfile"];

fn export(directory: &TempDir, out: &str, more: &[&str]) -> Value {
    let out = path(directory, out);
    report(&[&["export", "--output", &out, "--json"], more].concat())
}

fn manifest(directory: &TempDir, out: &str) -> Value {
    let bytes = fs::read(directory.path().join(out).join("manifest.json")).expect("written");
    serde_json::from_slice(&bytes).expect("JSON")
}

/// Returns the exported files of each HFile.
fn files_of(directory: &TempDir, out: &str) -> Vec<Vec<String>> {
    let manifest = manifest(directory, out);
    let parts = manifest["regions"].as_array().expect("parts").iter();
    let files = |part: &Value| -> Vec<String> {
        let files = part["files"].as_array().expect("files").iter();
        files.map(|file| path(directory, &format!("{out}/{}", field(file, "file")))).collect()
    };
    parts.map(files).collect()
}

fn read_all(files: &[String]) -> String {
    files.iter().map(|file| fs::read_to_string(file).expect("text")).collect()
}

fn some_files() -> Vec<String> {
    let mut files: Vec<String> = crate::command_line::manifest()
        .iter()
        .map(|file| format!("{}.hfile", field(file, "name")))
        .filter(|name| name.starts_with('s') || name.starts_with("p0"))
        .collect();
    files.sort_unstable();
    files
}

#[test]
fn all_stored_cells_are_exported_as_cat_prints_them() {
    let directory = directory();
    let files = some_files();
    assert!(files.len() > 10, "{files:?}");
    let names: Vec<&str> = files.iter().map(String::as_str).collect();
    let more = ["--to", "cells", "--threads", "2", "--max-file-size", "100KiB"];
    let found = export(&directory, "out", &[&more[..], &names].concat());
    let manifest = manifest(&directory, "out");
    assert_eq!(manifest["complete"], json!(true));
    assert_eq!(manifest["source"]["files"], json!(files.len()));
    assert_eq!(found["regions"], json!(files.len()));
    let mut cells = 0;
    for (file, exported) in files.iter().zip(files_of(&directory, "out")) {
        let expected = stdout(&["cat", "--format", "cells", file]);
        assert!(read_all(&exported) == expected, "{file}");
        cells += expected.lines().count();
    }
    assert_eq!(found["cells"], json!(cells));
}

type Choice<'c> = Box<dyn Fn(&Value) -> bool + 'c>;

#[test]
fn rows_columns_and_times_are_chosen() {
    let directory = directory();
    let file = "s01-default.hfile";
    let all: Vec<Value> = stdout(&["cat", "--format", "cells", file])
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let middle = &all[all.len() / 2];
    let (row, time) = (field(middle, "row"), middle["ts"].as_i64().expect("a number"));
    let (hex_row, from) = (format!("hex:{row}"), time.to_string());
    let column = format!("hex:{}:hex:{}", field(middle, "family"), field(middle, "qualifier"));
    let prefix = format!("hex:{}", &row[..row.len() - 2]);
    let of_row = |cell: &Value| field(cell, "row").to_owned();
    let cases: [(&str, Vec<&str>, Choice<'_>); 5] = [
        ("start", vec!["--start", &hex_row], Box::new(|cell| *of_row(cell) >= *row)),
        ("stop", vec!["--stop", &hex_row], Box::new(|cell| *of_row(cell) < *row)),
        (
            "prefix",
            vec!["--prefix", &prefix],
            Box::new(|cell| of_row(cell).starts_with(&prefix[4..])),
        ),
        (
            "columns",
            vec!["--columns", &column],
            Box::new(|cell| {
                cell["qualifier"] == middle["qualifier"] && cell["family"] == middle["family"]
            }),
        ),
        ("times", vec!["--min-ts", &from], Box::new(|cell| cell["ts"].as_i64() >= Some(time))),
    ];
    for (name, options, is_chosen) in cases {
        export(&directory, name, &[&["--to", "cells", file][..], &options].concat());
        let lines = read_all(&files_of(&directory, name)[0]);
        let found: Vec<Value> =
            lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let expected: Vec<Value> = all.iter().filter(|cell| is_chosen(cell)).cloned().collect();
        assert!(!expected.is_empty() && expected.len() < all.len(), "{name} chooses some cells");
        assert!(found == expected, "{name}: {} and {} cells", found.len(), expected.len());
    }
}

#[test]
fn hfiles_have_the_cells_and_no_sequence_ids() {
    let directory = directory();
    let found = export(&directory, "out", &[&["--to", "hfiles"][..], &FILES].concat());
    assert!(field(&found, "command").starts_with("hbase completebulkload "), "{found}");
    let exported = files_of(&directory, "out");
    for (file, exported) in FILES.iter().zip(&exported) {
        let without_ids = |cells: &str| {
            let cell = |line: &str| {
                let mut cell: Value = serde_json::from_str(line).expect("JSON");
                cell.as_object_mut().expect("an object").remove("seq");
                cell
            };
            cells.lines().map(cell).collect::<Vec<_>>()
        };
        let expected = without_ids(&stdout(&["cat", "--format", "cells", file]));
        let [exported] = &exported[..] else { panic!("{file} has one family: {exported:?}") };
        assert!(
            without_ids(&stdout(&["cat", "--format", "cells", exported])) == expected,
            "{file}"
        );
        assert!(!bulk_load_cells(Path::new(exported)).is_empty(), "{file}");
        let name = Path::new(exported).file_name().and_then(|name| name.to_str()).expect("text");
        assert!(name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}");
    }
    let names: std::collections::BTreeSet<_> = exported.iter().flatten().collect();
    assert_eq!(names.len(), FILES.len(), "each has a name of its own");
}

#[test]
fn a_second_run_goes_on() {
    let directory = directory();
    let data = crate::command_line::data();
    let copies = ["a.hfile", "b.hfile"].map(|name| path(&directory, name));
    for (copy, file) in copies.iter().zip(FILES) {
        fs::copy(data.join(file), copy).expect("the directory is ours");
    }
    let [one, other] = [&*copies[0], &*copies[1]];
    let whole = ["--to", "csv", one, other];
    export(&directory, "out", &whole);
    let files = files_of(&directory, "out");
    let expected = read_all(&files[1]);
    let manifest_path = directory.path().join("out/manifest.json");
    let mut stopped = manifest(&directory, "out");
    stopped["complete"] = json!(false);
    stopped["regions"].as_array_mut().expect("parts").pop();
    stopped["unfinished"] = json!(["00001-b.hfile-"]);
    fs::write(&manifest_path, stopped.to_string()).expect("the directory is ours");
    let again = export(&directory, "out", &whole);
    assert_eq!((&again["resumed"], &again["regions"]), (&json!(1), &json!(2)));
    assert!(read_all(&files_of(&directory, "out")[1]) == expected);
}

/// A store with two families; rows have cells in one or both.
fn store(directory: &TempDir) -> String {
    let store = path(directory, "store");
    for family in ["g", "f"] {
        stdout(&["store", "create", &store, family, "--versions", "3"]);
    }
    for number in 0..60 {
        let row = format!("row{number:02}");
        for family in ["f", "g"].iter().skip(number % 2).take(1 + number % 3) {
            let columns = [format!("{family}:a=1-{number}"), format!("{family}:b=2-{number}")];
            stdout(&["store", "put", &store, &row, &columns[0], &columns[1], "--ts", "1000"]);
        }
        if number == 30 {
            stdout(&["store", "flush", &store]);
        }
    }
    stdout(&["store", "put", &store, "row07", "g:a=newer", "--ts", "2000"]);
    stdout(&["store", "delete", &store, "row10", "f"]);
    store
}

/// Cells that `store scan` prints, in HBase's order over all families.
fn scanned(store: &str, more: &[&str]) -> Vec<String> {
    let scan = ["store", "scan", store, "--format", "cells", "--versions", "9"];
    let printed = stdout(&[&scan[..], more].concat());
    let mut cells: Vec<String> = printed.lines().map(str::to_owned).collect();
    // The cells of a row and family keep their order.
    cells.sort_by_key(|cell| {
        let cell: Value = serde_json::from_str(cell).expect("JSON");
        (field(&cell, "row").to_owned(), field(&cell, "family").to_owned())
    });
    cells
}

#[test]
fn a_store_is_exported_with_the_families_of_a_row_together() {
    let directory = directory();
    let store = store(&directory);
    for (name, more, scan) in [
        ("all", &[][..], &[][..]),
        ("raw", &["--raw"], &["--raw"]),
        (
            "rows",
            &["--start", "row05", "--stop", "row50"],
            &["--start", "row05", "--stop", "row50"],
        ),
        ("newest", &["--versions", "1"], &["--versions", "1"]),
    ] {
        let out = path(&directory, name);
        let export =
            ["store", "export", &store, &out, "--to", "cells", "--splits", "row10,row31", "--json"];
        let found = report(&[&export[..], more].concat());
        let files: Vec<String> = files_of(&directory, name).concat();
        let lines: Vec<String> = read_all(&files).lines().map(str::to_owned).collect();
        let scan: Vec<&str> = scan.to_vec();
        let expected = match name {
            "newest" => {
                let printed = stdout(&["store", "scan", &store, "--format", "cells"]);
                let mut newest = scanned(&store, &[]);
                newest.retain(|cell| printed.lines().any(|line| line == cell));
                newest
            }
            _ => scanned(&store, &scan),
        };
        assert!(lines == expected, "{name}: {} and {} cells", lines.len(), expected.len());
        assert_eq!(
            (&found["cells"], &found["regions"]),
            (&json!(lines.len()), &json!(3)),
            "{name}"
        );
        assert_eq!(manifest(&directory, name)["source"]["families"], json!(["f", "g"]));
    }
}
