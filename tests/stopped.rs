//! A sync that fails stops the store: everybody who writes is told, and why; nobody waits for ever.
#![expect(clippy::unwrap_used, reason = "this is a test, also outside of its test functions")]

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use store::vfs::Vfs;
use store::{
    Append, CheckAndMutate, Delete, Durability, Error, FamilyOptions, Get, Increment, Put, Result,
    Store, StoreOptions,
};
use support::disk::{Disk, Fault, Faults};

const STORE: &str = "/data/store";
const WRITERS: usize = 4;

fn open(disk: &Disk) -> Store {
    let options = StoreOptions::default().vfs(Arc::new(disk.clone())).memstore_flush_bytes(5_000);
    Store::open(STORE, options).unwrap()
}

fn put(store: &Store, row: &str) -> Result<()> {
    store.write(Put::new(row).column("f", "q", [7; 100]), Durability::FsyncWal)
}

/// Has all writers put row after row until they are refused; returns how many each put.
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

/// Every call that would change the store, by name.
fn changes(store: &Store) -> Vec<(&'static str, Result<()>)> {
    let claim = CheckAndMutate::new("row")
        .if_not_exists("f", "new")
        .put(Put::new("row").column("f", "new", "value"));
    let unlogged = Put::new("row").column("f", "q", "value");
    vec![
        ("put", put(store, "row")),
        ("write without log", store.write(unlogged, Durability::SkipWal)),
        ("delete", store.delete(Delete::row("row"))),
        ("increment", store.increment(&Increment::new("row").column("f", "n", 1)).map(drop)),
        ("append", store.append(&Append::new("row").column("f", "a", "x")).map(drop)),
        ("check and mutate", store.check_and_mutate(&claim).map(drop)),
        ("flush", store.flush()),
        ("compact", store.compact("f", true)),
        ("rebuild filters", store.rebuild_filters("f")),
        ("import", store.import("f", &[])),
        ("bulk load", store.bulk_load("f", &[])),
        ("create family", store.create_family("g", FamilyOptions::default())),
    ]
}

#[test]
fn a_failed_sync_stops_the_store_for_everybody_and_says_why() {
    // Each of the first calls fails in turn, and all behind it: syncs of the log, of files, of
    // directories, also in the background.
    for failing in 1..120 {
        let disk = Disk::default();
        disk.create_directory(Path::new("/data")).unwrap();
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

/// While one writes, the others come together in a group, of which one is told by the disk, and the
/// rest by that one.
#[test]
fn who_waits_for_a_writer_that_fails_is_told_too() {
    // The write of the second group, its sync, and those of the groups behind it.
    for failing in 3..=8 {
        let disk = Disk::default();
        let options = StoreOptions::default().vfs(Arc::new(disk.clone()));
        let store = Store::open(STORE, options.clone()).unwrap();
        store.create_family("f", FamilyOptions::default()).unwrap();
        put(&store, "with which the log begins").unwrap();
        disk.set_faults(Faults::from(failing, Fault::Device));
        // Each call takes so long that all others come before it ends.
        disk.watch(|_| thread::sleep(Duration::from_millis(20)));
        let acknowledged = write_until_refused(&store);
        drop(store);
        disk.unwatch();
        disk.set_faults(Faults::default());
        let store = Store::open(STORE, options).unwrap();
        assert_all_there(&store, &acknowledged, failing);
    }
}

/// One call fails, and the log is well; but what the flush has made of the files nobody knows.
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

/// Nobody waits for what is logged later, so the write itself cannot be refused; the next one is.
#[test]
fn a_log_that_cannot_be_written_later_stops_the_store() {
    let disk = Disk::default();
    let options = StoreOptions::default().vfs(Arc::new(disk.clone()));
    let store = Store::open(STORE, options).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    put(&store, "with which the log begins").unwrap();
    disk.set_faults(Faults::from(1, Fault::Device));
    let write = |durability| store.write(Put::new("row").column("f", "q", "value"), durability);
    write(Durability::AsyncWal).unwrap();
    // Due after 100 ms; a machine with other work may take longer. These need no disk themselves.
    let end = Instant::now() + Duration::from_secs(20);
    let refused = loop {
        match write(Durability::SkipWal) {
            Ok(()) => assert!(Instant::now() < end, "nobody was told"),
            Err(refused) => break refused,
        }
        thread::sleep(Duration::from_millis(5));
    };
    let Error::Poisoned { why } = refused else { panic!("{refused:?}") };
    assert!(why.contains("cannot write") && why.contains("simulated"), "{why}");
}
