//! What `restore_snapshot` took back is not returned: cells of logs, and files in the archive.
//!
//! Cells of logs that were written before HBase last opened their region are left out, and named.
//! `tests/cli_hbase/snapshot_judge.rs` compares tables that HBase restored.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use hbase_files::wal::Reader;
use hbase_files::{Error, LocalTree, StoreFileName, TableScan};
use sstable::{Cell, FileName, Timestamp};
use support::plain_log::{EntryKey, PlainLog};
use support::root_directory::RootCopy;

/// The time of events that are before or after all entries of the fixture's logs.
const BEFORE: u64 = 1;
const AFTER: u64 = 9_000_000_000_000;

/// Returns the cells, and how many cells of each region were left out.
fn scan(copy: &RootCopy, with_logs: bool) -> (Vec<Cell>, BTreeMap<String, u64>) {
    let scan = TableScan::default().now(Timestamp::new(1_795_412_744_014)).raw(true);
    let mut scanned = copy.table("t1").scan(&scan.with_logs(with_logs)).expect("sound");
    let cells = scanned.by_ref().collect::<Result<_, _>>().expect("sound");
    let old = scanned.old_log_cells().iter();
    (cells, old.map(|old| (old.region.clone(), old.cells)).collect())
}

/// Returns the sequence ids of the cells that are only in logs, by region.
fn unflushed(copy: &RootCopy) -> BTreeMap<String, Vec<u64>> {
    let (with, without) = (scan(copy, true).0, scan(copy, false).0);
    let table = copy.table("t1");
    let mut sequences = BTreeMap::new();
    for log in &table.logs {
        let bytes = bytes::Bytes::from(fs::read(log).expect("readable"));
        for entry in Reader::open(Arc::new(bytes), FileName::new("log")).expect("a log") {
            let entry = entry.expect("sound");
            for cell in entry.data_cells() {
                let is_new = with.contains(cell) && !without.contains(cell);
                if is_new
                    && table.regions.iter().any(|region| region.name().as_str() == entry.region)
                {
                    let of_region: &mut Vec<u64> =
                        sequences.entry(entry.region.clone()).or_default();
                    of_region.push(entry.sequence);
                }
            }
        }
    }
    sequences
}

/// Returns the time of the newest entry of the table's logs.
fn newest_write_time(copy: &RootCopy) -> u64 {
    let times = copy.table("t1").logs.into_iter().flat_map(|log| {
        let bytes = bytes::Bytes::from(fs::read(log).expect("readable"));
        let entries = Reader::open(Arc::new(bytes), FileName::new("log")).expect("a log");
        entries.map(|entry| entry.expect("sound").write_time).collect::<Vec<_>>()
    });
    times.max().expect("entries")
}

fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().expect("a file")).expect("disk takes it");
    fs::write(path, bytes).expect("disk takes it");
}

#[test]
fn cells_up_to_the_number_of_the_sequence_file_are_old() {
    let copy = RootCopy::new();
    let unflushed = unflushed(&copy);
    assert!(!unflushed.is_empty());
    let (all, old) = scan(&copy, true);
    assert_eq!(old, BTreeMap::new());
    let mut left_out = BTreeMap::new();
    for (number, suffix) in [(0, ".seqid"), (1, "_seqid"), (2, ".seqid")] {
        let mut count = 0;
        for (region, sequences) in &unflushed {
            let mut each = sequences.clone();
            each.sort_unstable();
            let opened = each[(each.len() - 1) * number / 2];
            let edits = copy.path().join("data/default/t1").join(region).join("recovered.edits");
            write(&edits.join(format!("{opened}{suffix}")), b"");
            let old = each.iter().filter(|sequence| **sequence <= opened).count();
            left_out.insert(region.clone(), old as u64);
            count += old;
        }
        let (cells, old) = scan(&copy, true);
        assert_eq!(old, left_out);
        // Of equal keys, the last cell that was written hides the others.
        assert!((all.len() - count..all.len()).contains(&cells.len()));
    }
    assert!(scan(&copy, true).0 == scan(&copy, false).0);
}

/// Returns a log with a marker that each of these regions was opened.
fn log_of_events<'r>(regions: impl Iterator<Item = &'r String>, time: u64) -> Vec<u8> {
    let mut log = PlainLog::new();
    for region in regions {
        let key = EntryKey { region, table: "t1", sequence: 1, write_time: time, padding: 0 };
        log.event(key, "REGION_OPEN");
    }
    log.bytes
}

#[test]
fn cells_before_the_opening_of_their_region_are_old() {
    let copy = RootCopy::new();
    let unflushed = unflushed(&copy);
    let (all, files_only) = (scan(&copy, true).0, scan(&copy, false).0);
    let server = copy.table("t1").logs[0].parent().expect("a directory").to_owned();
    // Some milliseconds after the last entry: the clocks of two servers may differ by more.
    let soon = newest_write_time(&copy) + 20_000;
    // Of the same server, the order of the entries counts; of another one, the time.
    for (directory, name, time, is_old) in [
        (server.clone(), "zzz", BEFORE, true),
        (server.clone(), "%00", AFTER, false),
        (server.with_file_name("a,1,1"), "log", BEFORE, false),
        (server.with_file_name("a,1,1"), "log", AFTER, true),
        (server.with_file_name("z,1,1"), "log", BEFORE, false),
        (server.with_file_name("z,1,1"), "log", AFTER, true),
        (server.clone(), "zzz", soon, true),
        (server.with_file_name("z,1,1"), "log", soon, false),
        (server.with_file_name("a,1,1"), "log", soon, false),
        (server.with_file_name("z,1,1"), "log", soon + 20_000, true),
    ] {
        let path = directory.join(name);
        write(&path, &log_of_events(unflushed.keys(), time));
        let (cells, old) = scan(&copy, true);
        assert!(cells == *if is_old { &files_only } else { &all }, "{}", path.display());
        let counts = unflushed.iter().map(|(region, cells)| (region.clone(), cells.len() as u64));
        let expected = if is_old { counts.collect() } else { BTreeMap::new() };
        assert_eq!(old, expected, "{}", path.display());
        fs::remove_file(&path).expect("there");
    }
}

#[test]
fn a_tracked_file_that_only_the_archive_has_is_missing() {
    let copy = RootCopy::new();
    let table = copy.table("t5");
    let files = || {
        table.regions.iter().flat_map(|region| &region.families).flat_map(|family| &family.files)
    };
    let file = files().find(|file| matches!(file.name, StoreFileName::HFile(_))).expect("a file");
    let there = file.locate(&LocalTree).expect("there").path;
    let archived = copy.path().join("archive/data/default/t5").join(file.short_path());
    fs::create_dir_all(archived.parent().expect("a directory")).expect("disk takes it");
    fs::rename(&there, &archived).expect("disk takes it");
    let error = file.locate(&LocalTree).expect_err("not in the directory of the table");
    assert!(matches!(&error, Error::Missing { searched, .. } if *searched == [there]), "{error}");
    assert!(error.to_string().contains("which the store file tracker lists"), "{error}");
    let error = table.scan(&TableScan::default()).expect("sound").find_map(Result::err);
    assert!(matches!(error, Some(Error::Missing { .. })), "{error:?}");
}
