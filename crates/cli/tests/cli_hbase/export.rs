//! `hfile snapshot export` and `hfile table export`: cells of HBase's tables in files, by region.
//!
//! `data/snapshots/README.md` describes the root directory, which HBase wrote. `export_parquet` has
//! the tests of Parquet and Arrow.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use serde_json::{Value, json};
use support::cells::bulk_load_cells;

use crate::command_line::{command, text};
use crate::exports::{Exports, concatenated, without_sequence_ids};

const CELLS: [&str; 2] = ["--to", "cells"];

fn sum(values: &[Value], name: &str) -> u64 {
    values.iter().map(|value| value[name].as_u64().expect("a number")).sum()
}

#[test]
fn exported_cells_are_those_of_hbase() {
    let exports = Exports::new();
    // Splits, links, MOB, a tracker, merged regions.
    for snapshot in ["s2", "s5", "s7", "s9", "s10"] {
        for (kind, more) in [("cellsFile", &[][..]), ("rawFile", &["--raw", "--threads", "3"])] {
            let out = format!("{snapshot}-{kind}");
            exports.run(0, snapshot, &out, &[&CELLS[..], more].concat());
            let found = without_sequence_ids(&concatenated(&exports.files(&out)));
            let expected = without_sequence_ids(&exports.truth(snapshot, kind));
            assert!(found == expected, "{out}: {} and {}", found.len(), expected.len());

            let manifest = exports.manifest(&out);
            assert_eq!(
                (&manifest["complete"], &manifest["cells"]),
                (&json!(true), &json!(found.len()))
            );
            let rows: BTreeSet<_> = found.iter().map(|cell| cell["row"].to_string()).collect();
            assert_eq!(manifest["rows"], json!(rows.len()), "{out}");
            assert_eq!(manifest["source"]["snapshot"], json!(snapshot));
            let left = fs::read_dir(exports.out(&out)).expect("readable").count();
            assert_eq!(left, exports.files(&out).len() + 1, "only files and the manifest: {out}");
        }
    }
}

#[test]
fn a_large_region_has_several_files_of_whole_rows() {
    let exports = Exports::new();
    exports.run(0, "s4", "whole", &CELLS);
    exports.run(0, "s4", "cut", &["--to", "cells", "--max-file-size", "20KiB"]);
    let (whole, cut) = (exports.files("whole"), exports.files("cut"));
    assert!(cut.len() > 3 * whole.len(), "{} and {} files", cut.len(), whole.len());
    assert!(cut.is_sorted(), "ascending names have ascending rows");
    assert_eq!(concatenated(&cut), concatenated(&whole));
    let manifest = exports.manifest("cut");
    let mut last = String::new();
    for region in manifest["regions"].as_array().expect("regions") {
        let files = region["files"].as_array().expect("files");
        for count in ["rows", "cells"] {
            assert_eq!(region[count].as_u64(), Some(sum(files, count)), "{count}");
        }
        for file in files {
            let row = |name: &str| file[name].as_str().expect("a row").to_owned();
            assert!(row("first_row") > last && row("last_row") >= row("first_row"), "{file}");
            last = row("last_row");
            let len = fs::metadata(exports.out("cut").join(row("file"))).expect("it exists").len();
            assert_eq!(file["bytes"].as_u64(), Some(len));
            assert!(len < 40 << 10, "{file}");
        }
    }
    assert_eq!(
        manifest["bytes"].as_u64(),
        Some(cut.iter().map(|file| fs::metadata(file).expect("it exists").len()).sum())
    );
}

