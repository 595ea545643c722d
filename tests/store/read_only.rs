//! Stores that are open for reading only: on a read-only disk, on a full disk, and beside a writer
//! that changes the store between any two calls of the reader.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::{fs, io};

use store::tools::{VerifyEvent, VerifyOutcome, verify};
use store::{
    Age, Append, CheckAndMutate, CompactionKind, Delete, Durability, Error, FamilyOptions, Get,
    ImportOptions, Increment, Put, Result, Scan, Store, StoreOptions,
};
use support::contents;
use support::disk::Disk;
use support::read_only::ReadOnlyFiles;
use support::test_store::put;

fn options() -> StoreOptions {
    StoreOptions::default().auto_compaction(false)
}

/// Makes a store of two files and a log segment with the rows `a` to `f`.
fn filled(directory: &Path) {
    let store = Store::open(directory, options()).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    for rows in [["a", "d"], ["b", "e"], ["c", "f"]] {
        for row in rows {
            put(&store, row);
        }
        if rows[0] != "c" {
            store.flush().unwrap();
        }
    }
}

fn rows(cells: impl Iterator<Item = Result<store::Cell>>) -> String {
    cells.map(|cell| String::from_utf8(cell.unwrap().row().to_vec()).unwrap()).collect()
}

fn scanned(store: &Store) -> String {
    rows(store.scan(Scan::family("f")).unwrap())
}

#[test]
fn every_read_works_on_a_read_only_disk_and_attempts_no_write() {
    for refusal in [
        io::ErrorKind::ReadOnlyFilesystem,
        io::ErrorKind::PermissionDenied,
        io::ErrorKind::StorageFull,
    ] {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("store");
        filled(&place);
        let before = contents(&place);
        let files = ReadOnlyFiles::new(&place, refusal);
        let options = options().vfs(Arc::<ReadOnlyFiles>::clone(&files));
        assert!(Store::open(&place, options.clone()).is_err(), "a writer needs a writable disk");
        let refused = files.refused();
        assert!(refused > 0);

        let store = Store::open_read_only(&place, options.clone()).unwrap();
        assert!(store.is_read_only());
        assert_eq!(scanned(&store), "abcdef");
        assert_eq!(rows(store.scan(Scan::family("f").reverse(true)).unwrap()), "fedcba");
        let gets = ["f", "b", "x"].map(Get::row);
        let found = store.multi_get(&gets).unwrap();
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 0]);
        assert_eq!(store.get(&Get::row("a")).unwrap()[0].value(), b"a");
        let snapshot = store.snapshot();
        assert_eq!(rows(snapshot.scan(Scan::family("f")).unwrap()), "abcdef");
        assert_eq!(store.explain(&Get::row("a")).unwrap().cells.len(), 1);
        let stats = store.stats();
        assert_eq!((stats.families[0].files, stats.families[0].memstore_cells), (2, 2));
        assert_eq!(store.families().len(), 1);
        assert!(store.check_files("f").unwrap().iter().all(|file| file.damage.is_none()));
        let export = store.export(directory.path().join("out"), &[]).unwrap();
        assert_eq!(export.cells, 6);
        assert_eq!(verify(&place, &options, |_| {}).unwrap(), VerifyOutcome::Sound);
        drop((store, snapshot));
        assert_eq!(files.refused(), refused, "a reader attempted a write");
        assert_eq!(contents(&place), before);
    }
}

