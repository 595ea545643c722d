//! Every range of rows at the first and last rows of files, halves and regions.

use hbase_files::TableScan;
use sstable::{Cell, Half, WriterOptions};

use super::made::{Made, flushed, hfile, put, text};

/// Rows at which ranges begin and end: the rows of the files, and rows beside them.
const ROWS: [&str; 14] =
    ["", "a", "b", "b\0", "c", "d", "d\0", "e", "f", "f\0", "g", "h", "h\0", "z"];

fn cells(rows: &[&str], sequence: u64) -> Vec<Cell> {
    rows.iter().map(|row| put(row, "q", 1, sequence, "v")).collect()
}

fn between(scan: &TableScan, start: &str, stop: Option<&str>) -> TableScan {
    let scan = scan.clone().start(start);
    stop.iter().fold(scan, TableScan::stop)
}

/// One cell a block, so that parts of a scan can begin at each row.
fn one_cell_a_block(sequence: u64) -> WriterOptions {
    flushed(sequence).block_size(1)
}

/// A table of two regions, split at `e`: the halves of a file from `b` to `h`, files that begin and
/// end at the rows between, and one before the split.
fn made() -> (Made, Vec<Cell>) {
    let made = Made::new(&[]);
    let parent = made.gone_region(1, "");
    let (low, high) = (made.region(2, "", "e"), made.region(2, "e", ""));
    let halved = cells(&["b", "d", "e", "h"], 3);
    made.archived(&parent, &hfile(1), one_cell_a_block(3), &halved);
    low.half(&hfile(1), &parent, "e", Half::Bottom);
    high.half(&hfile(1), &parent, "e", Half::Top);
    let files = [
        (&low, 2, vec!["c"]),
        (&low, 3, vec!["b\0", "d\0"]),
        (&high, 4, vec!["f", "g"]),
        (&high, 5, vec!["f\0", "h\0"]),
    ];
    let mut all = halved;
    for (region, number, rows) in files {
        let cells = cells(&rows, number);
        region.file(&hfile(number as usize), one_cell_a_block(number), &cells);
        all.extend(cells);
    }
    all.sort_by(|one, other| one.as_ref().compare(&other.as_ref()));
    (made, all)
}

/// A region: its start and end keys, and the first and the last rows of its files.
type RegionFiles = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// The regions with their files; a half has the rows of its whole file.
const FILES: [RegionFiles; 2] = [
    ("", "e", &[("b", "h"), ("c", "c"), ("b\0", "d\0")]),
    ("e", "~", &[("b", "h"), ("f", "g"), ("f\0", "h\0")]),
];

/// Returns how many files of how many regions' files a scan of a range skips by their rows.
fn skipped(start: &str, stop: Option<&str>) -> (u64, u64) {
    let stop = stop.unwrap_or("~");
    let (mut considered, mut skipped) = (0, 0);
    for (first_key, end_key, files) in FILES {
        if (first_key.is_empty() || first_key < stop) && start < end_key {
            considered += files.len() as u64;
            let has_rows =
                |(first, last): &&(&str, &str)| (*first).max(first_key) < stop && *last >= start;
            skipped += (files.len() - files.iter().filter(has_rows).count()) as u64;
        }
    }
    (considered, skipped)
}

#[test]
fn a_range_has_its_rows_wherever_it_begins_and_ends() {
    let (made, all) = made();
    let table = made.table();
    for start in ROWS {
        for stop in ROWS.map(Some).into_iter().chain([None]) {
            let is_within = |cell: &&Cell| {
                let is_before = stop.is_none_or(|stop| cell.row() < stop.as_bytes());
                cell.row() >= start.as_bytes() && is_before
            };
            let expected: Vec<String> = all.iter().filter(is_within).map(text).collect();
            let scan = between(&TableScan::default(), start, stop);
            for scan in [scan.clone(), scan.clone().threads(2).part_len(1)] {
                let mut found = table.scan(&scan).expect("sound");
                let lines: Vec<_> =
                    found.by_ref().map(|cell| text(&cell.expect("sound"))).collect();
                assert_eq!(lines, expected, "{start:?} {stop:?}, {} threads", scan.threads);
                let trace = found.trace();
                let counts = (trace.files_considered, trace.files_skipped_by_range);
                assert_eq!(counts, skipped(start, stop), "{start:?} {stop:?}");
            }
        }
    }
}

#[test]
fn each_row_and_each_prefix_has_its_cells() {
    let (made, all) = made();
    let table = made.table();
    for row in ROWS {
        let lines = |is_chosen: &dyn Fn(&[u8]) -> bool| -> Vec<String> {
            all.iter().filter(|cell| is_chosen(cell.row())).map(text).collect()
        };
        let of = |scan: TableScan| made.cells(&scan);
        let (only, begin) = (lines(&|found| found == row.as_bytes()), row.as_bytes());
        assert_eq!(of(TableScan::default().row(row)), only, "{row:?}");
        let next = format!("{row}\0");
        assert_eq!(of(TableScan::default().start(row).stop(&next)), only, "{row:?}");
        let one = table.get(row, &TableScan::default().prefix("x")).expect("sound");
        assert_eq!(one.iter().map(text).collect::<Vec<_>>(), only, "{row:?}");
        let expected = lines(&|found| found.starts_with(begin));
        assert_eq!(of(TableScan::default().prefix(row)), expected, "{row:?}");
        // The prefix and the range limit each other.
        for other in ROWS {
            let expected = lines(&|found| found.starts_with(begin) && found >= other.as_bytes());
            let scan = TableScan::default().prefix(row).start(other);
            assert_eq!(of(scan), expected, "{row:?} from {other:?}");
            let expected = lines(&|found| found.starts_with(begin) && found < other.as_bytes());
            let scan = TableScan::default().prefix(row).stop(other);
            assert_eq!(of(scan), expected, "{row:?} up to {other:?}");
        }
    }
}

