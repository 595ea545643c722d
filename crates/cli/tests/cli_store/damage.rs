//! `hfile store verify` and `salvage` of damaged stores, and the lock between processes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use support::cells::put_line;
use support::files_below;

use crate::command_line::{hfile_in, objects};
use crate::store_command::{hfile, run, shows, store, tells};

/// Returns the JSON objects of damaged parts.
fn damaged(lines: &str) -> Vec<Value> {
    objects(lines).into_iter().filter(|part| part["ok"] == false).collect()
}

/// Creates a store with two files of one row each, and a third row in the log.
fn filled(directory: &Path, name: &str) -> Vec<PathBuf> {
    store(directory, &["create", name, "f"]);
    for row in ["row1", "row2"] {
        store(directory, &["append", name, "f", row, "q", "value"]);
        store(directory, &["flush", name]);
    }
    store(directory, &["append", name, "f", "row3", "q", "value"]);
    files_below(&directory.join(name).join("f"))
}

fn rows(directory: &Path, name: &str) -> Vec<String> {
    let out = store(directory, &["scan", name, "f", "--format", "csv"]);
    out.lines().skip(1).map(|line| line[..4].to_owned()).collect()
}

/// Checks that verify and salvage report `what` for the file; returns the saved rows.
fn judge(directory: &Path, file: &Path, what: &str) -> Vec<String> {
    let name = file.file_name().and_then(|name| name.to_str()).expect("text");
    let wrong = damaged(&run(1, directory, &["verify", "s", "--json"]).0);
    assert!(
        wrong.iter().any(|part| {
            part["file"].as_str().is_some_and(|file| file.ends_with(name))
                && part["errors"].to_string().contains(what)
        }),
        "{what}: {wrong:?}"
    );
    let _ = fs::remove_dir_all(directory.join("saved"));
    let salvaged = hfile(directory, &["salvage", "s", "saved", "--json"]);
    assert!(!salvaged.stdout.is_empty(), "{salvaged:?}");
    store(directory, &["verify", "saved"]);
    rows(directory, "saved")
}

#[test]
fn store_files_that_are_not_the_listed_ones_are_refused_and_salvaged() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    let ours = filled(directory, "s");
    let theirs = filled(directory, "other");
    let whole = [&ours[0], &ours[1]].map(|file| fs::read(file).expect("sound"));
    let sound = store(directory, &["verify", "s", "--json"]);
    let parts = objects(&sound).into_iter().filter(|part| part["part"] == "store-file");
    assert_eq!(parts.count(), 2, "{sound}");
    let refused = |what: &str| {
        tells(1, directory, &["get", "s", "row1"]).has_all(&[what, "hfile store salvage"]);
    };

    fs::write(&ours[0], &whole[1]).expect("writable");
    fs::write(&ours[1], &whole[0]).expect("writable");
    refused("its id is");
    assert_eq!(judge(directory, &ours[0], "its id is"), ["row1", "row2", "row3"]);
    shows(0, directory, &["salvage", "s", "again"]).has("found under the name");

    fs::write(&ours[1], &whole[1]).expect("writable");
    fs::copy(&theirs[0], &ours[0]).expect("writable");
    refused("its id is");
    assert_eq!(judge(directory, &ours[0], "its id is").len(), 2);

    fs::write(&ours[0], &whole[0][..whole[0].len() - 1]).expect("writable");
    refused("its length is");
    assert_eq!(judge(directory, &ours[0], "its length is").len(), 2);

    fs::write(&ours[0], [&whole[0][..], b"more"].concat()).expect("writable");
    refused("its length is");
    assert_eq!(judge(directory, &ours[0], "its length is").len(), 3);

    // A file of an older copy of the store, from before all files were merged into this one.
    fs::write(&ours[0], &whole[0]).expect("writable");
    store(directory, &["compact", "s", "--major"]);
    let merged = files_below(&directory.join("s/f")).pop().expect("one file");
    fs::write(&merged, &whole[0]).expect("writable");
    refused("is not the file that the manifest lists");
    fs::write(directory.join("s/f").join(ours[0].file_name().expect("a name")), &whole[0])
        .expect("writable");
    // All cells are in the merged file, which is missing; its inputs are not used.
    assert!(judge(directory, &merged, "CRC-32C").is_empty());
}

/// A file whose filter was replaced outside of the store differs from the manifest's file.
#[test]
fn a_store_file_with_another_filter_is_not_the_listed_one() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    let ours = filled(directory, "s");
    let file = ours[0].to_str().expect("text");
    let rebuild = ["filter", "rebuild", file, "--output", file, "--force", "--kind", "none"];
    assert!(hfile_in(directory, &rebuild).status.success());
    assert!(hfile_in(directory, &["verify", file]).status.success(), "it is a sound file");
    tells(1, directory, &["get", "s", "row1"]).has("is not the file that the manifest lists");
    assert_eq!(judge(directory, &ours[0], "its id is none").len(), 2);
}

