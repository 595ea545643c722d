//! `hfile filter`: sizes at every width, and foreign formats.

use std::fs;

use serde_json::Value;
use support::hex;
use tempfile::TempDir;

use crate::command_line::{
    data, directory, field, json, json_with, path, shows, stdout, tells, text,
};

const FORMATS: [&str; 6] =
    ["guava", "simple-bloom", "hadoop-bloom", "hadoop-counting", "hadoop-dynamic", "go-cuckoo"];

fn original(name: &str) -> Vec<u8> {
    fs::read(data().join("../originals").join(name)).expect("committed")
}

/// Writes the keys of the originals to a file of hex lines, without its comment.
fn original_keys(directory: &TempDir) -> String {
    let keys = text(&original("keys.txt"));
    let lines: Vec<_> = keys.lines().filter(|line| !line.starts_with('#')).collect();
    let keys = path(directory, "keys.hex");
    fs::write(&keys, lines.join("\n")).expect("the directory is ours");
    keys
}

/// The bytes equal those that the libraries wrote.
#[test]
fn foreign_filters_equal_those_of_their_libraries() {
    let directory = directory();
    let (keys, out) = (original_keys(&directory), path(&directory, "out"));
    let make =
        ["filter", "foreign", "make", "--input", &keys, "--hex", "--output", &out, "--force"];
    stdout(&[&make[..], &["--format", "guava", "--expected", "50"]].concat());
    assert_eq!(fs::read(&out).expect("made"), original("guava-mitz64.bloom"));

    let hadoop = text(&original("hadoop.jsonl"));
    for line in hadoop.lines() {
        let theirs: Value = serde_json::from_str(line).expect("JSON");
        let kind = field(&theirs, "kind");
        if kind == "counting" {
            continue; // Keys were deleted from it, which the command line does not do.
        }
        let format = format!("hadoop-{kind}");
        let mut args = vec!["--format", &format, "--bits", "475", "--hash-count", "7"];
        args.extend(["--hash", field(&theirs, "hash")]);
        if kind == "dynamic" {
            args.extend(["--row-keys", "20"]);
        }
        stdout(&[&make[..], &args].concat());
        assert_eq!(hex(&fs::read(&out).expect("made")), field(&theirs, "bytes"), "{line}");
    }
}

#[test]
fn foreign_filters_are_made_extended_queried_and_described() {
    let directory = directory();
    let [first, second, old, new] =
        ["first", "second", "old", "new"].map(|name| path(&directory, name));
    let lines = |from: u32| {
        let rows: Vec<_> = (from..from + 500).map(|row| format!("row{row}\r\n")).collect();
        rows.concat()
    };
    fs::write(&first, lines(0)).expect("the directory is ours");
    fs::write(&second, lines(500)).expect("the directory is ours");
    for format in FORMATS {
        let filter = ["filter", "foreign"];
        let make = [&filter[..], &["make", "--format", format, "--json", "--force"]].concat();
        let expected: &[&str] =
            if format == "simple-bloom" { &[] } else { &["--expected", "1100"] };
        json(&[&make[..], &["--input", &first, "--output", &old], expected].concat());
        let extend = ["--input", &second, "--output", &new, "--extend", &old];
        let report = json(&[&make[..], &extend].concat());
        assert_eq!((&report["schema"], &report["format"]), (&1.into(), &format.into()), "{report}");
        assert_eq!(report["bytes"], fs::metadata(&new).expect("made").len(), "{report}");

        let ask = [&filter[..], &["ask", "--format", format, "--json"]].concat();
        for keys in [&first, &second] {
            let asked = json(&[&ask[..], &[&new, "--input", keys]].concat());
            assert_eq!((&asked["asked"], &asked["maybe"]), (&500.into(), &500.into()), "{asked}");
        }
        let asked = json_with(1, &[&ask[..], &[&old, "row1", "row999", "no\\x20row"]].concat());
        assert_eq!(asked["absent"], serde_json::json!(["row999", "no row"]), "{format}");

        let info = [&filter[..], &["info", "--format", format]].concat();
        let facts = json(&[&info[..], &["--json", &new]].concat());
        for (name, value) in facts.as_object().expect("an object") {
            assert!(name == "file" || report[name] == *value, "{format}: {name} of {facts}");
        }
        if let Some(rate) = facts["error_rate"].as_f64() {
            assert!((1e-5..0.03).contains(&rate), "{facts}");
        }
        shows(0, &[&info[..], &[&new]].concat()).has(&format!("format      {format}\n"));
    }
}

#[test]
fn sizes_are_shown_at_every_width() {
    let args = ["filter", "size", "--keys", "1000000", "--json"];
    let without = json(&args);
    assert!(without["widths"].is_null(), "{without}");
    let sizes = json(&[&args[..], &["--widths"]].concat());
    let widths = sizes["widths"].as_array().expect("widths");
    assert_eq!(widths.len(), 2 * 13);
    for kind in ["cuckoo", "d-left"] {
        let of_kind: Vec<_> = widths.iter().filter(|size| size["filter"] == kind).collect();
        let bits: Vec<_> =
            of_kind.iter().map(|size| size["width"].as_u64().expect("bits")).collect();
        assert_eq!(bits, (4..=16).collect::<Vec<_>>());
        let number = |size: &Value, name: &str| size[name].as_f64().expect("a number");
        for pair in of_kind.windows(2) {
            assert!(number(pair[0], "bits_per_key") < number(pair[1], "bits_per_key"));
            assert!(
                number(pair[0], "error_rate_predicted") > number(pair[1], "error_rate_predicted")
            );
        }
    }
    // 1 % needs ten bits, not twelve.
    let filters = sizes["filters"].as_array().expect("filters");
    let cuckoo = filters.iter().find(|size| size["filter"] == "cuckoo").expect("a cuckoo filter");
    assert!(cuckoo["bits_per_key"].as_f64().expect("a number") < 10.6, "{cuckoo}");
    shows(0, &["filter", "size", "--keys", "1000000", "--widths"]).has("cuckoo     10     10.42");
}

