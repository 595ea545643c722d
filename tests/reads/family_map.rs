//! Stores with a family map: no row that is there is ever denied, and every file is counted once.

mod choice;
mod filters;
mod hostile;
mod lookups;
mod upkeep;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use filter::{ErrorRate, FilterKind, Sizing};
use sstable::{BloomType, CellRef, WriterOptions};
use store::{
    Clock, CompactionKind, Delete, Durability, FamilyOptions, FileFate, Get, MapMode, MapStats,
    Put, ReadTrace, Snapshot, Store, StoreOptions, Timestamp, WriteBatch,
};
use support::Random;
use support::cells::{PUT, hfile};
use support::disk::Disk;
use support::say;
use support::test_store::TestStore;

fn options() -> StoreOptions {
    StoreOptions::default().background(false).auto_compaction(false).durability(Durability::SkipWal)
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
    store.write(batch, Durability::SkipWal).unwrap();
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
    for (row, (cells, trace)) in store.multi_get_traced(&gets).unwrap().iter().enumerate() {
        assert_eq!(cells[0].value(), b"value", "{row}");
        assert_counted(trace, 1);
    }
    sum
}

/// Rows with their newest value, and a store that has them.
struct Rows {
    store: Store,
    values: Vec<Option<String>>,
    lookups: u64,
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

    fn delete(&mut self, rows: impl Iterator<Item = u64> + Clone) {
        let mut batch = WriteBatch::new();
        for row in rows.clone() {
            batch.delete(Delete::row(key(row)));
        }
        self.store.write(batch, Durability::SkipWal).unwrap();
        self.note(rows, None);
    }

    /// Gets every row, alone and in a batch.
    fn check(&mut self, what: &str) {
        self.lookups += check(|get| self.store.get(get).unwrap(), &self.values, what);
        let gets: Vec<_> = (0..self.values.len() as u64).map(|row| Get::row(key(row))).collect();
        for (row, cells) in self.store.multi_get(&gets).unwrap().iter().enumerate() {
            let found = cells.first().map(|cell| cell.value().to_vec());
            let expected = self.values[row].as_ref().map(|value| value.clone().into_bytes());
            assert_eq!(found, expected, "{what}: row {row} of a batch");
            self.lookups += u64::from(expected.is_some());
        }
    }
}

/// Returns the number of rows that are there.
fn check(get: impl Fn(&Get) -> Vec<store::Cell>, values: &[Option<String>], what: &str) -> u64 {
    for (row, expected) in values.iter().enumerate() {
        let found = get(&Get::row(key(row as u64)).column("f", "q"));
        let found = found.first().map(|cell| String::from_utf8(cell.value().to_vec()).unwrap());
        assert_eq!(&found, expected, "{what}: row {row}");
    }
    values.iter().flatten().count() as u64
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
    rows.store.bulk_load("f", &[path]).unwrap();
    rows.note(numbers, Some(name));
}

/// More than a million gets of rows that are there, through every way in which files change.
#[test]
fn a_million_lookups_deny_no_row() {
    million_lookups(family());
}

#[test]
fn a_million_lookups_in_a_wide_map_deny_no_row() {
    million_lookups(wide());
}

