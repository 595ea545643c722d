//! Which rows `verify` reports as possibly missing, and which `salvage` saves.

#![expect(clippy::format_collect, reason = "test data is small, and this reads best")]

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::command_line::{
    directory, entries, failure, field, hfile, json, json_with, path, run, stdout, text,
};

/// Writes a file of 20,000 rows `row00000` …, with the given options.
fn sound(options: &[&str]) -> (TempDir, String) {
    let directory = directory();
    let (input, file) = (path(&directory, "in.csv"), path(&directory, "a.hfile"));
    let rows: String = (0..20_000).map(|row| format!("row{row:05},value {row}\n")).collect();
    fs::write(&input, format!("k,f:q\n{rows}")).expect("disk takes it");
    let build =
        ["build", "--from", "csv", &input, "--row", "k", "--timestamp", "5", "--output", &file];
    stdout(&[&build[..], &["--block-size", "8KiB"], options].concat());
    fs::remove_file(input).expect("ours");
    (directory, file)
}

/// Returns the offsets of the blocks of these types.
fn blocks_of(file: &str, types: &[&str]) -> Vec<u64> {
    let layout = json(&["layout", "--json", file]);
    let blocks = layout["blocks"].as_array().expect("blocks").iter();
    let of_types = blocks.filter(|block| types.contains(&field(block, "type")));
    of_types.map(|block| block["offset"].as_u64().expect("a place")).collect()
}

fn data_blocks(file: &str) -> Vec<u64> {
    blocks_of(file, &["DATA", "ENCODED_DATA"])
}

fn flip(file: &str, at: u64) {
    let mut bytes = fs::read(file).expect("there");
    bytes[at as usize] ^= 1;
    fs::write(file, bytes).expect("writable");
}

fn rows(file: &str) -> BTreeSet<String> {
    let csv = stdout(&["cat", "--format", "csv", file]);
    csv.lines().skip(1).map(|line| line[..8].to_owned()).collect()
}

fn verified(file: &str) -> Value {
    json_with(1, &["verify", "--json", file])
}

/// The lost rows lie between the reported rows, in `verify` and in `salvage`; all others are saved.
#[test]
fn verify_names_the_rows_of_damaged_blocks_and_salvage_saves_all_others() {
    for options in [
        &[][..],
        &["--data-block-encoding", "FAST_DIFF", "--compression", "LZ4", "--bloom-type", "ROW"],
    ] {
        let (directory, file) = sound(options);
        let all = rows(&file);
        let blocks = data_blocks(&file);
        assert!(blocks.len() > 8, "{blocks:?}");
        // The first block, two adjacent blocks, and the last.
        let damaged = [0, 3, 4, blocks.len() - 1];
        for index in damaged {
            flip(&file, blocks[index] + 60);
        }
        let report = verified(&file);
        let errors = report["errors"].as_array().expect("errors");
        assert_eq!(errors.len(), damaged.len(), "{report}");

        let output = path(&directory, "saved.hfile");
        let salvage = json_with(1, &["salvage", "--json", &file, "--output", &output]);
        stdout(&["verify", &output]);
        let saved = rows(&output);
        assert_eq!(salvage["cells"], saved.len());
        assert_eq!(salvage["cells_stated"], 20_000);
        let missing: Vec<&String> = all.difference(&saved).collect();
        assert!(!missing.is_empty() && missing.len() < 6_000, "{}", missing.len());

        let mut between = BTreeSet::new();
        for (index, (error, block)) in errors.iter().zip(damaged).enumerate() {
            assert_eq!(error["offset"], blocks[block]);
            // Two adjacent blocks are one loss.
            let ours = &salvage["lost"][[0, 1, 1, 2][index]];
            assert!(index == 2 || error["offset"] == ours["offset"]);
            for end in ["first_row", "last_row"] {
                assert_eq!(error[end], ours[end], "{error} {ours}");
            }
            let (first, last) = (error["first_row"].as_str(), error["last_row"].as_str());
            assert_eq!((first.is_none(), last.is_none()), (index == 0, index == 3), "{error}");
            for end in [first, last].into_iter().flatten() {
                assert!(saved.contains(end), "{end} is a sound row");
            }
            let is_between = |row: &&String| {
                first.is_none_or(|first| row.as_str() > first)
                    && last.is_none_or(|last| row.as_str() < last)
            };
            between.extend(all.iter().filter(is_between));
        }
        assert!(
            between.iter().copied().eq(missing),
            "the ranges hold the lost rows, and no sound one"
        );
        assert_eq!(salvage["lost"][1]["bytes"], blocks[5] - blocks[3]);
        assert_eq!(entries(&directory), 2);

        // The new file has the settings of the damaged file.
        let [old, new] = [&file, &output].map(|file| json(&["info", "--json", file]));
        for setting in ["compression", "encoding", "checksum", "time_range"] {
            assert_eq!(old[setting], new[setting]);
        }
        assert_eq!(old["bloom"]["type"], new["bloom"]["type"]);
    }
}

