//! `hfile filter`: sizes at every width, and foreign formats.

use std::fs;

use serde_json::Value;
use support::hex;
use tempfile::TempDir;

use crate::command_line::{data, directory, field, json, path, shows, stdout, text};

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
