//! `hfile bench`: counters, report, and no files left behind.

#![expect(clippy::format_collect, reason = "test data is small, and this reads best")]

use std::fs;

use serde_json::Value;

use crate::command_line::{command, directory, entries, field, json, manifest, path, stdout, text};

fn row<'r>(report: &'r Value, filter: &str, gets: &str) -> &'r Value {
    let rows = report["results"].as_array().expect("results");
    let row = rows.iter().find(|row| row["filter"] == filter && row["gets"] == gets);
    row.unwrap_or_else(|| panic!("{filter} {gets} in {report}"))
}

fn number(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("{name} in {row}"))
}

/// Sixteen overlapping files with filters of 1 %.
#[test]
fn filters_save_an_absent_get_nearly_all_blocks() {
    let filters = ["--filters", "none,hbase-bloom,blocked-bloom"];
    let bench = ["bench", "--rows", "48000", "--gets", "20000", "--files", "16", "--json"];
    let report = json(&[&bench[..], &filters].concat());
    assert_eq!(report["schema"], 1);
    assert_eq!(report["rows"], 48_000);
    assert_eq!(report["files"], 16);
    assert!((number(&report, "cell_bytes") - 138.0).abs() < 0.01);
    for filter in ["none", "hbase-bloom", "blocked-bloom"] {
        for (gets, found) in
            [("absent", 0..1), ("present", 20_000..20_001), ("mixed", 9_000..11_000)]
        {
            let row = row(&report, filter, gets);
            assert!(found.contains(&row["found"].as_u64().expect("a count")), "{row}");
            for name in [
                "files_considered_per_get",
                "files_skipped_by_filter_per_get",
                "data_blocks_per_get",
                "blocks_from_file_per_get",
                "blocks_from_cache_per_get",
                "ns_median",
                "ns_p99",
            ] {
                assert!(number(row, name) >= 0.0, "{name} in {row}");
            }
        }
    }
    let none = row(&report, "none", "absent");
    assert!((number(none, "files_considered_per_get") - 16.0).abs() < 1e-9);
    assert!((number(none, "data_blocks_per_get") - 16.0).abs() < 0.1, "{none}");
    assert!(none["bits_per_key"].is_null() && none["error_rate_measured"].is_null());
    for filter in ["hbase-bloom", "blocked-bloom"] {
        let absent = row(&report, filter, "absent");
        assert!(number(absent, "data_blocks_per_get") <= 0.2, "{absent}");
        assert!(number(absent, "files_skipped_by_filter_per_get") >= 15.8, "{absent}");
        assert!((0.001..0.013).contains(&number(absent, "error_rate_measured")), "{absent}");
        assert!((number(absent, "error_rate_promised") - 0.01).abs() < 0.005, "{absent}");
        assert!((8.0..16.0).contains(&number(absent, "bits_per_key")), "{absent}");
        let present = row(&report, filter, "present");
        assert!((0.9..1.3).contains(&number(present, "data_blocks_per_get")), "{present}");
    }
}

/// One lookup in memory in place of sixteen filters.
#[test]
fn a_family_map_skips_files_without_a_filter() {
    let bench = ["bench", "--rows", "48000", "--gets", "20000", "--files", "16", "--json"];
    let report = json(&[&bench[..], &["--filters", "none,family-map"]].concat());
    let absent = row(&report, "family-map", "absent");
    assert!(number(absent, "data_blocks_per_get") <= 0.05, "{absent}");
    assert!(number(absent, "files_skipped_by_map_per_get") >= 15.95, "{absent}");
    assert!(number(absent, "filter_checks_per_get") < 1e-9, "{absent}");
    assert!((16.0..120.0).contains(&number(absent, "bits_per_key")), "{absent}");
    assert!((0.0001..0.003).contains(&number(absent, "error_rate_measured")), "{absent}");
    assert!(["FILES", "WIDE"].contains(&absent["map"].as_str().expect("a mode")), "{absent}");
    assert!(row(&report, "none", "absent")["map"].is_null(), "filters are measured without a map");
    let present = row(&report, "family-map", "present");
    assert_eq!(present["found"], 20_000);
    assert!(number(present, "data_blocks_per_get") < 1.05, "{present}");
    assert!(number(row(&report, "none", "absent"), "files_skipped_by_map_per_get") < 1e-9);
}

#[test]
fn bench_shows_the_lookups_and_the_memory_of_both_forms_of_the_map() {
    let bench = ["bench", "--rows", "8000", "--gets", "4000", "--files", "8"];
    let bench = [&bench[..], &["--filters", "none,family-map,family-map-wide"]].concat();
    let report = json(&[&bench[..], &["--json"]].concat());
    let loads = report["loads"].as_array().expect("loads");
    assert!(loads.iter().all(|load| number(load, "ns_median_get_with") > 0.0), "{report}");
    assert!(loads[0]["map_bytes"].is_null() && loads[0]["map_by_default"].is_null(), "{report}");
    for load in &loads[1..] {
        assert_eq!(load["map_covered_files"], 8, "{load}");
        let bits = number(load, "map_bytes") / 1000.0;
        assert!((number(load, "map_bits_per_row") - bits).abs() < 1e-6, "{load}");
        assert!(number(load, "map_build_seconds") >= 0.0 && load["map_failures"] == 0, "{load}");
        assert_eq!(load["map_by_default"], "WIDE", "8 files: {load}");
        let filter = load["filter"].as_str().expect("a name");
        let (absent, present) = (row(&report, filter, "absent"), row(&report, filter, "present"));
        assert!(number(absent, "map_candidates_per_get") < 0.1, "{absent}");
        for (name, wanted) in [("map_lookups_per_get", 1.0), ("map_candidates_per_get", 1.0)] {
            assert!((number(present, name) - wanted).abs() < 0.1, "{name} in {present}");
        }
    }
    let output = command(&bench).output().expect("the binary runs");
    let screen = text(&output.stdout);
    for wanted in [
        "family-map-wide: 8 files covered; ",
        " bits a row; ",
        "  each present get: 1.00 lookups, ",
        "get / get_with: none ",
        "such a store has a wide map, as in the row family-map-wide.",
    ] {
        assert!(screen.contains(wanted), "{wanted}: {screen}");
    }
}

