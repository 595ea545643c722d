//! The splits of a scan, read from their bytes, together return each of its cells once, in its order.

use std::path::Path;
use std::sync::Arc;
use std::{fs, iter};

use cells::prefix_end;
use hbase_files::{
    Error, FileTree, LocalTree, MobValues, ScanSplit, SplitCells, StoreFileCells, StoreFileReader,
    Table, TableScan, identify,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use sstable::{Cell, FileName, ReaderOptions};
use support::root_directory::{RootCopy, manifest, scan};

const TARGETS: [Option<u64>; 5] = [None, Some(1), Some(1500), Some(6000), Some(u64::MAX)];

fn tree() -> Arc<dyn FileTree> {
    Arc::new(LocalTree)
}

/// Returns a split as another process has it.
fn sent(split: &ScanSplit) -> ScanSplit {
    let bytes = split.to_bytes().expect("paths are UTF-8");
    let sent = ScanSplit::from_bytes(&bytes, tree()).expect("just written");
    assert_eq!(sent.to_bytes().expect("paths are UTF-8"), bytes);
    assert_eq!((sent.start(), sent.stop()), (split.start(), split.stop()));
    sent
}

fn cells_of(mut cells: SplitCells) -> Vec<Cell> {
    let mut found = Vec::new();
    while let Some(cell) = cells.next_ref().expect("sound") {
        found.push(cell.to_cell());
    }
    found
}

/// Reads all splits, and checks that their cells are in their rows.
fn all_cells(splits: &[ScanSplit]) -> Vec<Cell> {
    let mut all = Vec::new();
    for split in splits {
        let split = sent(split);
        let cells = cells_of(split.cells().expect("sound"));
        let (start, stop) = (split.start(), split.stop());
        let is_inside = |cell: &Cell| {
            cell.row() >= &start[..] && stop.as_deref().is_none_or(|stop| cell.row() < stop)
        };
        assert!(cells.iter().all(is_inside), "rows of {start:?} to {stop:?}");
        all.extend(cells);
    }
    all
}

#[track_caller]
fn check(what: &str, table: &Table, scan: &TableScan) -> usize {
    check_targets(what, table, scan, &TARGETS)
}

#[track_caller]
fn check_targets(what: &str, table: &Table, scan: &TableScan, targets: &[Option<u64>]) -> usize {
    let expected: Vec<Cell> =
        table.scan(scan).expect("sound").collect::<Result<_, _>>().expect("sound");
    let mut most = 0;
    for &target in targets {
        let plan = table.splits(scan, target).expect("sound");
        assert!(plan.missing.is_empty());
        most = most.max(plan.splits.len());
        if target.is_none_or(|target| target == u64::MAX) {
            assert!(plan.splits.len() <= table.regions.len());
        }
        let found = all_cells(&plan.splits);
        assert!(found == expected, "{what}, {target:?}: {} cells, {}", found.len(), expected.len());
    }
    most
}

#[test]
fn the_splits_of_each_snapshot_have_its_cells() {
    let (copy, manifest) = (RootCopy::new(), manifest());
    let mut most = 0;
    for name in manifest["snapshots"].as_object().expect("an object").keys() {
        let table = copy.snapshot(name);
        for raw in [false, true] {
            most = most.max(check(name, &table, &scan().raw(raw)));
        }
        let check_part = |scan: TableScan| check_targets(name, &table, &scan, &[None, Some(6000)]);
        check_part(scan().mob(MobValues::Reference));
        let row = table.scan(&scan()).expect("sound").nth(5).map(|cell| cell.expect("sound"));
        if let Some(row) = row.as_ref().map(Cell::row) {
            let prefix = &row[..row.len() - 1];
            check_part(scan().prefix(prefix));
            check_part(scan().start(row));
            check_part(scan().stop(prefix_end(prefix).expect("not 0xff")));
            assert_eq!(check_part(scan().row(row)), 1, "one row has one split");
        }
        let family = &table.schema.families[0].name;
        check_part(scan().family(family).versions(1));
    }
    assert!(most > 20, "at most {most} splits");
}

#[test]
fn the_splits_of_tables_have_their_unflushed_cells() {
    let (copy, manifest) = (RootCopy::new(), manifest());
    for name in manifest["liveTables"].as_object().expect("an object").keys() {
        let table = copy.table(name);
        for raw in [false, true] {
            check(name, &table, &scan().raw(raw));
            // Each split reads the logs.
            let scan = scan().raw(raw).with_logs(true);
            check_targets(name, &table, &scan, &[None, Some(6000)]);
        }
    }
    for copy in [RootCopy::walt(), RootCopy::recovered_hfiles()] {
        let table = copy.table("walt");
        check("walt", &table, &scan().with_logs(true));
        check("walt", &table, &scan());
    }
    let meta = copy.table("hbase:meta");
    check("meta", &meta, &scan().with_logs(true));
}

#[test]
fn the_splits_of_an_hfile_have_its_cells() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/hfile");
    let region =
        "../../tests/data/rootdir/root/data/default/t1/77a347dcd3a699aadaaa702b08393620/f1";
    let region = Path::new(env!("CARGO_MANIFEST_DIR")).join(region);
    let (mut most, mut halves) = (0, 0);
    for directory in [directory, region] {
        for entry in fs::read_dir(directory).expect("there") {
            let path = entry.expect("there").path();
            let name = path.file_name().and_then(|name| name.to_str()).expect("text");
            halves += u32::from(name.contains('.') && !name.contains(".hfile"));
            let Ok(reader) = open(&path) else { continue };
            for raw in [false, true] {
                let scan = scan().raw(raw);
                let mut cells = StoreFileCells::open(&reader, &scan).expect("sound");
                let mut expected = Vec::new();
                while let Some(cell) = cells.next_ref().expect("sound") {
                    expected.push(cell.to_cell());
                }
                for target in TARGETS {
                    let splits = ScanSplit::hfile(&tree(), &path, &scan, target).expect("sound");
                    most = most.max(splits.len());
                    assert!(all_cells(&splits) == expected, "{name}, {target:?}");
                    assert_eq!(splits.is_empty(), reader.whole().trailer().entry_count == 0);
                }
            }
        }
    }
    assert!(most > 20 && halves > 0, "{most} splits, {halves} halves");
}

