//! `hfile wal`: HBase's write-ahead logs on the command line.
//!
//! `data/wal/README.md` describes the logs, which HBase wrote.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::tempdir;

use support::cells::PUT;
use support::plain_log::{EntryKey, PlainLog};
use support::root_directory::RootCopy;

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
fn text_has_a_line_for_each_entry() {
    let (out, _) = run(0, &["wal", "cat", &log("plain.open")]);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 4 + 24);
    assert_eq!(
        lines[0],
        "t1 cfe27cad50f93b8520a92fe3492bd824 sequence 47 written 2026-11-23T05:45:44.152Z: 7 cells"
    );
    assert_eq!(lines[1], "K: row-00077/f1:bb/1700000203020/Put/vlen=4/seqid=47 V: taei");
}

#[test]
fn cat_can_be_limited_to_a_table_and_a_region() {
    let all = truth("dictionary.closed");
    let region = all[4]["region"].as_str().expect("text");
    let args = ["wal", "cat", "--json", &log("dictionary.closed")];
    for (field, name) in [("table", "w1"), ("region", region)] {
        let option = format!("--{field}={name}");
        let (out, _) = run(0, &[&args[..], &[&option]].concat());
        let expected: Vec<_> = all.iter().filter(|entry| entry[field] == name).collect();
        assert!(!expected.is_empty() && expected.len() < all.len());
        assert_eq!(objects(&out).iter().collect::<Vec<_>>(), expected);
    }
    let (_, told) = run(1, &[&args[..], &["--table", "nosuch"]].concat());
    assert_eq!(told, "hfile: no entries of table nosuch in these logs\n");
    let other = ["--table", "nosuch", "--region", &"0".repeat(32)];
    tells(1, &[&args[..], &other].concat()).has("no entries of table nosuch of region 0000");
    for region in ["123", "hbase", &region.to_uppercase()] {
        tells(2, &[&args[..], &["--region", region]].concat())
            .has("not the encoded name of a region: 32 lower-case hex");
    }
    run(0, &["wal", "cat", "--region", "1588230740", &log("plain.meta")]);
    run(2, &[&args[..], &["--table", "a/b"]].concat());
}

#[test]
fn info_counts_by_region_and_tells_how_the_log_ends() {
    let (out, _) = run(0, &["wal", "info", "--json", &log("value.closed")]);
    let report = &objects(&out)[0];
    let truth = truth("value.closed");
    let sequences = || truth.iter().map(|entry| entry["sequence"].as_u64());
    assert_eq!(report["schema"], 1);
    assert_eq!(report["value_compression"], "GZ");
    assert_eq!((&report["closed"], &report["torn"]), (&json!(true), &Value::Null));
    assert_eq!((&report["cells"], &report["markers"]), (&json!(383), &json!(3)));
    assert_eq!(report["entries"].as_u64(), Some(truth.len() as u64));
    assert_eq!(report["first_sequence"].as_u64(), sequences().min().flatten());
    assert_eq!(report["last_sequence"].as_u64(), sequences().max().flatten());
    for region in report["regions"].as_array().expect("an array") {
        let entries = truth.iter().filter(|entry| entry["region"] == region["region"]);
        assert_eq!(region["entries"].as_u64(), Some(entries.count() as u64));
    }
    let (out, _) = run(0, &["wal", "info", &log("dictionary.open")]);
    for line in [
        "compression   dictionaries, of tags too",
        "entries       85 with 104 cells and 0 markers",
        "end           open: no trailer; the last entry is whole",
    ] {
        assert!(out.contains(line), "{out}");
    }
    shows(0, &["wal", "info", &log("plain.meta")]).has_all(&[
        "compression   none\n",
        "end           closed\n",
        "(2026-11-23T05:45:",
    ]);
    shows(0, &["wal", "info", &log("value.empty")])
        .has("end           open: no trailer and no entries\n");
}

