//! `hfile store export`: what a failed export leaves.

use std::fs;
use std::path::Path;

use crate::command_line::hfile_in;
use crate::store_command::store;

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
