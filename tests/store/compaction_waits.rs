//! Work on one family does not wait for a compaction of another, however slow that is.
//!
//! A compaction at one byte a second does not end: it waits after its first cells.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use store::tools::{CompactionPhase, compact};
use store::{
    CompactionKind, CompactionOptions, Error, FamilyOptions, Get, Put, Store, StoreOptions,
    WriteBatch,
};

/// More than a compaction merges between two checks of its rate.
const MANY: usize = 6_000;

fn open(directory: &Path, automatic: bool) -> Store {
    let compaction = CompactionOptions::default().bytes_per_second(Some(1));
    let options = StoreOptions::default().compaction(compaction).auto_compaction(automatic);
    Store::open(directory, options).unwrap()
}

/// Creates a family with three files, which have `cells` each.
fn with_files(store: &Store, family: &str, cells: usize) {
    store.create_family(family, FamilyOptions::default()).unwrap();
    for file in 0..3 {
        let mut batch = WriteBatch::new();
        for number in 0..cells {
            let row = format!("row{number:05}");
            batch.put(Put::new(row).column(family, "q", format!("{file}")));
        }
        store.write(batch, store::Durability::Skip).unwrap();
        store.flush().unwrap();
    }
}

/// Begins a compaction by hand that does not end; returns once it merges.
fn stuck(store: &Store, family: &'static str) -> JoinHandle<store::Result<()>> {
    let (merges, begun) = channel();
    let store = store.clone();
    let compaction = thread::spawn(move || {
        compact(&store, family, CompactionKind::Major, |progress| {
            if progress.phase == CompactionPhase::Merge {
                let _ = merges.send(());
            }
        })
    });
    begun.recv().unwrap();
    compaction
}

fn assert_dropped_meanwhile(compaction: JoinHandle<store::Result<()>>) {
    let error = compaction.join().unwrap().unwrap_err();
    assert!(matches!(&error, Error::Invalid { what } if what.contains("is dropped")), "{error}");
}

fn files(directory: &Path, family: &str) -> usize {
    fs::read_dir(directory.join(family)).unwrap().count()
}

#[test]
fn a_drop_cancels_the_compaction_of_its_family_and_waits_for_no_other() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), false);
    with_files(&store, "slow", MANY);
    with_files(&store, "other", 1);
    let compaction = stuck(&store, "slow");
    store.drop_family("other").unwrap();
    assert!(store.family("other").is_none() && !compaction.is_finished());
    store.drop_family("slow").unwrap();
    assert_dropped_meanwhile(compaction);
    assert!(!directory.path().join("slow").exists(), "no file is left of the family");
    // The store goes on, also with a family of the same name.
    with_files(&store, "slow", 1);
    store.compact("slow", CompactionKind::Major).unwrap();
    assert_eq!(files(directory.path(), "slow"), 1);
}

#[test]
fn work_by_hand_runs_beside_a_compaction_in_the_background() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let store = open(place, false);
    with_files(&store, "slow", MANY);
    with_files(&store, "other", 1);
    drop(store);
    let store = open(place, true);
    store.put(Put::new("new").column("slow", "q", "value")).unwrap();
    store.flush().unwrap(); // Requests compactions.
    let is_merging = || {
        let names = fs::read_dir(place.join("slow")).unwrap().map(|entry| entry.unwrap().path());
        names.into_iter().any(|name| name.extension().is_some_and(|suffix| suffix == "new"))
    };
    while !is_merging() {
        thread::sleep(Duration::from_millis(1));
    }
    store.rebuild_filters("other").unwrap();
    store.compact("other", CompactionKind::Major).unwrap();
    assert_eq!(files(place, "other"), 1);
    assert!(is_merging());
    store.drop_family("slow").unwrap();
    assert!(!place.join("slow").exists());
    assert_eq!(store.stats().compactions_failed, 0);
    assert_eq!(store.get(&Get::row("row00000")).unwrap().len(), 1);
}

#[test]
fn a_second_compaction_by_hand_waits_for_the_first() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), false);
    with_files(&store, "slow", MANY);
    with_files(&store, "other", 1);
    let compaction = stuck(&store, "slow");
    let first_ends = AtomicBool::new(false);
    thread::scope(|scope| {
        let second = scope.spawn(|| {
            compact(&store, "other", CompactionKind::Major, |_| {
                assert!(first_ends.load(Ordering::SeqCst));
            })
        });
        // Without the order, the second would end during this time.
        thread::sleep(Duration::from_millis(100));
        first_ends.store(true, Ordering::SeqCst);
        store.drop_family("slow").unwrap();
        second.join().unwrap().unwrap();
    });
    assert_dropped_meanwhile(compaction);
    assert_eq!(files(directory.path(), "other"), 1);
}