#[test]
fn the_parts_of_splits_have_the_cells_of_their_rows() {
    let copy = RootCopy::new();
    let meta = (copy.table("hbase:meta"), scan().with_logs(true));
    for (table, scan) in [(copy.snapshot("s4"), scan()), meta] {
        let expected: Vec<Cell> =
            table.scan(&scan).expect("sound").collect::<Result<_, _>>().expect("sound");
        let mut cuts: Vec<&[u8]> = expected.iter().step_by(3).map(Cell::row).collect();
        cuts.dedup();
        let starts = iter::once(&b""[..]).chain(cuts.iter().copied());
        let stops = cuts.iter().copied().map(Some).chain([None]);
        let ranges: Vec<_> = starts.zip(stops).collect();
        for target in [None, Some(6000)] {
            let splits = table.splits(&scan, target).expect("sound").splits;
            let of_range = |&(start, stop): &(&[u8], Option<&[u8]>)| -> Vec<ScanSplit> {
                splits.iter().filter_map(|split| split.within(start, stop)).collect()
            };
            let parts: Vec<_> = ranges.iter().flat_map(of_range).collect();
            let cells = |part| cells_of(sent(part).cells().expect("sound"));
            let found: Vec<Cell> = parts.iter().flat_map(cells).collect();
            assert!(found == expected, "{}: {} cells", table.name, found.len());
            assert!(cuts.len() > 5 && parts.len() < ranges.len() + splits.len());
        }
    }
}

fn open(path: &Path) -> hbase_files::Result<StoreFileReader> {
    let location = identify(&LocalTree, path)?.locate(&LocalTree)?;
    StoreFileReader::open(&LocalTree, &location, FileName::new("f"), ReaderOptions::default())
}

