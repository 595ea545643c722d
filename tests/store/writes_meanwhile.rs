//! A write at any moment of work on whole files: the work has what was written before, the store has both.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use sstable::CellRef;
use store::vfs::Vfs;
use store::{Age, CompactionKind, Durability, FamilyOptions, MapMode, Put, Result, Scan, Store};
use support::cells::{PUT, hfile};
use support::disk::Disk;
use support::test_store::quiet_on;

const STORE: &str = "/data/store";
const COPY: &str = "/data/copy";
const LOADED: &str = "/data/loaded";

/// What a store does with whole files.
type Work = fn(&Store) -> Result<()>;

const WORKS: [(&str, Work); 9] = [
    ("flush", Store::flush),
    ("minor compaction", |store| store.compact("f", CompactionKind::Minor)),
    ("major compaction", |store| store.compact("f", CompactionKind::Major)),
    ("filters", |store| store.rebuild_filters("f")),
    ("bulk load", |store| store.import("f", &[PathBuf::from(LOADED)], Age::Newest)),
    ("export", |store| store.export("/data/out", &[]).map(drop)),
    ("checkpoint", |store| store.checkpoint(COPY)),
    ("alter", |store| store.alter_family("f", FamilyOptions::default().family_map(MapMode::Files))),
    ("other families", |store| {
        store.create_family("h", FamilyOptions::default())?;
        store.drop_family("g").map(drop)
    }),
];

fn open(disk: &Disk, place: &str) -> Store {
    Store::open(place, quiet_on(disk)).unwrap()
}

fn put(store: &Store, row: &str) {
    store.put(Put::new(row).column("f", "q", row)).unwrap();
}

fn rows(store: &Store) -> BTreeSet<String> {
    let cells = store.scan(Scan::family("f")).unwrap();
    cells.map(|cell| String::from_utf8(cell.unwrap().row().to_vec()).unwrap()).collect()
}

/// Three files, and rows that are in the log only.
fn filled(disk: &Disk) -> Store {
    let store = open(disk, STORE);
    for family in ["f", "g"] {
        store.create_family(family, FamilyOptions::default()).unwrap();
    }
    for row in ["a", "b", "c"] {
        put(&store, row);
        store.flush().unwrap();
    }
    put(&store, "d");
    store.write(Put::new("e").column("f", "q", "1"), Durability::Skip).unwrap();
    let loaded = CellRef { row: b"loaded", ..PUT };
    let bytes = hfile(Path::new(LOADED), sstable::WriterOptions::default(), [loaded]);
    disk.create(Path::new(LOADED)).unwrap().write_all(&bytes).unwrap();
    store
}

/// Does the work, and lets another thread write when it makes its change `number`.
///
/// Returns the number of changes.
fn write_at(number: usize, work: Work, disk: &Disk, store: &Store) -> usize {
    let (changes, is_written) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let (now, told) = mpsc::channel();
    let (counted, seen) = (Arc::clone(&changes), Arc::clone(&is_written));
    disk.watch(move |_| {
        if counted.fetch_add(1, Ordering::SeqCst) + 1 == number && now.send(()).is_ok() {
            // The write may have to wait for the work.
            let begin = Instant::now();
            while !seen.load(Ordering::SeqCst) && begin.elapsed() < Duration::from_millis(10) {
                thread::yield_now();
            }
        }
    });
    let is_written = &is_written;
    thread::scope(|scope| {
        scope.spawn(move || {
            if told.recv().is_ok() {
                put(store, "meanwhile");
                is_written.store(true, Ordering::SeqCst);
            }
        });
        work(store).unwrap();
        disk.unwatch();
    });
    changes.load(Ordering::SeqCst)
}

#[test]
fn a_write_at_any_moment_of_work_on_files_is_kept_and_the_work_has_all_before_it() {
    for (name, work) in WORKS {
        for number in 1.. {
            let disk = Disk::default();
            let store = filled(&disk);
            let before = rows(&store);
            let changes = write_at(number, work, &disk, &store);
            if changes < number {
                assert!(number > 1, "{name} changes nothing");
                break;
            }
            let mut after = before.clone();
            after.insert("meanwhile".to_owned());
            if name == "bulk load" {
                after.insert("loaded".to_owned());
            }
            assert_eq!(rows(&store), after, "{name}, change {number}");
            if name == "checkpoint" {
                let mut copied = rows(&open(&disk.after_kill(), COPY));
                copied.remove("meanwhile");
                assert_eq!(copied, before, "{name}, change {number}");
            }
            store.flush().unwrap();
            drop(store);
            assert_eq!(rows(&open(&disk, STORE)), after, "{name}, change {number}: reopened");
        }
    }
}
