//! The segments of a log: a segment is made for its first record and not by reads, and a missing
//! segment is reported by name.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use store::tools::{SalvageOutcome, VerifyEvent, VerifyOutcome, salvage, verify};
use store::vfs::Vfs;
use store::{Error, FamilyOptions, Store, StoreOptions};
use support::disk::Disk;
use support::files_below;
use support::test_store::{has, open, put};

fn segments(store: &Path) -> Vec<PathBuf> {
    files_below(&store.join("wal"))
}

#[test]
fn forty_opens_and_reads_leave_the_files_as_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    put(&store, "flushed");
    store.flush().unwrap();
    put(&store, "unflushed");
    drop(store);
    let before = files_below(directory.path());
    for _ in 0..40 {
        let store = open(directory.path()).unwrap();
        assert!(has(&store, "flushed") && has(&store, "unflushed"));
    }
    assert_eq!(files_below(directory.path()), before);
}

#[test]
fn a_segment_is_created_by_its_first_record_and_removed_by_a_flush() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let store = open(directory).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    assert_eq!(
        segments(directory),
        [""; 0].map(PathBuf::from),
        "no segment before the first write"
    );
    put(&store, "a");
    put(&store, "b");
    assert_eq!(segments(directory).len(), 1);
    store.flush().unwrap();
    store.flush().unwrap();
    assert_eq!(segments(directory), [""; 0].map(PathBuf::from), "no segment after the flush");
    drop(store);
    let store = open(directory).unwrap();
    assert_eq!(segments(directory), [""; 0].map(PathBuf::from));
    put(&store, "c");
    drop(store);
    let store = open(directory).unwrap();
    put(&store, "d");
    assert_eq!(segments(directory).len(), 2);
    drop(store);
    let store = open(directory).unwrap();
    assert!(["a", "b", "c", "d"].iter().all(|row| has(&store, row)));
}

/// Salvages a store; returns the files with losses, and the new store.
fn salvaged(store: &Path, out: &Path) -> (Vec<PathBuf>, Store) {
    let mut lost = Vec::new();
    let outcome = salvage(store, out, &StoreOptions::default(), &[], |event| {
        if let VerifyEvent::Done(report) = event
            && !report.is_sound()
        {
            lost.push(report.path.clone());
        }
    });
    assert_eq!(outcome.unwrap() == SalvageOutcome::Whole, lost.is_empty());
    (lost, open(out).unwrap())
}

fn is_sound(store: &Path) -> bool {
    verify(store, &StoreOptions::default(), |_| {}).unwrap() == VerifyOutcome::Sound
}

#[test]
fn every_deleted_segment_is_reported_by_name_and_the_rest_is_salvaged() {
    let rows = ["a", "b", "c"];
    for deleted in 0..3 {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("store");
        open(&place).unwrap().create_family("f", FamilyOptions::default()).unwrap();
        for row in rows {
            put(&open(&place).unwrap(), row);
        }
        let segments = segments(&place);
        assert_eq!(segments.len(), 3, "one segment per open");
        assert!(is_sound(&place));
        fs::remove_file(&segments[deleted]).unwrap();
        let error = open(&place).unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "{error}");
        let (error, name) = (error.to_string(), segments[deleted].file_name().unwrap());
        assert!(error.contains(name.to_str().unwrap()), "{error}");
        assert!(error.contains("missing"), "{error}");
        assert!(!is_sound(&place));
        let (lost, saved) = salvaged(&place, &directory.path().join("saved"));
        assert!(lost.contains(&segments[deleted]), "{lost:?}");
        let expected: Vec<bool> = (0..3).map(|segment| segment != deleted).collect();
        assert_eq!(rows.map(|row| has(&saved, row)), expected[..]);
        // The log of the new store is complete.
        drop(saved);
        assert!(is_sound(&directory.path().join("saved")));
    }
}

/// A program that opens, puts and closes, as a script does: each round begins a segment.
#[test]
fn three_thousand_rounds_of_open_put_and_close_keep_the_log_short() {
    open_put_and_close(true);
    open_put_and_close(false);
}

fn open_put_and_close(background: bool) {
    const ROUNDS: usize = 3_000;
    let disk = Disk::default();
    disk.create_directory(Path::new("/store")).unwrap();
    let options = || StoreOptions::default().vfs(Arc::new(disk.clone())).background(background);
    let row = |round: usize| format!("row{round:04}");
    for round in 0..ROUNDS {
        let store = Store::open("/store", options()).unwrap();
        if round == 0 {
            store.create_family("f", FamilyOptions::default()).unwrap();
        }
        put(&store, &row(round));
        let segments = disk.list(Path::new("/store/wal")).unwrap().len();
        assert!((1..=32).contains(&segments), "round {round}: {segments} segments");
        let files = disk.list(Path::new("/store/f")).unwrap().len();
        assert!(files < 16, "round {round}: {files} files are not compacted");
    }
    let store = Store::open("/store", options()).unwrap();
    let missing: Vec<_> = (0..ROUNDS).filter(|round| !has(&store, &row(*round))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The store does not wait for its memstores to fill up if its segments are short.
#[test]
fn an_open_store_with_short_segments_keeps_at_most_32() {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions::default().background(false).wal_segment_bytes(0);
    let store = Store::open(directory.path(), options).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    for number in 0..100 {
        put(&store, &format!("row{number}"));
        assert!(segments(directory.path()).len() <= 32, "after put {number}");
    }
    assert!((0..100).all(|number| has(&store, &format!("row{number}"))));
}
