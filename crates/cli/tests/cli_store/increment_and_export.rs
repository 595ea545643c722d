//! `hfile store`: increment, append, checkpoint and export.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::command_line::hfile_in;
use crate::store_command::store;

#[test]
fn increment_adds_and_append_appends_to_the_stored_value() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    store(directory, &["create", "s", "f"]);
    assert_eq!(store(directory, &["increment", "s", "f", "page", "visits"]), "1\n");
    assert_eq!(store(directory, &["increment", "s", "f", "page", "visits", "--amount=-5"]), "-4\n");
    for suffix in ["Ada", " Lovelace"] {
        store(directory, &["append", "s", "f", "row1", "name", suffix]);
    }
    assert!(store(directory, &["get", "s", "row1"]).contains("V: Ada Lovelace"));
    let refused = hfile_in(directory, &["store", "increment", "s", "f", "row1", "name"]);
    assert_eq!(refused.status.code(), Some(3), "twelve bytes are no number");
    assert!(store(directory, &["get", "s", "row1"]).contains("V: Ada Lovelace"));
}

#[test]
fn a_checkpoint_is_independent_and_an_export_has_a_file_per_split() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    store(directory, &["create", "s", "f"]);
    for row in ["a", "m", "z"] {
        store(directory, &["append", "s", "f", row, "q", "before"]);
    }
    store(directory, &["checkpoint", "s", "backup"]);
    store(directory, &["append", "s", "f", "a", "q", ", after"]);
    assert!(store(directory, &["get", "s", "a"]).contains("V: before, after"));
    assert!(store(directory, &["get", "backup", "a"]).ends_with("V: before\n"));

    let said = store(directory, &["export", "s", "out", "--splits", "m", "--table", "t"]);
    assert!(
        said.contains("\n  create 't', {NAME => 'f', ") && said.contains("SPLITS => ['m']"),
        "{said}"
    );
    assert!(!said.contains("FAMILY_MAP"), "HBase has no such setting: {said}");
    assert!(said.contains("completebulkload") && said.trim_end().ends_with("out t"), "{said}");
    let files = fs::read_dir(directory.join("out/f")).expect("the family has a directory");
    let mut rows: Vec<String> = files
        .map(|file| {
            let path = file.expect("it is there").path();
            let cells =
                hfile_in(directory, &["cat", path.to_str().expect("text"), "--format", "csv"]);
            let cells = String::from_utf8(cells.stdout).expect("output is text");
            cells.lines().skip(1).map(|line| &line[..1]).collect()
        })
        .collect();
    rows.sort();
    assert_eq!(rows, ["a", "mz"], "a file for each region");
    let again = hfile_in(directory, &["store", "export", "s", "out"]);
    assert!(!again.status.success(), "files that are there are not written over");
}

/// Returns all paths below a directory, with the contents of text files.
fn tree(directory: &Path) -> Vec<(String, Option<String>)> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(directory) else { return found };
    for entry in entries {
        let path = entry.expect("readable").path();
        found.push((path.display().to_string(), fs::read_to_string(&path).ok()));
        found.extend(tree(&path));
    }
    found.sort();
    found
}

#[test]
fn a_failed_export_changes_nothing() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    for family in ["f", "g", "h"] {
        store(directory, &["create", "s", family]);
        store(directory, &["append", "s", family, "row", "q", "value"]);
    }
    store(directory, &["flush", "s"]);
    fs::create_dir_all(directory.join("outs/shared/other")).expect("free");
    fs::create_dir_all(directory.join("outs/shared/g")).expect("free");
    fs::write(directory.join("outs/shared/other/file"), "theirs").expect("free");
    fs::create_dir_all(directory.join("outs/taken")).expect("free");
    fs::write(directory.join("outs/taken/h"), "theirs").expect("free");

    // The second of three families cannot be read.
    let mut stored = fs::read_dir(directory.join("s/g")).expect("the family has a directory");
    let file = stored.next().expect("it was flushed").expect("readable").path();
    let sound = fs::read(&file).expect("readable");
    let mut damaged = sound.clone();
    damaged[40] ^= 1;
    fs::write(&file, damaged).expect("writable");
    for (out, status) in
        [("outs/new", 1), ("outs/new/of/three", 1), ("outs/shared", 1), ("outs/taken", 3)]
    {
        let before = tree(&directory.join("outs"));
        let failed = hfile_in(directory, &["store", "export", "s", out]);
        let said = String::from_utf8_lossy(&failed.stderr);
        assert_eq!(failed.status.code(), Some(status), "{out}: {said}");
        assert_eq!(
            said.contains("outs/taken/h: exists and is not an empty directory"),
            out == "outs/taken",
            "{said}"
        );
        assert_eq!(tree(&directory.join("outs")), before, "{out}: {said}");
    }

    fs::write(&file, sound).expect("writable");
    store(directory, &["export", "s", "outs/shared"]);
    let shared = directory.join("outs/shared");
    for family in ["f", "g", "h"] {
        let files = fs::read_dir(shared.join(family)).expect("it is there");
        assert_eq!(files.count(), 1, "{family}");
    }
    assert_eq!(fs::read_dir(&shared).expect("it is there").count(), 4);
    assert_eq!(fs::read(shared.join("other/file")).expect("it stays"), b"theirs");
}

/// A limit on file sizes is below the size of an exported file.
#[cfg(unix)]
#[test]
fn an_export_without_disk_space_leaves_nothing() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    store(directory, &["create", "s", "f"]);
    store(directory, &["append", "s", "f", "row", "q", "value"]);
    let failed = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 2; exec \"$0\" store export s outs/out"])
        .arg(env!("CARGO_BIN_EXE_hfile"))
        .current_dir(directory)
        .output()
        .expect("there is a shell");
    let said = String::from_utf8_lossy(&failed.stderr);
    assert_eq!(failed.status.code(), Some(3), "{said}");
    assert!(said.contains("cannot write"), "{said}");
    let left =
        fs::read_dir(directory).expect("readable").map(|entry| entry.expect("readable").path());
    assert_eq!(left.collect::<Vec<_>>(), [directory.join("s")], "{said}");
}