/// The filter that a get queries: the row filter of a file that has one, otherwise HBase's.
#[test]
fn the_filter_of_a_file_has_its_predicted_error_rate() {
    let directory = directory();
    let ribbon = path(&directory, "ribbon.hfile");
    let kind = ["--kind", "ribbon", "--error-rate", "0.05"];
    stdout(&[&["filter", "rebuild", "s01-default.hfile", "--output", &ribbon], &kind[..]].concat());
    for (file, filter) in [("s01-default.hfile", "hbase-bloom"), (&ribbon, "ribbon")] {
        let report = json(&["filter", "measure", "--json", "--probes", "50000", file]);
        assert_eq!((field(&report, "filter"), field(&report, "file")), (filter, file));
        assert_eq!((&report["keys"], &report["probes"]), (&594.into(), &50_000.into()));
        assert_eq!(report["false_negatives"], 0);
        let number = |value: &Value| value.as_f64().expect("a number");
        let (predicted, measured) =
            (number(&report["error_rate_predicted"]), number(&report["error_rate_measured"]));
        assert!((predicted / 1.5..predicted * 1.5).contains(&measured), "{report}");
        let [low, high] = [0, 1].map(|at| number(&report["error_rate_interval"][at]));
        assert!(low < measured && measured < high, "{report}");
    }
    shows(0, &["filter", "measure", "--probes", "1000", &ribbon]).has_all(&[
        ": ribbon, 594 keys, 0 false negatives\n",
        " measured over 1,000 absent rows; ",
    ]);
}

/// A get that names a column asks a filter over columns twice: for the column and for deletes of the family.
#[test]
fn a_filter_over_columns_is_measured_by_columns() {
    let directory = directory();
    let columns = path(&directory, "columns.hfile");
    let bloom = ["--bloom-type", "ROWCOL", "--bloom-error-rate", "0.02"];
    let rebuild = ["filter", "rebuild", "s01-default.hfile", "--output", &columns];
    shows(0, &[&rebuild[..], &bloom].concat()).has(" false positives (2.00% asked)\n");
    let report = json(&["filter", "measure", "--json", "--probes", "200000", &columns]);
    assert_eq!((&report["query"], &report["false_negatives"]), (&"column".into(), &0.into()));
    let number = |name: &str| report[name].as_f64().expect("a number");
    let (predicted, measured) = (number("error_rate_predicted"), number("error_rate_measured"));
    assert!((predicted * 0.7..predicted * 1.4).contains(&measured), "{report}");
    let info = &json(&["info", "--json", &columns])["bloom"];
    let once = info["error_rate"].as_f64().expect("a number");
    let twice = 1.0 - (1.0 - once).powi(2);
    assert!((twice..twice * 1.2).contains(&predicted), "{predicted} of {once}");
    let bench = json(&["bench", "--json", "--gets", "500", "--hfiles", &columns]);
    let file = &bench["each_file"][0];
    assert_eq!(
        (&file["query"], &file["error_rate_promised"]),
        (&"column".into(), &predicted.into())
    );
    shows(0, &["bench", "--gets", "500", "--hfiles", &columns])
        .has("ROWCOL filters answer only gets that name columns");
}

#[test]
fn a_filter_in_a_file_of_its_own_is_made_and_queried() {
    let directory = directory();
    let keys = path(&directory, "keys.txt");
    let rows: Vec<String> = (0..3_000).map(|row| format!("key{row}")).collect();
    fs::write(&keys, rows.join("\n")).expect("the directory is ours");
    for kind in ["ribbon", "d-left"] {
        let out = path(&directory, kind);
        let make = ["filter", "make", "--kind", kind, "--error-rate", "0.001", "--input", &keys];
        let make = [&make[..], &["--output", &out]].concat();
        let report = json(&[&make[..], &["--json"]].concat());
        assert_eq!((&report["filter"], &report["keys"]), (&kind.into(), &3_000.into()));
        assert_eq!(report["size"], fs::metadata(&out).expect("written").len());
        assert!(report["error_rate"].as_f64().expect("a number") <= 0.001, "{report}");
        tells(3, &make).has("--force");
        shows(0, &["filter", "ask", &out, "--input", &keys])
            .begins_with("3,000 of 3,000 keys may be in ");
        shows(1, &["filter", "ask", &out, "key1", "absent1", "absent2", "absent3", "absent4"])
            .has("no: absent");
    }
    tells(3, &["filter", "ask", &keys, "key1"]).has("not a filter of hfile filter make");
    let go = ["filter", "foreign", "make", "--format", "go-cuckoo", "--error-rate", "0.1"];
    tells(2, &[&go[..], &["--input", &keys, "--output", "-"]].concat())
        .has("a go-cuckoo filter has no --error-rate: its fingerprints of 8 bits give about 3 %");
}
