//! Scans of snapshots and tables return the cells that HBase's own offline reader returns.

use cells::ndjson;
use hbase_files::{MobValues, TableCells, TableScan};
use serde_json::Value;
use sstable::{Cell, Timestamp};
use support::gunzip;
use support::root_directory::{RootCopy, data, manifest, scan};

/// Returns the lines of a file of cells that HBase returned.
fn truth(file: &Value) -> Vec<String> {
    let text = gunzip(&data().join(file.as_str().expect("the name of a file")));
    text.lines().map(str::to_owned).collect()
}

/// Returns the cells as lines, as in the files of cells that HBase returned.
fn lines(mut cells: TableCells) -> Vec<String> {
    let mut lines = Vec::new();
    while let Some(cell) = cells.next_ref().expect("sound") {
        let mut line = Vec::new();
        ndjson::write_cell_without_seq(&mut line, &cell).expect("memory takes it");
        lines.push(String::from_utf8(line).expect("text").trim_end().to_owned());
    }
    lines
}

#[track_caller]
fn check(what: &str, cells: TableCells, expected: &[String]) {
    let found = lines(cells);
    let differs = found.iter().zip(expected).position(|(found, expected)| found != expected);
    if let Some(at) = differs {
        panic!("{what}, cell {at}:\n{}\nexpected:\n{}", found[at], expected[at]);
    }
    assert_eq!(found.len(), expected.len(), "{what}");
}

#[test]
fn each_snapshot_has_the_cells_that_hbase_reads_offline() {
    let (copy, manifest) = (RootCopy::new(), manifest());
    for (name, expected) in manifest["snapshots"].as_object().expect("an object") {
        let table = copy.snapshot(name);
        let (shown, raw) = (truth(&expected["cellsFile"]), truth(&expected["rawFile"]));
        // The third reads parts of regions: the files have up to twenty blocks of about 1 KiB.
        for scan in [scan(), scan().threads(2), scan().threads(4).part_len(2048)] {
            check(name, table.scan(&scan).expect("sound"), &shown);
            check(
                &format!("{name} raw"),
                table.scan(&scan.clone().raw(true)).expect("sound"),
                &raw,
            );
        }
        if expected["mob"] == true {
            let references = scan().mob(MobValues::Reference);
            let cells = table.scan(&references).expect("sound");
            check("references", cells, &truth(&expected["mobrefsFile"]));
        }
    }
}

#[test]
fn each_table_with_its_logs_has_the_cells_of_the_running_cluster() {
    let (copy, manifest) = (RootCopy::new(), manifest());
    for (name, expected) in manifest["liveTables"].as_object().expect("an object") {
        let table = copy.table(name);
        let scan = scan().with_logs(true);
        check(name, table.scan(&scan).expect("sound"), &truth(&expected["liveFile"]));
        let raw = truth(&expected["liveRawFile"]);
        check(&format!("{name} raw"), table.scan(&scan.raw(true)).expect("sound"), &raw);
    }
}

#[test]
fn without_the_logs_a_table_has_the_cells_of_its_files() {
    let (copy, manifest) = (RootCopy::new(), manifest());
    let table = copy.table("t1");
    // Taken at the same moment, without a flush.
    let expected = &manifest["snapshots"]["s13"];
    check("t1", table.scan(&scan()).expect("sound"), &truth(&expected["cellsFile"]));
}

#[test]
fn the_cells_of_the_regions_make_those_of_the_table() {
    let copy = RootCopy::new();
    let table = copy.snapshot("s2");
    let by_region = table
        .regions
        .iter()
        .flat_map(|region| lines(table.scan_region(region, &scan()).expect("sound")));
    let by_region: Vec<String> = by_region.collect();
    check("s2", table.scan(&scan()).expect("sound"), &by_region);
    assert!(table.regions.len() > 2);
}

