//! Compactions that only a log names, as HBase before 2.2 writes them: which of their inputs are left out.

use std::fs;

use hbase_files::{Error, Listing, LocalTree, TableScan, split_off_compacted};
use sstable::{Cell, CellRef, FileInfo, WriterOptions};

use super::made::{Log, Made, MadeRegion, compacted_from, field, flushed, hfile, put};

/// Returns the cell of the marker of a compaction of files of a family.
fn compaction(region: &str, family: &str, inputs: &[usize]) -> Cell {
    let inputs = inputs.iter().map(|number| field(4, hfile(*number).as_bytes()));
    let message = [
        [field(1, b"t"), field(2, region.as_bytes()), field(3, family.as_bytes())].concat(),
        inputs.collect::<Vec<_>>().concat(),
        field(5, hfile(9).as_bytes()),
        field(6, b"f"),
    ]
    .concat();
    let marker = put("", "HBASE::COMPACTION", 1, 0, "");
    CellRef { family: b"METAFAMILY", value: &message, ..marker.as_ref() }.to_cell()
}

/// Returns the options of a file that does not say whether a compaction wrote it, and from which files.
fn old(sequence: u64) -> WriterOptions {
    flushed(sequence).file_info(FileInfo::COMPACTION_EVENT, "")
}

/// A family with three flushed files of one cell each, and file 9, compacted from the first two.
fn compacted() -> (Made, MadeRegion) {
    let made = Made::new(&[]);
    let region = made.region(1, "", "");
    for number in [1, 2, 3] {
        let cell = put(&number.to_string(), "q", 1, 1, "flushed");
        region.file(&hfile(number), old(number as u64), &[cell]);
    }
    region.file(&hfile(9), old(2), &[put("2", "q", 2, 1, "compacted")]);
    (made, region)
}

const ALL: [&str; 4] =
    ["1:q/1=flushed@1", "2:q/2=compacted@1", "2:q/1=flushed@1", "3:q/1=flushed@1"];
const LEFT: [&str; 2] = ["2:q/2=compacted@1", "3:q/1=flushed@1"];

/// Checks raw scans that read the logs and scans that do not, in one part and in several, and gets.
fn check(made: &Made, expected: &[&str], what: &str) {
    for with_logs in [true, false] {
        let scan = TableScan::default().raw(true).with_logs(with_logs);
        assert_eq!(made.cells(&scan), expected, "{what}, with logs: {with_logs}");
        let parts = scan.clone().threads(2).part_len(1);
        assert_eq!(made.cells(&parts), expected, "{what}, in parts, with logs: {with_logs}");
        let row = made.cells(&scan.clone().row("2"));
        let of_row = expected.iter().filter(|cell| cell.starts_with('2')).count();
        assert_eq!(row.len(), of_row, "{what}, with logs: {with_logs}");
        let logs = made.table().read_logs(&scan).expect("sound");
        assert_eq!(made.cells(&scan.unflushed(logs)), expected, "{what}, logs read before");
    }
}

#[test]
fn the_inputs_of_a_compaction_that_a_log_names_are_left_out() {
    let (made, region) = compacted();
    check(&made, &ALL, "without a log");
    let marker = compaction(&region.name, "f", &[1, 2, 7]);
    let log = Log::new().entry(&region.name, 4, 9, &[marker]);
    made.log("host,1,1", &log.0);
    check(&made, &LEFT, "log of a server");
    fs::remove_dir_all(made.root().join("WALs")).expect("ours");
    fs::create_dir(made.root().join("WALs")).expect("ours");
    check(&made, &ALL, "without the log");
    let edits = region.path.join("recovered.edits");
    fs::create_dir(&edits).expect("ours");
    fs::write(edits.join("0000000000000000004"), &log.0).expect("ours");
    check(&made, &LEFT, "recovered edits");
    fs::rename(edits.join("0000000000000000004"), edits.join("0000000000000000004.1"))
        .expect("ours");
    check(&made, &ALL, "moved aside");
    fs::create_dir(made.root().join("oldWALs")).expect("ours");
    fs::write(made.root().join("oldWALs/host%2C1%2C1.1000"), &log.0).expect("ours");
    check(&made, &ALL, "HBase does not replay an old log");
}