#[test]
fn a_split_reads_the_blocks_of_its_rows() {
    let copy = RootCopy::new();
    let table = copy.snapshot("s2");
    let blocks = |mut cells: SplitCells| {
        while cells.next_ref().expect("sound").is_some() {}
        cells.trace().data_blocks()
    };
    let whole = table.splits(&scan(), None).expect("sound").splits;
    let whole_len: u64 = whole.iter().map(ScanSplit::estimated_bytes).sum();
    let parts = table.splits(&scan(), Some(whole_len / 12)).expect("sound").splits;
    assert!(parts.len() >= 2 * whole.len(), "{} and {} splits", parts.len(), whole.len());
    let counts: Vec<_> = parts.iter().map(|split| blocks(split.cells().expect("sound"))).collect();
    let all: u64 = whole.iter().map(|split| blocks(split.cells().expect("sound"))).sum();
    // Blocks at the cuts are read twice, of each of the region's files.
    assert!(counts.iter().sum::<u64>() < 3 * all, "{counts:?} of {all}");
    assert!(counts.iter().all(|count| 3 * count < all), "{counts:?} of {all}");
    let lens: u64 = parts.iter().map(ScanSplit::estimated_bytes).sum();
    assert!(lens <= whole_len && 2 * lens > whole_len, "{lens} of {whole_len} bytes");
}

/// Moves everything below a directory to another, as HBase's cleaners do.
fn move_files(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("there") {
        let path = entry.expect("there").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            move_files(&path, &target);
        } else {
            fs::create_dir_all(to).expect("ours");
            fs::rename(&path, &target).expect("ours");
        }
    }
}

#[test]
fn files_and_logs_are_found_after_hbase_has_moved_them() {
    for name in ["t1", "ns1:t2"] {
        let copy = RootCopy::new();
        if !manifest()["liveTables"].as_object().expect("an object").contains_key(name) {
            continue;
        }
        let table = copy.table(name);
        let scan = scan().with_logs(true);
        let expected: Vec<Cell> =
            table.scan(&scan).expect("sound").collect::<Result<_, _>>().expect("sound");
        assert!(!expected.is_empty());
        let splits = table.splits(&scan, Some(5000)).expect("sound").splits;
        let splits: Vec<_> = splits.iter().map(sent).collect();
        move_files(&copy.path().join("data/default"), &copy.path().join("archive/data/default"));
        for server in fs::read_dir(copy.path().join("WALs")).expect("there") {
            move_files(&server.expect("there").path(), &copy.path().join("oldWALs"));
        }
        assert!(all_cells(&splits) == expected, "{name}");
        assert!(table.scan(&scan).is_err(), "the table itself has lost its files");

        fs::remove_dir_all(copy.path().join("archive")).expect("ours");
        let error = splits[0].cells().map(|_| ());
        assert!(matches!(error, Err(Error::Missing { .. })), "{error:?}");
    }
}

#[test]
fn a_table_without_files_has_no_splits_and_a_damaged_one_an_error() {
    let copy = RootCopy::new();
    let mut table = copy.snapshot("s2");
    let unknown = table.splits(&scan().family("nope"), None);
    assert!(matches!(unknown, Err(Error::NoFamily { .. })), "{unknown:?}");
    for region in &mut table.regions {
        for family in &mut region.families {
            family.files.clear();
        }
    }
    assert!(table.splits(&scan(), Some(1)).expect("sound").splits.is_empty());

    let table = copy.table("t1");
    let region = copy.path().join("data/default/t1").join(table.regions[0].name().as_str());
    fs::remove_dir_all(region).expect("there");
    let table = copy.table("t1");
    assert!(matches!(table.splits(&scan(), None), Err(Error::Incomplete { .. })));
    let plan = table.splits(&scan().skip_damaged(true), None).expect("skips damage");
    let mut cells = table.scan(&scan().skip_damaged(true)).expect("skips damage");
    assert_eq!(plan.missing, cells.missing());
    assert!(!plan.missing.is_empty());
    let expected: Vec<Cell> = cells.by_ref().collect::<Result<_, _>>().expect("skips damage");
    assert!(all_cells(&plan.splits) == expected);
}

