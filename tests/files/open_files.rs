//! A store works with fewer descriptors than it has files, and with none that are free.
//!
//! The limit is one of the process, so each test runs itself again in a process with 64 descriptors.
#![cfg(unix)]

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use store::tools::{VerifyOutcome, verify};
use store::{
    Age, CompactionKind, Error, FamilyOptions, Get, Increment, Put, Scan, Store, StoreOptions,
};
use support::test_store::open;

const DESCRIPTORS: usize = 64;

/// Runs the test `name` in a process with [`DESCRIPTORS`]. Returns whether this is that process.
fn is_limited(name: &str) -> bool {
    const MARK: &str = "WITH_64_DESCRIPTORS";
    if std::env::var_os(MARK).is_some() {
        return true;
    }
    let limited =
        format!("ulimit -n {DESCRIPTORS} && exec \"$0\" --exact open_files::{name} --nocapture");
    let output = Command::new("sh")
        .args(["-c", &limited])
        .arg(std::env::current_exe().unwrap())
        .env(MARK, "1")
        .output()
        .unwrap();
    let text =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success() && text[0].contains("1 passed"), "{}{}", text[0], text[1]);
    false
}

/// Creates a store with a file for each of `rows`.
fn with_files(directory: &Path, rows: std::ops::Range<usize>) -> Store {
    let store = open(directory).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    for number in rows {
        put(&store, number);
        store.flush().unwrap();
    }
    store
}

fn row(number: usize) -> String {
    format!("row{number:04}")
}

fn put(store: &Store, number: usize) {
    store.put(Put::new(row(number)).column("f", "q", row(number))).unwrap();
}

fn assert_has(store: &Store, rows: std::ops::Range<usize>) {
    for number in rows.clone() {
        let cells = store.get(&Get::row(row(number))).unwrap();
        assert_eq!(cells[0].value(), row(number).as_bytes());
    }
    let scan = store.scan(Scan::family("f")).unwrap();
    let mut scanned: Vec<_> = scan.map(|cell| cell.unwrap().row().to_vec()).collect();
    scanned.dedup();
    assert!(scanned.into_iter().eq(rows.map(|number| row(number).into_bytes())));
}

/// Returns the store files in a directory that this process has open.
#[cfg(target_os = "linux")]
fn open_files(directory: &Path) -> usize {
    let links = fs::read_dir("/proc/self/fd").unwrap();
    let files = links.filter_map(|link| fs::read_link(link.unwrap().path()).ok());
    files.filter(|file| file.starts_with(directory)).count()
}

#[cfg(not(target_os = "linux"))]
fn open_files(_: &Path) -> usize {
    0
}

fn files(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_store_with_300_files_needs_32_descriptors_for_them() {
    if !is_limited("a_store_with_300_files_needs_32_descriptors_for_them") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    let store = with_files(&place("store"), 0..300);
    assert_has(&store, 0..300);
    let in_family = place("store").join("f").canonicalize().unwrap();
    assert!(open_files(&in_family) <= DESCRIPTORS / 2, "{} files", open_files(&in_family));
    assert_eq!(files(&in_family).len(), 300);
    let snapshot = store.snapshot();
    put(&store, 300);
    store.increment(&Increment::new("row0300").column("f", "visits", 1)).unwrap();
    store.flush().unwrap();
    store.checkpoint(place("checkpoint")).unwrap();
    let split: Vec<_> = (1..100).map(|number| row(number * 3).into_bytes()).collect();
    store.export(place("export"), &split).unwrap();
    let outcome = verify(place("store"), &StoreOptions::default(), |_| {}).unwrap();
    assert_eq!(outcome, VerifyOutcome::Sound);
    drop(store);
    let store = open(&place("store")).unwrap();
    store.rebuild_filters("f").unwrap();
    store.compact("f", CompactionKind::Major).unwrap();
    assert_eq!(store.get(&Get::row("row0300").column("f", "q")).unwrap()[0].value(), b"row0300");
    let seen = snapshot.scan(Scan::family("f")).unwrap().map(Result::unwrap).count();
    assert_eq!(seen, 300, "a snapshot keeps the files from before the compaction");
    drop((store, snapshot));
    // The copies are complete, and take part in the same limit.
    assert_has(&open(&place("checkpoint")).unwrap(), 0..301);
    let loaded = with_files(&place("loaded"), 0..0);
    loaded.import("f", &files(&place("export").join("f")), Age::Newest).unwrap();
    assert_has(&loaded, 0..301);
    assert_eq!(files(&place("loaded").join("f")).len(), 100);
}

#[test]
fn several_stores_share_the_descriptors_of_the_process() {
    if !is_limited("several_stores_share_the_descriptors_of_the_process") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path().canonicalize().unwrap();
    let stores = ["a", "b", "c"].map(|name| with_files(&directory.join(name), 0..30));
    for store in &stores {
        assert_has(store, 0..30);
    }
    let open: usize =
        ["a", "b", "c"].map(|name| open_files(&directory.join(name).join("f"))).iter().sum();
    assert!(open <= DESCRIPTORS / 2, "{open} files");
}

#[test]
fn a_store_goes_on_while_the_program_uses_all_other_descriptors() {
    if !is_limited("a_store_goes_on_while_the_program_uses_all_other_descriptors") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let store = with_files(directory.path(), 0..50);
    let mut taken = Vec::new();
    let error = loop {
        match File::open("/dev/null") {
            Ok(file) => taken.push(file),
            Err(error) => break error,
        }
    };
    assert_eq!(error.raw_os_error(), Some(24), "no descriptor is left");
    assert_has(&store, 0..50);
    put(&store, 50);
    store.flush().unwrap();
    put(&store, 51);
    store.compact("f", CompactionKind::Major).unwrap();
    store.create_family("g", FamilyOptions::default()).unwrap();
    store.drop_family("g").unwrap();
    assert_has(&store, 0..52);
    drop(taken);
    drop(store);
    assert_has(&open(directory.path()).unwrap(), 0..52);
}

/// A reader in another process keeps no file from being removed by the writer.
#[test]
fn a_reader_whose_closed_files_were_removed_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let store = with_files(directory.path(), 0..5);
    let options = StoreOptions::default().cache_bytes(0).open_files_max(Some(2));
    let reader = Store::open_read_only(directory.path(), options.clone()).unwrap();
    assert_has(&reader, 0..5);
    store.compact("f", CompactionKind::Major).unwrap();
    let refused: Vec<_> = (0..5)
        .filter_map(|row_number| match reader.get(&Get::row(row(row_number))) {
            Ok(cells) => {
                assert_eq!(cells[0].value(), row(row_number).as_bytes());
                None
            }
            Err(error) => Some(error),
        })
        .collect();
    assert_eq!(refused.len(), 3, "two files were open");
    for error in refused {
        let Error::StoreFile(error) = error else { panic!("{error}") };
        let sstable::Error::Io { source, .. } = error else { panic!("{error}") };
        assert_eq!(source.kind(), io::ErrorKind::NotFound);
        assert!(source.to_string().contains("open the store or table again"), "{source}");
    }
    assert_has(&Store::open_read_only(directory.path(), options).unwrap(), 0..5);
}
