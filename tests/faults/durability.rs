//! The promises of each durability level, one per test, on a simulated disk with kills and power
//! cuts.
//!
//! `power_cut.rs` tests them with random histories.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use sstable::{CellRef, WriterOptions};
use store::vfs::Vfs;
use store::{
    Age, Append, CheckAndMutate, Durability, Error, FamilyOptions, Increment, Put, Scan, Store,
    StoreOptions,
};
use support::Random;
use support::cells::{PUT, hfile};
use support::disk::{Disk, Fault, Faults};
use support::test_store::{disk_with_data, has};

const STORE: &str = "/data/store";

fn open(disk: &Disk, background: bool) -> Store {
    let options = StoreOptions::default().vfs(Arc::new(disk.clone())).background(background);
    Store::open(STORE, options.wal_segment_bytes(4_000)).unwrap()
}

/// Creates a store on a new disk.
fn new_store(background: bool) -> (Disk, Store) {
    let disk = disk_with_data();
    let store = open(&disk, background);
    store.create_family("f", FamilyOptions::default()).unwrap();
    (disk, store)
}

fn put(store: &Store, row: &str, durability: Durability) {
    store.write(Put::new(row).column("f", "q", "value"), durability).unwrap();
    assert!(has(store, row), "an acknowledged row can be read");
}

fn survives_kill(disk: &Disk, row: &str) -> bool {
    has(&open(&disk.after_kill(), false), row)
}

/// Whether the row survives a power cut that drops everything unsynced.
fn survives_power_cut(disk: &Disk, row: &str) -> bool {
    has(&open(&disk.after_power_cut(0.0, &mut Random::new(0)), false), row)
}

#[test]
fn skip_survives_after_a_flush() {
    let (disk, store) = new_store(false);
    put(&store, "row", Durability::Skip);
    put(&store, "other", Durability::Logged);
    assert!(!survives_kill(&disk, "row"), "the row is in no log");
    store.flush().unwrap();
    assert!(survives_kill(&disk, "row") && survives_power_cut(&disk, "row"));
}

