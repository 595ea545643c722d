//! `hfile table` with `--with-wal` and `--wal-root`: each place of unflushed cells is read, or named.
//!
//! `crates/hbase-files/tests/scans/places_of_cells.rs` has the places; `data/reports/README.md` describes the
//! root directories.

use std::fs;
use std::path::Path;

use sstable::CellRef;
use support::cells::PUT;
use support::plain_log::{EntryKey, PlainLog};
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

#[test]
fn logs_that_cannot_be_listed_are_named_and_fail_only_reads_of_them() {
    let edits = "data/default/walt/83a2af9efa70f232938815b9cf317a11/recovered.edits";
    for (directory, error, status) in
        [("WALs", "cannot list it: Not a directory", 3), (edits, "is not a directory", 1)]
    {
        let copy = RootCopy::walt();
        let scan = ["scan", "walt", "--now", "1795622000000"];
        let (expected, _) = run(&copy.path(), &scan);
        fs::remove_dir_all(copy.path().join(directory)).expect("ours");
        fs::write(copy.path().join(directory), "a file").expect("ours");
        let (out, told) = run(&copy.path(), &scan);
        assert_eq!(out, expected);
        let named = format!("{directory}: {error}");
        assert!(
            told.contains(&named) && told.contains("cells that are in no store file"),
            "{told}"
        );
        let root = copy.argument();
        tells(status, &["table", "scan", "--root", &root, "walt", "--with-wal"]).has(&named);
        let (out, _) = command_line::run(status, &["table", "verify", "--root", &root, "walt"]);
        assert!(out.contains(directory), "{out}");
    }
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

/// HBase's memstore replaces the cell: `judge history` answers the later of two writes in one batch.
#[test]
fn of_two_writes_of_a_cell_in_one_batch_the_later_is_returned() {
    let (copy, other) = (RootCopy::walt(), directory());
    let root = copy.path();
    let log = root.join("WALs/localhost,41253,1795621469921/z-later-log");
    let region = "83a2af9efa70f232938815b9cf317a11";
    let mut entries = PlainLog::new();
    // The second entry is not in the order of its sequence id.
    for (sequence, row, values) in
        [(120, b"a", &["1", "2", "3"][..]), (110, b"a", &["4"]), (121, b"b", &["5", "6"])]
    {
        let key = EntryKey { region, table: "walt", sequence, write_time: 1, padding: 0 };
        let cell = |value: &&'static str| CellRef {
            row,
            qualifier: b"twice",
            value: value.as_bytes(),
            ..PUT
        };
        entries.entry(key, &values.iter().map(cell).collect::<Vec<_>>());
    }
    fs::write(log, entries.bytes).expect("disk takes it");
    let value = |text: &str, row: &str| {
        let mut found = text.lines().filter(|line| line.contains("twice") && line.contains(row));
        let line = found.next().unwrap_or_else(|| panic!("no {row} in {text}"));
        assert!(found.next().is_none(), "{text}");
        line.split(',').nth(5).expect("a value").to_owned()
    };
    let csv = ["--with-wal", "--format", "csv"];
    let output = path(&other, "export");
    let export = ["export", "walt", "--with-wal", "--to", "csv", "--output", &output];
    run(&root, &export);
    let exported: String = fs::read_dir(&output)
        .expect("a directory")
        .map(|item| item.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "csv"))
        .map(|path| fs::read_to_string(path).expect("text"))
        .collect();
    for (row, expected) in [("a,f", "3"), ("b,f", "6")] {
        let (scan, _) = run(&root, &[&["scan", "walt"], &csv[..]].concat());
        let (raw, _) = run(&root, &[&["scan", "walt", "--raw"], &csv[..]].concat());
        let (get, _) = run(&root, &[&["get", "walt", &row[..1]], &csv[..]].concat());
        for text in [&scan, &raw, &get, &exported] {
            assert_eq!(value(text, row), expected, "{row}");
        }
    }
}