#[test]
fn each_method_that_would_write_is_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    filled(directory.path());
    let writable = Store::open(directory.path(), options()).unwrap();
    writable.create_map("keys").unwrap();
    drop(writable);
    let before = contents(directory.path());
    let store = Store::open_read_only(directory.path(), options()).unwrap();
    let some = || Put::new("a").column("f", "n", "1");
    let claim = CheckAndMutate::new("a").if_not_exists("f", "n").put(some());
    let keys = store.map("keys").unwrap();
    let out = tempfile::tempdir().unwrap();
    let refused: [(&str, Result<()>); 18] = [
        ("put", store.put(some())),
        ("empty write", store.write(store::WriteBatch::default(), Durability::Logged)),
        ("write without log", store.write(some(), Durability::Skip)),
        ("delete", store.delete(Delete::row("a"))),
        ("increment", store.increment(&Increment::new("a").column("f", "n", 1)).map(drop)),
        ("increment of nothing", store.increment(&Increment::new("a")).map(drop)),
        ("append", store.append(&Append::new("a").column("f", "n", "x")).map(drop)),
        ("check and mutate", store.check_and_mutate(&claim).map(drop)),
        ("keys: insert", keys.insert("a", "b")),
        ("flush", store.flush()),
        ("compact", store.compact("f", CompactionKind::Major)),
        ("rebuild filters", store.rebuild_filters("f")),
        ("import", store.import("f", &[], Age::Carried)),
        ("bulk load", store.import("f", &[], Age::Newest)),
        ("bulk load rows", store.import("f", &[], ImportOptions::new(Age::Newest).start("a"))),
        ("create family", store.create_family("g", FamilyOptions::default())),
        ("create map", store.create_map("g").map(|_| ())),
        ("checkpoint", store.checkpoint(out.path())),
    ];
    for (name, result) in refused {
        let Err(Error::ReadOnly { path }) = &result else { panic!("{name}: {result:?}") };
        assert_eq!(path, directory.path());
    }
    assert_eq!(scanned(&store), "abcdef");
    drop(store);
    assert_eq!(contents(directory.path()), before);
    let nothing = tempfile::tempdir().unwrap();
    let missing = Store::open_read_only(nothing.path(), options());
    assert!(matches!(missing, Err(Error::Missing { .. })));
    assert_eq!(fs::read_dir(nothing.path()).unwrap().count(), 0, "no file is made");
}

#[test]
fn an_incomplete_record_at_the_end_of_the_log_is_ignored_and_kept() {
    let directory = tempfile::tempdir().unwrap();
    filled(directory.path());
    let segment = fs::read_dir(directory.path().join("wal")).unwrap().next().unwrap();
    let segment = segment.unwrap().path();
    let whole = fs::read(&segment).unwrap();
    for cut in 56..whole.len() {
        fs::write(&segment, &whole[..cut]).unwrap();
        let store = Store::open_read_only(directory.path(), options()).unwrap();
        assert_eq!(fs::metadata(&segment).unwrap().len(), cut as u64, "the log is not truncated");
        let shown = scanned(&store);
        drop(store);
        assert!(["abde", "abcde"].contains(&&*shown), "{shown}");
        // As a recovery shows them.
        assert_eq!(scanned(&Store::open(directory.path(), options()).unwrap()), shown);
        fs::write(&segment, &whole).unwrap();
    }
    let damaged: Vec<u8> =
        whole.iter().enumerate().map(|(at, it)| if at == 60 { !it } else { *it }).collect();
    fs::write(&segment, damaged).unwrap();
    let refused = Store::open_read_only(directory.path(), options());
    assert!(matches!(refused, Err(Error::Corrupt { path, .. }) if path == segment));
}

/// A change by the writer before one of the reader's calls.
type Change = fn(&Store, &Path);

/// The store changes before one of the reader's calls: all of its files are replaced, or a file is
/// added that is older than the next write.
///
/// Whichever call it is, the reader sees the store as it was after one of the changes.
#[test]
fn a_writer_may_change_everything_between_any_two_calls_of_a_reader() {
    let all: Change = |writer, loaded| {
        put(writer, "g");
        writer.flush().unwrap();
        writer.compact("f", CompactionKind::Major).unwrap();
        writer.import("f", &[loaded.to_path_buf()], Age::Newest).unwrap();
        put(writer, "i");
    };
    let import: Change = |writer, loaded| {
        writer.import("f", &[loaded.to_path_buf()], Age::Carried).unwrap();
        put(writer, "i");
    };
    let states: [(Change, &[&str]); 2] = [
        (all, &["abcdef", "abcdefg", "abcdefgh", "abcdefghi"]),
        (import, &["abcdef", "abcdefh", "abcdefhi"]),
    ];
    for (meddling, states) in states {
        let (mut calls, mut at, mut seen) = (1, 1, vec![0; states.len()]);
        while at <= calls {
            for verifies in [false, true] {
                let directory = tempfile::tempdir().unwrap();
                let place = directory.path().join("store");
                filled(&place);
                let loaded = hfile_of(directory.path(), "h");
                let writer = Store::open(&place, options()).unwrap();
                let files = ReadOnlyFiles::new(&place, io::ErrorKind::ReadOnlyFilesystem);
                files.set_read_hook(move |number| {
                    if number == at {
                        meddling(&writer, &loaded);
                    }
                });
                let options = options().vfs(Arc::<ReadOnlyFiles>::clone(&files));
                if verifies {
                    assert_eq!(problems(&place, &options), [""; 0], "call {at}");
                } else {
                    let store = Store::open_read_only(&place, options).unwrap();
                    calls = calls.max(files.reads());
                    let shown = scanned(&store);
                    let state = states.iter().position(|rows| *rows == shown);
                    seen[state.unwrap_or_else(|| {
                        panic!("call {at}: the store never held these rows: {shown}")
                    })] += 1;
                }
                assert_eq!(files.refused(), 0);
            }
            at += 1;
        }
        let (first, last) = (seen[0], seen[states.len() - 1]);
        assert!(calls > 10 && first > 0 && last > 0, "{calls}: {seen:?}");
    }
}