/// A limit on file sizes ends the process inside its first store file.
#[test]
#[cfg(unix)]
fn what_an_interrupted_salvage_leaves_is_refused_by_name() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    filled(directory, "s");
    let killed = Command::new("sh")
        .args(["-c", "ulimit -f 2; exec \"$0\" store salvage s saved"])
        .arg(env!("CARGO_BIN_EXE_hfile"))
        .current_dir(directory)
        .output()
        .expect("there is a shell");
    assert!(!killed.status.success(), "{killed:?}");
    assert!(directory.join("saved/f").exists(), "it had begun");
    let inside = files_below(&directory.join("saved"));
    for verb in [
        &["get", "saved", "row1"][..],
        &["create", "saved", "f"],
        &["stats", "saved"],
        &["salvage", "s", "saved"],
    ] {
        tells(1, directory, verb).has_all(&[
            "saved: the store is the incomplete output",
            "next: ",
            "remove the directory",
        ]);
    }
    assert_eq!(files_below(&directory.join("saved")), inside, "it stays as it is");
    shows(1, directory, &["verify", "saved"]).has("incomplete output of a");
    fs::remove_dir_all(directory.join("saved")).expect("ours");
    store(directory, &["salvage", "s", "saved"]);
    assert_eq!(rows(directory, "saved"), ["row1", "row2", "row3"]);
}

#[test]
fn a_damaged_log_is_refused_with_its_offset_and_salvaged_around_it() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    store(directory, &["create", "s", "f"]);
    let cell = |row: u32| put_line(&row.to_string(), "q", 5, "v");
    fs::write(directory.join("cells"), (10..16).map(cell).collect::<String>()).expect("writable");
    store(directory, &["put", "s", "f", "--from", "cells", "cells", "--batch", "1"]);
    // Each call begins a segment; the put's segment is the last with records.
    let wal = files_below(&directory.join("s/wal"));
    let segment = wal.iter().max_by_key(|file| fs::metadata(file).expect("there").len());
    let segment = segment.expect("some");
    let whole = fs::read(segment).expect("sound");
    let len = (whole.len() - 56) / 6;
    let start = 56 + 2 * len;
    let mut flipped = whole.clone();
    flipped[start + 40] ^= 4;
    fs::write(segment, &flipped).expect("writable");

    let name = segment.file_name().and_then(|name| name.to_str()).expect("text");
    tells(1, directory, &["scan", "s", "f"])
        .has_all(&[&format!("{name}: at {start:#x}: damage"), "hfile store salvage"]);
    shows(1, directory, &["verify", "s"]).has(&format!("  at {start:#x}, {len} bytes: damage"));
    let lost = damaged(&run(1, directory, &["salvage", "s", "saved", "--json"]).0);
    assert_eq!(
        (lost.len(), &lost[0]["part"], &lost[0]["records"]),
        (1, &"log-segment".into(), &5.into())
    );
    assert_eq!(lost[0]["errors"][0]["offset"], start);
    assert_eq!(lost[0]["errors"][0]["bytes"], len);
    assert_eq!(store(directory, &["scan", "saved", "f"]).lines().count(), 5);
    assert_eq!(fs::read(segment).expect("there"), flipped, "it stays as it is");
    tells(3, directory, &["salvage", "s", "saved"]).has("is not empty");
    tells(3, directory, &["salvage", "s", "s/inside"]).has("is in the damaged store");
}

#[test]
fn a_store_without_a_manifest_is_salvaged_if_its_families_are_named() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    // Not in alphabetical order.
    for family in ["g", "f"] {
        store(directory, &["create", "s", family]);
        store(directory, &["append", "s", family, "row1", "q", family]);
    }
    store(directory, &["flush", "s"]);
    store(directory, &["append", "s", "g", "row2", "q", "g"]);
    fs::remove_file(directory.join("s/MANIFEST")).expect("it is there");
    run(1, directory, &["get", "s", "row1"]);
    shows(1, directory, &["verify", "s"]).has("MANIFEST: DAMAGED");
    tells(3, directory, &["salvage", "s", "saved"])
        .has("name them in the order in which they were made (there are: f, g)");
    run(1, directory, &["salvage", "s", "saved", "--families", "g,f"]);
    let all = store(directory, &["get", "saved", "row1", "row2"]);
    assert_eq!(all.matches("V: g").count() + all.matches("value=g").count(), 2, "{all}");
    let family = store(directory, &["scan", "saved", "g", "--format", "csv"]);
    assert_eq!(family.lines().count(), 3, "{family}");
}
