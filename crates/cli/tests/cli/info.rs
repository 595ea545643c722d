//! `hfile info --all` and `hfile layout --keys` on files that HBase wrote, and on damaged ones.

use std::fs;

use cells::escape;
use serde_json::{Value, json};
use sstable::Cell;
use support::fixtures::Fixture;
use support::unhex;

use crate::command_line::{
    data, directory, field, hfile, json, manifest, path, shows, stdout, text,
};

#[test]
fn info_has_every_field_of_the_trailer() {
    for file in manifest() {
        let name = field(&file, "file");
        let trailer = &json(&["info", "--json", name])["trailer"];
        let expect = &file["expect"]["trailer"];
        for (ours, theirs) in [
            ("entry_count", "entryCount"),
            ("num_data_index_levels", "numDataIndexLevels"),
            ("data_index_count", "dataIndexCount"),
            ("meta_index_count", "metaIndexCount"),
            ("uncompressed_data_index_size", "uncompressedDataIndexSize"),
            ("total_uncompressed_bytes", "totalUncompressedBytes"),
            ("file_info_offset", "fileInfoOffset"),
            ("load_on_open_data_offset", "loadOnOpenDataOffset"),
            ("first_data_block_offset", "firstDataBlockOffset"),
            ("last_data_block_offset", "lastDataBlockOffset"),
        ] {
            // HBase has -1 for a block that does not exist.
            let ours = if trailer[ours].is_null() { &json!(-1) } else { &trailer[ours] };
            assert_eq!(ours, &expect[theirs], "{name}: {theirs}");
        }
        let version = format!("{}.{}", trailer["major_version"], trailer["minor_version"]);
        assert_eq!(file["expect"]["version"], version, "{name}");
        assert_eq!(trailer["compression_codec"], file["expect"]["compression"], "{name}");
    }
}

#[test]
fn info_has_every_entry_of_the_file_info() {
    for file in manifest() {
        let name = field(&file, "file");
        let info = json(&["info", "--json", name]);
        let expect = file["expect"]["fileInfo"].as_object().expect("entries");
        let entries = info["file_info"].as_array().expect("entries");
        assert_eq!(entries.len(), expect.len(), "{name}");
        for entry in entries {
            let (key, decoded) = (field(entry, "key"), &entry["decoded"]);
            let expect = &expect[key];
            assert_eq!(entry["value"], expect["hex"], "{name}: {key}");
            for form in ["int", "long", "bool"] {
                if let Some(expected) = expect.get(form) {
                    assert_eq!(decoded, expected, "{name}: {key}");
                }
            }
        }
        for (entry, field) in [
            ("DELETE_FAMILY_COUNT", "delete_family_count"),
            ("hfile.CREATE_TIME_TS", "create_time"),
        ] {
            assert_eq!(info[field], expect[entry]["long"], "{name}: {field}");
        }
        let earliest = expect["EARLIEST_PUT_TS"]["long"].as_i64();
        assert_eq!(info["earliest_put"].as_i64(), earliest.filter(|time| *time != i64::MAX));
    }
}

#[test]
fn info_has_family_keys_and_filters() {
    for fixture in Fixture::all() {
        let (name, cells) = (&fixture.name, fixture.cells());
        let info = json(&["info", "--json", fixture.path.to_str().expect("text")]);
        let key = |cell: &Cell| cell.as_ref().key().to_string();
        let family = cells.first().map(|cell| escape(cell.family()).to_string());
        assert_eq!(info["family"], json!(family), "{name}");
        assert_eq!(info["first_key"], json!(cells.first().map(key)), "{name}");
        assert_eq!(info["last_key"], json!(cells.last().map(key)), "{name}");
        assert_eq!(info["mid_key"].is_null(), cells.is_empty(), "{name}");
        assert_eq!(info["tags_compressed"], fixture.expect["compressTags"], "{name}");
        for (ours, theirs) in [("bloom", "bloom"), ("delete_family_bloom", "deleteFamilyBloom")] {
            let (ours, theirs) = (&info[ours], &fixture.expect[theirs]);
            assert_eq!(ours.is_null(), theirs.is_null(), "{name}: {theirs}");
            for (our_field, their_field) in [
                ("keys", "keys"),
                ("max_keys", "maxKeys"),
                ("chunks", "chunks"),
                ("bytes", "bytes"),
                ("hash", "hash"),
                ("hash_count", "hashCount"),
            ] {
                assert_eq!(ours[our_field], theirs[their_field], "{name}: {our_field}");
            }
        }
    }
}

