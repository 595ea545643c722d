//! Verbs over many files continue after a bad file, and wrong arguments are always an error.

use std::fs;

use serde_json::Value;

use crate::command_line::{
    command, data, directory, failure, hfile, json, path, run, stdout, tells, text,
};

const SOUND: &str = "s01-default.hfile";
const ROW: &str = "row0000001728";

/// Writes a copy of [`SOUND`] that is too short to open.
fn cut(directory: &tempfile::TempDir) -> String {
    let damaged = path(directory, "cut.hfile");
    let bytes = fs::read(data().join(SOUND)).expect("committed");
    fs::write(&damaged, &bytes[..bytes.len() - 100]).expect("disk takes it");
    damaged
}

#[test]
fn a_bad_file_does_not_stop_the_others() {
    let directory = directory();
    let damaged = cut(&directory);
    for (verb, behind) in [
        (&["info"][..], &[][..]),
        (&["layout"], &[]),
        (&["cat"], &[]),
        (&["cat", "--reverse"], &[]),
        (&["verify"], &[]),
        (&["get"], &[ROW]),
        (&["find"], &[ROW]),
        (&["recompress", "--compression", "NONE", "--data-block-encoding", "NONE"], &[]),
    ] {
        let (out, _) = run(0, &[verb, &[SOUND], behind].concat());
        let with = |bad: &str| hfile(&[verb, &[bad, SOUND], behind].concat());
        let with_damaged = with(&damaged);
        assert_eq!(with_damaged.status.code(), Some(1), "{verb:?}: {}", text(&with_damaged.stderr));
        // The output for the sound file is complete; measured times differ.
        let printed = text(&with_damaged.stdout);
        if verb[0] == "recompress" {
            assert!(printed.contains(&format!("{SOUND}:")), "{printed}");
        } else {
            assert!(printed.ends_with(&out), "{verb:?}: {printed}");
        }
        let told = if verb[0] == "verify" { printed } else { text(&with_damaged.stderr) };
        assert_eq!(told.matches(&damaged).count(), 1, "{verb:?}: {told}");

        let with_missing = with("nowhere.hfile");
        assert_eq!(with_missing.status.code(), Some(3), "{verb:?}");
        let printed = text(&with_missing.stdout);
        assert!(verb[0] == "recompress" || printed.ends_with(&out), "{verb:?}: {printed}");
        let told = text(&with_missing.stderr);
        assert!(told.contains("hfile: nowhere.hfile: cannot "), "{verb:?}: {told}");
        assert!(told.ends_with("hfile: 1 of 2 files could not be read\n"), "{verb:?}: {told}");
    }
    let explained: Value =
        serde_json::from_slice(&hfile(&["get", "--json", &damaged, SOUND, ROW]).stdout)
            .expect("an object");
    assert_eq!(
        (&explained["found"], &explained["failed"][0]["file"]),
        (&true.into(), &damaged.into())
    );
}

#[test]
fn the_next_step_is_printed_once_for_many_damaged_files() {
    let directory = directory();
    let damaged = cut(&directory);
    let told = text(&hfile(&["info", &damaged, &damaged, &damaged, SOUND]).stderr);
    assert_eq!(told.matches(&damaged).count(), 3, "{told}");
    assert_eq!(told.matches("next: ").count(), 1, "{told}");
}

/// Returns a key as hex digits.
fn hex(key: &str) -> String {
    key.bytes().fold("hex:".to_owned(), |hex, byte| hex + &format!("{byte:02x}"))
}

#[test]
fn a_forgotten_row_is_detected() {
    for verb in ["get", "find"] {
        let said = tells(2, &[verb, SOUND, "s02-empty.hfile"])
            .has("the last argument must be the row, but s02-empty.hfile is a file");
        // A row of that name can be looked up as hex; it is absent.
        assert!(said.contains(&hex("s02-empty.hfile")), "{said}");
    }
    // The text after `hex:` is not checked for being a file name.
    let (status, said) = failure(&["get", "s02-empty.hfile", &hex(SOUND)]);
    assert_eq!((status, &*said), (1, "hfile: row not found: s01-default.hfile\n"));
}

