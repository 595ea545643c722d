//! Stores with a family map: no row that is there is ever denied, and every file is counted once.

mod choice;
mod filters;
mod hostile;
mod lookups;
mod upkeep;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use filter::{ErrorRate, FilterKind, Sizing};
use sstable::{BloomType, CellRef, WriterOptions};
use store::{
    Age, CompactionKind, Durability, FamilyOptions, FileFate, Get, MapMode, MapStats, Put,
    ReadTrace, Snapshot, Store, StoreOptions, Timestamp, WriteBatch,
};
use support::cells::{PUT, hfile};
use support::disk::Disk;
use support::test_store::{TestClock, TestStore, quiet};
use support::{Random, say};

fn options() -> StoreOptions {
    quiet().durability(Durability::Skip)
}

fn family() -> FamilyOptions {
    FamilyOptions::default().family_map(MapMode::Files)
}

fn wide() -> FamilyOptions {
    FamilyOptions::default().family_map(MapMode::Wide)
}

fn open(directory: &Path) -> Store {
    Store::open(directory, options()).unwrap()
}

fn key(row: u64) -> String {
    format!("row{row:07}")
}

fn write(store: &Store, rows: impl Iterator<Item = u64>, value: &str) {
    let mut batch = WriteBatch::new();
    for row in rows {
        batch.put(Put::new(key(row)).column("f", "q", value));
    }
    store.write(batch, Durability::Skip).unwrap();
}

fn map_stats(store: &Store) -> MapStats {
    store.stats().families[0].map.unwrap_or_default()
}

fn covered(store: &Store) -> u64 {
    map_stats(store).covered_files
}

/// Asserts that each considered file is counted once.
fn assert_counted(trace: &ReadTrace, found: u64) {
    let skipped = trace.files_skipped_by_range
        + trace.files_skipped_by_time
        + trace.files_skipped_by_filter
        + trace.files_skipped_by_map;
    let absent = trace.map_false_files + trace.filter_false_positives;
    assert_eq!(trace.files_considered, skipped + absent + found, "{trace:?}");
}

#[test]
fn a_get_asks_the_map_and_no_filter() {
    let sum = get_all(family());
    assert!((1..200).contains(&(sum.map_candidates - 1_600)), "{sum:?}");
}

#[test]
fn a_wide_map_hardly_ever_names_a_file_in_vain() {
    let sum = get_all(wide());
    assert!(sum.map_candidates - 1_600 < 2 && sum.data_blocks() < 1_602, "{sum:?}");
}

/// Returns the counters of gets of all rows, and of as many absent rows.
fn get_all(family: FamilyOptions) -> ReadTrace {
    let store = TestStore::with_family(options(), family);
    for file in 0..16 {
        write(&store, (file..1_600).step_by(16), "value");
        store.flush().unwrap();
        assert_eq!(covered(&store), file + 1, "a flush covers its file");
    }
    assert_eq!(store.stats().map_builds, 0, "no file was read again");
    let mut sum = ReadTrace::default();
    for row in 0..1_600 {
        let (cells, trace) = store.get_traced(&Get::row(key(row)).column("f", "q")).unwrap();
        assert_eq!(cells.len(), 1);
        assert_counted(&trace, 1);
        sum.add(&trace);
        let (cells, trace) =
            store.get_traced(&Get::row(format!("{}x", key(row))).column("f", "q")).unwrap();
        assert!(cells.is_empty());
        assert_counted(&trace, 0);
        sum.add(&trace);
    }
    assert_eq!((sum.map_lookups, sum.filter_checks), (3_200, 0));
    assert!(sum.files_skipped_by_map > 3_200 * 16 - 1_600 - 200, "{sum:?}");
    let explanation = store.explain(&Get::row(key(0))).unwrap();
    let files = &explanation.families[0].files;
    assert_eq!(files.len(), 16);
    let of_map = |file: &&store::FileExplanation| file.fate == FileFate::DeniedByMap;
    assert!(files.iter().filter(of_map).count() >= 13);
    assert_eq!(
        files.iter().map(|file| file.trace.files_skipped_by_map).sum::<u64>(),
        explanation.trace.files_skipped_by_map
    );
    let gets: Vec<_> = (0..1_600).map(|row| Get::row(key(row))).collect();
    for (row, cells) in store.multi_get(&gets).unwrap().iter().enumerate() {
        assert_eq!(cells[0].value(), b"value", "{row}");
    }
    // All rows were found by a get each, by the explained get, and together.
    assert_counted(&store.stats().reads(), 1_600 + 1 + 1_600);
    sum
}

/// Rows with their newest value, and a store that has them.
struct Rows {
    store: Store,
    values: Vec<Option<String>>,
}

impl Rows {
    fn write(&mut self, rows: impl Iterator<Item = u64> + Clone, value: &str) {
        write(&self.store, rows.clone(), value);
        self.note(rows, Some(value));
    }

