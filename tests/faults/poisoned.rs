//! A failed sync stops the store: every writer gets an error with the cause, and none hangs.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use store::{
    Age, Append, CheckAndMutate, CompactionKind, Delete, Durability, Error, FamilyOptions, Get,
    Increment, Put, Result, Store, StoreOptions,
};
use support::disk::{Disk, Fault, Faults};
use support::test_store::disk_with_data;

const STORE: &str = "/data/store";
const WRITERS: usize = 4;

fn open(disk: &Disk) -> Store {
    let options = StoreOptions::default().vfs(Arc::new(disk.clone())).memstore_flush_bytes(5_000);
    Store::open(STORE, options).unwrap()
}

fn put(store: &Store, row: &str) -> Result<()> {
    store.write(Put::new(row).column("f", "q", [7; 100]), Durability::Synced)
}

/// All writers put rows until they are refused; returns the number of rows of each.
fn write_until_refused(store: &Store) -> Vec<usize> {
    thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let refused = move |row: usize| put(store, &format!("{writer}-{row}")).is_err();
                scope.spawn(move || (0..100_000).find(|row| refused(*row)).unwrap())
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    })
}

fn assert_all_there(store: &Store, acknowledged: &[usize], failing: u64) {
    for (writer, count) in acknowledged.iter().enumerate() {
        for row in 0..*count {
            let cells = store.get(&Get::row(format!("{writer}-{row}"))).unwrap();
            assert_eq!(cells.len(), 1, "call {failing}: row {row} of {count} of {writer}");
        }
    }
}

/// Returns the result of every changing call, by name.
fn changes(store: &Store) -> Vec<(&'static str, Result<()>)> {
    let claim = CheckAndMutate::new("row")
        .if_not_exists("f", "new")
        .put(Put::new("row").column("f", "new", "value"));
    let unlogged = Put::new("row").column("f", "q", "value");
    vec![
        ("put", put(store, "row")),
        ("write without log", store.write(unlogged, Durability::Skip)),
        ("delete", store.delete(Delete::row("row"))),
        ("increment", store.increment(&Increment::new("row").column("f", "n", 1)).map(drop)),
        ("append", store.append(&Append::new("row").column("f", "a", "x")).map(drop)),
        ("check and mutate", store.check_and_mutate(&claim).map(drop)),
        ("flush", store.flush()),
        ("compact", store.compact("f", CompactionKind::Major)),
        ("rebuild filters", store.rebuild_filters("f")),
        ("import", store.import("f", &[], Age::Carried)),
        ("bulk load", store.import("f", &[], Age::Newest)),
        ("create family", store.create_family("g", FamilyOptions::default())),
    ]
}

#[test]
fn a_failed_sync_stops_the_store_for_all_writers_and_names_the_cause() {
    // Each of the first calls fails in turn, and all later ones: syncs of the log, of files and of
    // directories, also in the background.
    for failing in 1..120 {
        let disk = disk_with_data();
        let store = open(&disk);
        store.create_family("f", FamilyOptions::default()).unwrap();
        disk.set_faults(Faults::from(failing, Fault::Device));
        let acknowledged = write_until_refused(&store);
        for (change, result) in changes(&store) {
            let Err(Error::Poisoned { why }) = result else { panic!("{change}: {result:?}") };
            assert!(why.contains("cannot") && why.contains("simulated"), "{change}: {why}");
        }
        drop(store);
        disk.set_faults(Faults::default());
        assert_all_there(&open(&disk), &acknowledged, failing);
    }
}

/// While one writer writes, the others wait in a group; the disk fails one of them, which passes
/// the error to the rest.
#[test]
fn a_writer_in_a_failed_group_gets_the_error_too() {
    // The write of the second group, its sync, and those of later groups.
    for failing in 3..=8 {
        let disk = Disk::default();
        let options = StoreOptions::default().vfs(Arc::new(disk.clone()));
        let store = Store::open(STORE, options.clone()).unwrap();
        store.create_family("f", FamilyOptions::default()).unwrap();
        put(&store, "first record").unwrap();
        disk.set_faults(Faults::from(failing, Fault::Device));
        // Each call is slow, so that all other writers arrive before it ends.
        disk.watch(|_| thread::sleep(Duration::from_millis(20)));
        let acknowledged = write_until_refused(&store);
        drop(store);
        disk.unwatch();
        disk.set_faults(Faults::default());
        let store = Store::open(STORE, options).unwrap();
        assert_all_there(&store, &acknowledged, failing);
    }
}

/// One call fails while the log works; but the state of the files after the flush is unknown.
#[test]
fn a_flush_that_fails_at_any_of_its_calls_stops_the_store() {
    let flush = |faults| {
        let disk = Disk::default();
        let options = StoreOptions::default().vfs(Arc::new(disk.clone())).background(false);
        let store = Store::open(STORE, options.auto_compaction(false)).unwrap();
        store.create_family("f", FamilyOptions::default()).unwrap();
        put(&store, "row").unwrap();
        disk.set_faults(faults);
        let flushed = store.flush();
        (disk.calls(), flushed, put(&store, "later"))
    };
    let (calls, flushed, later) = flush(Faults::default());
    assert!(calls > 10 && flushed.is_ok() && later.is_ok(), "{calls}");
    for failing in 1..=calls {
        let (_, flushed, later) = flush(Faults::once(failing, Fault::Device));
        assert!(flushed.is_err(), "call {failing}");
        assert!(matches!(later, Err(Error::Poisoned { .. })), "call {failing}: {later:?}");
    }
}

/// No writer waits for a deferred log write, so the next write is refused.
#[test]
fn a_failed_deferred_log_write_stops_the_store() {
    let disk = Disk::default();
    let options = StoreOptions::default().vfs(Arc::new(disk.clone()));
    let store = Store::open(STORE, options).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    put(&store, "first record").unwrap();
    disk.set_faults(Faults::from(1, Fault::Device));
    let write = |durability| store.write(Put::new("row").column("f", "q", "value"), durability);
    write(Durability::Async).unwrap();
    // Due after 100 ms; a busy machine may need longer. These writes do not use the disk.
    let end = Instant::now() + Duration::from_secs(20);
    let refused = loop {
        match write(Durability::Skip) {
            Ok(()) => assert!(Instant::now() < end, "no write was refused in time"),
            Err(refused) => break refused,
        }
        thread::sleep(Duration::from_millis(5));
    };
    let Error::Poisoned { why } = refused else { panic!("{refused:?}") };
    assert!(why.contains("cannot write") && why.contains("simulated"), "{why}");
}
