//! The second of several columns, tags and versions; times at the edges of ranges and TTLs.

use std::sync::Arc;

use hbase_files::{LocalTree, RootDirectory, TableScan};
use sstable::{BloomType, Cell, CellRef, CellType, Timestamp};

use super::made::{Made, flushed, hfile, marker, put, text};

fn sorted(mut cells: Vec<Cell>) -> Vec<Cell> {
    cells.sort_by(|one, other| one.as_ref().compare(&other.as_ref()));
    cells
}

/// Returns a cell with tags.
fn tagged(cell: &Cell, tags: &[(u8, &[u8])]) -> Cell {
    let tag = |(kind, data): &(u8, &[u8])| {
        [&(data.len() as u16 + 1).to_be_bytes()[..], &[*kind], data].concat()
    };
    let tags: Vec<u8> = tags.iter().flat_map(tag).collect();
    CellRef { tags: &tags, ..cell.as_ref() }.to_cell()
}

/// The tag of the TTL of a cell.
const TTL: u8 = 8;

#[test]
fn every_choice_of_columns_has_their_cells_whatever_the_filter() {
    for bloom in [BloomType::None, BloomType::Row, BloomType::RowCol] {
        let made = Made::new(&[("VERSIONS", "3")]);
        let region = made.region(1, "", "");
        let options = |sequence| flushed(sequence).bloom_type(bloom);
        // No file has all columns of a row, and the markers are in a file of their own.
        let files = [
            vec![put("r1", "a", 5, 1, "1"), put("r3", "c", 5, 1, "2")],
            vec![put("r1", "b", 5, 1, "3"), put("r3", "a", 5, 1, "4")],
            vec![put("r1", "c", 5, 1, "5"), put("r2", "b", 5, 1, "6"), put("r3", "b", 5, 1, "7")],
            vec![
                marker("r2", "", 9, CellType::DeleteFamily),
                marker("r3", "b", 9, CellType::DeleteColumn),
            ],
        ];
        for (number, cells) in files.iter().enumerate() {
            region.file(&hfile(number), options(number as u64 + 1), cells);
        }
        let all: Vec<Cell> =
            made.scan(&TableScan::default()).map(|cell| cell.expect("sound")).collect();
        assert_eq!(all.len(), 5);
        let choices: [&[&str]; 9] = [
            &["a"],
            &["b"],
            &["c"],
            &["a", "b"],
            &["b", "a"],
            &["a", "c"],
            &["b", "c"],
            &["a", "b", "c"],
            &["x", "c"],
        ];
        for row in ["r1", "r2", "r3", "r4"] {
            for columns in choices {
                let scan = columns
                    .iter()
                    .fold(TableScan::default().row(row), |scan, column| scan.column("f", column));
                let is_chosen = |cell: &&Cell| {
                    cell.row() == row.as_bytes()
                        && columns.iter().any(|column| column.as_bytes() == cell.qualifier())
                };
                let expected: Vec<_> = all.iter().filter(is_chosen).map(text).collect();
                assert_eq!(made.cells(&scan), expected, "{bloom:?} {row} {columns:?}");
            }
        }
    }
}

#[test]
fn one_column_asks_the_filter_of_columns() {
    let made = Made::new(&[]);
    let region = made.region(1, "", "");
    let options = |sequence| flushed(sequence).bloom_type(BloomType::RowCol);
    region.file(&hfile(1), options(1), &[put("r1", "a", 5, 1, "1"), put("r2", "a", 5, 1, "2")]);
    let skipped = |scan: TableScan| {
        let mut cells = made.scan(&scan);
        assert_eq!(cells.by_ref().count(), 0);
        cells.trace().files_skipped_by_filter
    };
    assert_eq!(skipped(TableScan::default().row("r1").column("f", "b")), 1);
    assert_eq!(skipped(TableScan::default().row("r11").column("f", "a")), 1);
}

