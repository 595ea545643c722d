//! Scans seek past cells that they do not return: the answers stay the same, and few blocks are read.

use cells::rules::{Rules, Verdict};
use cells::view::View;
use cells::{Clock, KeepDeletedCells, Retention};
use hbase_files::{LocalTree, Location, StoreFileCells, StoreFileReader, TableScan};
use proptest::prelude::*;
use sstable::{Cell, CellType, DataBlockEncoding, FileName, ReaderOptions, Timestamp};

use super::made::{Made, MadeRegion, flushed, hfile, marker, put, text};

const ROWS: [&str; 3] = ["r1", "r2", "r3"];
const COLUMNS: [&str; 6] = ["", "a", "b", "c", "d", "e"];

/// Many columns or versions of a row: enough that reads seek past them.
#[derive(Clone, Debug)]
struct Cells {
    row: &'static str,
    column: &'static str,
    first: i64,
    count: i64,
    cell_type: CellType,
    /// Whether the cells are versions of the column, or are in columns of their own after it.
    are_versions: bool,
}

fn cells() -> impl Strategy<Value = Cells> {
    let cell_type = prop_oneof![
        12 => Just(CellType::Put),
        1 => Just(CellType::Delete),
        1 => Just(CellType::DeleteColumn),
        1 => Just(CellType::DeleteFamily),
        1 => Just(CellType::DeleteFamilyVersion),
    ];
    let count = prop_oneof![3 => Just(1), 2 => 2..60_i64];
    let place = (prop::sample::select(&ROWS[..]), prop::sample::select(&COLUMNS[..]));
    (place, 0..80_i64, count, cell_type, any::<bool>()).prop_map(
        |((row, column), first, count, cell_type, are_versions)| Cells {
            row,
            column: if cell_type.deletes_family() { "" } else { column },
            first,
            count,
            cell_type,
            are_versions: are_versions || cell_type.deletes_family(),
        },
    )
}

impl Cells {
    fn add_to(&self, file: &mut Vec<Cell>, sequence: u64) {
        for number in 0..self.count {
            let (column, time) = if self.are_versions {
                (self.column.to_owned(), self.first + number)
            } else {
                (format!("{}{number:02}", self.column), self.first)
            };
            file.push(match self.cell_type {
                CellType::Put => put(self.row, &column, time, sequence, "value"),
                kind => marker(self.row, &column, time, kind),
            });
        }
    }
}

fn write(region: &MadeRegion, number: usize, encoding: DataBlockEncoding, cells: &[Cell]) {
    let mut cells = cells.to_vec();
    cells.sort_by(|one, other| one.as_ref().compare(&other.as_ref()));
    cells.dedup_by(|one, other| one.as_ref().key() == other.as_ref().key());
    let options = flushed(number as u64 + 1).block_size(300).data_block_encoding(encoding);
    region.file(&hfile(number), options, &cells);
}

fn reader(region: &MadeRegion, number: usize) -> StoreFileReader {
    let path = region.path.join("f").join(hfile(number));
    let name = FileName::new(path.display().to_string());
    let location = Location { path, half: None };
    StoreFileReader::open(&LocalTree, &location, name, ReaderOptions::default()).expect("sound")
}

