//! Output, messages and exit statuses of `hfile`: help, and the verbs that read.
//!
//! HBase wrote the files under `data/hfile`; `manifest.json` has what HBase read from each.
use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;

use serde_json::Value;
use sstable::{CellRef, Compression, FileName, Timestamp, Writer, WriterOptions};

use crate::command_line::{
    command, directory, field, golden_cells, hfile, json, manifest, path, run, shows, stdout,
    tells, text,
};

#[test]
fn names_are_accepted_in_any_case() {
    let directory = directory();
    let cells = path(&directory, "cells.ndjson");
    fs::write(&cells, stdout(&["cat", "--format", "CELLS", "s01-default.hfile"])).expect("ours");
    let settings = path(&directory, "settings.json");
    let spec = r#"{"compression":"lz4","encoding":"Fast_Diff","bloom":"rowcol","checksum":"crc32",
        "bloomHash":"Murmur3","filter":"RIBBON","comparator":"bytes","createTime":5,"includesTags":false}"#;
    fs::write(&settings, spec).expect("ours");
    let build = |name: &str, options: &[&str]| {
        let out = path(&directory, name);
        stdout(&[&["build", "--from", "Cells", &cells, "--output", &out][..], options].concat());
        let info = json(&["info", "--json", &out]);
        fs::remove_file(&out).expect("ours");
        ["compression", "encoding", "checksum", "bloom", "filter"].map(|name| info[name].clone())
    };
    let upper = [
        "--compression=LZ4",
        "--data-block-encoding=FAST_DIFF",
        "--bloom-type=ROWCOL",
        "--checksum=CRC32",
        "--bloom-hash=murmur3",
        "--filter=ribbon",
        "--comparator=BYTES",
    ];
    let mixed = [
        "--compression=lz4",
        "--data-block-encoding=fast_diff",
        "--bloom-type=RowCol",
        "--checksum=crc32",
        "--bloom-hash=MURMUR3",
        "--filter=Ribbon",
        "--comparator=bytes",
    ];
    let expected = build("upper", &upper);
    assert_eq!(expected[0], "LZ4");
    assert_eq!(build("mixed", &mixed), expected);
    assert_eq!(build("spec", &["--options", &settings]), expected);
    let store = path(&directory, "store");
    let family = ["--compression", "Snappy", "--bloom-type", "rowcol", "--filter", "Cuckoo"];
    stdout(&[&["store", "create", &store, "f", "--keep-deleted-cells=ttl"][..], &family].concat());
}

#[test]
fn cat_prints_every_golden_file_cell_for_cell() {
    let files = manifest();
    assert!(files.len() >= 41);
    for file in &files {
        let output = hfile(&["cat", "--format", "cells", field(file, "file")]);
        assert!(output.status.success(), "{}: {}", file["name"], text(&output.stderr));
        assert!(output.stdout == golden_cells(file), "{} differs", file["name"]);
    }
}

#[test]
fn info_agrees_with_hbase_on_every_golden_file() {
    for file in manifest() {
        let info = json(&["info", "--json", field(&file, "file")]);
        let expect = &file["expect"];
        assert_eq!(info["schema"], 1);
        assert_eq!(info["file"], file["file"]);
        assert_eq!(info["size"], expect["size"]);
        assert_eq!(info["cells"], expect["entries"]);
        assert_eq!(info["compression"], expect["compression"]);
        assert_eq!(info["encoding"], expect["encoding"]);
        assert_eq!(info["index_levels"], expect["trailer"]["numDataIndexLevels"]);
        let checksums = expect["checksumTypes"].as_object().expect("an object");
        assert!(checksums.contains_key(field(&info, "checksum")), "{info}");
        assert!(info["filter"].is_null());
        // `info.rs` compares the other fields.
        let (ours, theirs) = (&info["bloom"]["bits_per_key"], &expect["bloom"]["bitsPerKey"]);
        assert_eq!(ours, theirs, "{}", file["name"]);
        if !info["bloom"].is_null() {
            assert_eq!(info["bloom"]["type"], expect["bloomType"]);
            let rate = |value: &Value| value.as_f64().expect("a number");
            let difference =
                rate(&info["bloom"]["error_rate"]) - rate(&expect["bloom"]["expectedFpr"]);
            assert!(difference.abs() < 1e-6, "{info}");
        }
    }
}

#[test]
fn layout_lists_as_many_blocks_as_hbase_counts() {
    for file in manifest() {
        let layout = json(&["layout", "--json", field(&file, "file")]);
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        let mut end = 0;
        for block in layout["blocks"].as_array().expect("blocks") {
            assert_eq!(block["offset"], end, "blocks stand back to back");
            end += block["size"].as_u64().expect("a size");
            *counts.entry(field(block, "type")).or_default() += 1;
        }
        assert_eq!(end + 4096, layout["size"].as_u64().expect("a size"), "the trailer follows");
        let counts = serde_json::to_value(counts).expect("JSON");
        assert_eq!(counts, file["expect"]["blocks"], "{}", file["name"]);
    }
    shows(0, &["layout", "s01-default.hfile", "s02-empty.hfile"]).has("BLOOM_CHUNK");
}

#[test]
fn verify_accepts_every_golden_file() {
    let names: Vec<String> = manifest().iter().map(|file| field(file, "file").to_owned()).collect();
    let args: Vec<&str> =
        ["verify", "--json"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let reports = stdout(&args);
    assert_eq!(reports.lines().count(), names.len());
    for line in reports.lines() {
        let report: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(report["ok"], true, "{report}");
    }
}

// --- damage and failures -------------------------------------------------------------------------

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_quietly() {
    let mut child = command(&["cat", "s01-default.hfile"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
}

// --- writing -------------------------------------------------------------------------------------

/// A block above the limit is no damage, and the advice of the message reads it.
#[test]
fn a_block_above_the_limit_is_read_with_the_advised_option() {
    let directory = directory();
    let file_with = |len: usize| {
        let file = path(&directory, &format!("air-{len}.hfile"));
        let sink = fs::File::create(&file).expect("disk takes it");
        let options = WriterOptions::default().compression(Compression::Gz);
        let mut writer = Writer::new(sink, FileName::new("air"), options).expect("sound options");
        let value = vec![b'x'; len];
        writer.append(CellRef::put(b"a", b"f", b"q", Timestamp::new(1), &value)).expect("a cell");
        writer.finish().expect("disk takes it");
        file
    };
    // Larger than HBase's default limit for a cell, and allowed by many clusters.
    shows(0, &["verify", &file_with(100 << 20)]).has(": sound, ");
    let limit = " bytes of data exceed the limit of ";
    let file = file_with(257 << 20);
    for args in [["verify", &file], ["stats", &file]] {
        let told = tells(3, &args).has_all(&[limit, ": DATA block at 0x"]);
        assert!(!told.contains("restore") && !told.contains("damage"), "{told}");
        let advice = told.split_once("--inflate-ratio-max ").expect("advice").1;
        let ratio = advice.split_once(',').expect("a number").0;
        let less = (ratio.parse::<u32>().expect("a number") - 1).to_string();
        tells(3, &[&args[..], &["--inflate-ratio-max", &less]].concat()).has(limit);
        run(0, &[&args[..], &["--inflate-ratio-max", ratio]].concat());
    }
}