#[test]
fn a_time_range_has_its_first_time_and_not_its_end() {
    let made = Made::new(&[("VERSIONS", "9")]);
    let region = made.region(1, "", "");
    for time in 1..6 {
        // Files of one time each, and one of all: files are skipped by their times too.
        let cell = put("r", "q", time, time as u64, "one");
        region.file(&hfile(time as usize), flushed(time as u64), &[cell]);
    }
    let all = (1..6).rev().map(|time| put("s", "q", time, 6, "all")).collect::<Vec<_>>();
    region.file(&hfile(6), flushed(6), &all);
    for (min, max) in (0..7).flat_map(|min| (0..8).map(move |max| (min, max))) {
        let scan = TableScan::default().time_range(Timestamp::new(min), Timestamp::new(max));
        let mut found = made.scan(&scan);
        let times: Vec<i64> =
            found.by_ref().map(|cell| cell.expect("sound").as_ref().timestamp.get()).collect();
        let expected: Vec<i64> = (1..6).rev().filter(|time| (min..max).contains(time)).collect();
        assert_eq!(times, [&expected[..], &expected].concat(), "{min}..{max}");
        let skipped = 5 - expected.len() as u64 + u64::from(max <= 1 || min > 5);
        assert_eq!(found.trace().files_skipped_by_time, skipped, "{min}..{max}");
    }
}

#[test]
fn a_cell_expires_one_millisecond_after_its_ttl() {
    let made = Made::new(&[("TTL", "2"), ("VERSIONS", "9")]);
    let region = made.region(1, "", "");
    let cells: Vec<Cell> = (1..6).rev().map(|time| put("r", "q", time, 1, "v")).collect();
    region.file(&hfile(1), flushed(1), &cells);
    for now in 2000..2008 {
        let times: Vec<i64> = made
            .scan(&TableScan::default().now(Timestamp::new(now)))
            .map(|cell| cell.expect("sound").as_ref().timestamp.get())
            .collect();
        let expected: Vec<i64> = (1..6).rev().filter(|time| time + 2000 >= now).collect();
        assert_eq!(times, expected, "{now}");
    }
}

#[test]
fn the_tag_of_a_ttl_counts_wherever_it_is_among_the_tags() {
    let made = Made::new(&[]);
    let region = made.region(1, "", "");
    let ttl = 10_i64.to_be_bytes();
    let lists: [&[(u8, &[u8])]; 5] = [
        &[(TTL, &ttl)],
        &[(1, b"label"), (TTL, &ttl)],
        &[(1, b""), (2, b"x"), (TTL, &ttl), (3, b"y")],
        &[(1, b"label"), (2, b"x")],
        &[(TTL, b"no ttl"), (1, b"")],
    ];
    let cells: Vec<Cell> = lists
        .iter()
        .enumerate()
        .map(|(index, tags)| tagged(&put(&index.to_string(), "q", 100, 1, "v"), tags))
        .collect();
    region.file(&hfile(1), flushed(1).includes_tags(true), &cells);
    // The same cells from a log.
    let log = super::made::Log::new();
    let logged: Vec<Cell> =
        cells.iter().map(|cell| CellRef { qualifier: b"z", ..cell.as_ref() }.to_cell()).collect();
    made.log("host,1,1", &log.entry(&region.name, 5, 9, &logged).0);
    for (now, rows) in [(110, "0011223344"), (111, "3344")] {
        let scan = TableScan::default().now(Timestamp::new(now)).with_logs(true);
        for scan in [scan.clone(), scan.raw(true)] {
            let found = made.scan(&scan);
            let found: Vec<u8> =
                found.flat_map(|cell| cell.expect("sound").row().to_vec()).collect();
            assert_eq!(String::from_utf8(found).expect("text"), rows, "{now}");
        }
    }
}