/// Damage to a META block loses no rows, even if its header is unreadable.
#[test]
fn no_rows_are_reported_lost_if_all_cells_are_saved() {
    for at in [0, 60] {
        let (directory, file) = sound(&["--filter", "blocked-bloom"]);
        flip(&file, blocks_of(&file, &["META"])[0] + at);
        let output = path(&directory, "saved.hfile");
        let report = json_with(1, &["salvage", "--json", &file, "--output", &output]);
        assert_eq!(report["cells"], 20_000, "{report}");
        assert_eq!(report["cells_refused"], 0, "{report}");
        let lost = report["lost"].as_array().expect("a list");
        assert!(lost.iter().all(|lost| lost.get("first_row").is_none()), "{report}");
    }
    // With a lost data block, too, a META block has no lost rows.
    let (directory, file) = sound(&["--filter", "blocked-bloom"]);
    flip(&file, blocks_of(&file, &["META"])[0] + 60);
    flip(&file, data_blocks(&file)[2] + 60);
    let output = path(&directory, "saved.hfile");
    let report = json_with(1, &["salvage", "--json", &file, "--output", &output]);
    let named = |block: &str| {
        let lost = report["lost"].as_array().expect("a list");
        let found = lost.iter().find(|lost| lost["block"] == block);
        found.map(|lost| lost.get("first_row").is_some())
    };
    assert_eq!(named("DATA"), Some(true), "{report}");
    assert_ne!(named("META"), Some(true), "{report}");
}