    fn note(&mut self, rows: impl Iterator<Item = u64>, value: Option<&str>) {
        for row in rows {
            let row = usize::try_from(row).unwrap();
            if self.values.len() <= row {
                self.values.resize(row + 1, None);
            }
            self.values[row] = value.map(str::to_owned);
        }
    }

    /// Gets every row, alone and in a batch.
    fn check(&self, what: &str) {
        for (row, expected) in (0..).zip(&self.values) {
            let found = self.store.get(&Get::row(key(row)).column("f", "q")).unwrap();
            let found = found.first().map(|cell| cell.value().to_vec());
            assert_eq!(found, expected.clone().map(String::into_bytes), "{what}: row {row}");
        }
        let gets: Vec<_> = (0..self.values.len() as u64).map(|row| Get::row(key(row))).collect();
        for (row, cells) in self.store.multi_get(&gets).unwrap().iter().enumerate() {
            let found = cells.first().map(|cell| cell.value().to_vec());
            let expected = self.values[row].as_ref().map(|value| value.clone().into_bytes());
            assert_eq!(found, expected, "{what}: row {row} of a batch");
        }
    }
}

fn bulk_load(rows: &mut Rows, directory: &Path, name: &str, numbers: std::ops::Range<u64>) {
    let path = directory.join(name);
    let keys: Vec<_> = numbers.clone().map(key).collect();
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis();
    let now = Timestamp::new(i64::try_from(now).unwrap());
    let cells = keys.iter().map(|key| CellRef {
        row: key.as_bytes(),
        qualifier: b"q",
        timestamp: now,
        value: name.as_bytes(),
        ..PUT
    });
    std::fs::write(&path, hfile(&path, WriterOptions::default(), cells)).unwrap();
    rows.store.import("f", &[path], Age::Newest).unwrap();
    rows.note(numbers, Some(name));
}

#[test]
fn a_compaction_aliases_the_slots_of_its_inputs() {
    [family(), wide()].into_iter().for_each(compact_covered_files);
}

fn compact_covered_files(family: FamilyOptions) {
    let store = TestStore::with_family(options(), family);
    for file in 0..5 {
        write(&store, file * 100..file * 100 + 300, "value");
        store.flush().unwrap();
    }
    let before = map_stats(&store);
    let snapshot = store.snapshot();
    store.compact("f", CompactionKind::Major).unwrap();
    let after = map_stats(&store);
    assert_eq!((before.covered_files, after.covered_files), (5, 1));
    assert_eq!(before.free_entries, after.free_entries, "no entry was written");
    assert_eq!(store.stats().map_builds, 0);
    for row in 0..700 {
        assert!(!store.get(&Get::row(key(row))).unwrap().is_empty(), "{row}");
        assert!(!snapshot.get(&Get::row(key(row))).unwrap().is_empty(), "{row}");
    }
    store.rebuild_filters("f").unwrap();
    assert_eq!(map_stats(&store), after, "a copy with another filter has the same rows");
    assert!((0..700).all(|row| !store.get(&Get::row(key(row))).unwrap().is_empty()));
}

/// 200 flushes: slot numbers run out three times.
#[test]
fn a_map_without_free_slots_is_swept() {
    [family(), wide()].into_iter().for_each(flush_200_times);
}

fn flush_200_times(family: FamilyOptions) {
    let store = TestStore::with_family(options(), family);
    let mut snapshots = Vec::new();
    for flush in 0..200 {
        write(&store, flush * 10..flush * 10 + 50, "value");
        store.flush().unwrap();
        if flush % 20 == 19 {
            snapshots.push((flush, store.snapshot()));
            store.compact("f", CompactionKind::Major).unwrap();
        }
        assert_eq!(covered(&store), store.stats().families[0].files);
    }
    for row in 0..2_040 {
        assert!(!store.get(&Get::row(key(row))).unwrap().is_empty(), "{row}");
    }
    for (flush, snapshot) in snapshots {
        for row in 0..flush * 10 + 50 {
            assert!(!snapshot.get(&Get::row(key(row))).unwrap().is_empty(), "{flush}: {row}");
        }
        assert!(snapshot.get(&Get::row(key(flush * 10 + 50))).unwrap().is_empty());
    }
    assert_eq!(store.stats().map_failures, 0);
}

#[test]
fn files_after_the_64th_are_asked_by_their_filters() {
    let store = TestStore::with_family(options(), family());
    for file in 0..80 {
        write(&store, (file..800).step_by(80), "value");
        store.flush().unwrap();
        for row in [0, file, 700 + file] {
            assert!(!store.get(&Get::row(key(row))).unwrap().is_empty() || row > file, "{row}");
        }
    }
    assert_eq!(covered(&store), 64);
    for row in 0..800 {
        let (cells, trace) = store.get_traced(&Get::row(key(row))).unwrap();
        assert_eq!(cells.len(), 1, "{row}");
        assert_counted(&trace, 1);
        assert!(trace.filter_checks <= 16);
    }
}