fn million_lookups(family: FamilyOptions) {
    let directory = tempfile::tempdir().unwrap();
    let (place, loads) = (directory.path().join("store"), directory.path().to_path_buf());
    let store = open(&place);
    store.create_family("f", family).unwrap();
    let mut rows = Rows { store, values: Vec::new(), lookups: 0 };
    let mut snapshots: Vec<(Snapshot, Vec<Option<String>>)> = Vec::new();
    let mut random = Random::new(28);
    for round in 0..15_u64 {
        for file in 0..12_u64 {
            let first = random.below(8_000) as u64;
            let value = format!("{round}.{file}");
            rows.write((first..first + 3_000).step_by(1 + file as usize % 3), &value);
            rows.store.flush().unwrap();
        }
        rows.check("flushed");
        let files = rows.store.stats().families[0].files;
        assert_eq!(covered(&rows.store), files, "round {round}");
        snapshots.push((rows.store.snapshot(), rows.values.clone()));
        let first = random.below(10_000) as u64;
        rows.delete(first..first + 200);
        rows.store.flush().unwrap();
        let first = random.below(10_000) as u64;
        bulk_load(&mut rows, &loads, &format!("load{round}"), first..first + 1_000);
        rows.check("loaded");
        let kind = if round % 2 == 0 { CompactionKind::Major } else { CompactionKind::Minor };
        rows.store.compact("f", kind).unwrap();
        rows.check("compacted");
        if round % 3 == 2 {
            snapshots.clear();
            rows.store = Store::open(directory.path().join("other"), options()).unwrap();
            rows.store = open(&place);
            rows.check("opened again");
        }
        let stats = rows.store.stats();
        assert_eq!((covered(&rows.store), stats.map_failures), (stats.families[0].files, 0));
        for (snapshot, values) in &snapshots {
            check(|get| snapshot.get(get).unwrap(), values, "snapshot");
        }
    }
    assert!(rows.lookups > 1_000_000, "{}", rows.lookups);
    let trace = rows.store.stats().families[0].reads;
    assert_eq!(trace.filter_checks, 0, "every file was covered when it was read");
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
    let mut rows = Rows { store, values: Vec::new(), lookups: 0 };
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
    let now = Arc::new(AtomicI64::new(1_000));
    let clock = Arc::clone(&now);
    let clock = Clock::new(move || Timestamp::new(clock.load(Ordering::Relaxed)));
    let disk = Disk::default();
    let options_of_family = family().ttl(Some(Duration::from_millis(100)));
    let store = Store::open("/store", options().vfs(Arc::new(disk)).clock(clock)).unwrap();
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
    now.store(1_060, Ordering::Relaxed);
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
    let mut rows = Rows { store, values: Vec::new(), lookups: 0 };
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

/// Median times of gets with a filter for each file and with a map, in alternating rounds.
#[test]
#[ignore = "measures; run with --release --ignored --nocapture"]
fn times_with_and_without_a_map() {
    const ROWS: u64 = 400_000;
    for files in [16, 64] {
        let stores = [MapMode::Off, MapMode::Files].map(|map| {
            let directory = tempfile::tempdir().unwrap();
            let options = options().cache_bytes(2 << 30).memstore_flush_bytes(1 << 30);
            let store = Store::open(directory.path(), options).unwrap();
            let filter = (FilterKind::BlockedBloom, Sizing::ErrorRate(ErrorRate::HBASE));
            let family = family().bloom_type(BloomType::None).filter(Some(filter));
            store.create_family("f", family.family_map(map)).unwrap();
            for file in 0..files {
                write(&store, (file..ROWS).step_by(files as usize), &"value".repeat(20));
                store.flush().unwrap();
            }
            assert_eq!(covered(&store), if map == MapMode::Off { 0 } else { files });
            (directory, store)
        });
        let mut random = Random::new(1);
        let mut times = [(); 2].map(|()| [Vec::new(), Vec::new()]);
        for round in 0..15 {
            let mut rows: Vec<_> =
                (0..20_000).map(|_| random.below(ROWS as usize) as u64).collect();
            random.shuffle(&mut rows);
            for (is_present, suffix) in [(0, "x"), (1, "")] {
                let gets = rows.iter().map(|row| Get::row(format!("{}{suffix}", key(*row))));
                let gets: Vec<_> = gets.map(|get| get.column("f", "q")).collect();
                for at in [round % 2, 1 - round % 2] {
                    let start = std::time::Instant::now();
                    for get in &gets {
                        assert_eq!(stores[at].1.get(get).unwrap().len(), is_present);
                    }
                    let nanos = start.elapsed().as_nanos() / gets.len() as u128;
                    times[is_present][at].push(nanos);
                }
            }
        }
        let median = |times: &mut Vec<u128>| {
            times.sort_unstable();
            times[times.len() / 2]
        };
        let [[absent, absent_map], [present, present_map]] = &mut times;
        say(&format!(
            "{files} files: absent {} ns by filters, {} by the map ({} bits a row); present {}, {}",
            median(absent),
            median(absent_map),
            map_stats(&stores[1].1).bytes * 8 / ROWS,
            median(present),
            median(present_map),
        ));
    }
}