/// More files than threads; reports come in the given order, regardless of which file is done first.
#[test]
fn many_files_are_verified_and_reported_in_the_given_order() {
    let (directory, file) = sound(&[]);
    let bytes = fs::read(&file).expect("there");
    let names: Vec<String> =
        (0..40).map(|number| path(&directory, &format!("{number}.hfile"))).collect();
    for (number, name) in names.iter().enumerate() {
        let mut bytes = bytes.clone();
        if number == 17 {
            bytes[300] ^= 1;
        }
        // Some are truncated, so their check ends immediately.
        let len = if number % 5 == 4 { 10 } else { bytes.len() };
        fs::write(name, &bytes[..len]).expect("disk takes it");
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (out, _) = run(1, &[&["verify", "--json"], &names[..]].concat());
    let printed = out;
    let reports: Vec<Value> =
        printed.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    let files: Vec<&str> = reports.iter().map(|report| field(report, "file")).collect();
    assert_eq!(files, names);
    for (number, report) in reports.iter().enumerate() {
        assert_eq!(report["ok"], number != 17 && number % 5 != 4, "{number}");
    }
    assert!(reports[17]["errors"][0]["last_row"].is_string());
}

/// A file of 300 rows whose cells have tags, sequence ids and two blocks or more.
///
/// Without checksums, so that a test can change the file info.
fn tagged(directory: &TempDir, options: &[&str]) -> String {
    let (input, file) = (path(directory, "in.ndjson"), path(directory, "a.hfile"));
    let cell = |row: usize| {
        let row: String =
            format!("row{row:05}").bytes().map(|byte| format!("{byte:02x}")).collect();
        let cell = serde_json::json!({
            "row": row, "family": "66", "qualifier": "71", "ts": 5, "type": "Put",
            "value": "76616c7565", "tags": [{"type": 65, "value": "746167"}], "seq": 7,
        });
        format!("{cell}\n")
    };
    fs::write(&input, (0..300).map(cell).collect::<String>()).expect("disk takes it");
    let build =
        ["build", "--from", "cells", &input, "--output", &file, "--checksum", "NULL", "--force"];
    let more = ["--block-size", "2KiB", "--includes-tags", "true"];
    stdout(&[&build[..], &more, options].concat());
    file
}

/// What the file info says of the cells is wrong, and each block shows how they are stored.
#[test]
fn cells_are_saved_though_the_file_info_is_wrong() {
    let mis = path_of_report("mis-diff.hfile");
    let directory = directory();
    let output = path(&directory, "saved.hfile");
    assert_eq!(failure(&["cat", &mis]).0, 1, "reads refuse it, as HBase does");
    let report = json(&["salvage", "--json", &mis, "--output", &output]);
    assert_eq!((&report["cells"], &report["lost"]), (&100.into(), &Value::Array(Vec::new())));
    stdout(&["verify", &output]);
    assert_eq!(json(&["info", "--json", &output])["encoding"], "NONE");

    let encoded = |encoding: &'static str| ["--data-block-encoding", encoding];
    let no_tags = (&b"MAX_TAGS_LEN"[..], &b"MAX_TAGS_LEM"[..]);
    let no_mvcc = (&b"KEY_VALUE_VERSION"[..], &b"KEY_VALUE_VERSIOM"[..]);
    let is_prefix = (&b"FAST_DIFF"[..], &b"PREFIX\0\0\0"[..]);
    let more = ["--compress-tags", "true"];
    for (options, change, is_saved) in [
        (&[][..], no_tags, true),
        (&[], no_mvcc, true),
        (&encoded("PREFIX"), no_tags, true),
        (&encoded("DIFF"), no_mvcc, true),
        (&encoded("FAST_DIFF"), no_tags, true),
        (&encoded("ROW_INDEX_V1"), no_mvcc, true),
        (&[&encoded("DIFF")[..], &more].concat(), no_tags, true),
        (&[&encoded("DIFF")[..], &more].concat(), (b"TAGS_COMPRESSED", b"TAGS_COMPRESSEE"), true),
        (&encoded("DIFF"), (b"DATA_BLOCK_ENCODING", b"DATA_BLOCK_ENCODINH"), true),
        // Such a file cannot be opened.
        (&encoded("FAST_DIFF"), (b"AVG_KEY_LEN", b"AVG_KEY_LEM"), false),
        (&encoded("FAST_DIFF"), is_prefix, false),
        (&[], (b"LASTKEY", b"LASTKEZ"), false),
        (&[], (b"FILEINF2", b"FILEINF3"), false),
        (&[], (b"Comparator", b"Comparatos"), false),
        (&[], (b"TRABLK\"$", b"TRABLK\"%"), false),
    ] {
        let file = tagged(&directory, options);
        let expected = stdout(&["cat", "--format", "cells", &file]);
        replace(&file, change);
        let shown = String::from_utf8_lossy(change.1);
        let salvaged = hfile(&["salvage", "--json", "--force", &file, "--output", &output]);
        let told = text(&salvaged.stderr);
        if is_saved {
            assert_eq!(salvaged.status.code(), Some(0), "{options:?} {shown}: {told}");
            let saved = stdout(&["cat", "--format", "cells", &output]);
            assert!(saved == expected, "{options:?} {shown}: the tags and sequence ids, too");
            stdout(&["verify", &output]);
        } else {
            assert!(matches!(salvaged.status.code(), Some(1 | 3)), "{options:?} {shown}: {told}");
            assert!(told.contains("next: "), "{told}");
        }
    }
}

fn path_of_report(name: &str) -> String {
    let file = support::root_directory::reports().join(name);
    file.to_str().expect("UTF-8").to_owned()
}

/// Replaces the last occurrence of some bytes with as many others.
fn replace(file: &str, (old, new): (&[u8], &[u8])) {
    let mut bytes = fs::read(file).expect("there");
    let at = bytes.windows(old.len()).rposition(|found| found == old);
    let at = at.unwrap_or_else(|| panic!("{file} has {}", String::from_utf8_lossy(old)));
    bytes[at..at + new.len()].copy_from_slice(new);
    fs::write(file, bytes).expect("writable");
}
