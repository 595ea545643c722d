//! An option changes how a scan reads, not what it returns: random tables and pairs of options, beside the plain scan.

use std::collections::BTreeMap;
use std::sync::Arc;

use hbase_files::{
    FileTree, LocalTree, ScanSplit, StoreFileCells, StoreFileReader, Table, TableScan, identify,
};
use sstable::{BlockCache, Cell, FileName, ReaderOptions, Timestamp};
use support::Random;

use super::kinds::{Kinds, QUALIFIERS, all, row};

/// The rows, columns, times and versions of a scan, and the options that must not change its cells.
struct Choice {
    scan: TableScan,
    start: Option<String>,
    stop: Option<String>,
    prefix: String,
    row: Option<String>,
    columns: Vec<(&'static str, Option<&'static str>)>,
    times: (i64, i64),
    versions: usize,
}

/// Returns one of some values.
fn one<T: Clone>(random: &mut Random, values: &[T]) -> T {
    values[random.below(values.len())].clone()
}

/// Returns a row of the table, or one near it.
fn some_row(random: &mut Random) -> String {
    let mut row = row(random.below(100));
    match random.below(4) {
        0 => row.push('\0'),
        1 => row.truncate(random.below(2)),
        _ => {}
    }
    row
}

impl Choice {
    fn new(random: &mut Random, raw: bool, with_logs: bool) -> Self {
        let mut scan = all().raw(raw).with_logs(with_logs);
        let maybe = |random: &mut Random| (random.below(3) == 0).then(|| some_row(random));
        let (start, stop, row) = (maybe(random), maybe(random), maybe(random));
        let row = row.filter(|_| random.below(2) == 0);
        let prefix = maybe(random).unwrap_or_default();
        scan = start.iter().fold(scan, TableScan::start);
        scan = stop.iter().fold(scan, TableScan::stop);
        scan = row.iter().fold(scan, TableScan::row);
        scan = scan.prefix(&prefix);
        let mut columns = Vec::new();
        for _ in 0..one(random, &[0, 0, 1, 2, 3]) {
            let family = one(random, &["f", "f", "m"]);
            // A raw scan of columns returns the delete markers of families, too.
            let qualifier = Some(one(random, &QUALIFIERS)).filter(|_| !raw && random.below(3) > 0);
            columns.push((family, qualifier));
            scan = match qualifier {
                Some(qualifier) => scan.column(family, qualifier),
                None => scan.family(family),
            };
        }
        let times =
            one(random, &[(0, i64::MAX), (0, i64::MAX), (0, 6), (4, 9), (7, i64::MAX), (5, 6)]);
        if times != (0, i64::MAX) {
            scan = scan.time_range(Timestamp::new(times.0), Timestamp::new(times.1));
        }
        let versions = if raw { usize::MAX } else { one(random, &[usize::MAX, 1, 2]) };
        if versions != usize::MAX {
            scan = scan.versions(versions as u32);
        }
        Self { scan, start, stop, prefix, row, columns, times, versions }
    }

    /// Returns the cells of the choice, of all cells of the plain scan.
    fn of(&self, plain: &[Cell]) -> Vec<Cell> {
        let mut versions: BTreeMap<_, usize> = BTreeMap::new();
        let is_chosen = |cell: &&Cell| {
            let (row, view) = (cell.row(), cell.as_ref());
            let in_rows = match &self.row {
                Some(only) => row == only.as_bytes(),
                None => {
                    self.start.as_ref().is_none_or(|start| start.as_bytes() <= row)
                        && self.stop.as_ref().is_none_or(|stop| row < stop.as_bytes())
                }
            };
            let is_column = |(family, qualifier): &(&str, Option<&str>)| {
                let is_whole = self.columns.contains(&(*family, None));
                let in_column = qualifier.is_none_or(|name| name.as_bytes() == view.qualifier);
                family.as_bytes() == view.family && (is_whole || in_column)
            };
            let time = view.timestamp.get();
            in_rows
                && row.starts_with(self.prefix.as_bytes())
                && (self.columns.is_empty() || self.columns.iter().any(is_column))
                && (self.times.0 <= time && time < self.times.1)
        };
        let is_shown = |cell: &&Cell| {
            let view = cell.as_ref();
            let column = (view.row.to_vec(), view.family.to_vec(), view.qualifier.to_vec());
            let count = versions.entry(column).or_default();
            *count += 1;
            *count <= self.versions
        };
        plain.iter().filter(is_chosen).filter(is_shown).cloned().collect()
    }
}

