//! `hfile cat --reverse`: rows in descending order, and each row's cells in file order.

use std::fs;

use crate::command_line::{data, directory, field, json, manifest, path, run, stdout};

/// The lines of a cells file, row by row.
fn rows(cells: &str) -> Vec<Vec<&str>> {
    let row = |line: &str| line.split('"').nth(3).expect("a row").to_owned();
    let mut rows: Vec<Vec<&str>> = Vec::new();
    for line in cells.lines() {
        match rows.last_mut() {
            Some(last) if row(last[0]) == row(line) => last.push(line),
            _ => rows.push(vec![line]),
        }
    }
    rows
}

fn reversed(cells: &str) -> Vec<String> {
    rows(cells).into_iter().rev().flatten().map(str::to_owned).collect()
}

#[test]
fn reverse_prints_every_golden_file_from_its_last_row_to_its_first() {
    let mut long_rows = 0;
    for file in manifest() {
        let name = field(&file, "file");
        let forward = stdout(&["cat", "--format", "cells", name]);
        let backward = stdout(&["cat", "--format", "cells", "--reverse", name]);
        long_rows += rows(&forward).iter().filter(|row| row.len() > 1).count();
        assert!(backward.lines().eq(reversed(&forward)), "{name} differs");
    }
    assert!(long_rows > 1000, "the order inside rows is tested: {long_rows}");
}

#[test]
fn start_is_the_greatest_row_and_stop_a_smaller_one() {
    let file = "s01-default.hfile";
    let all = reversed(&stdout(&["cat", "--format", "cells", file]));
    let row = |line: &str| {
        let hex = line.split('"').nth(3).expect("a row");
        let bytes = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("hex"));
        bytes.map(|pair| char::from(u8::from_str_radix(pair, 16).expect("hex"))).collect::<String>()
    };
    let rows: Vec<String> = all.iter().map(|line| row(line)).collect();
    let cat = |options: &[&str]| {
        stdout(&[&["cat", "--format", "cells", "--reverse", file], options].concat())
    };
    let middle = &rows[rows.len() / 2];
    let between = format!("{middle}\\x00");
    for start in [middle, &between] {
        let expected =
            all.iter().zip(&rows).filter(|(_, row)| *row <= middle).map(|(line, _)| line);
        assert!(cat(&["--start", start]).lines().eq(expected), "from {start}");
    }
    let expected = all.iter().zip(&rows).filter(|(_, row)| *row > middle).map(|(line, _)| line);
    assert!(cat(&["--stop", middle]).lines().eq(expected));
    assert!(cat(&["--start", "zzz", "--limit", "7"]).lines().eq(&all[..7]));
    assert_eq!(cat(&["--start", "a"]), "", "before the first row");
    assert_eq!(cat(&["--stop", "zzz"]), "", "behind the last row");
    assert_eq!(stdout(&["cat", "--reverse", "s02-empty.hfile"]), "");
}

/// A damaged block ends the scan with status 1, after the rows on its far side.
#[test]
fn damage_ends_a_reverse_scan_as_it_ends_a_forward_one() {
    let file = many_blocks();
    let blocks = json(&["layout", "--json", &file]);
    let offsets: Vec<usize> = blocks["blocks"]
        .as_array()
        .expect("blocks")
        .iter()
        .filter(|block| field(block, "type").ends_with("DATA"))
        .map(|block| block["offset"].as_u64().expect("a number") as usize)
        .collect();
    assert!(offsets.len() >= 3, "{offsets:?}");
    let mut bytes = fs::read(data().join(&file)).expect("committed");
    bytes[offsets[offsets.len() / 2] + 60] ^= 1;
    let directory = directory();
    let damaged = path(&directory, "damaged.hfile");
    fs::write(&damaged, &bytes).expect("disk takes it");

    let whole = reversed(&stdout(&["cat", "--format", "cells", &file]));
    let (out, told) = run(1, &["cat", "--format", "cells", "--reverse", &damaged]);
    let printed = out;
    assert!(printed.lines().count() > 0 && printed.lines().count() < whole.len());
    assert!(printed.lines().eq(&whole[..printed.lines().count()]), "no cell is wrong or missing");
    assert!(told.contains("DATA block at 0x"), "{}", told);
}

/// The golden file with the most data blocks.
fn many_blocks() -> String {
    let blocks =
        |file: &serde_json::Value| file["expect"]["blocks"]["DATA"].as_u64().unwrap_or_default();
    let file = manifest().into_iter().max_by_key(blocks).expect("some");
    field(&file, "file").to_owned()
}
