//! The store compared with recorded answers of HBase.
//!
//! `data/store/SET/queries.json` holds queries that a real `HRegion` answered over the files of the
//! set. The store imports the same files and must give the same answers, cell for cell.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use sstable::Cell;
use store::{Age, Clock, FamilyOptions, Get, KeepDeletedCells, MapMode, Scan, Store, Timestamp};
use support::fixtures::read_cells;
use support::test_store::quiet;

#[derive(Deserialize)]
struct Set {
    files: Vec<String>,
    queries: Vec<Query>,
}

#[derive(Deserialize)]
struct Query {
    name: String,
    args: Vec<String>,
    expect: String,
}

impl Query {
    fn has(&self, flag: &str) -> bool {
        self.args.iter().any(|arg| arg == flag)
    }

    fn text(&self, flag: &str) -> Option<&str> {
        let place = self.args.iter().position(|arg| arg == flag)?;
        Some(&self.args[place + 1])
    }

    fn number(&self, flag: &str) -> Option<i64> {
        self.text(flag).map(|text| text.parse().expect("a number"))
    }

    fn row(&self, flag: &str) -> Option<Vec<u8>> {
        Some(support::unhex(self.text(flag)?))
    }

    fn family_options(&self) -> FamilyOptions {
        let keep = if self.has("--keep-deleted") {
            KeepDeletedCells::True
        } else {
            KeepDeletedCells::False
        };
        FamilyOptions::default()
            .versions(self.count("--max-versions").unwrap_or(1))
            .min_versions(self.count("--min-versions").unwrap_or(0))
            .ttl(self.count("--ttl").map(|seconds| Duration::from_secs(seconds.into())))
            .keep_deleted_cells(keep)
    }

    fn scan(&self) -> Scan {
        let mut scan = Scan::family("f")
            .versions(self.count("--versions").unwrap_or(1))
            .raw(self.has("--raw"))
            .reverse(self.has("--reverse"));
        if let Some((min, max)) = self.time_range() {
            scan = scan.time_range(min, max);
        }
        if let Some(start) = self.row("--start") {
            scan = scan.start(start);
        }
        if let Some(stop) = self.row("--stop") {
            scan = scan.stop(stop);
        }
        scan
    }

    fn time_range(&self) -> Option<(Timestamp, Timestamp)> {
        let range = self.number("--min-ts").zip(self.number("--max-ts"));
        range.map(|(min, max)| (Timestamp::new(min), Timestamp::new(max)))
    }

    fn count(&self, flag: &str) -> Option<u32> {
        self.number(flag).map(|number| number.try_into().expect("a small number"))
    }
}

fn data(set: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/store").join(set)
}

/// A cell as HBase's answers show it, without a sequence id.
fn line(cell: &Cell) -> String {
    let cell = cell.as_ref();
    let value = cells::escape(cell.value).to_string();
    format!("{} = {value}", cell.key())
}

fn check_set(set: &str) {
    let directory = data(set);
    let queries = fs::read_to_string(directory.join("queries.json")).unwrap();
    let set: Set = serde_json::from_str(&queries).unwrap();
    let files: Vec<_> = set.files.iter().map(|file| directory.join(file)).collect();
    for query in &set.queries {
        let place = tempfile::tempdir().unwrap();
        let now = query.number("--now").unwrap_or(1_800_000_000_000);
        // The store reads the rows of the files into a family map before the first get.
        let options = quiet().clock(Clock::fixed(Timestamp::new(now)));
        let store = Store::open(place.path(), options).unwrap();
        let map = [MapMode::Files, MapMode::Wide, MapMode::Off][query.name.len() % 3];
        store.create_family("f", query.family_options().family_map(map)).unwrap();
        let age = if query.has("--bulk") { Age::Newest } else { Age::Carried };
        store.import("f", &files, age).unwrap();
        let expected = read_cells(&directory.join(&query.expect));
        let scanned: Vec<_> = store.scan(query.scan()).unwrap().map(Result::unwrap).collect();
        compare(&query.name, &scanned, &expected);
        if !query.has("--raw") && !query.has("--reverse") {
            check_gets(&store, query, &expected);
        }
    }
}

/// A get of each row returns what the scan returned.
fn check_gets(store: &Store, query: &Query, expected: &[Cell]) {
    for row in expected.chunk_by(|left, right| left.row() == right.row()) {
        let mut get = Get::row(row[0].row()).family("f").versions(100);
        get = get.versions(query.count("--versions").unwrap_or(1));
        if let Some((min, max)) = query.time_range() {
            get = get.time_range(min, max);
        }
        compare(&format!("{}, a get", query.name), &cells_of(store, &get), row);
        // Single columns use the column filters, and old files can be skipped.
        for column in row.chunk_by(|left, right| left.qualifier() == right.qualifier()) {
            if query.has("--min-versions") {
                continue; // HBase shows one version more of a column requested by name here.
            }
            let mut get = Get::row(row[0].row()).column("f", column[0].qualifier());
            get = get.versions(query.count("--versions").unwrap_or(1));
            if let Some((min, max)) = query.time_range() {
                get = get.time_range(min, max);
            }
            compare(&format!("{}, a column", query.name), &cells_of(store, &get), column);
        }
    }
}

/// Returns the answer of a get, which is the same if the cells are visited.
fn cells_of(store: &Store, get: &Get) -> Vec<Cell> {
    let found = store.get(get).unwrap();
    let mut visited = Vec::new();
    store.get_with(get, |cell| visited.push(cell.to_cell())).unwrap();
    assert_eq!(visited, found, "{get:?}");
    found
}

fn compare(name: &str, found: &[Cell], expected: &[Cell]) {
    let (found, expected): (Vec<_>, Vec<_>) =
        (found.iter().map(line).collect(), expected.iter().map(line).collect());
    if let Some(place) =
        (0..found.len().max(expected.len())).find(|place| found.get(*place) != expected.get(*place))
    {
        let (found_there, expected_there) = (found.get(place), expected.get(place));
        panic!(
            "{name}: {} cells for {}; number {place} is\n  {found_there:?}, but HBase has\n  \
             {expected_there:?}",
            found.len(),
            expected.len()
        );
    }
}

#[test]
fn overlapping_files_are_answered_as_by_hbase() {
    check_set("overlap");
}

#[test]
fn disjoint_files_are_answered_as_by_hbase() {
    check_set("disjoint");
}
