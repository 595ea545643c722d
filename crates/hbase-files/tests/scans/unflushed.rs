//! Cells that are only in logs: which of two equal ones counts, and more of them than the memory holds.

use std::fs;
use std::path::PathBuf;

use hbase_files::{Table, TableScan};
use sstable::{Cell, CellRef, SequenceId, Timestamp};
use support::cells::PUT;
use support::plain_log::{EntryKey, PlainLog};
use support::root_directory::RootCopy;

/// A sequence id above those of the fixture's files and logs.
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

/// Writes entries of 40 rows of both regions, and of some rows again.
fn write_many(table: &Table, name: &str) {
    let mut log = PlainLog::new();
    let regions: Vec<&str> = table.regions.iter().map(|region| region.name().as_str()).collect();
    let split = &table.regions[1].info.start_key;
    for number in 0..400_u64 {
        let row = format!("{:03}", number * 7 % 40);
        let (region, row) = match number % 2 {
            0 => (regions[0], row.into_bytes()),
            _ => (regions[1], [split, row.as_bytes()].concat()),
        };
        let value = number.to_string();
        let puts = [b"f", b"g"].map(|family| {
            let timestamp = Timestamp::new(number as i64 % 5);
            CellRef { family, timestamp, ..put(&row, value.as_bytes()) }
        });
        let sequence = SEQUENCE + number / 8;
        log.entry(EntryKey { region, ..key(table, sequence) }, &puts);
    }
    fs::write(log_path(table, name), &log.bytes).expect("disk takes it");
}

#[test]
fn cells_beyond_the_memory_are_read_from_sorted_runs() {
    let copy = RootCopy::walt();
    write_many(&copy.table("walt"), "zzz");
    let table = copy.table("walt");
    for raw in [false, true] {
        let whole = scan().raw(raw);
        let expected = cells(&table, &whole);
        assert!(expected.len() > 100, "{}", expected.len());
        // From one cell a run to two runs of each store.
        for memory in [1, 1_000, 10_000, 40_000] {
            let few = whole.clone().log_bytes_max(memory);
            assert!(cells(&table, &few) == expected, "{memory}");
            assert!(cells(&table, &few.clone().threads(3).part_len(1)) == expected, "{memory}");
            let shared = few.clone().unflushed(table.read_logs(&few).expect("sound"));
            let mut by_region = Vec::new();
            for region in &table.regions {
                let cells = table.scan_region(region, &shared).expect("sound");
                by_region.extend(cells.map(|cell| cell.expect("sound")));
            }
            assert!(by_region == expected, "{memory}");
            for row in ["014", "028"].map(str::as_bytes) {
                let of_row: Vec<_> =
                    expected.iter().filter(|cell| cell.row() == row).cloned().collect();
                assert!(!of_row.is_empty());
                assert_eq!(table.get(row, &few).expect("sound"), of_row, "{memory}");
            }
        }
    }
}

/// A scan takes the cells that were read once only if it wants no others.
#[test]
fn cells_of_logs_that_were_read_for_fewer_rows_do_not_replace_those_of_a_scan() {
    let copy = RootCopy::walt();
    write_many(&copy.table("walt"), "zzz");
    let table = copy.table("walt");
    let scans = [
        scan(),
        scan().prefix("0"),
        scan().prefix("01"),
        scan().start("010"),
        scan().start("010").stop("020"),
        scan().stop("020"),
        scan().row("014"),
        scan().skip_damaged(true),
    ];
    let read: Vec<_> = scans.iter().map(|scan| table.read_logs(scan).expect("sound")).collect();
    for wanted in &scans {
        let expected = cells(&table, wanted);
        for (scan, read) in scans.iter().zip(&read) {
            let shared = wanted.clone().unflushed(read.clone());
            assert!(cells(&table, &shared) == expected, "{wanted:?} after {scan:?}");
        }
    }
}

/// An event of the same server comes after the cells on disk, one of another server at another time.
#[test]
fn an_event_drops_the_cells_that_are_on_disk() {
    for (server, time, is_old) in [
        ("", 1, true),
        ("z,1,1", TIME + 100_000, true),
        ("z,1,1", 1, false),
        ("a,1,1", TIME + 100_000, true),
    ] {
        let copy = RootCopy::walt();
        let files_and_logs = cells(&copy.table("walt"), &scan().raw(true));
        write_many(&copy.table("walt"), "zzz");
        let table = copy.table("walt");
        let all = cells(&table, &scan().raw(true));
        let directory = table.logs[0].parent().expect("a directory").to_owned();
        let path = match server {
            "" => directory.join("zzzz"),
            other => directory.with_file_name(other).join("log"),
        };
        let mut log = PlainLog::new();
        for region in &table.regions {
            let region = region.name().as_str();
            let key = EntryKey { region, write_time: time, ..key(&table, 5_000) };
            log.event(key, "REGION_CLOSE");
        }
        fs::create_dir_all(path.parent().expect("a file")).expect("disk takes it");
        fs::write(&path, &log.bytes).expect("disk takes it");
        let table = copy.table("walt");
        let mut counted = None;
        for memory in [256 << 20, 40_000, 1] {
            let mut scanned = table.scan(&scan().raw(true).log_bytes_max(memory)).expect("sound");
            let found: Vec<Cell> = scanned.by_ref().collect::<Result<_, _>>().expect("sound");
            let old = scanned.old_log_cells().to_vec();
            let newest = found.iter().map(Cell::sequence_id).max();
            if is_old {
                assert!(newest < Some(SequenceId::new(SEQUENCE)), "{server} {memory}");
                assert!(found.len() <= files_and_logs.len());
                let newest = old.iter().map(|old| old.newest).max();
                assert_eq!(newest, Some(SequenceId::new(SEQUENCE + 49)), "{server} {memory}");
                assert!(
                    old.iter().map(|old| old.cells).sum::<u64>() >= 800,
                    "{server} {memory} {old:?}"
                );
            } else {
                assert!(found == all, "{server} {memory}");
            }
            assert_eq!(*counted.get_or_insert_with(|| old.clone()), old, "{server} {memory}");
        }
    }
}