/// A pipe is neither reported as damaged nor waited for.
#[cfg(unix)]
#[test]
fn a_path_that_is_not_a_regular_file_is_named() {
    use std::process::Stdio;

    let directory = directory();
    let fifo = path(&directory, "fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().expect("there is mkfifo");
    assert!(made.success());
    let inside = directory.path().to_str().expect("text");
    for verb in ["info", "layout", "verify", "cat"] {
        tells(3, &[verb, &fifo]).has("it is a pipe; write what comes out");
        let (status, said) = failure(&[verb, inside]);
        let what = "no HFiles in this directory (1 entry skipped: 1 no regular file)";
        assert!(status == 3 && said.contains(what), "{verb}: {said}");
        let mut child = command(&[verb, "/dev/stdin"]);
        child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = child.spawn().and_then(std::process::Child::wait_with_output);
        let output = output.expect("the binary runs");
        assert_eq!(output.status.code(), Some(3), "{verb}");
        assert!(text(&output.stderr).contains("it is a pipe"), "{verb}: {}", text(&output.stderr));
    }
}

#[test]
fn a_missing_manifest_beside_a_log_suggests_salvage() {
    let directory = directory();
    let store = path(&directory, "store");
    for args in [
        &["create", &store, "f"][..],
        &["append", &store, "f", "row", "q", "v"],
        &["flush", &store],
    ] {
        assert!(hfile(&[&["store"], args].concat()).status.success(), "{args:?}");
    }
    fs::remove_file(directory.path().join("store/MANIFEST")).expect("there");
    let said = tells(1, &["store", "get", &store, "row"])
        .has_all(&["MANIFEST is missing", "hfile store salvage"]);
    assert!(!said.contains("store create"), "{said}");
    let nowhere = path(&directory, "nowhere");
    assert!(failure(&["store", "get", &nowhere, "row"]).1.contains("hfile store create"));
}

#[test]
fn invalid_hex_digits_are_wrong_usage() {
    for args in [
        &["get", SOUND, "hex:zz"][..],
        &["find", SOUND, "hex:abc"],
        &["find", SOUND, "row", "--column", "hex:0"],
        &["cat", SOUND, "--start", "hex:zz"],
        &["cat", SOUND, "--stop", "hex:7"],
        &["store", "get", "nowhere", "hex:zz"],
        &["build", "--from", "cells", "x", "--output", "y", "--splits", "hex:zz"],
    ] {
        tells(2, args).has("pairs of hex digits");
    }
}

/// As in HBase's `TimeRange`.
#[test]
fn max_ts_is_exclusive() {
    let info = json(&["info", "--json", SOUND]);
    let [first, last] = [0, 1].map(|end| info["time_range"][end].as_i64().expect("a time"));
    let find = |option: &str, time: i64| {
        hfile(&["find", SOUND, ROW, option, &time.to_string()]).status.code()
    };
    assert_eq!(find("--max-ts", first), Some(1), "no cell is before the first");
    assert_eq!(find("--max-ts", first + 1), Some(0));
    assert_eq!(find("--min-ts", last), Some(0));
    assert_eq!(find("--min-ts", last + 1), Some(1));
    for range in [["5", "5"], ["6", "5"]] {
        let [min, max] = range;
        tells(2, &["find", SOUND, ROW, "--min-ts", min, "--max-ts", max])
            .has("must be less than --max-ts");
    }
}

/// Otherwise swapped arguments would look like an absent row.
#[test]
fn an_empty_time_range_is_wrong_usage_in_every_verb() {
    let directory = directory();
    let store = path(&directory, "store");
    stdout(&["store", "create", &store, "f"]);
    stdout(&["store", "append", &store, "f", "row", "q", "value"]);
    let verbs = [
        &["find", SOUND, ROW][..],
        &["store", "get", &store, "row"],
        &["store", "scan", &store],
        &["store", "scan", &store, "f", "--raw"],
        &["store", "explain", &store, "row"],
    ];
    for verb in verbs {
        for times in [&["5", "5"][..], &["6", "5"], &["9223372036854775807"], &["-5", "-6"]] {
            let [min, max] = ["--min-ts", "--max-ts"];
            let times: Vec<String> =
                [min, max].iter().zip(times).map(|(name, time)| format!("{name}={time}")).collect();
            let times: Vec<&str> = times.iter().map(String::as_str).collect();
            tells(2, &[verb, &times[..]].concat()).has("must be less than --max-ts");
        }
    }
    tells(2, &["store", "scan", &store, "--max-ts", "0"])
        .has("--min-ts 0 must be less than --max-ts 0");
    // Checked before the store is opened.
    assert_eq!(failure(&["store", "get", "nowhere", "row", "--max-ts", "0"]).0, 2);
    assert_eq!(stdout(&["store", "scan", &store, "--min-ts", "1"]).lines().count(), 1);
}

#[test]
fn a_ttl_of_zero_is_wrong_usage() {
    let directory = directory();
    let store = path(&directory, "store");
    tells(2, &["store", "create", &store, "f", "--ttl", "0"]).has("--ttl");
}

#[test]
fn a_bench_of_damaged_files_ends_with_status_1() {
    let directory = directory();
    let damaged = cut(&directory);
    let bench = |files: &[&str]| hfile(&[&["bench", "--gets", "10", "--hfiles"], files].concat());
    assert_eq!(bench(&[&damaged]).status.code(), Some(1));
    assert_eq!(bench(&[&damaged, &damaged]).status.code(), Some(1));
    let mixed = bench(&[&damaged, SOUND]);
    assert_eq!(mixed.status.code(), Some(1), "{}", text(&mixed.stderr));
    assert!(text(&mixed.stdout).contains(&damaged), "{}", text(&mixed.stdout));
    assert_eq!(bench(&["nowhere.hfile", SOUND]).status.code(), Some(3));
    assert_eq!(bench(&["nowhere.hfile", &damaged]).status.code(), Some(3));
    // A file without rows is sound, but cannot be measured.
    assert_eq!(bench(&["s02-empty.hfile", SOUND]).status.code(), Some(0));
    assert_eq!(bench(&["s02-empty.hfile"]).status.code(), Some(2));
}
