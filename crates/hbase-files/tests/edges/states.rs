//! What a scan tells beside its cells: its counters while it runs, where it ends, what it took over.

use hbase_files::wal::LogPart;
use hbase_files::{TableScan, Warning};
use sstable::{BloomType, FileInfo, Half, Limits, ReaderOptions};

use super::made::{Log, Made, flushed, hfile, put, text};

#[test]
fn one_thread_counts_its_reads_at_each_cell_and_several_at_the_end_of_a_part() {
    let made = Made::new(&[]);
    let region = made.region(1, "", "");
    region.file(&hfile(1), flushed(1), &[put("a", "q", 1, 1, "v"), put("b", "q", 1, 1, "v")]);
    let counted = |scan: TableScan| {
        let mut cells = made.scan(&scan);
        assert!(cells.next_ref().expect("sound").is_some());
        let first = cells.trace().files_considered;
        let rest = cells.by_ref().count() as u64;
        (first, rest, cells.trace().files_considered)
    };
    let scan = TableScan::default();
    assert_eq!(counted(scan.clone()), (1, 1, 1));
    assert_eq!(counted(scan.clone().threads(0)), (1, 1, 1));
    assert_eq!(counted(scan.clone().threads(2)), (0, 1, 1));
    // One row needs no threads.
    assert_eq!(counted(scan.clone().threads(2).row("a")), (1, 0, 1));
    assert_eq!(counted(scan.threads(2).start("a").stop("a\0")), (1, 0, 1));
}

#[test]
fn a_scan_ends_with_its_first_error() {
    for threads in [1, 2] {
        let made = Made::new(&[]);
        let regions = [made.region(2, "", "e"), made.region(2, "e", "m"), made.region(2, "m", "")];
        regions[0].file(&hfile(1), flushed(1), &[put("a", "q", 1, 1, "v")]);
        regions[1].half(&hfile(1), &regions[0], "f", Half::Bottom);
        regions[2].file(&hfile(3), flushed(1), &[put("n", "q", 1, 1, "v")]);
        let mut cells = made.scan(&TableScan::default().threads(threads));
        assert_eq!(text(&cells.next().expect("a cell").expect("sound")), "a:q/1=v@1");
        assert!(cells.next().expect("an error").is_err());
        assert!(cells.next().is_none() && cells.next_ref().expect("it has ended").is_none());
    }
}

#[test]
fn the_options_of_readers_apply() {
    let made = Made::new(&[]);
    let region = made.region(1, "", "");
    region.file(&hfile(1), flushed(1), &[put("a", "q", 1, 1, "v")]);
    let limits = Limits::default().block_len_max(1);
    let scan = TableScan::default().reader_options(ReaderOptions::default().limits(limits));
    let found: Result<Vec<_>, _> = made.scan(&scan).collect();
    assert!(found.is_err());
}

#[test]
fn files_that_a_compaction_replaced_are_left_out() {
    let made = Made::new(&[]);
    let region = made.region(1, "", "");
    let value = |number| format!("in file {number}");
    for number in [1, 2, 3] {
        let cell = put(&number.to_string(), "q", 1, 1, &value(number));
        region.file(&hfile(number), flushed(number as u64), &[cell]);
    }
    let replaced = [1, 3].map(|number| super::made::field(1, hfile(number).as_bytes())).concat();
    let event = [&b"PBUF"[..], &replaced].concat();
    let compacted = flushed(3).file_info(FileInfo::COMPACTION_EVENT, event);
    region.file(&hfile(4), compacted, &[put("3", "q", 1, 1, "compacted")]);
    assert_eq!(made.cells(&TableScan::default()), ["2:q/1=in file 2@1", "3:q/1=compacted@1"]);
}

#[test]
fn a_row_that_a_filter_did_not_deny_and_no_file_has_is_counted() {
    let made = Made::new(&[]);
    let region = made.region(1, "", "");
    let options = flushed(1).bloom_type(BloomType::RowPrefixFixedLength(2));
    region.file(&hfile(1), options, &[put("ab1", "q", 1, 1, "v"), put("ab3", "q", 1, 1, "v")]);
    for (row, is_false) in [("ab1", 0), ("ab2", 1), ("ab3", 0)] {
        let mut cells = made.scan(&TableScan::default().row(row));
        assert_eq!(cells.by_ref().count() as u64, 1 - is_false);
        assert_eq!(cells.trace().filter_false_positives, is_false, "{row}");
    }
    // No filter was asked about all rows.
    let mut cells = made.scan(&TableScan::default().start("ab2").stop("ab3"));
    assert_eq!((cells.by_ref().count(), cells.trace().filter_false_positives), (0, 0));
    let mut cells = made.scan(&TableScan::default().prefix("ab"));
    assert_eq!((cells.by_ref().count(), cells.trace().files_considered), (2, 1));
}