/// HBase 2.6 records the longest cell.
#[test]
fn info_shows_the_biggest_cell_if_the_file_has_it() {
    let directory = directory();
    let (options, file) = (path(&directory, "options.json"), path(&directory, "a.hfile"));
    // The flat key of row `row`, column `f:q`, timestamp 5.
    let key = concat!("0003", "726f77", "01", "66", "71", "0000000000000005", "04");
    let entries = json!({
        "other.LEN_OF_BIGGEST_CELL": "000000000000012c",
        "other.KEY_OF_BIGGEST_CELL": key,
    });
    let settings = json!({ "fileInfo": entries, "checksum": "NULL" });
    fs::write(&options, settings.to_string()).expect("ours");
    let cells = "s03-one-cell.cells.ndjson";
    let build = ["build", "--from", "cells", cells, "--output", &file, "--options", &options];
    stdout(&build);
    // The names are reserved for the writer, so they are put into a file without checksums.
    let mut bytes = fs::read(&file).expect("written above");
    let names: Vec<_> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(b"other.")).collect();
    assert_eq!(names.len(), 2);
    for at in names {
        bytes[at..at + 5].copy_from_slice(b"hfile");
    }
    fs::write(&file, bytes).expect("ours");
    let info = json(&["info", "--json", &file]);
    assert_eq!(info["biggest_cell_bytes"], 300);
    assert_eq!(info["biggest_cell_key"], "row/f:q/5/Put");
    shows(0, &["info", &file]).has("\nbiggest cell  300 bytes: row/f:q/5/Put\n");
}

#[test]
fn layout_shows_the_keys_and_cells_of_blocks() {
    for fixture in Fixture::all() {
        let (name, cells) = (&fixture.name, fixture.cells());
        let place = fixture.path.to_str().expect("text");
        let layout = json(&["layout", "--keys", "--json", place]);
        let blocks = layout["blocks"].as_array().expect("blocks");
        let (mut passed, mut index_entries, mut chunk_keys) = (0, 0, Vec::new());
        for block in blocks {
            match field(block, "type") {
                "DATA" | "ENCODED_DATA" => {
                    let first = cells[passed].as_ref().key().to_string();
                    assert_eq!(block["first_key"], first, "{name}");
                    passed += block["cells"].as_u64().expect("a count") as usize;
                }
                "LEAF_INDEX" => index_entries += block["entries"].as_u64().expect("a count"),
                "BLOOM_CHUNK" => chunk_keys.push(field(block, "first_key")),
                _ => assert!(block["cells"].is_null(), "{name}: {block}"),
            }
        }
        assert_eq!(passed, cells.len(), "{name}");
        let is_data = |block: &&Value| field(block, "type").ends_with("DATA");
        let data = blocks.iter().filter(is_data).count() as u64;
        assert!(index_entries == 0 || index_entries == data, "{name}: {index_entries}");
        let root = blocks.iter().find(|block| block["type"] == "ROOT_INDEX").expect("a root");
        assert_eq!(root["entries"], fixture.expect["trailer"]["dataIndexCount"], "{name}");
        compare_chunk_keys(&fixture, &chunk_keys);
    }
    let plain = json(&["layout", "--json", "s01-default.hfile"]);
    assert!(plain["blocks"][0].get("cells").is_none(), "{plain}");
}

/// HBase's first keys of the chunks are rows, prefixes or, for ROWCOL, flat keys.
fn compare_chunk_keys(fixture: &Fixture, shown: &[&str]) {
    let mut expected = Vec::new();
    for bloom in ["bloom", "deleteFamilyBloom"] {
        let keys = fixture.expect[bloom]["chunkFirstKeys"].as_array();
        let is_over_columns = bloom == "bloom" && fixture.expect["bloomType"] == "ROWCOL";
        expected.extend(keys.into_iter().flatten().map(|key| {
            let key = unhex(key.as_str().expect("hex"));
            match sstable::KeyRef::parse(&key) {
                Some(key) if is_over_columns => key.to_string(),
                _ => escape(&key).to_string(),
            }
        }));
    }
    let (mut shown, mut expected) = (shown.to_vec(), expected);
    shown.sort_unstable();
    expected.sort_unstable();
    assert_eq!(shown, expected, "{}", fixture.name);
}

#[test]
fn damage_of_the_mid_key_and_of_listed_blocks_is_reported() {
    let directory = directory();
    let sound = "s04-three-index-levels.hfile";
    let layout = json(&["layout", "--json", sound]);
    let bad = path(&directory, "bad.hfile");
    let damage = |is_damaged: &dyn Fn(&str) -> bool| {
        let mut bytes = fs::read(data().join(sound)).expect("committed");
        let blocks = layout["blocks"].as_array().expect("blocks");
        for block in blocks.iter().filter(|block| is_damaged(field(block, "type"))) {
            bytes[block["offset"].as_u64().expect("an offset") as usize + 40] ^= 1;
        }
        fs::write(&bad, &bytes).expect("the directory is ours");
    };
    damage(&|block_type| block_type == "LEAF_INDEX");
    let output = hfile(&["info", "--json", &bad]);
    assert_eq!(output.status.code(), Some(1));
    let info: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(info["mid_key"].is_null(), "{info}");
    assert!(info["problems"][0].as_str().expect("a problem").contains("LEAF_INDEX"), "{info}");
    assert!(stdout(&["layout", &bad]).contains("LEAF_INDEX"), "the headers are sound");
    let output = hfile(&["layout", "--keys", &bad]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("LEAF_INDEX block at "), "{output:?}");
    damage(&|block_type| block_type == "DATA");
    let output = hfile(&["layout", "--keys", &bad]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("DATA block at 0x0: "), "{output:?}");
    assert_eq!(hfile(&["info", &bad]).status.code(), Some(0), "it reads no data block");
}