#[test]
fn hfiles_are_laid_out_for_a_bulk_load() {
    let exports = Exports::new();
    let hfiles = ["--to", "hfiles", "--max-file-size", "64KiB"];
    let (out, _) = exports.run(0, "s6", "hfiles", &hfiles);
    let directory = exports.out("hfiles");
    assert!(
        out.ends_with(&format!("hbase completebulkload {} ns1:t4\n", directory.display())),
        "{out}"
    );
    let mut found = BTreeMap::<String, Vec<Value>>::new();
    let manifest = exports.manifest("hfiles");
    for region in manifest["regions"].as_array().expect("regions") {
        let bound = |name: &str| region[name].as_str().expect("a row").as_bytes().to_vec();
        for file in region["files"].as_array().expect("files") {
            let name = file["file"].as_str().expect("a name");
            let (family, name) = name.split_once('/').expect("FAMILY/FILE");
            assert!(
                name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit()),
                "{name}"
            );
            let cells = cells_of(&directory.join(family).join(name));
            let end = bound("end_row");
            for cell in &cells {
                let row = cells::parse_hex(cell["row"].as_str().expect("hex")).expect("hex");
                assert!(row >= bound("start_row") && (end.is_empty() || row < end), "{region}");
            }
            found.entry(family.to_owned()).or_default().extend(cells);
        }
    }
    let mut expected = BTreeMap::<String, Vec<Value>>::new();
    for cell in without_sequence_ids(&exports.truth("s6", "cellsFile")) {
        let family = cells::parse_hex(cell["family"].as_str().expect("hex")).expect("hex");
        expected.entry(String::from_utf8(family).expect("text")).or_default().push(cell);
    }
    assert!(found == expected, "the files of each family, one after the other, have its cells");
}

/// Returns the cells of a file for a bulk load.
fn cells_of(file: &Path) -> Vec<Value> {
    let mut lines = Vec::new();
    for cell in bulk_load_cells(file) {
        cells::ndjson::write_cell(&mut lines, &cell.as_ref()).expect("memory");
    }
    without_sequence_ids(&text(&lines))
}

/// Returns the names and contents of the files of a directory, save the manifest.
fn contents(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries =
        fs::read_dir(directory).expect("readable").map(|entry| entry.expect("readable").path());
    let files = entries.filter(|path| path.file_name().is_some_and(|name| name != "manifest.json"));
    files
        .map(|path| (path.file_name().expect("a name").into(), fs::read(path).expect("readable")))
        .collect()
}

#[test]
fn a_second_run_goes_on_where_the_first_stopped() {
    let exports = Exports::new();
    exports.run(0, "s2", "out", &CELLS);
    let (whole, files) = (contents(&exports.out("out")), exports.files("out"));
    assert!(files.len() > 2);

    // As if the first run had been killed: the last region is not in the manifest, one of its files is
    // there, and another one is half-written under its temporary name.
    let mut manifest = exports.manifest("out");
    manifest["complete"] = json!(false);
    let last = manifest["regions"].as_array_mut().expect("regions").pop().expect("a region");
    let name = last["files"][0]["file"].as_str().expect("a name");
    manifest["unfinished"] = json!([name.strip_suffix("000000.ndjson").expect("a number")]);
    let manifest_path = exports.out("out").join("manifest.json");
    fs::write(&manifest_path, manifest.to_string()).expect("disk takes it");
    fs::write(exports.out("out").join(".hfile-abc123"), b"half").expect("disk takes it");
    fs::write(files.last().expect("files"), b"of a region that is not complete")
        .expect("disk takes it");
    // A file that is not as long as the manifest says: its region is exported again.
    fs::write(&files[0], b"cut").expect("disk takes it");
    let written =
        |file: &Path| fs::metadata(file).and_then(|found| found.modified()).expect("it exists");
    let before = written(&files[1]);
    let (out, _) = exports.run(0, "s2", "out", &["--to", "cells", "--json"]);
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(report["resumed"].as_u64(), Some(files.len() as u64 - 2), "{report}");
    assert_eq!(written(&files[1]), before, "a complete file stays");
    assert!(contents(&exports.out("out")) == whole);

    // A third run has nothing to do.
    let (out, _) = exports.run(0, "s2", "out", &["--to", "cells", "--json"]);
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(report["resumed"], report["regions"], "{report}");
}

#[test]
fn a_killed_export_leaves_only_complete_files() {
    let exports = Exports::new();
    exports.run(0, "s10", "whole", &["--to", "cells", "--max-file-size", "10KiB"]);
    let whole = contents(&exports.out("whole"));
    let mut partial = 0;
    for attempt in 0..12_u64 {
        let name = format!("killed-{attempt}");
        let more = ["--to", "cells", "--max-file-size", "10KiB", "--threads", "2"];
        let arguments = exports.arguments("s10", &name, &more);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut child: Child = command(&arguments).spawn().expect("the binary runs");
        // Until some files are there, and on: at another moment in each attempt.
        let begun =
            |count| fs::read_dir(exports.out(&name)).is_ok_and(|files| files.count() > count);
        while !begun(3 * attempt as usize) && child.try_wait().expect("our child").is_none() {
            std::thread::sleep(Duration::from_micros(200));
        }
        child.kill().expect("our child");
        child.wait().expect("our child");
        if exports.out(&name).join("manifest.json").exists() {
            partial += usize::from(exports.manifest(&name)["complete"] == json!(false));
        }
        for (file, bytes) in contents_if_any(&exports.out(&name)) {
            let is_hidden = file.to_str().is_some_and(|name| name.starts_with('.'));
            assert!(
                is_hidden || whole.get(&file) == Some(&bytes),
                "{} is half-written",
                file.display()
            );
        }
        exports.run(0, "s10", &name, &more[..4]);
        assert!(contents(&exports.out(&name)) == whole, "attempt {attempt}");
    }
    assert!(partial > 0, "no export was killed in the middle");
}

