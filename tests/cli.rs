//! What users of `hfile` see: output, messages, exit statuses, and what is left behind.
//!
//! The files under `data/hfile` were written by HBase; `manifest.json` says what HBase itself
//! found in each of them.

#![expect(clippy::format_collect, reason = "test data is small, and this reads best")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use flate2::read::MultiGzDecoder;
use serde_json::Value;
use tempfile::TempDir;

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hfile"));
    command.args(args).current_dir(data()).stdin(Stdio::null());
    command
}

fn hfile(args: &[&str]) -> Output {
    command(args).output().expect("the binary runs")
}

/// Runs a command that must end with status 0, and gives what it printed.
fn stdout(args: &[&str]) -> String {
    let output = hfile(args);
    assert!(output.status.success(), "hfile {args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// Runs a command that must fail, and gives its status and what it said.
fn failure(args: &[&str]) -> (i32, String) {
    let output = hfile(args);
    assert!(!output.status.success(), "hfile {args:?} succeeded");
    (output.status.code().expect("no signal ended it"), text(&output.stderr))
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&stdout(args)).expect("one JSON object")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is text")
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/hfile")
}

fn manifest() -> Vec<Value> {
    let text = fs::read_to_string(data().join("manifest.json")).expect("committed");
    let mut files: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    files.retain(|file| cfg!(feature = "zstd") || file["expect"]["compression"] != "ZSTD");
    files
}

fn field<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_else(|| panic!("{name} in {value}"))
}

fn golden_cells(file: &Value) -> Vec<u8> {
    let bytes = fs::read(data().join(field(file, "cellsFile"))).expect("committed");
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return bytes;
    }
    let mut cells = Vec::new();
    MultiGzDecoder::new(&bytes[..]).read_to_end(&mut cells).expect("gzip");
    cells
}

fn directory() -> TempDir {
    tempfile::tempdir().expect("a place for the test")
}

fn path(directory: &TempDir, name: &str) -> String {
    directory.path().join(name).to_str().expect("text").to_owned()
}

fn entries(directory: &TempDir) -> usize {
    fs::read_dir(directory.path()).expect("readable").count()
}

// --- help and usage ------------------------------------------------------------------------------

#[test]
fn the_help_of_every_verb_ends_in_examples() {
    for verb in [
        "bench",
        "info",
        "layout",
        "verify",
        "cat",
        "get",
        "build",
        "store",
        "store create",
        "store put",
        "store increment",
        "store append",
        "store get",
        "store delete",
        "store scan",
        "store flush",
        "store compact",
        "store stats",
        "store explain",
        "store import",
        "store export",
        "store checkpoint",
        "store verify",
        "store salvage",
    ] {
        let args: Vec<&str> = verb.split(' ').chain(["--help"]).collect();
        let help = stdout(&args);
        let (_, examples) = help.split_once("Examples:\n").unwrap_or_else(|| panic!("{verb}"));
        assert!(examples.contains(&format!("hfile {verb}")), "{verb}: {examples}");
    }
    assert!(stdout(&["--help"]).contains("Exit status: 0 sound"));
}

#[test]
fn wrong_usage_ends_with_status_2() {
    for args in [
        &[][..],
        &["frobnicate"],
        &["info"],
        &["cat", "--format", "xml", "s01-default.hfile"],
        &["bench", "--gets", "0"],
        &["bench", "--filters", "bloomy"],
        &["build", "--from", "cells", "s03-one-cell.cells.ndjson"],
    ] {
        let (status, _) = failure(args);
        assert_eq!(status, 2, "{args:?}");
    }
    let (_, message) = failure(&["bench", "--filters", "bloomy"]);
    assert!(
        message.contains("unknown filter \"bloomy\"; there are none, hbase-bloom"),
        "{message}"
    );
}

// --- reading -------------------------------------------------------------------------------------

#[test]
fn cat_prints_every_golden_file_cell_for_cell() {
    let files = manifest();
    assert!(files.len() >= 41);
    for file in &files {
        let output = hfile(&["cat", "--format", "cells", field(file, "file")]);
        assert!(output.status.success(), "{}: {}", file["name"], text(&output.stderr));
        assert!(output.stdout == golden_cells(file), "{} differs", file["name"]);
    }
}

