//! `hfile snapshot export --to hfiles`, `hfile table export --to hfiles`: HBase loads what they write.
//!
//! The expected cells are those that HBase read from the snapshot or served as the table.

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{gunzip, hex, judge, root_directory, say};
use tempfile::TempDir;

use crate::command_line::{directory, entries, json, path};

/// An export, and the table that HBase loads it into.
struct Load {
    /// The arguments after `hfile`, without the arguments for the place and the output.
    export: &'static [&'static str],
    /// A file of `data/snapshots`.
    truth: &'static str,
    /// Where the new table is split.
    splits: &'static [&'static str],
    /// More arguments of `judge bulkload`.
    load: &'static [&'static str],
    /// Whether HBase has to cut files of ours, because a new region begins between their rows.
    is_cut: bool,
}

const ALL_VERSIONS: &[&str] = &["--versions", "2147483647", "--max-versions", "2147483647"];

const LOADS: [Load; 5] = [
    // References to halves; the new regions are the regions of the old table.
    Load {
        export: &["snapshot", "s2"],
        truth: "s2.cells.ndjson.gz",
        splits: &["row-01000", "row-01500", "row-02000"],
        load: ALL_VERSIONS,
        is_cut: false,
    },
    // Cells that are only in logs; the new regions are others.
    Load {
        export: &["table", "t1", "--with-wal", "--max-file-size", "20KiB"],
        truth: "t1.live.ndjson.gz",
        splits: &["row-00321", "row-01777"],
        load: ALL_VERSIONS,
        is_cut: true,
    },
    // Values of MOB files become plain values.
    Load {
        export: &["snapshot", "s5", "--max-file-size", "16KiB"],
        truth: "s5.cells.ndjson.gz",
        splits: &["row-00200"],
        load: ALL_VERSIONS,
        is_cut: false,
    },
    // All kinds of delete markers, and the cells that they delete.
    Load {
        export: &["snapshot", "s4", "--raw", "--threads", "2"],
        truth: "s4.raw.ndjson.gz",
        splits: &["row-01111"],
        load: &["--raw", "--versions", "2147483647", "--max-versions", "3"],
        is_cut: true,
    },
    // As the families' schema shows them, before and after HBase compacts our files.
    Load {
        export: &["snapshot", "s6", "--raw"],
        truth: "s6.cells.ndjson.gz",
        splits: &["row-00200"],
        load: &["--versions", "2147483647", "--max-versions", "1", "--compact"],
        is_cut: false,
    },
];

/// Exports, has HBase load the whole directory, and returns the numbers of files and cells.
fn load(root: &Path, directory: &TempDir, load: &Load) -> (usize, u64) {
    let [noun, name, more @ ..] = load.export else { panic!("a noun and a name") };
    let out = path(directory, &format!("out-{}", entries(directory)));
    let root = root.to_str().expect("UTF-8");
    let export = [noun, "export", "--root", root, name, "--to", "hfiles", "--output", &out];
    let report = json(&[&export[..], more, &["--json"]].concat());

    let families: Vec<String> = fs::read_dir(&out)
        .expect("written")
        .map(|entry| entry.expect("readable"))
        .filter(|entry| entry.file_type().expect("readable").is_dir())
        .map(|entry| entry.file_name().into_string().expect("text"))
        .collect();
    let truth = path(directory, "truth.ndjson");
    let cells = gunzip(&root_directory::data().join(load.truth));
    fs::write(&truth, cells).expect("the directory is ours");
    let splits: Vec<_> = load.splits.iter().map(|row| hex(row.as_bytes())).collect();
    let (families, splits) = (families.join(","), splits.join(","));
    let common = ["bulkload", &out, "--whole", "--family", &families, "--splits", &splits];
    let answer = judge::ask(&[&common[..], load.load, &["--expect", &truth]].concat());
    let what = format!("hfile {}", load.export.join(" "));
    assert_eq!(answer["ok"], true, "{what}: {answer:#}");
    let files = report["files"].as_u64().expect("a count");
    assert_eq!(answer["files"], Value::from(files), "{what}: all files are found: {answer:#}");
    // HBase counts a file that it cuts and both its halves.
    let loaded = answer["loaded"].as_u64().expect("a count");
    assert_eq!(loaded > files, load.is_cut, "{what}: {answer:#}");
    (files.try_into().expect("few"), answer["scan"]["cells"].as_u64().expect("a count"))
}

#[test]
fn a_running_hbase_loads_exported_tables_and_returns_every_cell() {
    if !judge::is_enabled("hfile export --to hfiles") {
        return;
    }
    let root = root_directory::RootCopy::new();
    let directory = directory();
    let (mut files, mut cells) = (0, 0);
    for each in &LOADS {
        let (loaded, scanned) = load(&root.path(), &directory, each);
        files += loaded;
        cells += scanned;
    }
    let exports = LOADS.len();
    say(&format!(
        "hfile export --to hfiles: {exports} of {exports} exports, {files} files, are bulk loaded by HBase, \
         which answers with all {cells} cells"
    ));
}