fn texts(cells: sstable::Result<StoreFileCells>) -> Vec<String> {
    let (mut cells, mut found) = (cells.expect("sound"), Vec::new());
    while let Some(cell) = cells.next_ref().expect("sound") {
        found.push(text(&cell.to_cell()));
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// The expected cells are those that the rules show of all cells of the table, each judged. Of one file, they
    /// are the cells of a read of all its blocks, which does not seek.
    #[test]
    fn a_scan_that_seeks_returns_what_the_rules_show(
        files in prop::collection::vec(prop::collection::vec(cells(), 1..12), 1..4),
        encoding in prop::sample::select(vec![DataBlockEncoding::None, DataBlockEncoding::FastDiff]),
        kept in 1..4_u32,
        keeps_deleted: bool,
        scans in prop::collection::vec(
            (
                prop::sample::subsequence(&COLUMNS[..], 0..=4),
                prop_oneof![Just(u32::MAX), 1..4_u32],
                prop::option::of((0..80_i64, 1..60_i64)),
                (any::<bool>(), any::<bool>(), prop::option::of(prop::sample::select(&ROWS[..]))),
            ),
            1..8,
        ),
    ) {
        let versions = kept.to_string();
        let keep = if keeps_deleted { "TRUE" } else { "FALSE" };
        let made = Made::new(&[("VERSIONS", &versions[..]), ("KEEP_DELETED_CELLS", keep)]);
        let keep = if keeps_deleted { KeepDeletedCells::True } else { KeepDeletedCells::False };
        let family = Retention::default().versions(kept).keep_deleted_cells(keep);
        let region = made.region(1, "", "");
        for (number, parts) in files.iter().enumerate() {
            let mut cells = Vec::new();
            for part in parts {
                part.add_to(&mut cells, number as u64 + 1);
            }
            write(&region, number, encoding, &cells);
        }
        let every = TableScan::default().raw(true).versions(u32::MAX);
        let all: Vec<Cell> = made.scan(&every).map(|cell| cell.expect("sound")).collect();
        for (columns, versions, times, (raw, skips_damaged, row)) in scans {
            let mut view = View::default().versions(versions).raw(raw);
            let mut scan =
                TableScan::default().versions(versions).raw(raw).skip_damaged(skips_damaged);
            if let Some((min, len)) = times {
                let (min, max) = (Timestamp::new(min), Timestamp::new(min + len));
                view = view.time_range(min, max);
                scan = scan.time_range(min, max);
            }
            if let Some(row) = row {
                scan = scan.row(row);
            }
            let mut rules = Rules::new(&family, &view, Clock::system().now());
            for column in &columns {
                rules = rules.column(column);
                scan = scan.column("f", column);
            }
            let is_shown = |cell: &&Cell| {
                rules.judge(&cell.as_ref()) == Verdict::Include
                    && row.is_none_or(|row| row.as_bytes() == cell.row())
            };
            let expected: Vec<_> = all.iter().filter(is_shown).map(text).collect();
            prop_assert_eq!(&made.cells(&scan), &expected, "{:?}", scan);
            for number in 0..files.len() {
                let reader = reader(&region, number);
                let in_full = texts(StoreFileCells::open_in_full(&reader, &scan));
                let found = texts(StoreFileCells::open(&reader, &scan));
                prop_assert_eq!(found, in_full, "file {} of {:?}", number, scan);
            }
        }
    }
}

/// Columns of the wide row: some hundred blocks.
const MANY: usize = 200_000;
/// At most these blocks are read: the first of the row, and the block of the column with its neighbours.
const BLOCKS_MAX: u64 = 5;

fn name(number: usize) -> String {
    format!("c{number:07}")
}

/// Writes a file with a wide row between two small ones.
fn wide(region: &MadeRegion, cells: impl Iterator<Item = Cell>) {
    let small = |row| put(row, "c", 5, 1, "value");
    let cells: Vec<Cell> = [small("a")].into_iter().chain(cells).chain([small("z")]).collect();
    region.file(&hfile(1), flushed(1), &cells);
}

/// Checks that a scan of the table, and one of its file, return one cell and read few blocks.
#[track_caller]
fn check_one(made: &Made, region: &MadeRegion, scan: &TableScan, expected: &str) {
    let mut cells = made.scan(scan);
    let found: Vec<_> = cells.by_ref().map(|cell| text(&cell.expect("sound"))).collect();
    assert_eq!(found, [expected]);
    let blocks = cells.trace().data_blocks();
    assert!(blocks <= BLOCKS_MAX, "{blocks} blocks of the table");
    let mut cells = StoreFileCells::open(&reader(region, 1), scan).expect("sound");
    let first = cells.next_ref().expect("sound").map(|cell| text(&cell.to_cell()));
    assert_eq!(first.as_deref(), Some(expected));
    assert!(cells.next_ref().expect("sound").is_none());
    let blocks = cells.trace().data_blocks();
    assert!(blocks <= BLOCKS_MAX, "{blocks} blocks of the file");
}

#[test]
fn one_column_of_a_wide_row_takes_few_blocks() {
    let made = Made::new(&[]);
    let region = made.region(1, "", "");
    wide(&region, (0..MANY).map(|number| put("row", &name(number), 5, 1, "value")));
    for number in [0, 1, MANY / 2, MANY - 1] {
        let expected = format!("row:{}/5=value@1", name(number));
        let column = TableScan::default().column("f", name(number));
        for raw in [false, true] {
            check_one(&made, &region, &column.clone().raw(raw), &expected);
            check_one(&made, &region, &column.clone().raw(raw).row("row"), &expected);
        }
        let time = |time| Timestamp::new(time);
        check_one(&made, &region, &column.time_range(time(5), time(6)), &expected);
    }
}

#[test]
fn a_column_after_many_deleted_columns_takes_few_blocks() {
    let made = Made::new(&[]);
    let region = made.region(1, "", "");
    let deleted = (0..MANY / 2).flat_map(|number| {
        let column = name(number);
        let marker = marker("row", &column, 6, CellType::DeleteColumn);
        [marker, put("row", &column, 5, 1, "value")]
    });
    wide(&region, deleted.chain([put("row", "d", 5, 1, "value")]));
    let scan = TableScan::default().column("f", "d");
    check_one(&made, &region, &scan, "row:d/5=value@1");
    check_one(&made, &region, &scan.row("row"), "row:d/5=value@1");
}

#[test]
fn one_of_many_versions_takes_few_blocks_also_under_the_empty_qualifier() {
    for column in ["", "q"] {
        let made = Made::new(&[]);
        let region = made.region(1, "", "");
        let time = |number: usize| i64::try_from(number).expect("small") + 1;
        wide(&region, (0..MANY).rev().map(|number| put("row", column, time(number), 1, "value")));
        let expected = format!("row:{column}/{MANY}=value@1");
        let scan = TableScan::default().column("f", column).versions(1);
        check_one(&made, &region, &scan.clone().row("row"), &expected);
        check_one(&made, &region, &scan, &expected);
    }
}
