//! `hfile wal`: HBase's write-ahead logs on the command line.
//!
//! `data/wal/README.md` describes the logs, which HBase wrote.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::tempdir;

use support::cells::PUT;
use support::plain_log::{EntryKey, PlainLog};

use crate::command_line::{data, hfile, objects, run, shows, tells, text};

const WITH_ENTRIES: [&str; 8] = [
    "plain.meta",
    "plain.open",
    "dictionary.closed",
    "dictionary.open",
    "dictionary.meta",
    "value.closed",
    "value.open",
    "value.meta",
];

/// Returns the path of a log from the directory where commands run.
fn log(name: &str) -> String {
    format!("../wal/{name}")
}

fn log_bytes(name: &str) -> Vec<u8> {
    fs::read(data().join(log(name))).expect("committed")
}

/// Returns the entries that HBase's reader returned.
fn truth(name: &str) -> Vec<Value> {
    objects(&support::gunzip(&data().join(log(&format!("{name}.entries.ndjson.gz")))))
}

/// Returns a path as an argument.
fn path(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// Writes a file into a directory of the test.
fn write(directory: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let file = directory.join(name);
    fs::create_dir_all(file.parent().expect("it has one")).expect("disk takes it");
    fs::write(&file, bytes).expect("disk takes it");
    file
}

#[test]
fn cat_prints_the_entries_that_hbase_reads() {
    for name in WITH_ENTRIES {
        let (entries, _) = run(0, &["wal", "cat", "--format", "entries", &log(name)]);
        assert_eq!(objects(&entries), truth(name), "{name}");
        assert_eq!(run(0, &["wal", "cat", "--json", &log(name)]).0, entries);
    }
    assert_eq!(run(0, &["wal", "cat", &log("value.empty")]), (String::new(), String::new()));
}

#[test]
fn cells_are_those_of_the_entries_with_their_sequence_ids() {
    for name in ["dictionary.closed", "plain.open"] {
        let mut expected = Vec::new();
        for entry in truth(name) {
            for cell in entry["cells"].as_array().expect("an array") {
                let mut cell = cell.clone();
                cell["seq"] = entry["sequence"].clone();
                expected.push(cell);
            }
        }
        let all = ["wal", "cat", "--format", "cells", "--markers", &log(name)];
        assert_eq!(objects(&run(0, &all).0), expected, "{name}");
        let marker = "4d45544146414d494c59";
        expected.retain(|cell| cell["family"] != marker);
        let data = ["wal", "cat", "--format", "cells", &log(name)];
        assert_eq!(objects(&run(0, &data).0), expected, "{name}");
        let (csv, _) = run(0, &["wal", "cat", "--format", "csv", &log(name)]);
        assert_eq!(csv.lines().count(), expected.len() + 1);
    }
}

#[test]
fn a_torn_entry_that_the_next_log_has_again_is_not_lost() {
    let region = "83a2af9efa70f232938815b9cf317a11";
    let log = |sequences: &[u64]| {
        let mut log = PlainLog::new();
        for sequence in sequences {
            let key =
                EntryKey { region, table: "t", sequence: *sequence, write_time: 1, padding: 0 };
            log.entry(key, &[PUT]);
        }
        log.bytes
    };
    let torn = log(&[1, 2, 3]);
    let torn = &torn[..torn.len() - 3];
    let verify = |torn: &[u8], other: &str, sequences: &[u64]| {
        let directory = tempdir().expect("a temporary directory");
        let torn = write(directory.path(), "h%2C1%2C2.100", torn);
        write(directory.path(), other, &log(sequences));
        let output = hfile(&["wal", "verify", path(&torn)]);
        (output.status.code(), text(&output.stdout))
    };
    let newer = "h%2C1%2C2.200";
    for (other, sequences, expected) in [
        (
            newer,
            &[3, 4][..],
            Some("no entries are lost: the server wrote them again in h%2C1%2C2.200"),
        ),
        (
            newer,
            &[4, 5],
            Some("; no entry has the sequence id 3 of t 83a2af9efa70f232938815b9cf317a11\n"),
        ),
        (newer, &[], Some("entries may be lost: the server went on in h%2C1%2C2.200\n")),
        ("h%2C1%2C2.50", &[4], None),
        ("h%2C1%2C3.200", &[4], None),
        ("h%2C1%2C2.200.meta", &[4], None),
    ] {
        let (status, out) = verify(torn, other, sequences);
        let is_lost = expected.is_some_and(|expected| !expected.starts_with("no entries"));
        assert_eq!(status, Some(i32::from(is_lost)), "{other}: {out}");
        assert!(expected.is_none_or(|expected| out.contains(expected)), "{other}: {out}");
        assert_eq!(out.contains("server"), expected.is_some(), "{other}: {out}");
    }
    // Cut off between two entries, a log is not torn: only missing sequence ids tell.
    let (status, out) = verify(&log(&[1, 2]), newer, &[4, 5]);
    assert!(status == Some(1) && out.contains(": INCOMPLETE, 2 entries"), "{out}");
    assert!(out.contains("; no entry has the sequence id 3 of t 83a2af9e"), "{out}");
    for next in [&[3, 4][..], &[]] {
        let (status, out) = verify(&log(&[1, 2]), newer, next);
        assert!(status == Some(0) && out.contains(": sound, open, 2 entries"), "{out}");
    }
    // A log without entries is between the two: the write to it failed, too.
    let directory = tempdir().expect("a temporary directory");
    let first = write(directory.path(), "h%2C1%2C2.100", torn);
    write(directory.path(), "h%2C1%2C2.150", &log(&[]));
    write(directory.path(), newer, &log(&[3, 4]));
    shows(0, &["wal", "verify", path(&first)])
        .has("the server wrote them again in h%2C1%2C2.200\n");
    // The key of the torn entry is cut off, so nothing tells that it is the one that the next log has.
    let (status, out) = verify(&torn[..torn.len() - 40], newer, &[3, 4]);
    assert!(status == Some(1) && out.contains("entries may be lost"), "{out}");
}

/// Returns a log of ten entries; the third and the seventh are damaged.
fn log_with_two_damaged_entries() -> Vec<u8> {
    let mut log = PlainLog::new();
    let region = "83a2af9efa70f232938815b9cf317a11";
    let offsets: Vec<usize> = (1..=10)
        .map(|sequence| {
            log.entry(EntryKey { region, table: "t", sequence, write_time: 1, padding: 0 }, &[PUT])
        })
        .collect();
    for at in [offsets[2], offsets[6]] {
        log.bytes[at..at + 6].fill(0xff);
    }
    log.bytes
}

#[test]
fn verify_lists_all_damage_of_a_log_and_the_advice_prints_what_is_left() {
    let directory = tempdir().expect("a temporary directory");
    let file = write(directory.path(), "damaged", &log_with_two_damaged_entries());
    let (out, _) = run(1, &["wal", "verify", path(&file)]);
    assert!(out.contains(": DAMAGED, 8 entries, 8 cells"), "{out}");
    assert_eq!(out.matches("are left out; the next sound entries follow\n").count(), 2, "{out}");
    let (out, _) = run(1, &["wal", "verify", "--json", path(&file)]);
    let errors = objects(&out)[0]["errors"].as_array().expect("an array").clone();
    assert_eq!(errors.len(), 2, "{out}");
    assert!(errors.iter().all(|error| error["bytes"].as_u64() > Some(20)), "{out}");

    let cat = ["wal", "cat", "--json", path(&file)];
    let (out, told) = run(1, &cat);
    assert_eq!(objects(&out).len(), 2);
    assert!(told.contains("print the entries that can be read with hfile wal cat --skip-damaged"));
    let (out, told) = run(1, &[&cat[..], &["--skip-damaged"]].concat());
    let sequences: Vec<_> = objects(&out).iter().map(|entry| entry["sequence"].as_u64()).collect();
    assert_eq!(sequences, [1, 2, 4, 5, 6, 8, 9, 10].map(Some));
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 2, "{told}");
    for (line, error) in lines.iter().zip(&errors) {
        let start =
            format!("hfile: missing: {}: damaged at offset {}: ", path(&file), error["offset"]);
        assert!(line.starts_with(&start), "{told}");
        let left_out =
            format!("; {} bytes from offset {} on are left out", error["bytes"], error["offset"]);
        assert!(line.contains(&left_out), "{told}");
    }
    // A sound log, and one that cannot be read on.
    run(0, &["wal", "cat", "--skip-damaged", &log("plain.open")]);
    let mut bytes = log_bytes("dictionary.closed");
    let at = bytes.len() - 40;
    bytes[at..at + 4].fill(0xff);
    let damaged = write(directory.path(), "dictionary", &bytes);
    tells(1, &["wal", "cat", "--skip-damaged", path(&damaged)])
        .has("because its entries need the dictionaries of those before");
}

