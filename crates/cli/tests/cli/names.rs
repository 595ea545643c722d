//! Names of files, snapshots and parts of files reach a terminal without control characters.
#![cfg(unix)]

use std::fs;
use std::path::Path;

use support::root_directory::RootCopy;

use crate::command_line::{data, directory, hfile, path, text};

/// Clears a screen, and begins a line that this program did not write.
const NAME: &str = "a\u{1b}[2J\u{9b}31m\nhfile: fake\r.hfile";

/// Runs a command, and returns what it printed, which must be printable.
fn printed(args: &[&str]) -> String {
    let output = hfile(args);
    let all = text(&output.stdout) + &text(&output.stderr);
    let is_odd = |letter: char| letter.is_control() && letter != '\n';
    assert!(!all.contains(is_odd), "hfile {args:?}: {all:?}");
    let is_fake = |line: &str| line.trim_start().starts_with("hfile: fake");
    assert!(!all.lines().any(is_fake), "hfile {args:?}: {all:?}");
    all
}

fn replace(file: &Path, old: &[u8], new: &[u8]) {
    let mut bytes = fs::read(file).expect("there");
    let at = bytes.windows(old.len()).rposition(|found| found == old).expect("it is there");
    bytes[at..at + new.len()].copy_from_slice(new);
    fs::write(file, bytes).expect("ours");
}

#[test]
fn names_of_files_have_no_control_characters() {
    let directory = directory();
    let family = path(&directory, "family");
    fs::create_dir(&family).expect("ours");
    let file = path(&directory, &format!("family/{NAME}"));
    fs::copy(data().join("s01-default.hfile"), &file).expect("ours");
    let other = path(&directory, "family/b.hfile");
    fs::copy(data().join("s01-default.hfile"), &other).expect("ours");
    let (out, csv) = (path(&directory, "out.hfile"), path(&directory, "csv"));
    let verbs: [&[&str]; 12] = [
        &["info", &file],
        &["info", "--all", &family],
        &["info", "--list", &family],
        &["layout", &file],
        &["verify", "--verbose", &family],
        &["stats", &family],
        &["find", &family, "row0000000738"],
        &["get", "--explain", &family, "row0000000738"],
        &["diff", &file, &other],
        &["salvage", &file, "--output", &out, "--force"],
        &["recompress", &file],
        &["export", "--to", "csv", "--output", &csv, &file],
    ];
    for verb in verbs {
        assert!(!printed(verb).is_empty());
    }
    let mut bytes = fs::read(&file).expect("there");
    bytes[100] ^= 1;
    fs::write(&file, bytes).expect("ours");
    for verb in verbs {
        printed(verb);
    }
    assert!(printed(&["cat", &file]).contains("a\\x1B[2J\\xC2\\x9B31m\\x0Ahfile: fake\\x0D.hfile"));
    replace(Path::new(&file), b"Comparator", b"Compa\x1b[2J\n");
    for verb in verbs {
        printed(verb);
    }
}

#[test]
fn names_of_tables_and_snapshots_have_no_control_characters() {
    let copy = RootCopy::new();
    let root = copy.path();
    let snapshots = root.join(".hbase-snapshot");
    // The name in a description, and the name of a directory.
    replace(&snapshots.join("s6/.snapshotinfo"), b"s6", b"\x1b\n");
    fs::rename(snapshots.join("s7"), snapshots.join(NAME)).expect("ours");
    fs::create_dir_all(snapshots.join(".tmp").join(NAME)).expect("ours");
    let table = root.join("data/default/t1/.tabledesc");
    let table = fs::read_dir(table).expect("there").next().expect("a file").expect("it").path();
    replace(&table, b"\x04NONE", b"\x04\x1b[2\n");
    let region = fs::read_dir(root.join("data/default/t1")).expect("there");
    let region = region.map(|item| item.expect("it").path());
    let region = region.into_iter().find(|path| path.join("f1").exists()).expect("a region");
    fs::write(region.join("f1").join(NAME), b"x").expect("ours");
    let root = root.to_str().expect("UTF-8");
    for verb in [
        &["snapshot", "ls", "--root", root][..],
        &["snapshot", "info", "--root", root, NAME],
        &["snapshot", "info", "--root", root, "s6"],
        &["snapshot", "scan", "--root", root, "nothing"],
        &["snapshot", "verify", "--root", root, "s6"],
        &["table", "ls", "--root", root],
        &["table", "info", "--root", root, "t1"],
        &["table", "verify", "--root", root, "t1"],
        &["table", "scan", "--root", root, "t1", "--count"],
        &["verify", root],
    ] {
        assert!(!printed(verb).is_empty(), "{verb:?}");
    }
}
