//! `hfile table` with `--with-wal` and `--wal-root`: each place of unflushed cells is read, or named.
//!
//! `crates/directories/tests/places_of_cells.rs` has the places; `data/reports/README.md` describes the
//! root directories.

#[path = "support/command_line.rs"]
mod command_line;

use std::fs;
use std::path::Path;

use support::root_directory::RootCopy;

use command_line::{directory, failure, hfile, path, text};

/// Runs a verb of `hfile table` that must succeed; returns its output and what it told.
fn run(root: &Path, args: &[&str]) -> (String, String) {
    let root = root.to_str().expect("text");
    let args = [&["table", args[0], "--root", root][..], &args[1..]].concat();
    let output = hfile(&args);
    let (out, told) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "hfile {args:?}: {told}");
    (out, told)
}

#[test]
fn recovered_hfiles_are_read_with_wal_and_named_without() {
    let copy = RootCopy::recovered_hfiles();
    let count = ["scan", "walt", "--count", "--now", "1795622000000"];
    let (out, told) = run(&copy.path(), &[&count[..], &["--with-wal"]].concat());
    assert!(out.contains("77 cells"), "{out}");
    assert_eq!(told, "");
    let (_, told) = run(&copy.path(), &count);
    let hint = "hfile: 4 recovered HFiles may have cells that are in no store file; --with-wal reads them too\n";
    assert_eq!(told, hint);
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
        let (status, told) = failure(&args);
        assert_eq!(status, 2, "{told}");
        assert!(told.contains("has no WALs; if the setting hbase.wal.dir"), "{told}");
        let found = run(&root, &[verb, &["--with-wal", "--wal-root", &wal_root]].concat());
        assert!(!found.0.is_empty());
        assert_eq!(found.1, "");
    }
    let (info, _) = run(&root, &["info", "walt", "--wal-root", &wal_root]);
    assert!(info.contains("1795621474690 (may have cells"), "{info}");
    let (_, told) = run(&root, &["verify", "walt", "--wal-root", &wal_root]);
    assert!(told.contains("1 write-ahead log not checked"), "{told}");
    let wrong = ["table", "scan", "walt", "--root", shown, "--wal-root", shown];
    let (status, told) = failure(&wrong);
    assert_eq!(status, 3, "{told}");
    assert!(told.contains("it has no WALs"), "{told}");
}

#[test]
fn a_log_without_bytes_is_named() {
    let copy = RootCopy::walt();
    let server = copy.path().join("WALs/localhost,41253,1795621469921");
    let log = server.join("localhost%2C41253%2C1795621469921.1795621474690");
    fs::write(log, b"").expect("disk takes it");
    for args in [
        &["scan", "walt", "--with-wal"][..],
        &["scan", "walt"],
        &["verify", "walt"],
        &["info", "walt"],
    ] {
        let (_, told) = run(&copy.path(), args);
        assert!(told.contains("1795621474690: the log has no bytes; HDFS"), "{args:?}: {told}");
    }
}
