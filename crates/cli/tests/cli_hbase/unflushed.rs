//! `hfile table` with `--with-wal` and `--wal-root`: each place of unflushed cells is read, or named.
//!
//! `crates/hbase-files/tests/scans/places_of_cells.rs` has the places; `data/reports/README.md` describes the
//! root directories.

use std::fs;
use std::path::Path;

use support::root_directory::RootCopy;

use crate::command_line::{self, directory, path, tells};

/// Runs a verb of `hfile table` that must succeed; returns its output and what it told.
fn run(root: &Path, args: &[&str]) -> (String, String) {
    let root = root.to_str().expect("text");
    let args = [&["table", args[0], "--root", root][..], &args[1..]].concat();
    command_line::run(0, &args)
}

#[test]
fn recovered_hfiles_are_read_with_wal_and_named_without() {
    let copy = RootCopy::recovered_hfiles();
    let count = ["scan", "walt", "--count", "--now", "1795622000000"];
    let (out, told) = run(&copy.path(), &[&count[..], &["--with-wal"]].concat());
    assert!(out.contains("77 cells"), "{out}");
    let no_meta = "data/hbase/meta: is missing; the key ranges of the directories decide which regions count\n";
    assert!(told.ends_with(no_meta) && told.lines().count() == 1, "{told}");
    let (_, told) = run(&copy.path(), &count);
    let hint = "hfile: 4 recovered HFiles may have cells that are in no store file; --with-wal reads them too\n";
    assert!(told.contains(no_meta) && told.ends_with(hint), "{told}");
    let (info, _) = run(&copy.path(), &["info", "walt", "--json"]);
    assert!(info.contains("f/recovered.hfiles/8ee5713cce14451a91a9c4f1f45bcbd3"), "{info}");
    let (verified, _) = run(&copy.path(), &["verify", "walt", "--json"]);
    assert!(verified.contains("\"files\":10"), "{verified}");
}

#[test]
fn without_a_directory_of_logs_with_wal_is_refused() {
    let (copy, logs) = (RootCopy::walt(), directory());
    let (root, wal_root) = (copy.path(), path(&logs, "logs"));
    fs::create_dir(&wal_root).expect("disk takes it");
    fs::rename(root.join("WALs"), Path::new(&wal_root).join("WALs")).expect("disk takes it");
    let shown = root.to_str().expect("text");
    for verb in [&["scan", "walt"][..], &["get", "walt", "app"]] {
        let args = [&["table"], verb, &["--root", shown, "--with-wal"]].concat();
        tells(2, &args).has("has no WALs; if the setting hbase.wal.dir");
        let found = run(&root, &[verb, &["--with-wal", "--wal-root", &wal_root]].concat());
        assert!(!found.0.is_empty());
        assert_eq!(found.1, "");
    }
    let (info, _) = run(&root, &["info", "walt", "--wal-root", &wal_root]);
    assert!(info.contains("1795621474690 (may have cells"), "{info}");
    let (_, told) = run(&root, &["verify", "walt", "--wal-root", &wal_root]);
    assert!(told.contains("1 write-ahead log not checked"), "{told}");
    let wrong = ["table", "scan", "walt", "--root", shown, "--wal-root", shown];
    tells(3, &wrong).has("it has no WALs");
}