#[test]
fn async_survives_a_kill_some_moments_later() {
    let (disk, store) = new_store(true);
    put(&store, "row", Durability::Async);
    // The flush interval is 100 ms; a busy machine may need longer.
    let end = Instant::now() + Duration::from_secs(20);
    while !survives_kill(&disk, "row") {
        assert!(Instant::now() < end, "not written to the log in time");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn logged_survives_a_kill() {
    let (disk, store) = new_store(false);
    put(&store, "row", Durability::Logged);
    assert!(survives_kill(&disk, "row"));
}

#[test]
fn synced_survives_a_power_cut() {
    let (disk, store) = new_store(false);
    put(&store, "row", Durability::Synced);
    assert!(survives_kill(&disk, "row") && survives_power_cut(&disk, "row"));
}

/// Writes to a row with a durability of its own.
type ConditionalWrite = fn(&Store, Durability);

#[test]
fn increments_appends_and_conditional_writes_take_a_durability() {
    let writes: [(&str, ConditionalWrite); 3] = [
        ("an increment", |store, durability| {
            let visit = Increment::new("row").column("f", "q", 1);
            store.increment(&visit.durability(durability)).unwrap();
        }),
        ("an append", |store, durability| {
            let line = Append::new("row").column("f", "q", "text");
            store.append(&line.durability(durability)).unwrap();
        }),
        ("a conditional write", |store, durability| {
            let check = CheckAndMutate::new("row").if_not_exists("f", "q");
            let claim = check.put(Put::new("row").column("f", "q", "value"));
            assert!(store.check_and_mutate(&claim.durability(durability)).unwrap());
        }),
    ];
    for (name, write) in writes {
        for (durability, kill, power_cut) in [
            (Durability::Skip, false, false),
            (Durability::Logged, true, false),
            (Durability::Synced, true, true),
        ] {
            let (disk, store) = new_store(false);
            write(&store, durability);
            let survived = (survives_kill(&disk, "row"), survives_power_cut(&disk, "row"));
            assert_eq!(survived, (kill, power_cut), "{name} with {durability:?}");
        }
    }
}

#[test]
fn closing_a_store_writes_everything_to_the_operating_system() {
    // Separately, because the flush of unlogged rows would write the others too.
    let closes: [fn(Store); 2] = [drop, |store| store.close().unwrap()];
    for durability in [Durability::Async, Durability::Skip] {
        for close in closes {
            let (disk, store) = new_store(false);
            put(&store, "row", durability);
            assert!(!survives_kill(&disk, "row"), "{durability:?} is written later");
            close(store);
            assert!(survives_kill(&disk, "row"), "{durability:?}");
        }
    }
}

#[test]
fn a_close_returns_the_error_that_a_drop_ignores() {
    for durability in [Durability::Async, Durability::Skip] {
        for fault in [Fault::Device, Fault::NoSpace] {
            let (disk, store) = new_store(false);
            put(&store, "row", durability);
            disk.set_faults(Faults::from(1, fault));
            let error = store.close().unwrap_err();
            disk.set_faults(Faults::default());
            let is_of_the_disk = matches!(error, Error::Io { .. } | Error::StoreFile(_));
            assert!(is_of_the_disk, "{durability:?}, {fault:?}: {error}");
            assert!(!survives_kill(&disk, "row"), "{durability:?}, {fault:?}");
        }
    }
    let (disk, store) = new_store(true);
    disk.set_faults(Faults::once(1, Fault::Device));
    store.write(Put::new("row").column("f", "q", "value"), Durability::Synced).unwrap_err();
    let error = store.close().unwrap_err();
    assert!(matches!(error, Error::Poisoned { .. }), "{error}");
}

#[test]
fn only_the_last_handle_closes_a_store() {
    let (disk, store) = new_store(true);
    put(&store, "row", Durability::Skip);
    let map = store.create_map("map").unwrap();
    let snapshot = store.snapshot();
    let refused = store.clone().close().unwrap_err();
    assert!(refused.to_string().contains("another handle"), "{refused}");
    put(&store, "late", Durability::Skip);
    drop(map);
    store.close().unwrap();
    assert_eq!(snapshot.scan(Scan::family("f")).unwrap().count(), 1, "a snapshot is no handle");
    assert!(has(&open(&disk, false), "row") && survives_kill(&disk, "late"));
}

/// An operation that syncs.
type Sync = fn(&Store, &Disk);

/// Every sync makes earlier acknowledged writes durable.
#[test]
fn what_came_before_a_sync_survives_a_power_cut() {
    let syncs: [(&str, Sync); 4] = [
        ("a write with Synced", |store, _| put(store, "other", Durability::Synced)),
        ("a flush", |store, _| store.flush().unwrap()),
        ("an import", |store, disk| store.import("f", &[file_on(disk)], Age::Carried).unwrap()),
        ("the end of a segment", |store, _| {
            let long = Put::new("other").column("f", "q", [7; 5_000]);
            store.write(long, Durability::Logged).unwrap();
        }),
    ];
    for (name, sync) in syncs {
        let (disk, store) = new_store(false);
        put(&store, "early", Durability::Logged);
        assert!(!survives_power_cut(&disk, "early"), "an unsynced row is lost");
        // This row is still in the memory of the process.
        put(&store, "late", Durability::Async);
        sync(&store, &disk);
        assert!(survives_power_cut(&disk, "early"), "{name}");
        assert!(survives_power_cut(&disk, "late"), "{name}");
    }
}

/// Returns the path of a file with one cell that the store did not write.
fn file_on(disk: &Disk) -> PathBuf {
    let (source, path) = (disk_with_data(), PathBuf::from("/data/loaded"));
    let cell = CellRef { row: b"loaded", value: b"value", ..PUT };
    let bytes = hfile(&path, WriterOptions::default(), [cell]);
    source.create(&path).unwrap().write_all(&bytes).unwrap();
    disk.adopt(&source, &path);
    path
}

/// Writers of all durabilities at once, so that groups have several of them.
#[test]
fn a_synced_write_in_a_group_with_other_writes_survives_a_power_cut() {
    let (disk, store) = new_store(false);
    // Each change is slow, so that other writers arrive before it ends.
    disk.watch(|_| thread::sleep(Duration::from_millis(1)));
    let kinds = [Durability::Synced, Durability::Async, Durability::Logged];
    thread::scope(|scope| {
        for (writer, durability) in kinds.into_iter().cycle().take(9).enumerate() {
            let (store, disk) = (&store, &disk);
            scope.spawn(move || {
                for number in 0..12 {
                    let row = format!("{writer}-{number}");
                    put(store, &row, durability);
                    if durability == Durability::Synced && number % 3 == 0 {
                        assert!(survives_power_cut(disk, &row), "{row}");
                    }
                    if durability == Durability::Logged && number % 3 == 0 {
                        assert!(survives_kill(disk, &row), "{row}");
                    }
                }
            });
        }
    });
}