#[test]
fn as_many_versions_are_shown_as_the_scan_and_the_family_allow() {
    for kept in 1..4 {
        let made = Made::new(&[("VERSIONS", &kept.to_string())]);
        let region = made.region(1, "", "");
        // Versions are spread over two files.
        for (file, times) in [(1, [1, 3]), (2, [2, 4])] {
            let cells: Vec<Cell> =
                times.iter().rev().map(|time| put("r", "q", *time, file, "v")).collect();
            region.file(&hfile(file as usize), flushed(file), &cells);
        }
        for asked in 1..6 {
            let count = |scan: TableScan| made.cells(&scan.versions(asked)).len();
            let expected = kept.min(asked).min(4) as usize;
            assert_eq!(count(TableScan::default()), expected, "{kept} {asked}");
            assert_eq!(count(TableScan::default().column("f", "q")), expected, "{kept} {asked}");
            let raw = asked.min(4) as usize;
            assert_eq!(count(TableScan::default().raw(true)), raw, "{kept} {asked}");
        }
    }
}

#[test]
fn many_versions_and_columns_are_skipped_without_a_loss() {
    let made = Made::new(&[("VERSIONS", "1")]);
    let region = made.region(1, "", "");
    // Above and below the number of versions after which a scan seeks.
    let mut cells = Vec::new();
    for (column, versions) in [("a", 14), ("b", 16), ("c", 17), ("d", 18), ("e", 40), ("f", 1)] {
        cells.extend((0..versions).map(|time| put("r", column, time, 1, "v")));
    }
    cells.push(put("s", "a", 1, 1, "v"));
    region.file(&hfile(1), flushed(1).block_size(64), &sorted(cells));
    let columns: Vec<String> = made.cells(&TableScan::default());
    assert_eq!(columns.len(), 7, "{columns:?}");
    let chosen = made.cells(&TableScan::default().column("f", "b").column("f", "f"));
    assert_eq!(chosen, ["r:b/15=v@1", "r:f/0=v@1"]);
}

/// Opens a table whose family has a setting, and returns its cells.
fn cells_with_setting(setting: &str, value: &str) -> Result<Vec<String>, String> {
    let made = Made::new(&[(setting, value)]);
    made.region(1, "", "").file(&hfile(1), flushed(1), &[put("a", "q", 1, 1, "v")]);
    let root = RootDirectory::open(Arc::new(LocalTree), made.root()).expect("a root");
    let table = root.table(&"t".parse().expect("a name")).map_err(|error| error.to_string())?;
    assert!(table.create_statement().contains(&format!("{setting} => '{value}'")), "{value}");
    Ok(made.cells(&TableScan::default()))
}

#[test]
fn numbers_that_hbase_cannot_parse_are_refused() {
    // HBase parses the numbers as i32.
    for (setting, wrong, right) in [
        ("TTL", "2547483647", "2147483647"),
        ("VERSIONS", "2547483647", "2147483647"),
        ("MIN_VERSIONS", "-1", "0"),
        ("BLOCKSIZE", "64K", "65536"),
        ("KEEP_DELETED_CELLS", "SOME", "ttl"),
    ] {
        let error = cells_with_setting(setting, wrong).expect_err("not a number");
        assert!(error.contains(&format!("family f: {setting} is ")), "{error}");
        assert_eq!(cells_with_setting(setting, right), Ok(vec!["a:q/1=v@1".to_owned()]));
    }
}

/// Other releases have other names, and no read needs the setting of a family.
#[test]
fn names_of_encodings_codecs_and_bloom_types_of_other_releases_do_not_stop_a_read() {
    for (setting, value) in [
        ("DATA_BLOCK_ENCODING", "PREFIX_TREE"),
        ("DATA_BLOCK_ENCODING", "NON\u{c5}"),
        ("COMPRESSION", "GZIP"),
        ("BLOOMFILTER", "RIBBON_ROWCOL"),
        ("BLOOMFILTER", "ROWPREFIX_DELIMITED"),
        ("BLOOMFILTER", "none"),
    ] {
        let found = cells_with_setting(setting, value);
        assert_eq!(found, Ok(vec!["a:q/1=v@1".to_owned()]), "{setting} {value}");
    }
}