#[test]
fn a_torn_end_is_reported_and_is_no_damage() {
    let directory = tempdir().expect("a temporary directory");
    let whole = log_bytes("plain.open");
    let torn = write(directory.path(), "torn", &whole[..1000]);
    let (out, _) = run(0, &["wal", "verify", "--json", path(&torn)]);
    let report = &objects(&out)[0];
    assert_eq!((&report["ok"], &report["closed"]), (&json!(true), &json!(false)));
    assert_eq!(report["torn"]["part"], "an entry");
    let (offset, bytes) = (&report["torn"]["offset"], &report["torn"]["bytes"]);
    assert_eq!(offset.as_u64().expect("a number") + bytes.as_u64().expect("a number"), 1000);
    shows(0, &["wal", "verify", path(&torn)]).has(": sound, torn at its end, 3 entries, ");
    let (out, told) = run(0, &["wal", "cat", "--json", path(&torn)]);
    assert_eq!(objects(&out), truth("plain.open")[..3]);
    assert!(told.contains(": torn: an entry at offset "), "{told}");
    let empty = write(directory.path(), "empty", b"");
    shows(0, &["wal", "info", path(&empty)])
        .has("torn: the header at offset 0 is not finished; 0 bytes not read");
}

const SERVER: &str = "WALs/localhost,36349,1795412714489/localhost%2C36349%2C1795412714489";

/// Returns a root directory of which the older of a server's two logs is cut off.
fn root_with_a_cut_log() -> RootCopy {
    let copy = RootCopy::new();
    let log = copy.path().join(format!("{SERVER}.1795412717342"));
    let bytes = fs::read(&log).expect("there");
    fs::write(log, &bytes[..403_034]).expect("ours");
    copy
}

#[test]
fn a_log_that_is_cut_off_although_its_server_went_on_is_incomplete() {
    let copy = root_with_a_cut_log();
    let root = copy.path();
    let logs = root.join("WALs");
    let (out, _) = run(1, &["wal", "verify", path(&logs)]);
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].contains("1795412717342: INCOMPLETE, 121 entries, "), "{out}");
    assert_eq!(lines[1], "  at offset 347,317: an entry is not finished; 55,717 bytes not read");
    let lost = "entries may be lost: the server went on in localhost%2C36349%2C1795412714489.1795412744013; no entry \
                has the sequence ids 45 to 49 of t1 40ab6300693e3f01d37da6c46414d9c8, and some of 3 other regions";
    assert_eq!(lines[2], format!("    {lost}"));
    assert!(lines[3].starts_with("4 logs: 3 sound, 0 damaged, 1 incomplete; "), "{out}");
    // The log alone is enough: the newer one is beside it.
    let log = root.join(format!("{SERVER}.1795412717342"));
    let (out, _) = run(1, &["wal", "verify", "--json", path(&log)]);
    let report = &objects(&out)[0];
    assert_eq!((&report["ok"], &report["errors"]), (&json!(false), &json!([])));
    let gap = json!({"table": "t1", "region": "40ab6300693e3f01d37da6c46414d9c8", "first": 45, "last": 49});
    assert_eq!(report["continued"]["missing_sequences"][0], gap);

    let shown = path(&root);
    let (_, told) = run(0, &["table", "scan", "--root", shown, "t1", "--with-wal", "--count"]);
    assert!(told.contains(&format!("1795412717342: {lost}\n")), "{told}");
    let (_, told) = run(0, &["table", "ls", "--root", shown, "--with-wal"]);
    assert_eq!(told.matches(lost).count(), 1, "{told}");
    let (out, _) = run(1, &["table", "verify", "--root", shown, "t1"]);
    assert!(
        out.contains("store files may be lost unnoticed") && out.contains("entries may be lost"),
        "{out}"
    );
    // HBase has moved the newer log away.
    let newer = root.join(format!("{SERVER}.1795412744013"));
    let old = root.join("oldWALs");
    fs::create_dir_all(&old).expect("ours");
    fs::rename(&newer, old.join(newer.file_name().expect("a name"))).expect("ours");
    shows(0, &["wal", "verify", path(&logs)])
        .has("3 logs: 3 sound (1 torn at their end), 0 damaged");
    shows(1, &["wal", "verify", path(&logs), path(&old)]).has(lost);
    let (_, told) = run(0, &["table", "scan", "--root", shown, "t1", "--with-wal", "--count"]);
    assert!(told.contains(lost), "{told}");
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