fn logged() -> Made {
    let made = Made::new(&[]);
    let region = made.region(1, "", "");
    region.opened(2);
    let log = ["a", "d", "d1", "f"].iter().zip(2..).fold(Log::new(), |log, (row, sequence)| {
        log.entry(&region.name, sequence, 9, &[put(row, "q", 1, sequence, "v")])
    });
    // The last entry is cut off.
    made.log("host,1,1", &[&log.0[..], &[0x7f, 1, 2]].concat());
    made
}

#[test]
fn logs_that_were_read_serve_only_scans_that_they_include() {
    let made = logged();
    let scan = TableScan::default().with_logs(true);
    let scans = [
        scan.clone(),
        scan.clone().row("d"),
        scan.clone().prefix("d"),
        scan.clone().prefix("d1"),
        scan.clone().start("d"),
        scan.clone().stop("d1"),
        scan.clone().start("d").stop("f"),
        scan.clone().family("f"),
        scan.clone().column("f", "q"),
    ];
    for read in &scans {
        let unflushed = made.table().read_logs(read).expect("sound");
        for scan in &scans {
            let expected = made.cells(scan);
            assert_eq!(made.cells(&scan.clone().unflushed(unflushed.clone())), expected);
        }
    }
    // The files of another table, of the same name.
    let other = logged();
    let region = other.table().regions[0].name().to_string();
    other.log("host,2,2", &Log::new().entry(&region, 9, 9, &[put("z", "q", 1, 9, "v")]).0);
    let read = made.table().read_logs(&scan).expect("sound");
    assert_eq!(other.cells(&scan.clone().unflushed(read)), other.cells(&scan));
    assert_eq!(other.cells(&scan).len(), made.cells(&scan).len() + 1);
}

#[test]
fn logs_that_were_read_with_damage_serve_no_scan_without() {
    let made = logged();
    made.log("host,2,2", b"no log");
    let scan = TableScan::default().with_logs(true);
    let skipping = scan.clone().skip_damaged(true);
    let read = made.table().read_logs(&skipping).expect("damage is skipped");
    let table = made.table();
    assert!(table.scan(&scan.clone().unflushed(read.clone())).is_err());
    let cells = made.scan(&skipping.unflushed(read));
    let missing = cells.missing();
    assert_eq!(missing.len(), 1, "{missing:?}");
    assert!(missing[0].file.contains("host%2C2%2C2"), "{missing:?}");
}

#[test]
fn torn_logs_and_old_cells_are_listed() {
    let made = logged();
    let scan = TableScan::default().with_logs(true);
    let read = made.table().read_logs(&scan).expect("sound");
    let cells = made.scan(&scan);
    for (torn, old) in
        [(read.torn_logs(), read.old_log_cells()), (cells.torn_logs(), cells.old_log_cells())]
    {
        assert_eq!(torn.len(), 1);
        assert_eq!((torn[0].bytes, torn[0].part), (3, LogPart::Entry));
        assert_eq!((old.len(), old[0].cells, old[0].oldest.get()), (1, 1, 2));
    }
    let rows = made.scan(&TableScan::default());
    assert!(rows.torn_logs().is_empty() && rows.old_log_cells().is_empty());
    assert!(rows.missing().is_empty() && read.warnings().is_empty());
    assert_eq!(rows.warnings(), made.table().warnings);
}

#[test]
fn a_scan_has_the_warnings_of_its_table() {
    let made = logged();
    let mut table = made.table();
    let warning = Warning { path: "somewhere".into(), what: "in doubt".to_owned() };
    table.warnings.push(warning.clone());
    for scan in [TableScan::default(), TableScan::default().threads(2).with_logs(true)] {
        let cells = table.scan(&scan).expect("sound");
        assert_eq!(cells.warnings().iter().filter(|found| **found == warning).count(), 1);
    }
    // The cells of the logs alone are fewer.
    let read = table.read_logs(&TableScan::default()).expect("sound");
    assert!(!read.warnings().contains(&warning));
}
