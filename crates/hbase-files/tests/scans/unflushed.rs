//! Cells that are only in logs: which of two equal ones counts, and more of them than the memory holds.

use std::fs;
use std::path::PathBuf;

use hbase_files::{Table, TableScan};
use sstable::{Cell, CellRef, Timestamp};
use support::cells::PUT;
use support::plain_log::{EntryKey, PlainLog};
use support::root_directory::RootCopy;

/// A sequence id above all ids of the fixture's files and logs.
const SEQUENCE: u64 = 1_000;
/// A time after all events of the fixture's logs.
const TIME: u64 = 1_800_000_000_000;

/// Returns the path of a log of the fixture's server; `zzz` comes after the server's own.
fn log_path(table: &Table, name: &str) -> PathBuf {
    table.logs[0].with_file_name(name)
}

fn scan() -> TableScan {
    TableScan::default().now(Timestamp::new(1_795_621_500_000)).with_logs(true)
}

fn cells(table: &Table, scan: &TableScan) -> Vec<Cell> {
    table.scan(scan).and_then(Iterator::collect).expect("sound")
}

fn put<'c>(row: &'c [u8], value: &'c [u8]) -> CellRef<'c> {
    CellRef { row, value, ..PUT }
}

fn key(table: &Table, sequence: u64) -> EntryKey<'_> {
    let region = table.regions[0].name().as_str();
    EntryKey { region, table: "walt", sequence, write_time: TIME, padding: 0 }
}

/// Returns the values of the cells of a row that a scan has, by each way to read it.
fn values_of(table: &Table, row: &[u8], memory: usize) -> Vec<Vec<Vec<u8>>> {
    let mut ways = Vec::new();
    for raw in [false, true] {
        let scan = scan().raw(raw).log_bytes_max(memory);
        let values = |cells: Vec<Cell>| -> Vec<Vec<u8>> {
            let of_row = cells.iter().filter(|cell| cell.row() == row);
            of_row.map(|cell| cell.value().to_vec()).collect()
        };
        ways.push(values(cells(table, &scan)));
        ways.push(values(cells(table, &scan.clone().threads(2).part_len(1))));
        ways.push(values(table.get(row, &scan).expect("sound")));
    }
    ways
}

const MEMORY: [usize; 2] = [256 << 20, 1];

#[test]
fn of_two_equal_cells_of_an_entry_the_later_counts() {
    let copy = RootCopy::walt();
    let table = copy.table("walt");
    let mut log = PlainLog::new();
    log.entry(key(&table, SEQUENCE), &[put(b"a", b"older"), put(b"a", b"newer")]);
    fs::write(log_path(&table, "zzz"), &log.bytes).expect("disk takes it");
    let table = copy.table("walt");
    for memory in MEMORY {
        for values in values_of(&table, b"a", memory) {
            assert_eq!(values, [b"newer"], "{memory}");
        }
    }
}

#[test]
fn of_two_equal_cells_of_two_entries_or_logs_the_later_counts() {
    let copy = RootCopy::walt();
    let table = copy.table("walt");
    let (mut one, mut other) = (PlainLog::new(), PlainLog::new());
    one.entry(key(&table, SEQUENCE), &[put(b"a", b"1"), put(b"b", b"1")]);
    one.entry(key(&table, SEQUENCE), &[put(b"a", b"2")]);
    other.entry(key(&table, SEQUENCE), &[put(b"b", b"2")]);
    fs::write(log_path(&table, "zzz.1"), &one.bytes).expect("disk takes it");
    fs::write(log_path(&table, "zzz.2"), &other.bytes).expect("disk takes it");
    let table = copy.table("walt");
    for memory in MEMORY {
        for row in [b"a", b"b"] {
            for values in values_of(&table, row, memory) {
                assert_eq!(values, [b"2"], "{memory}");
            }
        }
    }
}

/// HBase's memstore holds one cell of a key and sequence id, so the older does not come back.
#[test]
fn an_expired_cell_hides_an_equal_one_that_was_written_before() {
    let copy = RootCopy::walt();
    let table = copy.table("walt");
    // A tag of type 8: the TTL of the cell in milliseconds.
    let ttl = b"\0\x09\x08\0\0\0\0\0\0\0\x01";
    let expired = CellRef { tags: ttl, ..put(b"a", b"newer") };
    let mut log = PlainLog::new();
    log.entry(key(&table, SEQUENCE), &[put(b"a", b"older"), expired]);
    log.entry(key(&table, SEQUENCE + 1), &[put(b"b", b"older")]);
    log.entry(key(&table, SEQUENCE + 1), &[CellRef { row: b"b", ..expired }]);
    fs::write(log_path(&table, "zzz"), &log.bytes).expect("disk takes it");
    let table = copy.table("walt");
    for memory in MEMORY {
        for row in [b"a", b"b"] {
            for values in values_of(&table, row, memory) {
                assert_eq!(values, [b""; 0], "{memory}");
            }
        }
    }
}

#[test]
fn the_logs_of_a_region_come_after_its_recovered_edits() {
    let copy = RootCopy::walt();
    let table = copy.table("walt");
    let (mut recovered, mut log) = (PlainLog::new(), PlainLog::new());
    recovered.entry(key(&table, SEQUENCE), &[put(b"a", b"recovered")]);
    log.entry(key(&table, SEQUENCE), &[put(b"a", b"log")]);
    let region = copy.path().join("data/default/walt").join(table.regions[0].name().as_str());
    fs::write(region.join("recovered.edits/0000000000000001000"), &recovered.bytes)
        .expect("disk takes it");
    fs::write(log_path(&table, "zzz"), &log.bytes).expect("disk takes it");
    let table = copy.table("walt");
    assert_eq!(table.regions[0].recovered_edits.len(), 1);
    for memory in MEMORY {
        for values in values_of(&table, b"a", memory) {
            assert_eq!(values, [b"log"], "{memory}");
        }
    }
}