/// Returns a log of ten entries, of which the third and the seventh are damaged.
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

#[test]
fn a_log_and_an_hfile_lead_to_the_verb_that_reads_them() {
    tells(3, &["info", &log("plain.open")]).has_all(&[
        "is a write-ahead log, not an HFile",
        "next: read it with hfile wal info or hfile wal cat",
    ]);
    for verb in ["info", "cat", "verify"] {
        tells(3, &["wal", verb, "s01-default.hfile"]).has_all(&[
            "s01-default.hfile: is an HFile, not a write-ahead log",
            "next: read it with hfile info or hfile cat",
        ]);
        tells(3, &["wal", verb, "manifest.json"]).has("is not a write-ahead log of HBase");
    }
    let directory = tempdir().expect("a temporary directory");
    let secure = b"PWAL\x19\x22\x17SecureProtobufLogWriter";
    let secure = write(directory.path(), "secure", secure);
    tells(3, &["wal", "cat", path(&secure)]).has("unsupported: an encrypted log");
}

#[test]
fn directories_are_searched_for_logs() {
    let directory = tempdir().expect("a temporary directory");
    let root = directory.path();
    let server = "WALs/localhost,1,1";
    write(root, &format!("{server}/b.meta"), &log_bytes("dictionary.meta"));
    write(root, &format!("{server}/a"), &log_bytes("plain.open"));
    write(root, "oldWALs/c", &log_bytes("value.open"));
    write(root, "oldWALs/notes", b"not a log");
    // The log of a server that died at once.
    write(root, "oldWALs/d", b"");
    // Markers of a region's recovered edits.
    write(root, "recovered.edits/31.seqid", b"");
    write(root, "recovered.edits/30_seqid", b"");
    let (out, told) = run(0, &["wal", "verify", "--all", path(root)]);
    let lines: Vec<&str> = out.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(lines.len(), 5, "{out}");
    let summary = "4 logs: 4 sound (1 torn at their end), 0 damaged; 101 entries, 161 cells\n";
    assert!(out.ends_with(summary), "{out}");
    assert_eq!(run(0, &["wal", "verify", path(root)]).0, summary);
    for (line, end) in lines.iter().zip([
        "a: sound, open, 4 entries, 24 cells, 0 markers",
        "b.meta: sound, closed, 13 entries, 34 cells, 1 marker",
        "c: sound, open, 84 entries, 103 cells, 0 markers",
        "d: sound, torn at its end, 0 entries, 0 cells, 0 markers",
    ]) {
        assert!(line.ends_with(end), "{line}");
    }
    assert!(told.contains("3 files skipped: not write-ahead logs"), "{told}");
    fs::create_dir(root.join("none")).expect("disk takes it");
    // Old logs are deleted, so that the directory of them is often empty.
    for verb in ["info", "cat", "verify"] {
        tells(0, &["wal", verb, path(&root.join("none"))])
            .has("no write-ahead logs in this directory");
    }
    shows(0, &["wal", "verify", path(&root.join("none"))])
        .begins_with("0 logs: 0 sound, 0 damaged;");
    fs::remove_dir_all(root.join("oldWALs")).expect("ours");
    write(root, "oldWALs/notes", b"not a log");
    tells(3, &["wal", "verify", path(&root.join("oldWALs"))])
        .has("no write-ahead logs in this directory");
    let damaged = log_bytes("plain.meta");
    let mut damaged = damaged[..damaged.len() - 1].to_vec();
    damaged[300] = 0xff;
    write(root, &format!("{server}/damaged"), &damaged);
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