#[test]
fn a_missing_file_of_another_family_does_not_matter() {
    let copy = RootCopy::new();
    let table = copy.table("t1");
    let file = table.regions.iter().find_map(|region| region.family(b"f2")?.files.first());
    let file = file.expect("f2 has a file").locate(&LocalTree).expect("there").path;
    fs::remove_file(file).expect("ours");
    let of_f1 = scan().family("f1");
    let expected: Vec<Cell> =
        table.scan(&of_f1).expect("sound").collect::<Result<_, _>>().expect("f1 is sound");
    let splits = table.splits(&of_f1, Some(5000)).expect("f1 is sound").splits;
    assert!(all_cells(&splits) == expected);
    assert!(table.splits(&scan(), None).is_err(), "f2 lacks a file");
}

/// Returns the bytes with the checksum of their message.
#[test]
fn the_plan_names_the_logs_that_are_gone_of_the_regions_of_the_scan() {
    let copy = RootCopy::walt();
    let log = copy.table("walt").logs.swap_remove(0);
    fs::remove_file(log).expect("ours");
    let table = copy.table("walt");
    let regions = table.regions.iter().map(|region| region.name().to_string()).collect::<Vec<_>>();
    for (scan, expected) in [
        (scan().with_logs(true), &regions[..]),
        (scan().with_logs(true).stop("k"), &regions[..1]),
        (scan(), &[]),
    ] {
        let plan = table.splits(&scan, None).expect("sound");
        let missing = plan.missing.iter().map(|missing| missing.region.clone());
        assert_eq!(missing.collect::<Vec<_>>(), expected);
        assert_eq!(plan.missing, table.scan(&scan).expect("sound").missing());
    }
    let region = &table.regions[1];
    let cells = table.scan_region(region, &scan().with_logs(true)).expect("sound");
    assert_eq!(cells.missing().len(), 1);
}

fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.len() >= 9 {
        let mut crc = support::crc32(&bytes[9..]).to_be_bytes();
        bytes[5..9].swap_with_slice(&mut crc);
    }
    bytes
}

#[test]
fn bytes_that_are_no_split_are_errors() {
    let copy = RootCopy::new();
    let table = copy.table("t1");
    let splits = table.splits(&scan().with_logs(true), None).expect("sound").splits;
    let bytes = splits[0].to_bytes().expect("UTF-8");
    assert_eq!(with_checksum(bytes.clone()), bytes);
    let error = |bytes: &[u8]| match ScanSplit::from_bytes(bytes, tree()) {
        Err(Error::InvalidSplit { what }) => what,
        other => panic!("{other:?}"),
    };
    for len in 0..bytes.len() {
        error(&bytes[..len]);
        let mut changed = bytes.clone();
        changed[len] ^= 4;
        error(&changed);
    }
    assert!(error(b"pickle").contains("not those of a split"));
    let mut newer = bytes.clone();
    newer[4] = 9;
    assert!(error(&newer).contains("format 9"));
    assert!(error(&[&bytes[..], &vec![0; 5 << 20]].concat()).contains("more than"));

    // Whatever the message says, it is an error or a split, without a panic.
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let edits = prop::collection::vec((9..bytes.len(), any::<u8>()), 1..4);
    let mut sound = 0;
    for _ in 0..3000 {
        let edits = edits.new_tree(&mut runner).expect("a value").current();
        let mut changed = bytes.clone();
        for (at, byte) in edits {
            changed[at] = byte;
        }
        if let Ok(split) = ScanSplit::from_bytes(&with_checksum(changed), tree()) {
            sound += 1;
            if let Ok(mut cells) = split.cells() {
                while let Ok(Some(_)) = cells.next_ref() {}
            }
        }
    }
    assert!(sound > 100, "{sound} of 3000 changed splits are sound");
}
