//! Write-ahead logs that HBase wrote: the entries of HBase's own reader, also of cut and changed files.
//!
//! `tests/data/wal/README.md` describes the files.

use std::collections::BTreeSet;
use std::io::Read;

use cells::ndjson;
use flate2::read::GzDecoder;
use hbase_files::wal::{End, LogEntry, LogPart, ValueCompression};
use serde_json::{Value, json};
use sstable::Cell;

use crate::files::{CLOSED, EMPTY, OPEN, bytes, open, read, truth};

/// Returns an entry as the line of JSON that HBase's reader gave, whose cells have no sequence ids.
fn as_json(entry: &LogEntry) -> Value {
    let cells = entry.cells.iter().map(|cell| {
        assert_eq!(cell.sequence_id().get(), entry.sequence);
        let mut line = Vec::new();
        ndjson::write_cell(&mut line, &cell.as_ref()).expect("memory takes it");
        let mut cell: Value = serde_json::from_slice(&line).expect("JSON");
        cell.as_object_mut().expect("an object").remove("seq");
        cell
    });
    json!({
        "region": entry.region,
        "table": entry.table,
        "sequence": entry.sequence,
        "write_time": entry.write_time,
        "cells": cells.collect::<Vec<_>>(),
    })
}

#[test]
fn each_entry_is_what_hbase_reads() {
    for (names, end) in [(&CLOSED[..], End::Closed), (&OPEN, End::Open), (&EMPTY, End::Open)] {
        for name in names {
            let (entries, found) = read(bytes(name)).expect("a log");
            let expected: Vec<Value> = truth(name);
            assert_eq!(entries.len(), expected.len(), "{name}");
            for (entry, expected) in entries.iter().zip(&expected) {
                assert_eq!(&as_json(entry), expected, "{name}, offset {}", entry.offset);
            }
            assert_eq!(found.expect("it has no error"), end, "{name}");
            assert_eq!(open(bytes(name)).expect("a log").is_closed(), end == End::Closed);
        }
    }
}

#[test]
fn the_header_tells_the_compression() {
    for (name, dictionaries, values) in [
        ("plain.open", false, None),
        ("dictionary.meta", true, None),
        ("value.empty", true, Some(ValueCompression::Gz)),
    ] {
        let reader = open(bytes(name)).expect("a log");
        let header = reader.header().expect("it is whole");
        assert_eq!(header.dictionaries, dictionaries, "{name}");
        assert_eq!(header.tag_dictionary, dictionaries, "{name}");
        assert_eq!(header.value_compression, values, "{name}");
        assert_eq!(header.writer.as_deref(), Some("ProtobufLogWriter"));
    }
}

#[test]
fn markers_are_told_from_data() {
    // Cells and markers as HBase's reader counted them.
    for (name, cells, markers) in
        [("plain.meta", 352, 1), ("dictionary.closed", 385, 3), ("value.open", 103, 0)]
    {
        let (entries, _) = read(bytes(name)).expect("a log");
        let all: usize = entries.iter().map(|entry| entry.cells.len()).sum();
        let data: usize = entries.iter().map(|entry| entry.data_cells().count()).sum();
        assert_eq!((all, all - data), (cells, markers), "{name}");
    }
}

#[test]
fn the_entries_of_a_log_of_phoenix_are_those_of_hbase() {
    let reports = support::root_directory::reports();
    let unpacked = |name: &str| {
        let bytes = std::fs::read(reports.join(name)).expect("committed");
        let mut unpacked = Vec::new();
        GzDecoder::new(&bytes[..]).read_to_end(&mut unpacked).expect("gzip");
        unpacked
    };
    let (entries, end) = read(unpacked("phoenix-codec.wal.gz")).expect("a log");
    assert!(matches!(end, Ok(End::Closed | End::Open)), "{end:?}");
    // A tag of type 8 is a TTL. HBase's answer is without the cells that have expired.
    let has_ttl = |cell: &Cell| cell.as_ref().tags().any(|(tag, _)| tag == 8);
    let of_table = entries.iter().filter(|entry| entry.table == "d").map(|entry| {
        let cells = entry.data_cells().filter(|cell| !has_ttl(cell)).cloned().collect();
        LogEntry { cells, ..entry.clone() }
    });
    let cells = of_table.filter_map(|entry| as_json(&entry)["cells"].as_array().cloned());
    let found: BTreeSet<String> = cells.flatten().map(|cell| cell.to_string()).collect();
    let text = String::from_utf8(unpacked("phoenix-codec.cells.ndjson.gz")).expect("UTF-8");
    let expected: BTreeSet<String> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON").to_string())
        .collect();
    assert_eq!(expected.len(), 133);
    assert_eq!(found, expected);
}

