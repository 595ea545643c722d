//! Files all of whose cells have expired are removed as a whole, once no read can see them.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use std::{fs, thread};

use store::{
    Clock, CompactionKind, CompactionOptions, Delete, FamilyOptions, Get, Put, Scan, Store,
    StoreOptions, Timestamp,
};
use support::test_store::TestClock;

const TTL: Duration = Duration::from_secs(1);
const HOUR: i64 = 3_600_000;

/// A store without threads, whose time is set by the test.
struct Case {
    directory: tempfile::TempDir,
    now: TestClock,
    store: Store,
}

impl Case {
    fn new(family: FamilyOptions) -> Self {
        let now = TestClock::at(10_000);
        Self::with_clock(family, now.clone(), now.clock())
    }

    fn with_clock(family: FamilyOptions, now: TestClock, clock: Clock) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let options =
            StoreOptions::default().clock(clock).background(false).memstore_flush_bytes(1);
        // No merge before a file expires.
        let options = options.compaction(CompactionOptions::default().files_min(9));
        let store = Store::open(directory.path(), options).unwrap();
        store.create_family("f", family).unwrap();
        Self { directory, now, store }
    }

    /// Writes a row, which is flushed at once; then the store looks for work on its files.
    fn put(&self, row: &str) {
        self.store.put(Put::new(row).column("f", "q", row)).unwrap();
    }

    fn set_time(&self, now: i64) {
        self.now.set(now);
    }

    fn files(&self) -> usize {
        files(self.directory.path())
    }
}

fn files(store: &Path) -> usize {
    fs::read_dir(store.join("f")).unwrap().count()
}

#[test]
fn a_file_is_removed_once_all_of_its_cells_have_expired() {
    let case = Case::new(FamilyOptions::default().ttl(Some(TTL)));
    case.put("old");
    case.set_time(11_000);
    case.put("at the limit");
    assert_eq!(case.files(), 2, "a cell as old as the TTL has not expired");
    case.set_time(11_001);
    case.put("new");
    assert_eq!(case.files(), 2, "one file has expired");
    let stats = case.store.stats();
    assert_eq!((stats.files_expired, stats.compactions), (1, 0), "it was not rewritten");
    assert!(case.store.get(&Get::row("old")).unwrap().is_empty());
    assert_eq!(case.store.get(&Get::row("at the limit")).unwrap().len(), 1);
}

#[test]
fn a_snapshot_and_a_scan_keep_the_files_that_they_see() {
    let case = Case::new(FamilyOptions::default().ttl(Some(TTL)));
    case.put("old");
    let snapshot = case.store.snapshot();
    let scan = case.store.scan(Scan::family("f")).unwrap();
    case.set_time(20_000);
    case.put("new");
    assert_eq!(case.store.stats().files_expired, 1);
    assert_eq!(case.files(), 2, "the snapshot and the scan have the file");
    assert_eq!(scan.map(|cell| cell.unwrap().row().to_vec()).collect::<Vec<_>>(), [b"old"]);
    assert_eq!(snapshot.get(&Get::row("old")).unwrap().len(), 1);
    drop(snapshot);
    assert_eq!(case.files(), 1);
}

#[test]
fn a_minimum_of_versions_keeps_expired_files() {
    for family in
        [FamilyOptions::default().ttl(Some(TTL)).min_versions(1), FamilyOptions::default()]
    {
        let case = Case::new(family);
        case.put("old");
        case.set_time(20_000);
        case.put("new");
        assert_eq!((case.files(), case.store.stats().files_expired), (2, 0));
        assert_eq!(case.store.get(&Get::row("old")).unwrap().len(), 1);
    }
}

/// The markers of an expired file hide only cells that have expired, too.
#[test]
fn an_expired_file_of_delete_markers_is_removed() {
    let case = Case::new(FamilyOptions::default().ttl(Some(TTL)));
    let row = |time| Put::new("row").column_at("f", "q", Timestamp::new(time), "value");
    case.store.put(row(10_000)).unwrap();
    case.store.delete(Delete::row("row").family_at("f", Timestamp::new(10_500))).unwrap();
    case.store.put(row(10_800)).unwrap();
    let before = case.store.get(&Get::row("row")).unwrap();
    case.set_time(11_501);
    case.put("new");
    assert_eq!(case.store.stats().files_expired, 2);
    assert_eq!(case.store.get(&Get::row("row")).unwrap(), before);
}

/// The clock is ahead for less than an hour: reads hide the cells, and a flush, a compaction and the
/// removal of expired files keep them. A jump that lasts is followed.
#[test]
fn a_jump_of_the_clock_that_does_not_last_removes_nothing() {
    const TTL: i64 = 3 * HOUR;
    let (now, passed) = (TestClock::at(10_000), Arc::new(AtomicI64::new(0)));
    let (clock, elapsed) = (now.clone(), Arc::clone(&passed));
    let clock = Clock::doubting_jumps(
        move || Timestamp::new(clock.now()),
        move || Duration::from_millis(elapsed.load(Ordering::SeqCst).unsigned_abs()),
    );
    let family = FamilyOptions::default().ttl(Some(Duration::from_millis(TTL.unsigned_abs())));
    let case = Case::with_clock(family, now, clock);
    let rows = || {
        let cells = case.store.scan(Scan::family("f")).unwrap();
        cells
            .map(|cell| String::from_utf8(cell.unwrap().row().to_vec()).unwrap())
            .collect::<Vec<_>>()
    };
    let written_late = |row: &str| {
        case.store.put(Put::new(row).column_at("f", "q", Timestamp::new(10_000), row)).unwrap();
    };
    case.put("a");
    for jump in [10 * HOUR, 10 * HOUR] {
        case.set_time(case.now.now() + jump);
        written_late("b"); // The flush keeps the row.
        assert_eq!(rows(), [""; 0], "the rows have expired by the clock");
        case.store.compact("f", CompactionKind::Major).unwrap();
        case.set_time(case.now.now() - jump);
        assert_eq!(rows(), ["a", "b"]);
    }
    assert_eq!(case.store.stats().files_expired, 0);
    case.set_time(case.now.now() + 10 * HOUR);
    written_late("c");
    for _ in 0..4 {
        passed.fetch_add(HOUR / 4, Ordering::SeqCst);
        case.set_time(case.now.now() + HOUR / 4);
        written_late("d");
    }
    assert_eq!(
        case.store.stats().families[0].file_cells,
        0,
        "the clock has been ahead for an hour"
    );
}

/// Without a write, the background thread removes the file when its time comes.
#[test]
fn the_background_thread_removes_an_expired_file() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), StoreOptions::default()).unwrap();
    let ttl = Some(Duration::from_millis(1));
    store.create_family("f", FamilyOptions::default().ttl(ttl)).unwrap();
    // The flush itself would drop the cell if it had expired.
    let later = Timestamp::new(Clock::system().now().get() + 500);
    store.put(Put::new("row").column_at("f", "q", later, "value")).unwrap();
    store.flush().unwrap();
    assert_eq!(files(directory.path()), 1);
    while store.stats().files_expired == 0 {
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!((files(directory.path()), store.stats().compactions), (0, 0));
}