/// The default depends on the number of files and on the cache.
#[test]
fn bench_says_which_map_a_store_has_by_default() {
    let bench = ["bench", "--rows", "100000", "--gets", "100", "--filters", "family-map"];
    for (files, cache, map) in [
        ("1", "64MiB", "no map, and gets query the filters of the files."),
        ("16", "2MiB", "a map of files, as in the row family-map."),
        ("16", "64MiB", "a wide map, as in the row family-map-wide."),
    ] {
        let more = ["--files", files, "--cache-size", cache, "--value-size", "1"];
        let screen = stdout(&[&bench[..], &more].concat());
        let wanted = format!("By default (FAMILY_MAP AUTO), such a store has {map}");
        assert!(screen.contains(&wanted), "{wanted}: {screen}");
    }
}

/// All filters with one budget, over files of different sizes.
#[test]
fn bench_divides_a_budget_among_the_files_for_every_filter() {
    let bench = ["bench", "--rows", "34000", "--gets", "4000", "--files", "8", "--json"];
    let report =
        json(&[&bench[..], &["--file-sizes", "1:4:16:64", "--bits-per-key", "7"]].concat());
    for filter in filter::FilterKind::IN_FILES.iter().map(|kind| kind.name()) {
        let absent = row(&report, filter, "absent");
        // Only files with a filter count: kinds with a minimum size leave out large files.
        if ["classic-bloom", "blocked-bloom", "split-block", "ribbon"].contains(&filter) {
            assert!((6.8..7.1).contains(&number(absent, "bits_per_key")), "{absent}");
        }
        assert_eq!(row(&report, filter, "present")["found"], 4000);
    }
    let blocks = |filter| number(row(&report, filter, "absent"), "data_blocks_per_get");
    assert!(blocks("ribbon") * 3.0 < blocks("classic-bloom"), "{report}");
    // Bloom chunks have power-of-two sizes, here ten bits per row.
    assert!(blocks("ribbon") < blocks("hbase-bloom"), "{report}");
    assert!(blocks("hbase-bloom") < blocks("none"), "{report}");
}

#[test]
fn bench_reads_keys_from_a_file() {
    let directory = directory();
    let keys = path(&directory, "keys");
    let lines: String = (0..5_000).map(|word| format!("key-{:05}\n", word * 13)).collect();
    fs::write(&keys, lines.repeat(2)).expect("disk takes it");
    let report = json(&[
        "bench",
        "--input",
        &keys,
        "--gets",
        "2000",
        "--files",
        "4",
        "--json",
        "--filters",
        "none,blocked-bloom",
    ]);
    assert_eq!(report["rows"], 5_000);
    assert_eq!(report["input"], keys.as_str());
    assert_eq!(row(&report, "none", "present")["found"], 2_000);
    assert_eq!(row(&report, "blocked-bloom", "absent")["found"], 0);
    assert!(number(row(&report, "blocked-bloom", "absent"), "data_blocks_per_get") < 0.2);
}

#[test]
fn bench_measures_files_that_hbase_wrote() {
    let files: Vec<String> = manifest().iter().map(|file| field(file, "file").to_owned()).collect();
    let mut args = vec!["bench", "--gets", "300", "--json", "--hfiles", "manifest.json"];
    args.extend(files.iter().map(String::as_str));
    let output = command(&args).output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(1), "one file is none: {}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("an object");
    let measured = report["each_file"].as_array().expect("files").len();
    let left_out = report["left_out"].as_array().expect("files");
    assert_eq!(measured + left_out.len(), files.len() + 1);
    assert!(left_out.iter().any(|file| file["file"] == "manifest.json"));
    assert_eq!(row(&report, "none", "present")["found"], 300);
    assert_eq!(row(&report, "hbase-bloom", "present")["found"], 300);
    let (none, bloom) = (row(&report, "none", "absent"), row(&report, "hbase-bloom", "absent"));
    assert!(number(bloom, "data_blocks_per_get") < number(none, "data_blocks_per_get"));
}

#[test]
fn bench_prints_a_table_and_removes_its_store() {
    let directory = directory();
    let output = command(&["bench", "--rows", "2000", "--gets", "500", "--files", "4"])
        .env("TMPDIR", directory.path())
        .output()
        .expect("the binary runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    for word in ["2,000 rows in 4 files", "bits/key", "promised", "data blocks", "p99"] {
        assert!(table.contains(word), "{word} in\n{table}");
    }
    assert!(output.stderr.is_empty(), "progress bars are for terminals");
    assert_eq!(entries(&directory), 0);
}
