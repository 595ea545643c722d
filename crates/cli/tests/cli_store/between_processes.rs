//! `hfile store`: data written by one process and read by another.

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::cells::put_line;
use tempfile::TempDir;

use crate::command_line::{
    directory, failure, hfile, json, json_with, path, run, shows, stdout, tells, text,
};

/// Creates a store with the rows `row000` to `row199`.
fn store_of_200_rows(directory: &TempDir) -> String {
    let (store, cells) = (path(directory, "store"), path(directory, "cells"));
    let lines: String =
        (0..200).map(|row| put_line(&format!("row{row:03}"), "q", 1_000 + row, "v")).collect();
    fs::write(&cells, lines).expect("disk takes it");
    stdout(&["store", "create", &store, "f", "--versions", "3", "--filter", "blocked-bloom"]);
    let put = ["store", "put", &store, "f", "--from", "cells", &cells, "--ack", "--batch", "80"];
    assert_eq!(stdout(&put), "ACK 80\nACK 160\nACK 200\n");
    store
}

#[test]
fn the_next_process_reads_the_cells_of_a_put() {
    let directory = directory();
    let store = store_of_200_rows(&directory);
    shows(0, &["store", "get", &store, "row007"])
        .begins_with("K: row007/f:q/1007/Put/vlen=1/seqid=");
    let all = stdout(&["store", "scan", &store, "f"]);
    assert_eq!(all.lines().count(), 200);
    let some = stdout(&["store", "scan", &store, "--start", "row010", "--stop", "row012"]);
    assert_eq!(some.lines().count(), 2);

    stdout(&["store", "flush", &store]);
    assert_eq!(stdout(&["store", "get", &store, "row007"]).lines().count(), 1);
    let rows = path(&directory, "rows");
    fs::write(&rows, "row003\n\nrow150\n").expect("disk takes it");
    let get = ["store", "get", &store, "row100", "row005", "--from", &rows];
    let many = stdout(&get);
    let shown: Vec<_> = many.lines().map(|line| &line[3..9]).collect();
    assert_eq!(shown, ["row100", "row005", "row003", "row150"]);
    let absent = hfile(&[&get[..], &["row999"]].concat());
    assert_eq!((absent.status.code(), text(&absent.stdout)), (Some(1), many));
    let stats = json(&["store", "stats", &store, "--json"]);
    assert_eq!(stats["families"][0]["family"], "f");
    assert_eq!(stats["families"][0]["files"], 1);
    assert_eq!(hfile(&["store", "verify", &store]).status.code(), Some(0));
}

#[test]
fn a_delete_hides_cells_and_a_major_compaction_drops_them() {
    let directory = directory();
    let store = store_of_200_rows(&directory);
    stdout(&["store", "delete", &store, "row007", "f"]);
    assert_eq!(hfile(&["store", "get", &store, "row007"]).status.code(), Some(1));
    let raw = ["store", "scan", &store, "--raw", "--start", "row007", "--stop", "row008"];
    assert_eq!(stdout(&raw).lines().count(), 2);
    stdout(&["store", "compact", &store, "--major"]);
    assert_eq!(stdout(&raw), "");
    assert_eq!(stdout(&["store", "scan", &store]).lines().count(), 199);
}

#[test]
fn explain_shows_which_files_were_skipped() {
    let directory = directory();
    let store = store_of_200_rows(&directory);
    stdout(&["store", "flush", &store]);
    let mut skipped = 0;
    for number in 0..10 {
        let way = json_with(1, &["store", "explain", &store, &format!("row00{number}0"), "--json"]);
        assert_eq!(way["found"], false);
        assert_eq!(way["files_considered"], 1);
        if way["families"][0]["files"][0]["fate"] == "skipped: filter says no" {
            assert_eq!(way["data_blocks"], 0);
            skipped += 1;
        }
    }
    // Filters have random seeds: any row may be a false positive, but not most rows.
    assert!(skipped > 5, "only {skipped}");
    shows(0, &["store", "explain", &store, "row007"]).has_all(&["files considered", "outcome"]);
}

/// Two files, whose family has a wide map. A command that reads builds it only on request.
#[test]
fn stats_and_explain_show_the_family_map() {
    let directory = directory();
    let store = store_of_200_rows(&directory);
    stdout(&["store", "alter", &store, "f", "--family-map", "WIDE"]);
    stdout(&["store", "flush", &store]);
    stdout(&["store", "put", &store, "row007", "f:q=new"]);
    stdout(&["store", "put", &store, "row199", "f:q=new"]);
    stdout(&["store", "flush", &store]);
    let stats = |more: &[&str]| json(&[&["store", "stats", &store, "--json"], more].concat());
    let without = stats(&[]);
    let family = &without["families"][0];
    assert_eq!((&family["map_mode"], &family["map"]), (&"WIDE".into(), &Value::Null));
    assert_eq!((&without["map_builds"], &without["map_failures"]), (&0.into(), &0.into()));

    let with = stats(&["--with-map"]);
    let map = &with["families"][0]["map"];
    assert_eq!(with["map_builds"], 1);
    assert!(with["map_build_seconds"].as_f64().expect("seconds") > 0.0, "{with}");
    for (field, wanted) in [("covered_files", 2), ("entries", 202)] {
        assert_eq!(map[field], wanted, "{field}: {with}");
    }
    let bits = map["bytes"].as_f64().expect("bytes") * 8.0 / 202.0;
    assert!((map["bits_per_entry"].as_f64().expect("bits") - bits).abs() < 1e-6, "{with}");
    shows(0, &["store", "stats", &store, "--with-map"])
        .has_all(&["WIDE        WIDE  2 of 2", "family maps: 1 build, 0 of another one, "]);

    let explain = ["store", "explain", &store, "row050", "--with-map"];
    let way = json(&[&explain[..], &["--json"]].concat());
    assert_eq!((&way["map_lookups"], &way["filter_checks"]), (&1.into(), &0.into()), "{way}");
    let files = way["families"][0]["files"].as_array().expect("files");
    assert_eq!(files.len(), 2);
    for (file, fate) in files.iter().zip(["skipped: map says no", "read"]) {
        assert_eq!((&file["fate"], &file["covered_by_map"]), (&fate.into(), &true.into()), "{way}");
    }
    let screen = stdout(&explain);
    for wanted in ["family maps asked 1; 1 file named", "denies", "names the file"] {
        assert!(screen.contains(wanted), "{wanted}: {screen}");
    }
    assert!(!stdout(&["store", "explain", &store, "row050"]).contains("family map"), "no map");
}