/// A log with control characters in the names of its codec, a table and a region.
fn log_of_names(codec: &str) -> Vec<u8> {
    let field = |number: u8, text: &str| {
        [&[number << 3 | 2, text.len() as u8][..], text.as_bytes()].concat()
    };
    let header = field(5, codec);
    let key =
        [field(1, "r\x1b]0;title\x07\n"), field(2, "t\x1b[2J\n"), vec![0x18, 1, 0x20, 1, 0x38, 1]]
            .concat();
    let cell = b"\0\0\0\x1a\0\0\0\x12\0\0\0\0\0\x04\x1b[2J\x01fq\0\0\0\0\0\0\0\x01\x04";
    [b"PWAL", &[header.len() as u8][..], &header, &[key.len() as u8], &key, cell].concat()
}

#[test]
fn control_characters_of_names_do_not_reach_the_terminal() {
    let directory = tempdir().expect("a temporary directory");
    let sound = "org.apache.hadoop.hbase.regionserver.wal.WALCellCodec";
    let file = write(directory.path(), "log\x1b[2J", &log_of_names(sound));
    let other = write(directory.path(), "other\x1b[2J", &log_of_names("Codec\x1b[2J"));
    let torn = write(directory.path(), "torn\x1b[2J", b"PWAL");
    let obeyed = |text: &str| text.contains(|letter: char| letter.is_control() && letter != '\n');
    for verb in ["info", "cat", "verify"] {
        for (file, status) in [(&file, 0), (&other, 3), (&torn, 0)] {
            let (out, told) = run(status, &["wal", verb, path(file)]);
            assert!(!obeyed(&out), "{verb}: {out:?}");
            assert!(!obeyed(&told), "{verb}: {told:?}");
            assert!(
                out.contains("\\x1B[2J") || told.contains("\\x1B[2J") || verb == "cat",
                "{verb}: {out:?}"
            );
        }
    }
    let (out, _) = run(0, &["wal", "cat", path(&file)]);
    let first = out.lines().next().expect("a line");
    assert!(
        first.starts_with("t\\x1B[2J\\x0A r\\x1B]0;title\\x07\\x0A sequence 1 written"),
        "{first}"
    );
    // In JSON, names are as they are.
    let (out, _) = run(0, &["wal", "info", "--json", path(&file)]);
    assert_eq!(objects(&out)[0]["regions"][0]["table"], "t\x1b[2J\n");
}
