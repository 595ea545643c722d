//! Logs of regions that are gone altogether: reads of the logs miss them, by what `hbase:meta` says of the openings.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use support::root_directory::{RootCopy, data, unpack};

use crate::command_line::{directory, hfile, run, text};

/// Changes a root directory with one log.
type Change<'c> = &'c dyn Fn(&Path, &Path);

const LOST: &str = "the logs of region ";

/// Returns the files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let items = fs::read_dir(directory).expect("readable").map(|item| item.expect("it").path());
    items.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Returns the logs of a root directory, without the logs of `hbase:meta`.
fn logs(root: &Path) -> Vec<PathBuf> {
    let mut logs = files(&root.join("WALs"));
    logs.retain(|log| log.extension().is_none_or(|extension| extension != "meta"));
    assert!(!logs.is_empty());
    logs
}

/// Removes the logs of a root directory, and leaves the logs of `hbase:meta`.
fn lose_logs(root: &Path) {
    for log in logs(root) {
        fs::remove_file(log).expect("ours");
    }
}

/// Returns how many regions of a table miss their logs in a scan, which must say so by its status, and in a check.
#[track_caller]
fn missed(root: &str, table: &str) -> (usize, usize) {
    let scan = hfile(&["table", "scan", "--root", root, table, "--count", "--with-wal"]);
    let verified = hfile(&["table", "verify", "--root", root, table]);
    let (told, found) = (text(&scan.stderr), text(&verified.stdout));
    let in_scan = told.matches(LOST).count();
    assert_eq!(told.matches("hfile: missing: ").count(), in_scan, "{told}");
    assert_eq!(scan.status.code(), Some(i32::from(in_scan > 0)), "{table}: {told}");
    assert_eq!(verified.status.code(), Some(i32::from(in_scan > 0)), "{table}: {found}");
    (in_scan, found.matches(LOST).count())
}

/// Returns the tables of a root directory that are there, and the number of their regions.
fn tables(root: &str) -> Vec<(String, usize)> {
    let (listed, _) = run(0, &["table", "ls", "--root", root, "--json"]);
    let tables = listed.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let tables = tables.filter_map(|table| {
        let regions = usize::try_from(table["regions"].as_u64()?).ok()?;
        Some((table["table"].as_str()?.to_owned(), regions))
    });
    tables.filter(|(name, regions)| name != "hbase:meta" && *regions > 0).collect()
}

#[test]
fn lost_logs_are_missed_for_each_open_region_of_each_table_and_for_no_other() {
    let releases = data().join("../old-releases");
    for release in ["2.1.10", "2.4.18"] {
        let place = directory();
        unpack(&releases.join(format!("{release}.tar.gz")), place.path());
        let root = place.path().join("root");
        let shown = root.to_str().expect("UTF-8");
        let tables = tables(shown);
        for (name, _) in &tables {
            assert_eq!(missed(shown, name), (0, 0), "{release} {name}");
        }
        lose_logs(&root);
        for (name, regions) in tables {
            // HBase closes the regions of a disabled table.
            let expected = if name == "x" { 0 } else { regions };
            assert_eq!(missed(shown, &name), (expected, expected), "{release} {name}");
        }
    }
    for copy in [RootCopy::walt(), RootCopy::new(), RootCopy::merged_2_1()] {
        let tables = tables(&copy.argument());
        lose_logs(&copy.path());
        for (name, regions) in tables {
            assert_eq!(missed(&copy.argument(), &name), (regions, regions), "{name}");
        }
    }
}

#[test]
fn each_read_of_lost_logs_says_so_and_a_read_without_logs_does_not() {
    let (copy, place) = (RootCopy::walt(), directory());
    lose_logs(&copy.path());
    let root = copy.argument();
    let output = place.path().join("out").display().to_string();
    let export = ["export", "--to", "cells", "--output", &output, "--root", &root, "walt"];
    let told_of = |verb: &[&str], status| run(status, &[&["table"], verb].concat()).1;
    for (verb, expected) in [
        (&["scan", "--root", &root, "walt"][..], 2),
        (&["get", "--root", &root, "walt", "app"], 1),
        (&["scan", "--root", &root, "walt", "--stop", "a", "--threads", "2"], 1),
        (&["scan", "--root", &root, "walt", "--family", "f", "--start", "k"], 1),
        (&export, 2),
        (&export, 2),
    ] {
        let told = told_of(&[verb, &["--with-wal"]].concat(), 1);
        assert_eq!(told.matches(LOST).count(), expected, "{verb:?}: {told}");
    }
    let manifest = fs::read(place.path().join("out/manifest.json")).expect("written");
    let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
    assert_eq!(manifest["complete"], Value::Bool(false), "{manifest}");
    let told = told_of(&["scan", "--root", &root, "walt"], 0);
    assert!(!told.contains(LOST), "{told}");
    // Without the directory, a read of logs is refused.
    fs::remove_dir_all(copy.path().join("WALs")).expect("ours");
    let told = told_of(&["scan", "--root", &root, "walt", "--with-wal"], 2);
    assert!(told.contains("has no WALs") && !told.contains(LOST), "{told}");
}

#[test]
fn logs_that_hbase_has_moved_split_or_emptied_are_not_missed() {
    const SERVER: &str = "localhost,41253,1795621469921";
    let change = |change: Change<'_>| {
        let copy = RootCopy::walt();
        let [log] = &logs(&copy.path())[..] else { panic!("one log") };
        change(&copy.path(), log);
        missed(&copy.argument(), "walt")
    };
    let rename = |from: &Path, to: &Path| {
        fs::create_dir_all(to.parent().expect("a directory")).expect("ours");
        fs::rename(from, to).expect("ours");
    };
    let name = |log: &Path| log.file_name().expect("a name").to_owned();
    let recovered = |root: &Path, change: &dyn Fn(&Path)| {
        let regions = files(&root.join("data/default/walt")).into_iter();
        let regions = regions.filter(|file| file.ends_with(".regioninfo"));
        regions.for_each(|file| change(&file.with_file_name("recovered.edits")));
    };
    assert_eq!(change(&|_, log| fs::remove_file(log).expect("ours")), (2, 2));
    let sound: [Change<'_>; 7] = [
        &|root, log| rename(log, &root.join("oldWALs").join(name(log))),
        &|root, log| rename(log, &root.join("oldWALs").join(SERVER).join(name(log))),
        &|root, log| {
            rename(log, &root.join(format!("WALs/{SERVER}-splitting")).join(name(log)));
        },
        &|_, log| fs::write(log, "").expect("ours"),
        &|root, log| {
            let edits = |directory: &Path| {
                fs::copy(log, directory.join("0000000000000000042")).expect("ours");
            };
            recovered(root, &edits);
            fs::remove_file(log).expect("ours");
        },
        // Closed by a server that stopped, whose logs are not needed.
        &|root, log| {
            let close =
                |directory: &Path| rename(&directory.join("1.seqid"), &directory.join("2.seqid"));
            recovered(root, &close);
            fs::remove_file(log).expect("ours");
        },
        // Not known to have been opened.
        &|root, log| {
            recovered(root, &|directory| fs::remove_file(directory.join("1.seqid")).expect("ours"));
            fs::remove_file(log).expect("ours");
        },
    ];
    for (number, sound) in sound.into_iter().enumerate() {
        assert_eq!(change(sound), (0, 0), "case {number}");
    }
}
