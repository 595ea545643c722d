//! Sequence ids and ages of files: flushed, bulk-loaded, halves; with equal ids.

use hbase_files::TableScan;
use sstable::{Half, SequenceId, Timestamp, WriterOptions};

use super::made::{Log, Made, flushed, hfile, put, write, write_file};

/// The sequence id up to which logged cells of a store count as flushed.
fn flushed_up_to(made: &Made, region: &str, row: &str) -> u64 {
    let log = (1..20).fold(Log::new(), |log, sequence| {
        let cell = put(row, "log", sequence as i64, sequence, "v");
        log.entry(region, sequence, 9, &[cell])
    });
    made.log("host,1,1", &log.0);
    let scan = TableScan::default().with_logs(true).raw(true).column("f", "log");
    let found = made.scan(&scan).map(|cell| cell.expect("sound").sequence_id().get());
    found.min().expect("the last is in no file") - 1
}

fn loaded(sequence: Option<u64>) -> WriterOptions {
    let options = WriterOptions::default().bulk_load(Timestamp::new(77));
    match sequence {
        Some(sequence) => options.max_sequence_id(SequenceId::new(sequence)),
        None => options,
    }
}

#[test]
fn the_sequence_id_of_a_file_is_that_of_its_kind() {
    let keeps = |value: u8| loaded(Some(9)).file_info("SKIP_RESET_SEQ_ID", [value]);
    let by_name = format!("{}_SeqId_12_", hfile(1));
    let keeping = keeps(0xff).includes_mvcc(true);
    // The options, the name, the id of the file, and the id of its cells.
    let cases = [
        ("flushed", flushed(9), hfile(1), 9, 4),
        ("flushed, its name is no sequence id", flushed(5), hfile(1), 5, 4),
        ("loaded, its id in the name", loaded(None), by_name.clone(), 12, 12),
        ("the name counts before the file info", loaded(Some(9)), by_name.clone(), 12, 12),
        ("loaded, its id in the file info", loaded(Some(9)), hfile(1), 9, 9),
        (
            "cells that keep their ids, and the file has the next id",
            keeping.clone(),
            by_name.clone(),
            13,
            4,
        ),
        ("also if its id is in the file info", keeping, hfile(1), 10, 4),
        (
            "flushed, with a setting of bulk loads",
            flushed(9).file_info("SKIP_RESET_SEQ_ID", [0xff]),
            hfile(1),
            9,
            4,
        ),
        ("a setting that is off", keeps(0), by_name.clone(), 12, 12),
        ("without the time of the load", flushed(9), by_name, 12, 12),
    ];
    for (what, options, name, of_file, of_cells) in cases {
        // Both halves of the file, and the file itself in a region of its own.
        let made = Made::new(&[]);
        let parent = made.gone_region(1, "");
        let regions = [made.region(2, "", "e"), made.region(2, "e", "m"), made.region(2, "m", "")];
        let cells = [put("b", "q", 1, 4, "v"), put("g", "q", 1, 4, "v")];
        made.archived(&parent, &name, options.clone(), &cells);
        regions[0].half(&name, &parent, "e", Half::Bottom);
        regions[1].half(&name, &parent, "e", Half::Top);
        regions[2].file(&name, options, &[put("n", "q", 1, 4, "v")]);
        let found = made.scan(&TableScan::default());
        let found: Vec<u64> = found.map(|cell| cell.expect("sound").sequence_id().get()).collect();
        // The top half is later than the bottom half, if the ids of its cells are the file's.
        let of_top = of_cells + u64::from(of_cells == of_file);
        let of_top = if of_cells == 4 { 4 } else { of_top };
        assert_eq!(found, [of_cells, of_top, of_cells], "{what}");
        for (region, row, expected) in [(0, "b", of_file), (1, "g", of_file + 1), (2, "n", of_file)]
        {
            let found = flushed_up_to(&made, &regions[region].name, row);
            assert_eq!(found, expected, "{what}, region {region}");
        }
    }
}

