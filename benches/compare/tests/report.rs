//! The report of `compare`: every figure and ratio is in a chart and a table, and the page needs no other file.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

/// Runs `compare` in a directory; returns what it printed.
fn compare(arguments: &[&str], directory: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_compare"));
    let output = command.args(arguments).current_dir(directory).output().expect("compare starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn read(directory: &Path, name: &str) -> String {
    std::fs::read_to_string(directory.join(name)).expect("the file exists")
}

/// Returns the text between the two parts that enclose it.
fn between<'p>(text: &'p str, before: &str, after: &str) -> &'p str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no {before} in {text}"));
    rest.split_once(after).unwrap_or_else(|| panic!("no {after} after {before}")).0
}

/// Checks that the page has a row for each figure of the run, and for each get in the chart.
fn check(page: &str, run: &Value) {
    for address in ["http:", "https:", "//", "<script", "@import", "url("] {
        assert!(!page.contains(address), "the page has {address}");
    }
    let figures = run["figures"].as_array().expect("figures");
    let table = between(page, "aria-label=\"All figures\">", "</table>");
    let rows: Vec<_> = table.split("<tr>").skip(2).collect();
    assert_eq!(rows.len(), figures.len(), "each figure has a row");
    for (figure, row) in figures.iter().zip(rows) {
        let cells: Vec<_> = row.split("<td>").map(|cell| cell.split('<').next()).collect();
        assert_eq!(cells[4], figure["contender"].as_str(), "{row}");
        let samples = figure["wall"].as_array().expect("samples");
        let median = workload::median(samples.iter().filter_map(Value::as_f64));
        let shown = format!("{median:.1} {}", figure["unit"].as_str().expect("a unit"));
        assert_eq!(cells[7], Some(&*shown), "{row}");
    }
    let is_get = |figure: &&Value| {
        figure["work"].as_str().expect("text").ends_with(" get") && figure["threads"] == 1
    };
    let chart = between(page, "<figure id=\"gets\">", "</figure>");
    assert_eq!(chart.matches("class=\"point\"").count(), figures.iter().filter(is_get).count());
}

#[test]
fn a_run_prints_its_figures_and_the_report_shows_each() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let directory = directory.path();
    let small = ["--quick", "--rows", "4000", "--rounds", "5", "--directory", "."];
    let outputs = ["--json", "run.json", "--report", "run.html"];
    let text = compare(&[&small[..], &outputs].concat(), directory);
    assert_eq!(std::fs::read_dir(directory).expect("ours").count(), 2, "stores were left");
    let mut run: Value = serde_json::from_str(&read(directory, "run.json")).expect("JSON");
    assert_eq!(run["is_finished"], true);
    let page = read(directory, "run.html");
    assert!(!page.contains("id=\"unfinished\""), "the run completed");
    check(&page, &run);
    assert!(text.starts_with("* "), "the settings come first: {text}");
    for work in [
        "fill | many files",
        "bytes on disk | levelled",
        "open | one run",
        "present get | many files",
        "absent get | levelled",
        "scan | one run",
        "absent get of equal rows in 64 files | many files",
        "absent get, equal rows in 64 files over 4 | ours, default | ours, default",
        "fill, levelled, with a map over without | ours, default | ours, blocked Bloom, map off",
        "share of files that no map covers, levelled, 5 s later | ours, default",
    ] {
        assert!(text.contains(&format!("\n| {work} |")), "{work}: {text}");
    }

    // A record of an unfinished run on a busy machine, in which another engine took part.
    let absent = |contender: &str, wall: [f64; 3]| {
        json!({
            "contender": contender, "work": "absent get", "shape": "many-files", "rows": 4000,
            "cache": "all", "threads": 1, "unit": "ns", "wall": wall
        })
    };
    run["figures"] = json!([
        absent("ours, default", [240.0, 300.0, 312.0]),
        absent("fjall, Bloom", [1200.0; 3]),
    ]);
    run["stages"] = json!([{"name": "many files, read", "seconds": 300.0, "other_load": 0.3}]);
    run["is_finished"] = false.into();
    std::fs::write(directory.join("run.json"), run.to_string()).expect("the disk has room");
    compare(&["--from", "run.json", "--report", "run.html"], directory);
    let page = read(directory, "run.html");
    check(&page, &run);
    for text in [
        "Unfinished: the page has the figures up to “many files, read”.",
        "others took 0.30 processors",
        "class=\"headline\">Ours is ahead in 1 of 1 comparisons.</p>",
        "<tr><th colspan=\"6\">ours over fjall</th></tr>",
        "<td>0.25</td><td>0.23 – 0.26</td><td>0.18</td><td>missed</td>",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
}