#[test]
fn a_store_imports_hfiles() {
    let directory = directory();
    let store = path(&directory, "store");
    stdout(&["store", "create", &store, "f", "--versions", "100"]);
    stdout(&["store", "import", &store, "f", "s01-default.hfile"]);
    let theirs = stdout(&["cat", "--format", "csv", "s01-default.hfile"]);
    let ours = stdout(&["store", "scan", &store, "--raw", "--versions", "100", "--format", "csv"]);
    let without_seq = |csv: &str| -> Vec<String> {
        csv.lines().filter_map(|line| Some(line.rsplit_once(',')?.0.to_owned())).collect()
    };
    assert_eq!(without_seq(&ours), without_seq(&theirs));
}

#[test]
fn a_missing_or_damaged_store_is_an_error() {
    let directory = directory();
    let nowhere = path(&directory, "nowhere");
    let (status, message) = failure(&["store", "get", &nowhere, "row"]);
    assert_eq!(status, 3);
    assert!(message.contains("there is no store here"), "{message}");
    assert!(message.contains("hfile store create"), "{message}");

    let store = store_of_200_rows(&directory);
    stdout(&["store", "flush", &store]);
    let file = fs::read_dir(Path::new(&store).join("f")).expect("a family").next().expect("a file");
    let file = file.expect("readable").path();
    let mut bytes = fs::read(&file).expect("readable");
    bytes[50] ^= 1;
    fs::write(&file, bytes).expect("disk takes it");
    let output = hfile(&["store", "verify", &store]);
    assert_eq!(output.status.code(), Some(1));
    tells(1, &["store", "get", &store, "row007"]).has("DATA block at 0x0");
    let copy = path(&directory, "copy");
    for args in [&["verify", &store][..], &["salvage", &store, &copy]] {
        let (out, _) = run(1, &[&["store"], args].concat());
        let report = out;
        assert!(report.contains("    all rows may be missing or incomplete\n"), "{report}");
    }
    let output = hfile(&["store", "verify", &store, "--json"]);
    let errors = text(&output.stdout);
    assert!(errors.contains("\"first_row\":null,\"last_row\":null"), "{errors}");
}

#[test]
fn an_unusable_filter_is_a_warning_and_the_answer_is_right() {
    let directory = directory();
    let store = store_of_200_rows(&directory);
    stdout(&["store", "flush", &store]);
    let file = fs::read_dir(Path::new(&store).join("f")).expect("a family").next().expect("a file");
    let file = file.expect("readable").path();
    let mut bytes = fs::read(&file).expect("readable");
    let meta = bytes.windows(8).position(|magic| magic == b"METABLKc").expect("a filter of ours");
    bytes[meta + 40] ^= 1;
    fs::write(&file, bytes).expect("disk takes it");
    let (out, told) = run(0, &["store", "get", &store, "row007", "row100"]);
    assert_eq!(out.lines().count(), 2);
    let said = told;
    let name = file.file_name().expect("a name").to_str().expect("text");
    assert_eq!(said.matches("a filter cannot be used").count(), 1, "{said}");
    assert!(said.contains(&format!("f/{name}")) && said.contains("next: "), "{said}");
}

#[test]
fn a_damaged_hfile_is_imported_only_without_verification() {
    let directory = directory();
    let store = path(&directory, "store");
    stdout(&["store", "create", &store, "f", "--versions", "100"]);
    let damaged = path(&directory, "damaged.hfile");
    let sound = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/hfile");
    let mut bytes = fs::read(sound.join("s01-default.hfile")).expect("it is there");
    // Its only data block is read in any case, unlike the filter after it.
    let filter = bytes.windows(8).position(|magic| magic == b"BLMFBLK2").expect("a Bloom chunk");
    bytes[filter + 100] ^= 1;
    fs::write(&damaged, bytes).expect("disk takes it");
    let import = ["store", "import", &store, "f", "s01-default.hfile", &damaged];
    tells(1, &import).has(&format!("{damaged}: BLOOM_CHUNK block at {filter:#x}"));
    assert_eq!(stdout(&["store", "scan", &store, "f"]), "", "not the sound one either");
    stdout(&[&import[..], &["--no-verify"]].concat());
    let held = json(&["store", "stats", &store, "--json"]);
    assert_eq!(held["families"][0]["files"], 2);
    assert_eq!(held["filter_problems"].as_array().map(Vec::len), Some(0));
}
