//! `hfile recompress`: files measured under every encoding and codec, or rewritten.

use std::fs;

use filter::{ErrorRate, FilterKind, Sizing};
use serde_json::Value;
use sstable::{
    BloomType, CellRef, FileInfo, FileName, FilterOptions, ReadTrace, Reader, ReaderOptions,
    Timestamp, Writer, WriterOptions,
};
use support::{judge, say};
use tempfile::TempDir;

use crate::command_line::{
    command, data, directory, entries, failure, field, golden_cells, hfile, json, manifest, path,
    shows, stdout, tells, text,
};

const ENCODINGS: [&str; 5] = ["NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1"];

fn codecs() -> Vec<&'static str> {
    let with_zstd = cfg!(feature = "zstd").then_some("ZSTD");
    ["NONE", "GZ", "SNAPPY", "LZ4"].into_iter().chain(with_zstd).collect()
}

/// Recompress compares each variant with the file itself: status 0 means equal cells.
#[test]
fn golden_files_are_measured_under_every_encoding_and_codec() {
    let directory = directory();
    let files: Vec<_> = manifest().into_iter().step_by(2).collect();
    let names: Vec<_> = files.iter().map(|file| field(file, "file")).collect();
    let args = [&["recompress", "--json"], &names[..]].concat();
    let output = command(&args).env("TMPDIR", directory.path()).output().expect("the binary runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let reports = text(&output.stdout);
    assert_eq!(reports.lines().count(), files.len());
    for (file, report) in files.iter().zip(reports.lines()) {
        let report: Value = serde_json::from_str(report).expect("JSON");
        let expect = &file["expect"];
        assert_eq!((&report["schema"], &report["file"]), (&1.into(), &file["file"]));
        assert_eq!((&report["size"], &report["cells"]), (&expect["size"], &expect["entries"]));
        let variants = report["variants"].as_array().expect("variants");
        let found: Vec<_> = variants
            .iter()
            .map(|variant| (field(variant, "encoding"), field(variant, "compression")))
            .collect();
        let wanted = ENCODINGS
            .into_iter()
            .flat_map(|encoding| codecs().into_iter().map(move |codec| (encoding, codec)));
        assert!(found.iter().copied().eq(wanted), "{found:?}");
        for variant in variants {
            let ratio =
                variant["size"].as_f64().expect("a size") / report["size"].as_f64().expect("one");
            assert!((variant["ratio"].as_f64().expect("a ratio") - ratio).abs() < 1e-9);
            for speed in ["write_megabytes_per_second", "scan_cells_per_second", "get_nanoseconds"]
            {
                let is_known = variant[speed].as_f64().is_some_and(|speed| speed > 0.0);
                assert_eq!(is_known, report["cells"] != 0, "{speed} in {variant}");
            }
        }
    }
    assert_eq!(entries(&directory), 0, "temporary files are left behind");
}

/// For files with HBase's default index and chunk sizes, which are not recorded, and without compression.
#[test]
fn a_file_rewritten_without_options_has_the_same_bytes() {
    let directory = directory();
    let output = path(&directory, "new.hfile");
    let mut same = 0;
    for file in manifest() {
        let (name, spec) = (field(&file, "file"), &file["spec"]);
        let report = json(&["recompress", name, "--output", &output, "--force", "--json"]);
        assert_eq!(report["cells"], file["expect"]["entries"]);
        assert_eq!(report["encoding"], file["expect"]["encoding"]);
        assert_eq!(report["compression"], file["expect"]["compression"]);
        let cells = hfile(&["cat", "--format", "cells", &output]).stdout;
        assert!(cells == golden_cells(&file), "{name}: other cells");
        stdout(&["verify", &output]);
        let (old, new) = (json(&["info", "--json", name]), json(&["info", "--json", &output]));
        for what in ["type", "hash", "hash_count", "keys"] {
            assert_eq!(new["bloom"][what], old["bloom"][what], "{name}: {what} of the Bloom");
        }
        let is_default = |setting: &str, default: u64| {
            spec[setting].as_u64().is_none_or(|value| value == default)
        };
        if is_default("indexBlockSize", 131_072)
            && is_default("bloomBlockSize", 131_072)
            && file["expect"]["compression"] == "NONE"
        {
            let (new, old) = (fs::read(&output), fs::read(data().join(name)));
            assert!(new.expect("written") == old.expect("committed"), "{name}: other bytes");
            same += 1;
        }
    }
    assert!(same >= 7, "only {same} files to compare");
}

/// Only encoding and codec change; the rest of the file info stays.
#[test]
fn settings_without_an_option_stay() {
    let directory = directory();
    let (old, new) = (path(&directory, "old.hfile"), path(&directory, "new.hfile"));
    let theirs = "s15-extra-file-info.hfile";
    stdout(&["filter", "rebuild", theirs, "--output", &old, "--kind", "ribbon"]);
    let recompress = ["recompress", &old, "--data-block-encoding", "DIFF", "--compression", "LZ4"];
    let said = shows(0, &[&recompress[..], &["--output", &new]].concat()).has(" as DIFF, LZ4; 0.");
    assert!(said.starts_with(&new), "{said}");
    let (before, after) = (json(&["info", "--json", &old]), json(&["info", "--json", &new]));
    assert_eq!((&after["encoding"], &after["compression"]), (&"DIFF".into(), &"LZ4".into()));
    let may_change = ["file", "size", "encoding", "compression", "mid_key", "trailer", "file_info"];
    for (name, value) in before.as_object().expect("an object") {
        assert!(may_change.contains(&name.as_str()) || after[name] == *value, "{name}: {after}");
    }
    let entries = |report: &Value| {
        let entries = report["file_info"].as_array().expect("a list").iter();
        let kept = entries.filter(|entry| entry["key"] != "DATA_BLOCK_ENCODING");
        kept.cloned().collect::<Vec<_>>()
    };
    assert!(entries(&before).len() > 10);
    assert_eq!(entries(&after), entries(&before));
    assert_eq!(after["filter"]["kind"], "ribbon");
    let bytes = fs::read(&new).expect("written");
    for (key, _) in manifest()
        .iter()
        .find(|file| file["file"] == theirs)
        .and_then(|file| file["spec"]["fileInfo"].as_object())
        .expect("further entries")
    {
        // The file info is compressed, but so small that the names are stored literally.
        let is_there = bytes.windows(key.len()).any(|window| window == key.as_bytes());
        assert!(is_there, "{key} is lost");
    }
}

/// HBase 2.6 notes the biggest cell, which older releases do not.
#[test]
fn a_file_of_hbase_2_6_keeps_its_biggest_cell() {
    let directory = directory();
    let output = path(&directory, "new.hfile");
    let file = data().join("../hfile-2.6/s01-default.hfile");
    let file = file.to_str().expect("text");
    let biggest = |file: &str| {
        let info = json(&["info", "--json", file]);
        (info["biggest_cell_bytes"].clone(), info["biggest_cell_key"].clone())
    };
    for change in ["--data-block-encoding=DIFF", "--compression=GZ", "--block-size=1KiB"] {
        stdout(&["recompress", file, "--output", &output, "--force", change]);
        assert!(biggest(file).0.is_u64());
        assert_eq!(biggest(&output), biggest(file), "{change}");
    }
}

/// Writes a file with the filter of other rows: its cells are readable, and the filter is copied.
fn file_with_a_filter_of_other_rows(directory: &TempDir) -> String {
    let place = path(directory, "lying.hfile");
    let write = |rows: std::ops::Range<u32>, options, filters: &[(&str, Vec<u8>)]| {
        let mut writer = Writer::new(Vec::new(), FileName::new("rows"), options).expect("sound");
        for row in rows {
            let row = format!("row{row:04}");
            let cell = CellRef::put(row.as_bytes(), b"f", b"q", Timestamp::new(1), b"v");
            writer.append(cell).expect("in order");
        }
        for (name, body) in filters {
            writer.append_meta(name, body.clone()).expect("sound");
        }
        fs::write(&place, writer.finish().expect("memory takes it").0).expect("disk takes it");
    };
    let filter = FilterOptions::new(
        FilterKind::BlockedBloom,
        Sizing::ErrorRate(ErrorRate::new(0.01).expect("in range")),
    );
    write(5000..5100, WriterOptions::default().filter(filter), &[]);
    let other = Reader::open_file(&place, ReaderOptions::default()).expect("sound");
    let filters: Vec<_> = other
        .blocks()
        .meta_names()
        .map(|name| {
            let body = other.blocks().meta(name, &mut ReadTrace::default()).expect("sound");
            (std::str::from_utf8(name).expect("text"), body.expect("it is there").to_vec())
        })
        .collect();
    let id = other.file_info().value(FileInfo::ROW_FILTER_ID).expect("it has a filter").to_vec();
    let options = WriterOptions::default().bloom_type(BloomType::None);
    write(0..100, options.file_info(FileInfo::ROW_FILTER_ID, id), &filters);
    place
}

#[test]
fn the_output_is_read_back_before_it_gets_its_final_name() {
    let directory = directory();
    let output = path(&directory, "new.hfile");
    let lying = file_with_a_filter_of_other_rows(&directory);
    let recompress = ["recompress", &lying, "--compression", "GZ", "--output", &output];
    tells(1, &recompress).has_all(&[
        "new.hfile: the output is damaged: ",
        "filter",
        "next: check the input with hfile verify",
    ]);
    assert_eq!(entries(&directory), 1, "nothing is left behind");

    fs::write(&output, "theirs").expect("the directory is ours");
    failure(&[&recompress[..], &["--force"]].concat());
    assert_eq!(fs::read(&output).expect("it stays"), b"theirs");
    stdout(&[&recompress[..], &["--force", "--no-verify"]].concat());
    assert_eq!(stdout(&["cat", &output]).lines().count(), 100);
    let (status, _) = failure(&["recompress", &lying, "--no-verify"]);
    assert_eq!(status, 2, "what is measured is always read back");
}

#[test]
fn hbase_reads_its_rewritten_files() {
    if !judge::is_enabled("hfile recompress") {
        return;
    }
    let directory = directory();
    let (output, cells) = (path(&directory, "new.hfile"), path(&directory, "cells.ndjson"));
    let mut count = 0;
    let ways = ENCODINGS
        .into_iter()
        .flat_map(|encoding| ["NONE", "GZ", "SNAPPY", "LZ4"].map(|codec| (encoding, codec)));
    for (file, (encoding, codec)) in manifest().iter().zip(ways.cycle()) {
        // HBase 2.5 does not find rows of `hbase:meta` under the others, not even in its own files.
        let is_meta = file["spec"]["comparator"] == "META";
        let encoding = if is_meta { "ROW_INDEX_V1" } else { encoding };
        let name = field(file, "file");
        let recompress = ["recompress", name, "--output", &output, "--force"];
        let way = ["--data-block-encoding", encoding, "--compression", codec];
        stdout(&[&recompress[..], &way].concat());
        fs::write(&cells, golden_cells(file)).expect("the directory is ours");
        // HBase 2.5 fails to scan backwards over dictionary-compressed tags, even in its own files.
        let read = ["read", &output, "--expect", &cells, "--reverse-limit", "0"];
        for question in [&read[..], &["bloom", &output, "--cells", &cells]] {
            judge::confirm(question);
        }
        count += 1;
    }
    say(&format!(
        "hfile recompress: {count} of {count} files of HBase, written anew, are accepted by it"
    ));
}