#[test]
fn a_map_that_does_not_fit_leaves_the_files_to_their_filters() {
    let store = TestStore::with_family(options().cache_bytes(60_000), family());
    for file in 0..12 {
        write(&store, (file * 3_000..).take(3_000), "value");
        store.flush().unwrap();
    }
    let stats = store.stats();
    assert!(stats.map_failures > 0 && covered(&store) < 12, "{stats:?}");
    for row in (0..36_000).step_by(7) {
        assert!(!store.get(&Get::row(key(row))).unwrap().is_empty(), "{row}");
    }
    assert!(store.stats().families[0].reads.files_skipped_by_range > 0);
}

/// A bulk-loaded file whose rows cannot be read is left out; its other rows are found.
#[test]
fn a_file_that_cannot_be_read_is_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("store");
    let store = open(&place);
    store.create_family("f", family().bloom_type(BloomType::None)).unwrap();
    let mut rows = Rows { store, values: Vec::new() };
    rows.write(0..3_000, "value");
    rows.store.flush().unwrap();
    rows.write(5_000..5_100, "value");
    rows.store.flush().unwrap();
    drop(rows);
    for file in std::fs::read_dir(place.join("f")).unwrap() {
        let path: PathBuf = file.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        let wanted = key(2_990).into_bytes();
        if let Some(at) = bytes.windows(wanted.len()).position(|window| window == wanted) {
            bytes[at + wanted.len() + 5] ^= 1;
            std::fs::write(&path, bytes).unwrap();
        }
    }
    let store = open(&place);
    assert_eq!((covered(&store), store.stats().map_failures), (1, 1));
    assert!(!store.get(&Get::row(key(0))).unwrap().is_empty());
    assert!(!store.get(&Get::row(key(5_050))).unwrap().is_empty());
    assert!(store.get(&Get::row(key(2_990))).is_err(), "damage is an error, not an absent row");
}

#[test]
fn expired_rows_and_time_ranges_are_judged_as_without_a_map() {
    let clock = TestClock::at(1_000);
    let disk = Disk::default();
    let options_of_family = family().ttl(Some(Duration::from_millis(100)));
    let store = Store::open("/store", options().vfs(Arc::new(disk)).clock(clock.clock())).unwrap();
    store.create_family("f", options_of_family).unwrap();
    for time in [950, 980, 1_000] {
        let put = |row: u64| Put::new(key(row)).column_at("f", "q", Timestamp::new(time), "value");
        for row in 0..50 {
            store.put(put(row + time as u64)).unwrap();
        }
        store.flush().unwrap();
    }
    let shown = |rows: std::ops::Range<u64>| {
        rows.filter(|row| !store.get(&Get::row(key(*row))).unwrap().is_empty()).count()
    };
    assert_eq!(shown(900..1_100), 100);
    clock.set(1_060);
    assert_eq!(shown(900..1_100), 70, "rows 950 to 979 have expired");
    store.compact("f", CompactionKind::Major).unwrap();
    assert_eq!((shown(900..1_100), covered(&store)), (70, 1));
    let range = Get::row(key(1_000)).time_range(Timestamp::new(0), Timestamp::new(900));
    assert!(store.get(&range).unwrap().is_empty());
}

/// A map holds rows: the filter over columns is asked for one column of a row that is there.
#[test]
fn a_column_filter_is_still_asked() {
    let store = TestStore::with_family(options(), family().bloom_type(BloomType::RowCol));
    write(&store, 0..500, "value");
    store.flush().unwrap();
    let get = |column| store.get_traced(&Get::row(key(250)).column("f", column)).unwrap();
    let (cells, trace) = get("other");
    assert!(cells.is_empty());
    assert_eq!((trace.map_candidates, trace.filter_checks, trace.data_blocks()), (1, 1, 0));
    let (cells, trace) = get("q");
    assert_eq!((cells.len(), trace.filter_checks, trace.map_false_files), (1, 1, 0));
}

#[test]
fn background_threads_cover_loaded_files_and_those_of_a_reopened_store() {
    let directory = tempfile::tempdir().unwrap();
    let (place, loads) = (directory.path().join("store"), directory.path().to_path_buf());
    let in_background = || Store::open(&place, options().background(true)).unwrap();
    let store = in_background();
    store.create_family("f", family()).unwrap();
    let mut rows = Rows { store, values: Vec::new() };
    let wait = |store: &Store| {
        for _ in 0..3_000 {
            if covered(store) == store.stats().families[0].files {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("not covered after 30 s: {:?}", store.stats());
    };
    for round in 0..4 {
        rows.write(round * 100..round * 100 + 500, "value");
        rows.store.flush().unwrap();
        bulk_load(&mut rows, &loads, &format!("load{round}"), round * 300..round * 300 + 400);
        rows.check("being covered");
        wait(&rows.store);
        rows.check("covered");
    }
    drop(rows.store);
    rows.store = in_background();
    rows.check("opened");
    wait(&rows.store);
    rows.check("opened and covered");
    let reads = rows.store.stats().families[0].reads;
    assert!(reads.files_skipped_by_map > 0);
}