/// Reads the cells in a way that must not change them; returns the way as text.
fn read(random: &mut Random, table: &Table, scan: &TableScan) -> (Vec<Cell>, String) {
    let threads = one(random, &[1, 2, 4]);
    let (part_len, log_bytes_max) = (one(random, &[1, 600, 4000]), one(random, &[0, 1, 300, 2000]));
    let mut changed = scan.clone();
    if random.below(2) == 0 {
        changed = changed.threads(threads).part_len(part_len);
    }
    if random.below(2) == 0 {
        changed = changed.log_bytes_max(log_bytes_max);
    }
    if random.below(3) == 0 {
        let cache = Arc::new(BlockCache::new(one(random, &[0, 2000, 1 << 20])));
        changed = changed.reader_options(ReaderOptions::default().cache(cache));
    }
    if random.below(3) == 0 {
        changed = changed.skip_damaged(true);
    }
    if scan.with_logs && random.below(3) == 0 {
        let read = if random.below(2) == 0 { changed.clone() } else { all() };
        changed = changed.clone().unflushed(table.read_logs(&read).expect("sound"));
    }
    let way = random.below(3);
    let cells = match way {
        0 => {
            let target = one(random, &[None, Some(1), Some(1500)]);
            cells_of(&table.splits(&changed, target).expect("sound").splits)
        }
        1 => {
            let of_region = |region| table.scan_region(region, &changed).expect("sound");
            table.regions.iter().flat_map(of_region).map(|cell| cell.expect("sound")).collect()
        }
        _ => {
            let mut cells = table.scan(&changed).expect("sound");
            let found = cells.by_ref().map(|cell| cell.expect("sound")).collect();
            assert_eq!(cells.missing(), []);
            found
        }
    };
    (cells, format!("way {way}, {changed:?}"))
}

#[test]
fn an_option_changes_no_cell() {
    for seed in 0..16 {
        let kinds = Kinds::new(seed).with_logs(seed > 0);
        let table = kinds.made.table();
        let mut random = Random::new(seed);
        for (raw, with_logs) in [(true, true), (true, false), (false, true), (false, false)] {
            let plain = kinds.made.scan(&all().raw(raw).with_logs(with_logs));
            let plain: Vec<Cell> = plain.map(|cell| cell.expect("sound")).collect();
            for _ in 0..20 {
                let choice = Choice::new(&mut random, raw, with_logs);
                let expected = choice.of(&plain);
                let (found, how) = read(&mut random, &table, &choice.scan);
                let lacks = expected.iter().find(|cell| !found.contains(cell));
                let exceeds = found.iter().find(|cell| !expected.contains(cell));
                assert!(found == expected, "seed {seed}: lacks {lacks:?}, has {exceeds:?}: {how}");
                let Some(cell) = expected.first() else { continue };
                let row = choice.scan.clone().row(cell.row());
                let of_row = expected.iter().filter(|other| other.row() == cell.row());
                let got = table.get(cell.row(), &row).expect("sound");
                assert!(got.iter().eq(of_row), "seed {seed}: a get, {how}");
            }
        }
    }
}

/// Returns the cells of splits.
fn cells_of(splits: &[ScanSplit]) -> Vec<Cell> {
    let mut found = Vec::new();
    for split in splits {
        let mut cells = split.cells().expect("sound");
        while let Some(cell) = cells.next_ref().expect("sound") {
            found.push(cell.to_cell());
        }
    }
    found
}

/// HFiles, halves and links outside of their table.
#[test]
fn an_option_changes_no_cell_of_a_file() {
    let kinds = Kinds::new(5);
    let tree: Arc<dyn FileTree> = Arc::new(LocalTree);
    let mut random = Random::new(5);
    let mut files = 0;
    for path in kinds.files() {
        let location = identify(&LocalTree, &path).and_then(|file| file.locate(&LocalTree));
        let location = location.expect("a store file");
        let options = ReaderOptions::default();
        let name = FileName::new(path.display().to_string());
        let reader = StoreFileReader::open(&LocalTree, &location, name, options).expect("sound");
        let read = |mut cells: StoreFileCells| {
            let mut found = Vec::new();
            while let Some(cell) = cells.next_ref().expect("sound") {
                found.push(cell.to_cell());
            }
            found
        };
        files += 1;
        for raw in [true, false] {
            let plain = all().raw(raw);
            let plain = read(StoreFileCells::open(&reader, &plain).expect("sound"));
            for _ in 0..25 {
                let choice = Choice::new(&mut random, raw, false);
                let expected = choice.of(&plain);
                let what = format!("{}: {:?}", path.display(), choice.scan);
                let found = read(StoreFileCells::open(&reader, &choice.scan).expect("sound"));
                assert!(found == expected, "{what}");
                let in_full = StoreFileCells::open_in_full(&reader, &choice.scan).expect("sound");
                assert!(read(in_full) == expected, "in full, {what}");
                let target = one(&mut random, &[None, Some(1), Some(1500)]);
                let splits = ScanSplit::hfile(&tree, &path, &choice.scan, target).expect("sound");
                assert!(cells_of(&splits) == expected, "{target:?}, {what}");
            }
        }
    }
    assert_eq!(files, 27);
}