#[test]
fn a_single_row_reads_few_files_and_blocks() {
    let copy = RootCopy::new();
    let table = copy.snapshot("s4");
    let mut all = table.scan(&scan()).expect("sound");
    while all.next_ref().expect("sound").is_some() {}
    let all = *all.trace();
    let mut one = table.scan(&scan().row("row-01500")).expect("sound");
    while one.next_ref().expect("sound").is_some() {}
    let one = *one.trace();
    assert_eq!(
        all.files_considered,
        table.regions.iter().map(|region| region.files().count() as u64).sum::<u64>()
    );
    assert!(one.files_considered < all.files_considered, "only the files of one region");
    assert!(one.files_skipped_by_range > 0 && one.filter_checks > 0, "{one:?}");
    assert!(one.files_skipped_by_filter > 0, "{one:?}");
    assert!(one.data_blocks() * 10 < all.data_blocks(), "{one:?}");
    let future = Timestamp::new(1 << 50);
    let mut none = table.scan(&scan().time_range(future, Timestamp::LATEST)).expect("sound");
    assert!(none.next_ref().expect("sound").is_none());
    let none = *none.trace();
    assert_eq!((none.files_skipped_by_time, none.data_blocks()), (all.files_considered, 0));
}

#[test]
fn a_family_that_the_table_does_not_have_is_an_error() {
    let copy = RootCopy::new();
    let table = copy.snapshot("s1");
    let error = table.scan(&scan().family("f9")).expect_err("no such family");
    assert!(error.to_string().ends_with("table t1 has no family f9; it has f1, f2"), "{error}");
}

#[test]
fn a_row_of_hbase_meta_is_not_taken_for_the_rows_after_it_in_its_order() {
    let copy = RootCopy::new();
    let meta = copy.table("hbase:meta");
    let scan = scan().with_logs(true);
    // The rows of the regions of t1 are between `t1` and `t1\0`.
    let all: Vec<_> = meta.scan(&scan).expect("sound").map(|cell| cell.expect("sound")).collect();
    assert!(all.iter().any(|cell| cell.row().starts_with(b"t1,")));
    let rows = ["t1", "no such table"].map(str::as_bytes);
    for row in rows.into_iter().chain(all.iter().map(sstable::Cell::row)) {
        let one = meta.scan(&scan.clone().row(row)).expect("sound");
        let one: Vec<_> = one.map(|cell| cell.expect("sound")).collect();
        let expected: Vec<_> = all.iter().filter(|cell| cell.row() == row).cloned().collect();
        assert_eq!(one, expected, "{}", cells::escape(row));
    }
}

#[test]
fn logs_that_are_read_once_serve_several_scans() {
    let copy = RootCopy::new();
    let table = copy.table("t1");
    let scan = TableScan::default().with_logs(true);
    let cells = |scan: &TableScan| -> Vec<Cell> {
        table.scan(scan).and_then(Iterator::collect).expect("sound")
    };
    let all = cells(&scan);
    assert!(all.len() > cells(&TableScan::default()).len());
    let row = scan.clone().row("row-00077");
    let of_row = cells(&row);
    let read = table.read_logs(&scan).expect("sound");
    let part = table.read_logs(&scan.clone().start("row-01000").family("f1")).expect("sound");
    // The logs are gone: only what was read before has their cells.
    for log in &table.logs {
        std::fs::remove_file(log).expect("ours");
    }
    assert!(cells(&scan.clone().unflushed(read.clone())) == all);
    assert!(cells(&row.clone().unflushed(read.clone())) == of_row);
    let mut regions = Vec::new();
    for region in &table.regions {
        let scanned = table.scan_region(region, &scan.clone().unflushed(read.clone()));
        regions.extend(scanned.and_then(Iterator::collect::<Result<Vec<_>, _>>).expect("sound"));
    }
    assert!(regions == all);
    // What was read does not include these rows or families: the logs are read, and are missing.
    for other in [row, scan.clone().start("row-01500"), scan.family("f1")] {
        assert!(table.scan(&other.unflushed(part.clone())).is_err());
    }
}