/// Returns the problems that a verification finds.
fn problems(store: &Path, options: &StoreOptions) -> Vec<String> {
    let mut wrong = Vec::new();
    let outcome = verify(store, options, |event| {
        if let VerifyEvent::Done(report) = event {
            let text = |problem| format!("{}: {problem:?}", report.path.display());
            wrong.extend(report.problems.iter().map(text));
        }
    });
    assert_eq!(outcome.unwrap() == VerifyOutcome::Sound, wrong.is_empty());
    wrong
}

/// Writes an HFile with one row beside the store, and returns its path.
fn hfile_of(directory: &Path, row: &str) -> PathBuf {
    let other = directory.join("other");
    let store = Store::open(&other, options()).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    put(&store, row);
    store.export(directory.join("out"), &[]).unwrap().files.remove(0)
}

#[test]
fn readers_beside_a_busy_writer_see_all_that_was_acknowledged_before() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let options = options().auto_compaction(true).memstore_flush_bytes(3_000);
    let writer = Store::open(place, options.wal_segment_bytes(2_000)).unwrap();
    writer.create_family("f", FamilyOptions::default()).unwrap();
    let (written, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let opened = Mutex::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let before = written.load(Ordering::Acquire);
                    let store = Store::open_read_only(place, self::options()).unwrap();
                    let cells = store.scan(Scan::family("f")).unwrap().map(Result::unwrap);
                    let numbers: Vec<u64> = cells
                        .map(|cell| str::from_utf8(cell.row()).unwrap().parse().unwrap())
                        .collect();
                    assert!(numbers.len() as u64 >= before, "{} of {before}", numbers.len());
                    assert!(numbers.iter().copied().eq(0..numbers.len() as u64), "{numbers:?}");
                    *opened.lock().unwrap() += 1;
                }
            });
        }
        let mut number = 0;
        // If a reader panics, the writer must still end.
        while number < 1_000 || number < 100_000 && *opened.lock().unwrap() < 60 {
            let put = Put::new(format!("{number:08}")).column("f", "q", [7; 200]);
            writer.put(put).unwrap();
            number += 1;
            written.store(number, Ordering::Release);
            if number.is_multiple_of(400) {
                writer.compact("f", CompactionKind::Major).unwrap();
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(writer.stats().flushes > 3, "{:?}", writer.stats());
}

/// The disk fills up while a store with a log is closed; reading needs no space.
#[test]
fn a_reader_makes_no_call_that_changes_a_disk() {
    let disk = Disk::default();
    let options = options().vfs(Arc::new(disk.clone())).background(false);
    let store = Store::open("/store", options.clone()).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    put(&store, "a");
    store.flush().unwrap();
    put(&store, "b");
    drop(store);
    let changes = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&changes);
    disk.watch(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
    });
    let store = Store::open_read_only("/store", options.clone()).unwrap();
    assert_eq!(scanned(&store), "ab");
    assert_eq!(verify("/store", &options, |_| {}).unwrap(), VerifyOutcome::Sound);
    drop(store);
    assert_eq!(changes.load(Ordering::Relaxed), 0);
}