#[test]
fn a_prefix_of_greatest_bytes_has_its_rows() {
    let made = Made::new(&[]);
    let region = made.region(1, "", "");
    let row = |bytes: &[u8]| {
        let cell = put("", "q", 1, 1, "v");
        sstable::CellRef { row: bytes, ..cell.as_ref() }.to_cell()
    };
    let rows: [&[u8]; 7] = [b"a", b"a\xfe", b"a\xff", b"a\xffz", b"b", b"\xff", b"\xff\xff"];
    let cells: Vec<Cell> = rows.iter().map(|name| row(name)).collect();
    region.file(&hfile(1), one_cell_a_block(1), &cells);
    for prefix in [&b"a"[..], b"a\xfe", b"a\xff", b"a\xff\xff", b"\xff", b"\xff\xff", b"b\xff"] {
        let found = made.scan(&TableScan::default().prefix(prefix));
        let found: Vec<Vec<u8>> = found.map(|cell| cell.expect("sound").row().to_vec()).collect();
        let expected: Vec<_> = rows.iter().filter(|row| row.starts_with(prefix)).collect();
        assert!(found.iter().eq(expected), "{prefix:?}: {found:?}");
    }
}

#[test]
fn the_cells_of_logs_are_those_of_the_range() {
    let made = Made::new(&[]);
    let (low, high) = (made.region(2, "", "e"), made.region(2, "e", ""));
    let all = cells(&["b", "d", "d\0", "e", "f", "h"], 7);
    let log = super::made::Log::new().entry(&low.name, 7, 9, &all[..3]);
    let log = log.entry(&high.name, 7, 9, &all[3..]);
    made.log("host,1,1", &log.0);
    let scan = TableScan::default().with_logs(true);
    let read = made.table().read_logs(&scan).expect("sound");
    let part = made.table().read_logs(&scan.clone().start("d").stop("f")).expect("sound");
    for start in ROWS {
        for stop in ROWS.map(Some).into_iter().chain([None]) {
            let is_within = |cell: &&Cell| {
                let is_before = stop.is_none_or(|stop| cell.row() < stop.as_bytes());
                cell.row() >= start.as_bytes() && is_before
            };
            let expected: Vec<String> = all.iter().filter(is_within).map(text).collect();
            let scan = between(&scan, start, stop);
            for scan in
                [scan.clone(), scan.clone().unflushed(read.clone()), scan.unflushed(part.clone())]
            {
                assert_eq!(made.cells(&scan), expected, "{start:?} {stop:?}");
            }
        }
    }
    for row in ROWS {
        let expected: Vec<_> =
            all.iter().filter(|cell| cell.row() == row.as_bytes()).map(text).collect();
        assert_eq!(made.cells(&scan.clone().row(row)), expected, "{row:?}");
        let starts = |cell: &&Cell| cell.row().starts_with(row.as_bytes());
        let expected: Vec<_> = all.iter().filter(starts).map(text).collect();
        assert_eq!(made.cells(&scan.clone().prefix(row)), expected, "{row:?}");
    }
}

#[test]
fn a_half_must_fit_its_region() {
    // The half, its split row, and whether it fits the region from `e` to `m`. The file has `f` to `h`.
    for (half, split, fits) in [
        (Half::Top, "e", true),
        (Half::Top, "f", true),
        (Half::Top, "f\0", false),
        (Half::Top, "d", false),
        (Half::Top, "l", false),
        (Half::Top, "m", false),
        (Half::Bottom, "m", true),
        (Half::Bottom, "l", false),
        (Half::Bottom, "m\0", false),
        (Half::Bottom, "e", false),
    ] {
        let made = Made::new(&[]);
        let parent = made.gone_region(1, "");
        made.region(2, "", "e");
        let region = made.region(2, "e", "m");
        made.region(2, "m", "");
        let rows = cells(&["f", "h"], 3);
        made.archived(&parent, &hfile(1), flushed(3), &rows);
        region.half(&hfile(1), &parent, split, half);
        let found: Result<Vec<_>, _> = made.scan(&TableScan::default()).collect();
        match found {
            Ok(found) => assert!(fits && found == rows, "{half:?} {split:?}"),
            Err(error) => {
                assert!(!fits, "{half:?} {split:?}: {error}");
                let error = error.to_string();
                let wanted = ["does not fit the region", "outside of the half"];
                assert!(wanted.iter().any(|wanted| error.contains(wanted)), "{error}");
            }
        }
    }
}