fn contents_if_any(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    if directory.exists() { contents(directory) } else { BTreeMap::new() }
}

#[test]
fn an_export_that_completed_nothing_can_be_replaced() {
    let exports = Exports::new();
    exports.run(0, "s6", "out", &CELLS);
    let mut manifest = exports.manifest("out");
    let files: Vec<_> = manifest["regions"].as_array().expect("regions").iter().collect();
    let prefix = |region: &&Value| {
        let name = region["files"][0]["file"].as_str().expect("a name");
        name.strip_suffix("000000.ndjson").expect("a number").to_owned()
    };
    let unfinished: Vec<String> = files.iter().map(prefix).collect();
    manifest["unfinished"] = json!(unfinished);
    manifest["complete"] = json!(false);
    manifest["regions"] = json!([]);
    let path = exports.out("out").join("manifest.json");
    fs::write(&path, manifest.to_string()).expect("disk takes it");
    exports.run(0, "s6", "out", &["--to", "csv", "--raw"]);
    let (manifest, files) = (exports.manifest("out"), exports.files("out"));
    assert_eq!((&manifest["format"], &manifest["complete"]), (&json!("csv"), &json!(true)));
    let left = fs::read_dir(exports.out("out")).expect("readable").count();
    assert_eq!(left, files.len() + 1, "the files of the first export are gone");

    // A complete export stays, also one without regions.
    let mut empty = manifest;
    empty["regions"] = json!([]);
    fs::write(&path, empty.to_string()).expect("disk takes it");
    exports.run(2, "s6", "out", &CELLS);
}

#[test]
fn cells_that_are_missing_are_in_the_manifest() {
    let exports = Exports::new();
    let family = fs::read_dir(exports.root().join("data/default/t1"))
        .expect("readable")
        .map(|entry| entry.expect("readable").path().join("f1"))
        .find(|family| fs::read_dir(family).is_ok_and(|files| files.count() > 2))
        .expect("a region with files");
    let file = fs::read_dir(family).expect("readable").map(|entry| entry.expect("readable").path());
    let file = file.into_iter().find(|file| {
        file.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.len() == 32)
    });
    fs::remove_file(file.expect("an HFile")).expect("ours");
    exports.tells(3, "s13", "stopped", &CELLS).has("hfile: ");
    assert_eq!(exports.manifest("stopped")["complete"], json!(false));
    exports.tells(1, "s13", "skipped", &["--to", "cells", "--skip-damaged"]).has("missing");
    let manifest = exports.manifest("skipped");
    let regions = manifest["regions"].as_array().expect("regions");
    let missing: Vec<_> = regions.iter().filter(|region| region["missing"].is_array()).collect();
    // The daughters of a split have halves of the file.
    assert!(!missing.is_empty(), "{manifest}");
    // The answer is the same when nothing is left to do.
    let (_, again) = exports.run(1, "s13", "skipped", &["--to", "cells", "--skip-damaged"]);
    // Long messages have several lines.
    let again = again.replace("\n  ", " ");
    for region in missing {
        for one in region["missing"].as_array().expect("a list") {
            let field = |name: &str| one[name].as_str().expect("text");
            let named = again.lines().any(|line| {
                line.starts_with(&format!("hfile: missing: {}", field("rows")))
                    && line.contains(region["region"].as_str().expect("a name"))
                    && line.contains(field("file"))
            });
            assert!(named, "{one}: {again}");
        }
    }
}

#[test]
#[cfg(not(feature = "parquet"))]
fn parquet_is_refused_without_its_feature() {
    Exports::new().tells(2, "s6", "out", &["--to", "parquet"]).has("--features parquet");
}