#[test]
fn cat_prints_a_part_of_a_file() {
    let all = stdout(&["cat", "s01-default.hfile"]);
    let first = all.lines().next().expect("cells");
    assert!(first.starts_with("K: row0000000738/f:q1/1700000552496/Put/vlen=5/seqid=0 V: n fox"));
    assert_eq!(stdout(&["cat", "--limit", "1", "s01-default.hfile"]), format!("{first}\n"));

    let rows = ["--start", "row0000001728", "--stop", "hex:726f7730303030303032"];
    let part = stdout(&[&["cat", "s01-default.hfile"], &rows[..]].concat());
    let expected: String = all
        .lines()
        .filter(|line| line.starts_with("K: row0000001728/"))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(part, expected);
}

#[test]
fn info_says_of_every_golden_file_what_hbase_says() {
    for file in manifest() {
        let info = json(&["info", "--json", field(&file, "file")]);
        let expect = &file["expect"];
        assert_eq!(info["schema"], 1);
        assert_eq!(info["file"], file["file"]);
        assert_eq!(info["size"], expect["size"]);
        assert_eq!(info["cells"], expect["entries"]);
        assert_eq!(info["compression"], expect["compression"]);
        assert_eq!(info["encoding"], expect["encoding"]);
        assert_eq!(info["index_levels"], expect["trailer"]["numDataIndexLevels"]);
        let checksums = expect["checksumTypes"].as_object().expect("an object");
        assert!(checksums.contains_key(field(&info, "checksum")), "{info}");
        assert!(info["filter"].is_null());
        for (ours, theirs) in [
            ("hash", "hash"),
            ("hash_count", "hashCount"),
            ("chunks", "chunks"),
            ("keys", "keys"),
            ("bits_per_key", "bitsPerKey"),
        ] {
            assert_eq!(info["bloom"][ours], expect["bloom"][theirs], "{} {ours}", file["name"]);
        }
        if !info["bloom"].is_null() {
            assert_eq!(info["bloom"]["type"], expect["bloomType"]);
            let rate = |value: &Value| value.as_f64().expect("a number");
            let difference =
                rate(&info["bloom"]["error_rate"]) - rate(&expect["bloom"]["expectedFpr"]);
            assert!(difference.abs() < 1e-6, "{info}");
        }
    }
}

#[test]
fn info_is_one_screen_a_file() {
    let screen = stdout(&["info", "s01-default.hfile", "s02-empty.hfile"]);
    for line in ["cells         1,200", "encoding      NONE", "index         1 level, 1 entry"] {
        assert!(screen.contains(line), "{line} in\n{screen}");
    }
    assert!(screen.lines().count() <= 34, "{screen}");
}

#[test]
fn layout_lists_the_blocks_that_hbase_counts() {
    for file in manifest() {
        let layout = json(&["layout", "--json", field(&file, "file")]);
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        let mut end = 0;
        for block in layout["blocks"].as_array().expect("blocks") {
            assert_eq!(block["offset"], end, "blocks stand back to back");
            end += block["size"].as_u64().expect("a size");
            *counts.entry(field(block, "type")).or_default() += 1;
        }
        assert_eq!(end + 4096, layout["size"].as_u64().expect("a size"), "the trailer follows");
        let counts = serde_json::to_value(counts).expect("JSON");
        assert_eq!(counts, file["expect"]["blocks"], "{}", file["name"]);
    }
    let text = stdout(&["layout", "s01-default.hfile", "s02-empty.hfile"]);
    assert!(text.contains("BLOOM_CHUNK"), "{text}");
}