#[test]
fn a_marker_of_another_region_or_family_or_from_before_an_opening_replaces_nothing() {
    let (made, region) = compacted();
    let name = &region.name;
    let other = "0".repeat(32);
    let marker = compaction(name, "f", &[1, 2]);
    let entry =
        |name: &str, marker: &Cell| Log::new().entry(name, 4, 9, std::slice::from_ref(marker));
    for (log, expected, what) in [
        (entry(name, &compaction(&other, "f", &[1, 2])), &ALL[..], "marker of another region"),
        (entry(&other, &marker), &ALL, "entry of another region"),
        (entry(name, &compaction(name, "g", &[1, 2])), &ALL, "another family"),
        (entry(name, &marker).opening(name, 5, 10), &ALL, "opened after it"),
        (
            Log::new().opening(name, 3, 9).entry(name, 4, 9, std::slice::from_ref(&marker)),
            &LEFT,
            "before it",
        ),
    ] {
        made.log("host,1,1", &log.0);
        check(&made, expected, what);
    }
    made.log("other,2,2", &Log::new().opening(name, 5, 8).0);
    check(&made, &LEFT, "opened before it by another server");
    made.log("other,2,2", &Log::new().opening(name, 5, 10).0);
    check(&made, &ALL, "opened after it by another server");
    fs::remove_dir_all(made.root().join("WALs/other,2,2")).expect("ours");
    region.opened(3);
    check(&made, &LEFT, "last opened before it");
    region.opened(4);
    check(&made, &ALL, "last opened after it");
}

/// HBase 2.2 and newer name the inputs in the file, so a scan without logs needs no log.
#[test]
fn a_scan_without_logs_reads_them_only_for_files_that_do_not_say_what_they_replaced() {
    let (made, region) = compacted();
    let log = Log::new().entry(&region.name, 4, 9, &[compaction(&region.name, "f", &[1, 2])]);
    let mut damaged = log.0;
    damaged.extend([2, 0xff, 0xff, 0, 0, 0, 0]);
    damaged.extend(Log::new().0);
    made.log("host,1,1", &damaged);
    let mut cells = made.scan(&TableScan::default());
    let error = cells.find_map(Result::err).expect("the log is needed");
    assert!(matches!(error, Error::Incomplete { .. }), "{error}");
    let mut cells = made.scan(&TableScan::default().raw(true).skip_damaged(true));
    assert_eq!(cells.by_ref().flatten().count(), 4);
    let missing = cells.missing();
    assert!(missing[0].what.contains("may name files that a compaction replaced"), "{missing:?}");
    for number in [2, 3] {
        let cell = put(&number.to_string(), "q", 1, 1, "flushed");
        region.file(&hfile(number), flushed(number as u64), &[cell]);
    }
    region.file(&hfile(9), flushed(2), &[put("2", "q", 2, 1, "compacted")]);
    assert_eq!(made.cells(&TableScan::default().raw(true)), ALL, "file 1 is the oldest");
}

/// A restored region has links to archived files, which may have been compacted from files that are still there.
#[test]
fn a_listing_and_a_scan_leave_out_the_same_inputs_of_an_hfile_a_link_and_a_bulk_loaded_file() {
    let loaded = format!("{}_SeqId_7_", hfile(9));
    for kind in ["HFile", "link", "bulk-loaded", "of a chain"] {
        let made = Made::new(&[]);
        let region = made.region(1, "", "");
        region.file(&hfile(1), flushed(1), &[put("a", "q", 1, 1, "input")]);
        region.file(&hfile(2), flushed(3), &[put("b", "q", 1, 1, "flushed")]);
        let (options, cells) = (compacted_from(2, &[1]), [put("a", "q", 2, 1, "compacted")]);
        match kind {
            "HFile" => region.file(&hfile(9), options, &cells),
            "link" => {
                let gone = made.gone_region(2, "");
                made.archived(&gone, &hfile(9), options, &cells);
                let link = format!("t={}-{}", gone.name, hfile(9));
                fs::write(region.path.join("f").join(link), b"").expect("ours");
            }
            "bulk-loaded" => region.file(&loaded, options, &cells),
            _ => {
                region.file(&hfile(8), options, &[put("a", "q", 1, 1, "input")]);
                region.file(&hfile(9), compacted_from(2, &[8]), &cells);
            }
        }
        let scanned = made.cells(&TableScan::default().raw(true));
        let cells: Vec<&str> =
            scanned.iter().map(|cell| cell.split('=').next().expect("a key")).collect();
        assert_eq!(cells, ["a:q/2", "b:q/1"], "{kind}");
        let mut listing = Listing::read(&LocalTree, &region.path).expect("sound").entries;
        let left_out = split_off_compacted(&LocalTree, &mut listing);
        assert!(left_out.iter().any(|file| file.path.ends_with(hfile(1))), "{kind}: {left_out:?}");
        assert_eq!(listing.len(), 2, "{kind}");
    }
}
