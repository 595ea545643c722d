//! The verbs that read take directories of HBase; the transcript `hbase-directories.md` has most of what they print.
//!
//! `data/rootdir/README.md` describes the directories, which HBase wrote.

use std::fs;

use sstable::{CellRef, FileInfo, Timestamp, WriterOptions};
use support::cells::hfile;
use support::copy_directory;
use support::root_directory::RootCopy;

use crate::command_line::{data, directory, path, run};

const TABLE: &str = "../rootdir/root/data/default/t1";

#[test]
fn references_that_a_compaction_replaced_count_for_their_region() {
    let place = directory();
    let table = place.path().join("data/default/t1");
    copy_directory(&data().join(TABLE), &table);
    let daughters = ["40ab6300693e3f01d37da6c46414d9c8", "77a347dcd3a699aadaaa702b08393620"];
    // A compaction of all references of a family of a daughter, of whose cells one is left.
    for (daughter, row) in daughters.iter().zip(["a", "z"]) {
        let family = table.join(daughter).join("f1");
        let mut event = b"PBUF".to_vec();
        for entry in fs::read_dir(&family).expect("there") {
            let name = entry.expect("there").file_name().into_string().expect("text");
            if name.contains('.') && !name.starts_with('.') {
                event.extend([b"\n", &[u8::try_from(name.len()).expect("short")][..]].concat());
                event.extend(name.as_bytes());
            }
        }
        assert!(event.len() > 4 + 4 * 65, "HBase made references");
        let options = WriterOptions::default().file_info(FileInfo::COMPACTION_EVENT, event);
        let cell = CellRef::put(row.as_bytes(), b"f1", b"q", Timestamp::new(1), b"v");
        let compacted = family.join("00000000000000000000000000000050");
        fs::write(&compacted, hfile(&compacted, options, [cell])).expect("disk takes it");
    }
    let table = table.to_str().expect("text");
    let cat = ["cat", "--format", "cells"];
    let (expected, told) = run(0, &[&cat[..], &[table]].concat());
    assert!(told.contains("left out 8 files of the split or merged region c65b"), "{told}");
    assert!(told.contains("left out 8 files that a compaction replaced, "), "{told}");
    let regions = ["c65bc83cc9888373de3595d40b882f08", daughters[0], daughters[1]];
    let regions = regions.map(|region| format!("{table}/{region}"));
    let regions: Vec<&str> = regions.iter().map(String::as_str).collect();
    let (out, told) = run(0, &[&cat[..], &regions].concat());
    assert_eq!(out, expected, "{told}");
}

/// HBase reads the copy, and its filter lets HBase skip the file for the same rows.
#[test]
fn hbase_skips_files_by_a_rebuilt_bloom() {
    if !support::judge::is_enabled("a rebuilt HBase Bloom") {
        return;
    }
    let place = directory();
    for (name, args) in [
        ("row", &["--bloom-type", "ROW", "--bloom-error-rate", "0.001"][..]),
        ("rowcol", &["--bloom-type", "ROWCOL"]),
        ("none", &["--bloom-type", "NONE"]),
    ] {
        let copy = path(&place, name);
        let rebuild = ["filter", "rebuild", "s01-default.hfile", "--output", &copy];
        run(0, &[&rebuild[..], args].concat());
        // The judge queries the filter for every key, and compares size and error rate with HBase's own.
        let answer = support::judge::confirm(&["read", &copy]);
        assert_eq!(answer["bloomType"], args[1], "{name}: {answer}");
        if name != "none" {
            assert!(answer["bloomKeysChecked"].as_u64() > Some(0), "{name}: {answer}");
        }
    }
}

/// HBase builds the same descriptor and the same split keys from the statement.
#[test]
fn hbase_accepts_the_statement() {
    if !support::judge::is_enabled("the statement that creates a table") {
        return;
    }
    let copy = RootCopy::new();
    let root = &*copy.argument();
    let directory = directory();
    for (verb, names) in [("table", &["t1", "t3", "t5", "t7"][..]), ("snapshot", &["s5", "s6"])] {
        for name in names {
            let (statement, _) = run(0, &[verb, "describe", "--root", root, name]);
            let file = &*path(&directory, name);
            fs::write(file, &statement).expect("ours");
            let of = format!("{verb}:{name}");
            support::judge::confirm(&["create", file, "--like", &of, "--root", root]);
        }
    }
}