/// Checks a log cut to `len` bytes: the entries that are whole, and how it ends.
fn check_cut(name: &str, whole: &[u8], entries: &[LogEntry], len: usize) {
    let cut = len as u64;
    let (found, end) = read(whole[..len].to_vec()).expect("the cut header is torn");
    let expected = entries.partition_point(|entry| entry.offset + entry.len <= cut);
    assert_eq!(found.len(), expected, "{name} cut to {len}");
    assert_eq!(found, entries[..expected], "{name} cut to {len}");
    let end = end.unwrap_or_else(|error| panic!("{name} cut to {len}: {error}"));
    let header_len = entries.first().map_or(whole.len() as u64, |entry| entry.offset);
    let last = found.last().map_or(header_len, |entry| entry.offset + entry.len);
    match end {
        End::Open => assert_eq!(cut, last, "{name} cut to {len}"),
        End::Torn { offset, bytes, part } if cut < header_len => {
            assert_eq!((offset, bytes, part), (0, cut, LogPart::Header), "{name} cut to {len}");
        }
        End::Torn { offset, bytes, part } => {
            assert_eq!((offset, bytes), (last, cut - last), "{name} cut to {len}");
            let is_trailer = expected == entries.len();
            assert_eq!(part == LogPart::Trailer, is_trailer, "{name} cut to {len}");
        }
        End::Closed => panic!("{name} cut to {len} is closed"),
    }
}

#[test]
fn a_log_cut_anywhere_has_the_entries_before() {
    for name in CLOSED.iter().chain(&OPEN).chain(&EMPTY) {
        let whole = bytes(name);
        let (entries, _) = read(whole.clone()).expect("a log");
        for len in 0..whole.len() {
            // Larger files: only near the ends of entries.
            let is_near = |entry: &LogEntry| {
                let end = (entry.offset + entry.len) as usize;
                len.abs_diff(end) <= 64
            };
            if whole.len() <= 25_000 || entries.iter().any(is_near) {
                check_cut(name, &whole, &entries, len);
            }
        }
    }
}

#[test]
fn a_changed_bit_changes_no_entry_before_it() {
    let mut refused = 0;
    for name in ["plain.open", "dictionary.meta", "value.meta"] {
        let whole = bytes(name);
        let (entries, _) = read(whole.clone()).expect("a log");
        for bit in 8 * entries[0].offset as usize..8 * whole.len() {
            let mut changed = whole.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let (found, end) = read(changed).expect("the header is sound");
            let at = (bit / 8) as u64;
            let sound = entries.partition_point(|entry| entry.offset + entry.len <= at);
            if sound == entries.len() {
                // The trailer: its length may claim bytes of entries, or be impossible.
                assert!(found.len() <= sound, "{name}, bit {bit}");
                assert!(!matches!(end, Ok(End::Closed)), "{name}, bit {bit}");
                assert_eq!(found, entries[..found.len()], "{name}, bit {bit}");
                continue;
            }
            assert!(found.len() >= sound, "{name}, bit {bit}");
            assert_eq!(found[..sound], entries[..sound], "{name}, bit {bit}");
            // A log has no checksums: names and values may change unnoticed.
            refused += usize::from(end.is_err());
        }
        // In the header, anything may happen but a panic.
        for bit in 0..8 * entries[0].offset as usize {
            let mut changed = whole.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let _ = read(changed);
        }
    }
    assert!(refused > 5_000, "{refused}");
}

#[test]
fn a_changed_length_of_a_closed_log_is_damage_and_not_a_torn_end() {
    let mut whole = bytes("dictionary.meta");
    let (entries, _) = read(whole.clone()).expect("a log");
    let at = entries[3].offset;
    whole[at as usize] = 0xff;
    whole[at as usize + 1] = 0xff;
    whole[at as usize + 2] = 0x01;
    let (found, end) = read(whole).expect("the header is sound");
    assert_eq!(found, entries[..3]);
    let error = end.expect_err("damaged").to_string();
    assert_eq!(error, format!("log: damaged at offset {at}: an entry reaches into the trailer"));
}

#[test]
fn a_changed_length_before_sound_entries_is_damage_and_not_a_torn_end() {
    let whole = bytes("plain.open");
    let (entries, _) = read(whole.clone()).expect("a log");
    for (index, entry) in entries.iter().enumerate() {
        let mut changed = whole.clone();
        // The length of the first cell, after the key: more than the file has left.
        let at = entry.offset as usize;
        let key_len = usize::from(changed[at]);
        assert!(key_len < 0x80);
        changed[at + 1 + key_len] = 0x01;
        let (found, end) = read(changed).expect("the header is sound");
        assert_eq!(found, entries[..index]);
        let is_last = index + 1 == entries.len();
        assert_eq!(matches!(end, Ok(End::Torn { .. })), is_last, "{end:?}");
        if let Some(next) = entries.get(index + 1) {
            let error = end.expect_err("damaged").to_string();
            let expected = format!(
                "log: damaged at offset {at}: an entry reaches beyond the end of the file, but a sound one is at {}",
                next.offset
            );
            assert_eq!(error, expected);
        }
    }
}