#[test]
fn verify_finds_every_golden_file_sound_and_says_where_one_is_not() {
    let names: Vec<String> = manifest().iter().map(|file| field(file, "file").to_owned()).collect();
    let args: Vec<&str> =
        ["verify", "--json"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let reports = stdout(&args);
    assert_eq!(reports.lines().count(), names.len());
    for line in reports.lines() {
        let report: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(report["ok"], true, "{report}");
    }

    let directory = directory();
    let damaged = path(&directory, "damaged.hfile");
    let mut bytes = fs::read(data().join("s01-default.hfile")).expect("committed");
    bytes[1000] ^= 1;
    fs::write(&damaged, &bytes).expect("disk takes it");
    let output = hfile(&["verify", "--json", &damaged, "s02-empty.hfile"]);
    assert_eq!(output.status.code(), Some(1));
    let lines = text(&output.stdout);
    let report: Value = serde_json::from_str(lines.lines().next().expect("a line")).expect("JSON");
    assert_eq!((&report["ok"], &report["errors"][0]["offset"]), (&Value::Bool(false), &0.into()));
    assert_eq!(report["errors"][0]["block"], "DATA");
    // What follows from it is not told as if it were damage of its own.
    assert_eq!(report["errors"].as_array().map(Vec::len), Some(1), "{report}");
    assert_eq!(report["totals_checked"], false);
    let told = text(&hfile(&["verify", &damaged]).stdout);
    assert_eq!(told.matches("totals not checked").count(), 1, "{told}");

    // What cannot be read does not keep the rest from being checked, and weighs more.
    let output = hfile(&["verify", "nowhere.hfile", "s02-empty.hfile"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stdout).starts_with("s02-empty.hfile: sound"));
}

#[test]
fn get_finds_a_row_and_explains_the_way() {
    let row = "row0000001728";
    let args = ["get", "s01-default.hfile", "s15-extra-file-info.hfile", row];
    let found = stdout(&args);
    assert_eq!(
        found,
        stdout(&["cat", "s01-default.hfile", "--start", row, "--stop", "row0000002"])
    );

    let explained = json(&[&args[..], &["--json"]].concat());
    assert_eq!(explained["found"], true);
    assert_eq!(explained["row"], row);
    assert_eq!(explained["cells"].as_array().expect("cells").len(), found.lines().count());
    assert_eq!(explained["files"][0]["outcome"], "found");
    assert_eq!(explained["files"][0]["data_blocks"], 1);
    assert_eq!(explained["files"][1]["data_blocks"], 0);
    assert!(stdout(&[&args[..], &["--explain"]].concat()).contains("found"));
}

#[test]
fn a_row_that_is_in_no_file_ends_with_status_1() {
    let output = hfile(&["get", "--explain", "s01-default.hfile", "row0000001729"]);
    assert_eq!(output.status.code(), Some(1));
    let way = text(&output.stdout);
    assert!(way.contains("its filter said no"), "{way}");
    assert!(text(&output.stderr).is_empty());
}

// --- damage and failures -------------------------------------------------------------------------

#[test]
fn a_flipped_bit_is_an_error_that_names_file_offset_and_block() {
    let directory = directory();
    let damaged = path(&directory, "damaged.hfile");
    let mut bytes = fs::read(data().join("s01-default.hfile")).expect("committed");
    bytes[1000] ^= 1;
    fs::write(&damaged, &bytes).expect("disk takes it");
    let output = hfile(&["cat", &damaged]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty(), "not one cell of the damaged block is shown");
    let message = text(&output.stderr);
    assert!(message.starts_with(&format!("hfile: {damaged}: DATA block at 0x0: ")), "{message}");
    assert!(message.contains("\nnext: take a sound copy"), "{message}");

    fs::write(&damaged, &bytes[..bytes.len() - 100]).expect("disk takes it");
    let (status, message) = failure(&["info", &damaged]);
    assert_eq!(status, 1);
    assert!(message.starts_with(&format!("hfile: {damaged}: ")), "{message}");
}

#[test]
fn a_missing_file_ends_with_status_3_and_its_name() {
    for verb in ["info", "cat"] {
        let (status, message) = failure(&[verb, "nowhere.hfile"]);
        assert_eq!(status, 3);
        assert!(message.starts_with("hfile: nowhere.hfile: cannot "), "{message}");
        assert!(message.ends_with("\nnext: check the path\n"), "{message}");
    }
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_quietly() {
    let mut child = command(&["cat", "s01-default.hfile"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
}

// --- writing -------------------------------------------------------------------------------------

/// HBase wrote each golden file from its spec and its cells; from the same two, uncompressed and
/// unencoded, the same bytes must come.
#[test]
fn build_writes_byte_for_byte_what_hbase_wrote() {
    let directory = directory();
    let mut equal = 0;
    for file in manifest() {
        let spec = &file["spec"];
        let plain = |name: &str| spec[name].as_str().is_none_or(|value| value == "NONE");
        if !plain("encoding") || !plain("compression") {
            continue;
        }
        let (options, output) = (path(&directory, "spec.json"), path(&directory, "out.hfile"));
        fs::write(&options, spec.to_string()).expect("disk takes it");
        let cells = field(&file, "cellsFile");
        stdout(&[
            "build",
            "--from",
            "cells",
            cells,
            "--output",
            &output,
            "--options",
            &options,
            "--force",
        ]);
        let theirs = fs::read(data().join(field(&file, "file"))).expect("committed");
        let ours = fs::read(&output).expect("built");
        let differs = ours.iter().zip(&theirs).position(|(one, other)| one != other);
        assert!(ours == theirs, "{} differs at {differs:?}", file["name"]);
        equal += 1;
    }
    assert!(equal >= 10, "only {equal} files to compare");
}

#[test]
fn what_build_writes_cat_gives_back() {
    let directory = directory();
    let output = path(&directory, "out.hfile");
    let cells = "p13-fastdiff-none-rowcol.cells.ndjson.gz";
    for flags in [
        &["--compression", "LZ4", "--bloom-type", "ROWCOL"][..],
        &["--block-size", "4KiB", "--checksum", "CRC32", "--filter", "blocked-bloom"],
    ] {
        let build = ["build", "--from", "cells", cells, "--output", &output, "--force"];
        stdout(&[&build[..], &["--includes-tags", "true"], flags].concat());
        let file = manifest().into_iter().find(|file| file["cellsFile"] == cells).expect("it");
        assert_eq!(stdout(&["cat", "--format", "cells", &output]).as_bytes(), golden_cells(&file));
    }
    let info = json(&["info", "--json", &output]);
    assert_eq!(info["filter"]["kind"], "blocked-bloom");
    assert!(info["filter"]["bits_per_key"].as_f64().expect("a number") > 7.0);
}

#[test]
fn rebuild_gives_a_file_of_hbase_another_filter_and_takes_it_out_again() {
    let directory = directory();
    let (with, without) = (path(&directory, "with.hfile"), path(&directory, "without.hfile"));
    let theirs = "s01-default.hfile";
    let rebuild = ["filter", "rebuild", theirs, "--output", &with, "--kind", "cuckoo"];
    let report = json(&[&rebuild[..], &["--bits-per-key", "18", "--json"]].concat());
    assert_eq!(report["filter"]["kind"], "cuckoo");
    let info = json(&["info", "--json", &with]);
    assert_eq!(info["filter"]["kind"], "cuckoo");
    assert_eq!(info["size"], report["size"]);
    stdout(&["verify", &with]);
    let cells = |file: &str| stdout(&["cat", "--format", "cells", file]);
    assert_eq!(cells(&with), cells(theirs));

    let (status, message) = failure(&rebuild);
    assert!(status == 3 && message.contains("exists"), "{status}: {message}");
    let (status, _) =
        failure(&[&rebuild[..], &["--force", "--budget", "1k", "--error-rate", "0.1"]].concat());
    assert_eq!(status, 2, "one sizing only");
    stdout(&["filter", "rebuild", &with, "--output", &without, "--kind", "none"]);
    assert_eq!(
        fs::read(without).expect("it was written"),
        fs::read(data().join(theirs)).expect("committed")
    );
}

#[test]
fn csv_goes_round() {
    let directory = directory();
    let (csv, output) = (path(&directory, "cells.csv"), path(&directory, "out.hfile"));
    let cells = stdout(&["cat", "--format", "csv", "s01-default.hfile"]);
    fs::write(&csv, &cells).expect("disk takes it");
    stdout(&["build", "--from", "csv", &csv, "--output", &output]);
    assert_eq!(stdout(&["cat", "--format", "csv", &output]), cells);
}

#[test]
fn cells_out_of_order_are_refused_or_sorted() {
    let directory = directory();
    let (input, output) = (path(&directory, "cells"), path(&directory, "out.hfile"));
    let sorted = fs::read_to_string(data().join("s15-extra-file-info.cells.ndjson")).expect("it");
    let backwards: Vec<&str> = sorted.lines().rev().collect();
    fs::write(&input, backwards.join("\n")).expect("disk takes it");

    let build = ["build", "--from", "cells", &input, "--output", &output];
    let (status, message) = failure(&build);
    assert_eq!(status, 3);
    assert!(message.contains("--sort"), "{message}");
    assert_eq!(entries(&directory), 1, "nothing half-made is left");

    stdout(&[&build[..], &["--sort"]].concat());
    assert_eq!(stdout(&["cat", "--format", "cells", &output]), sorted);
}

#[test]
fn nothing_is_overwritten_without_force() {
    let directory = directory();
    let output = path(&directory, "precious");
    fs::write(&output, "precious").expect("disk takes it");
    let build = ["build", "--from", "cells", "s03-one-cell.cells.ndjson", "--output", &output];
    let (status, message) = failure(&build);
    assert_eq!(status, 3);
    assert!(message.contains("precious exists already"), "{message}");
    assert!(message.contains("--force"), "{message}");
    assert_eq!(fs::read(&output).expect("still there"), b"precious");
    stdout(&[&build[..], &["--force"]].concat());
    stdout(&["info", &output]);
}

#[test]
fn an_unknown_option_is_refused_by_name() {
    let directory = directory();
    let (options, output) = (path(&directory, "spec.json"), path(&directory, "out.hfile"));
    fs::write(&options, r#"{"blockSize":2048,"blokSize":1,"seed":7}"#).expect("disk takes it");
    let input = "s03-one-cell.cells.ndjson";
    let (status, message) =
        failure(&["build", "--from", "cells", input, "--output", &output, "--options", &options]);
    assert_eq!(status, 2);
    assert!(message.contains("unknown field `blokSize`"), "{message}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_nothing_half_made() {
    let directory = directory();
    let output = path(&directory, "out.hfile");
    let mut child = command(&["build", "--from", "cells", "-", "--output", &output])
        .stdin(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let cells = fs::read(data().join("s03-one-cell.cells.ndjson")).expect("committed");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(&cells).expect("it reads");
    wait_until(|| entries(&directory) == 1);
    interrupt(&child);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert_eq!(entries(&directory), 0);
}

#[cfg(unix)]
fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill runs").success());
}

fn wait_until(mut holds: impl FnMut() -> bool) {
    for _ in 0..1000 {
        if holds() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("waited for ten seconds");
}

// --- bench ---------------------------------------------------------------------------------------

fn row<'r>(report: &'r Value, filter: &str, gets: &str) -> &'r Value {
    let rows = report["results"].as_array().expect("results");
    let row = rows.iter().find(|row| row["filter"] == filter && row["gets"] == gets);
    row.unwrap_or_else(|| panic!("{filter} {gets} in {report}"))
}

fn number(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("{name} in {row}"))
}

/// The promise of the product, by its own counters: sixteen overlapping files, 1 % filters.
#[test]
fn bench_shows_that_filters_spare_an_absent_get_nearly_all_blocks() {
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

/// All filters under one budget, over files of uneven sizes.
#[test]
fn bench_lists_every_filter_and_shares_a_budget_out() {
    let bench = ["bench", "--rows", "34000", "--gets", "4000", "--files", "8", "--json"];
    let report =
        json(&[&bench[..], &["--file-sizes", "1:4:16:64", "--bits-per-key", "7"]].concat());
    for filter in filter::FilterKind::ALL.iter().map(|kind| kind.name()) {
        let absent = row(&report, filter, "absent");
        // The bits are those of files with filters: kinds that cannot be small leave out large files.
        if ["classic-bloom", "blocked-bloom", "split-block", "ribbon"].contains(&filter) {
            assert!((6.8..7.1).contains(&number(absent, "bits_per_key")), "{absent}");
        }
        assert_eq!(row(&report, filter, "present")["found"], 4000);
    }
    let blocks = |filter| number(row(&report, filter, "absent"), "data_blocks_per_get");
    assert!(blocks("ribbon") * 3.0 < blocks("classic-bloom"), "{report}");
    // Its chunks come in powers of two, here of ten bits a row.
    assert!(blocks("ribbon") < blocks("hbase-bloom"), "{report}");
    assert!(blocks("hbase-bloom") < blocks("none"), "{report}");
}

#[test]
fn bench_takes_real_keys() {
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
    let report = json(&args);
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
fn bench_prints_a_table_and_removes_what_it_loaded() {
    let directory = directory();
    let output = command(&["bench", "--rows", "2000", "--gets", "500", "--files", "4"])
        .env("TMPDIR", directory.path())
        .output()
        .expect("the binary runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    for word in ["2,000 rows in 4 files", "bits/key", "promised", "data blocks", "ns p99"] {
        assert!(table.contains(word), "{word} in\n{table}");
    }
    assert!(output.stderr.is_empty(), "progress bars are for terminals");
    assert_eq!(entries(&directory), 0);
}

// --- store ---------------------------------------------------------------------------------------

/// A cell of row, qualifier, time and value in the cells format.
fn cell(row: &str, qualifier: &str, ts: u64, value: &str) -> String {
    let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    format!(
        "{{\"row\":\"{}\",\"family\":\"66\",\"qualifier\":\"{}\",\"ts\":{ts},\"type\":\"Put\",\"value\":\"{}\",\"seq\":0}}\n",
        hex(row),
        hex(qualifier),
        hex(value)
    )
}

/// A store with the rows `row000` to `row199`.
fn store_of_200_rows(directory: &TempDir) -> String {
    let (store, cells) = (path(directory, "store"), path(directory, "cells"));
    let lines: String =
        (0..200).map(|row| cell(&format!("row{row:03}"), "q", 1_000 + row, "v")).collect();
    fs::write(&cells, lines).expect("disk takes it");
    stdout(&["store", "create", &store, "f", "--versions", "3", "--filter", "blocked-bloom"]);
    let put = ["store", "put", &store, "f", "--from", "cells", &cells, "--ack", "--batch", "80"];
    assert_eq!(stdout(&put), "ACK 80\nACK 160\nACK 200\n");
    store
}

#[test]
fn what_is_put_into_a_store_is_there_in_the_next_process() {
    let directory = directory();
    let store = store_of_200_rows(&directory);
    let one = stdout(&["store", "get", &store, "row007"]);
    assert!(one.starts_with("K: row007/f:q/1007/Put/vlen=1/seqid="), "{one}");
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
fn a_delete_hides_and_a_major_compaction_drops() {
    let directory = directory();
    let store = store_of_200_rows(&directory);
    stdout(&["store", "delete", &store, "f", "row007"]);
    assert_eq!(hfile(&["store", "get", &store, "row007"]).status.code(), Some(1));
    let raw = ["store", "scan", &store, "--raw", "--start", "row007", "--stop", "row008"];
    assert_eq!(stdout(&raw).lines().count(), 2);
    stdout(&["store", "compact", &store, "--major"]);
    assert_eq!(stdout(&raw), "");
    assert_eq!(stdout(&["store", "scan", &store]).lines().count(), 199);
}

#[test]
fn explain_tells_which_files_were_skipped() {
    let directory = directory();
    let store = store_of_200_rows(&directory);
    stdout(&["store", "flush", &store]);
    let absent = hfile(&["store", "explain", &store, "row0070", "--json"]);
    assert_eq!(absent.status.code(), Some(1));
    let way: Value = serde_json::from_slice(&absent.stdout).expect("JSON");
    assert_eq!(way["found"], false);
    assert_eq!(way["files_considered"], 1);
    assert_eq!(way["data_blocks"], 0);
    let present = stdout(&["store", "explain", &store, "row007"]);
    assert!(present.contains("files considered"), "{present}");
    assert!(present.contains("what became of it"), "{present}");
    assert_eq!(way["families"][0]["files"][0]["fate"], "skipped: filter says no");
}

#[test]
fn a_store_takes_hfiles_in() {
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
fn a_store_that_is_not_there_or_damaged_says_so() {
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
    let (status, message) = failure(&["store", "get", &store, "row007"]);
    assert_eq!(status, 1);
    assert!(message.contains("DATA block at 0x0"), "{message}");
}