#[test]
fn a_link_has_the_sequence_id_of_the_file_to_which_it_leads() {
    for (name, of_file, of_cells) in [(hfile(1), 9, 4), (format!("{}_SeqId_12_", hfile(1)), 12, 12)]
    {
        let (made, other) = (Made::new(&[]), "0123456789abcdef0123456789abcdef");
        let region = made.region(1, "", "");
        let path = made.root().join("archive/data/default/u").join(other).join("f").join(&name);
        write_file(&path, flushed(9), &[put("r", "q", 1, 4, "v")]);
        write(&region.path.join("f").join(format!("u={other}-{name}")), b"");
        assert_eq!(made.cells(&TableScan::default()), [format!("r:q/1=v@{of_cells}")]);
        assert_eq!(flushed_up_to(&made, &region.name, "r"), of_file, "{name}");
    }
}

#[test]
fn a_loaded_file_without_a_sequence_id_is_older_than_all_writes() {
    let made = Made::new(&[]);
    let region = made.region(1, "", "");
    region.file(&hfile(1), loaded(None), &[put("r", "q", 1, 0, "loaded")]);
    assert_eq!(made.cells(&TableScan::default()), ["r:q/1=loaded@0"]);
    assert_eq!(flushed_up_to(&made, &region.name, "r"), 0);
}

/// Returns the value that counts of equal keys in two files of a region, in both orders of their names.
#[track_caller]
fn check_newer(what: &str, newer: &(&str, WriterOptions), older: &(&str, WriterOptions)) {
    for names in [[1, 2], [2, 1]] {
        let made = Made::new(&[]);
        let region = made.region(1, "", "");
        for (number, (suffix, options), value) in
            [(names[0], newer, "newer"), (names[1], older, "older")]
        {
            let name = format!("{}{suffix}", hfile(number));
            region.file(&name, options.clone(), &[put("r", "q", 1, 5, value)]);
        }
        let found = made.cells(&TableScan::default());
        assert_eq!(found.len(), 1, "{what}: {found:?}");
        assert!(found[0].starts_with("r:q/1=newer"), "{what}, names {names:?}: {found:?}");
    }
}

#[test]
fn of_equal_keys_the_newer_file_counts() {
    // Without sequence ids of cells, the ages of the files decide.
    let plain = |sequence| flushed(sequence).includes_mvcc(false);
    check_newer("the greater id", &("", plain(8)), &("", plain(7)));
    check_newer("a loaded one", &("_SeqId_8_", loaded(None)), &("", plain(7)));
    check_newer("one flushed after the load", &("", flushed(9)), &("_SeqId_4_", loaded(None)));
    // Equal ids: the longer file is older, then the file of the earlier load, then the lesser name.
    let longer = plain(7).file_info("padding", vec![7; 999]);
    check_newer("the shorter", &("", plain(7)), &("", longer));
    let loaded_at = |time: u8| loaded(None).bulk_load(Timestamp::new(time.into()));
    check_newer("the later load", &("_SeqId_8_", loaded_at(200)), &("_SeqId_8_", loaded_at(100)));
}

#[test]
fn of_files_that_are_equally_old_the_greater_name_counts() {
    let made = Made::new(&[]);
    let region = made.region(1, "", "");
    for number in [2, 1, 3] {
        let value = number.to_string();
        let options = flushed(7).includes_mvcc(false).create_time(Timestamp::new(1));
        region.file(&hfile(number), options, &[put("r", "q", 1, 0, &value)]);
    }
    assert_eq!(made.cells(&TableScan::default()), ["r:q/1=3@0"]);
}

#[test]
fn the_sequence_id_of_a_cell_counts_before_the_age_of_its_file() {
    let made = Made::new(&[]);
    let region = made.region(1, "", "");
    region.file(&hfile(1), flushed(9), &[put("r", "q", 1, 3, "older")]);
    region.file(&hfile(2), flushed(8), &[put("r", "q", 1, 4, "newer")]);
    assert_eq!(made.cells(&TableScan::default()), ["r:q/1=newer@4"]);
}
