//! `hfile export` and `hfile store export --to`: cells of HFiles and of stores in files of other formats.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use support::cells::bulk_load_cells;
use tempfile::TempDir;

use crate::command_line::{directory, field, json as report, path, stdout, tells};

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
fn a_second_run_goes_on_unless_a_file_has_changed() {
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

    let out = path(&directory, "out");
    let refused = |arguments: &[&str], what: &str| {
        tells(2, &[&["export", "--output", &out], arguments].concat()).has(what);
    };
    refused(&["--to", "csv", one], "the source has changed since: it no longer has ");
    refused(&["--to", "cells", one, other], "an export with other options");
    refused(&["--to", "csv", one, one], "is given twice");
    fs::copy(data.join(FILES[2]), one).expect("the directory is ours");
    refused(&whole, "a.hfile had ");
    refused(&["--to", "csv", "--pivot", one], "--pivot and --row-type are for");
}

#[test]
fn damage_ends_the_export_and_complete_files_stay() {
    let directory = directory();
    let damaged = path(&directory, "damaged.hfile");
    let mut bytes = fs::read(crate::command_line::data().join(FILES[0])).expect("committed");
    bytes[100] ^= 1;
    fs::write(&damaged, bytes).expect("the directory is ours");
    let out = path(&directory, "out");
    let arguments = ["export", "--to", "cells", "--output", &out, FILES[1], &damaged];
    tells(1, &arguments).has_all(&["damaged.hfile", "next: "]);
    let manifest = manifest(&directory, "out");
    assert_eq!(manifest["complete"], json!(false));
    assert_eq!(files_of(&directory, "out").len(), 1);
    let left = fs::read_dir(&out).expect("readable").flatten().map(|entry| entry.file_name());
    assert!(left.into_iter().all(|name| !name.to_string_lossy().ends_with("damaged.hfile")));
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

#[test]
fn a_store_that_has_changed_is_not_exported_further() {
    let directory = directory();
    let store = store(&directory);
    let out = path(&directory, "out");
    let export = ["store", "export", &store, &out, "--to", "csv"];
    stdout(&export);
    let text = read_all(&files_of(&directory, "out").concat());
    assert!(text.starts_with("row,family,qualifier,"), "{text}");
    assert!(stdout(&export).contains("had been exported before"));
    stdout(&["store", "put", &store, "row99", "f:a=1"]);
    tells(2, &export).has("the source has changed since");
    let new = path(&directory, "new");
    for (more, what) in [
        (&["--prefix", "row1"][..], "HFiles get all cells of the store"),
        (&["--max-file-size", "1MiB"], "HFiles get all cells of the store"),
        (&["--raw"], "HFiles get all cells of the store"),
        (&["--to", "cells", "--family", "x"], "has no family x"),
        (
            &["--to", "csv", "--table", "t"],
            "--table names a table in the command that loads HFiles",
        ),
        (&["--to", "csv", "--versions", "0"], "at least 1, or all"),
        (&["--to", "csv", "--max-file-size", "0"], "at least 1 byte"),
    ] {
        tells(2, &[&["store", "export", &store, &new][..], more].concat()).has(what);
        assert!(
            !Path::new(&new).exists(),
            "{more:?}: the corrected command must not find anything"
        );
    }
}

/// Builds an HFile of family `f` from rows in hex digits and times.
fn build(directory: &TempDir, cells: impl Iterator<Item = (String, i64)>) -> String {
    let (input, file) = (path(directory, "cells.ndjson"), path(directory, "built.hfile"));
    let cell = |(row, ts): (String, i64)| {
        let value = json!({
            "row": row, "family": "66", "qualifier": "71", "ts": ts, "type": "Put", "value": "31",
        });
        format!("{value}\n")
    };
    fs::write(&input, cells.map(cell).collect::<String>()).expect("the directory is ours");
    stdout(&["build", "--from", "cells", &input, "--output", &file]);
    file
}

#[test]
fn names_of_many_files_ascend_as_their_rows_do() {
    let directory = directory();
    let file = build(&directory, (0..1010).map(|number| (format!("{number:08}"), 1)));
    export(&directory, "out", &["--to", "cells", "--max-file-size", "1", &file]);
    let mut files = files_of(&directory, "out").concat();
    assert_eq!(files.len(), 1010);
    assert!(files.is_sorted(), "the manifest has the order of the rows");
    files.sort();
    let expected = stdout(&["cat", "--format", "cells", &file]);
    assert!(read_all(&files) == expected);

    // As if an older version had written the first file, whose numbers had three digits.
    let names = |name: &str| path(&directory, &format!("out/00000-built.hfile-{name}.ndjson"));
    fs::rename(names("000000"), names("000")).expect("it exists");
    let manifest_path = directory.path().join("out/manifest.json");
    let text = fs::read_to_string(&manifest_path).expect("written");
    fs::write(&manifest_path, text.replace("-000000.ndjson", "-000.ndjson")).expect("ours");
    let other = path(&directory, "out");
    let again = ["export", "--output", &other, "--to", "cells", "--max-file-size", "1", &file];
    assert!(stdout(&again).contains("had been exported before"));
    assert!(read_all(&files_of(&directory, "out").concat()) == expected);
}

#[test]
fn families_that_no_file_has_are_refused() {
    let directory = directory();
    let (out, built) =
        (path(&directory, "out"), build(&directory, [("61".to_owned(), 1)].into_iter()));
    for (more, what) in [
        (&["--family", "zz", &built][..], "has no family zz; its family is f"),
        (&["--columns", "f:q,zz:q", &built], "has no family zz"),
        (&["--family", "zz", &built, FILES[0]], "no file has family zz; the families of the files"),
    ] {
        tells(2, &[&["export", "--to", "csv", "--output", &out], more].concat()).has(what);
        assert!(!Path::new(&out).exists());
    }
    // A family that one of the files has is enough.
    let found = export(&directory, "out", &["--to", "csv", "--family", "f", &built, FILES[1]]);
    assert!(found["cells"].as_u64() > Some(0), "{found}");
}

#[test]
fn cells_of_the_latest_time_are_exported() {
    let directory = directory();
    let cells = [("61".to_owned(), i64::MAX), ("62".to_owned(), 1)];
    let file = build(&directory, cells.into_iter());
    assert_eq!(export(&directory, "all", &["--to", "csv", &file])["cells"], json!(2));
    let from = ["--to", "csv", "--min-ts", "1", &file];
    assert_eq!(export(&directory, "from", &from)["cells"], json!(1), "the end is excluded");
}
