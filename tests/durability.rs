//! What each durability level promises, one promise a test, on a disk that can be killed or cut off
//! at any moment. Random histories of the same are in `power_cut.rs`.
#![expect(clippy::unwrap_used, reason = "this is a test, also outside of its test functions")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use sstable::{CellRef, CellType, FileName, SequenceId, Writer, WriterOptions};
use store::vfs::Vfs;
use store::{Durability, FamilyOptions, Get, Put, Store, StoreOptions, Timestamp};
use support::disk::Disk;
use workload::Random;

const STORE: &str = "/data/store";

fn open(disk: &Disk, background: bool) -> Store {
    let options = StoreOptions::default().vfs(Arc::new(disk.clone())).background(background);
    Store::open(STORE, options.wal_segment_bytes(4_000)).unwrap()
}

/// A store on a disk of its own.
fn new_store(background: bool) -> (Disk, Store) {
    let disk = Disk::default();
    disk.create_directory(Path::new("/data")).unwrap();
    disk.sync_directory(Path::new("/")).unwrap();
    let store = open(&disk, background);
    store.create_family("f", FamilyOptions::default()).unwrap();
    (disk, store)
}

fn put(store: &Store, row: &str, durability: Durability) {
    store.write(Put::new(row).column("f", "q", "value"), durability).unwrap();
    assert!(has(store, row), "acknowledged, and so it can be read");
}

fn has(store: &Store, row: &str) -> bool {
    !store.get(&Get::row(row)).unwrap().is_empty()
}

fn survives_kill(disk: &Disk, row: &str) -> bool {
    has(&open(&disk.after_kill(), false), row)
}

/// Nothing is left of what was not synced.
fn survives_power_cut(disk: &Disk, row: &str) -> bool {
    has(&open(&disk.after_power_cut(0.0, &mut Random::new(0)), false), row)
}

#[test]
fn skip_wal_survives_from_the_next_flush_on() {
    let (disk, store) = new_store(false);
    put(&store, "row", Durability::SkipWal);
    put(&store, "other", Durability::SyncWal);
    assert!(!survives_kill(&disk, "row"), "no log has it, also not the one that others are in");
    store.flush().unwrap();
    assert!(survives_kill(&disk, "row") && survives_power_cut(&disk, "row"));
}

#[test]
fn async_wal_survives_a_kill_some_moments_later() {
    let (disk, store) = new_store(true);
    put(&store, "row", Durability::AsyncWal);
    // Said to be 100 ms; a machine with other work may take longer.
    let end = Instant::now() + Duration::from_secs(20);
    while !survives_kill(&disk, "row") {
        assert!(Instant::now() < end, "never written to the log");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn sync_wal_survives_a_kill() {
    let (disk, store) = new_store(false);
    put(&store, "row", Durability::SyncWal);
    assert!(survives_kill(&disk, "row"));
}

#[test]
fn fsync_wal_survives_a_power_cut() {
    let (disk, store) = new_store(false);
    put(&store, "row", Durability::FsyncWal);
    assert!(survives_kill(&disk, "row") && survives_power_cut(&disk, "row"));
}

#[test]
fn closing_a_store_leaves_everything_to_the_operating_system() {
    // Each alone: the flush of what has no log would bring the other along.
    for durability in [Durability::AsyncWal, Durability::SkipWal] {
        let (disk, store) = new_store(false);
        put(&store, "row", durability);
        assert!(!survives_kill(&disk, "row"), "{durability:?} is not in such haste");
        drop(store);
        assert!(survives_kill(&disk, "row"), "{durability:?}");
    }
}

/// Something that is synced.
type Sync = fn(&Store, &Disk);

/// A later sync, whatever it is for, brings what was acknowledged before it to the disk.
#[test]
fn what_came_before_a_sync_survives_a_power_cut() {
    let syncs: [(&str, Sync); 4] = [
        ("a write with FsyncWal", |store, _| put(store, "other", Durability::FsyncWal)),
        ("a flush", |store, _| store.flush().unwrap()),
        ("an import", |store, disk| store.import("f", &[file_on(disk)]).unwrap()),
        ("the end of a segment", |store, _| {
            let long = Put::new("other").column("f", "q", [7; 5_000]);
            store.write(long, Durability::SyncWal).unwrap();
        }),
    ];
    for (name, sync) in syncs {
        let (disk, store) = new_store(false);
        put(&store, "early", Durability::SyncWal);
        assert!(!survives_power_cut(&disk, "early"), "not promised, and here not so");
        // This one waits in the process.
        put(&store, "late", Durability::AsyncWal);
        sync(&store, &disk);
        assert!(survives_power_cut(&disk, "early"), "{name}");
        assert!(survives_power_cut(&disk, "late"), "{name}");
    }
}

/// A file with one cell, as somebody else left it on the disk.
fn file_on(disk: &Disk) -> PathBuf {
    let (source, path) = (Disk::default(), PathBuf::from("/data/loaded"));
    let name = FileName::new(path.display().to_string());
    let mut writer = Writer::new(Vec::new(), name, WriterOptions::default()).unwrap();
    let cell = CellRef {
        row: b"loaded",
        family: b"f",
        qualifier: b"q",
        timestamp: Timestamp::new(1),
        cell_type: CellType::Put,
        value: b"value",
        tags: b"",
        sequence_id: SequenceId::new(0),
    };
    writer.append(cell).unwrap();
    source.create_directory(Path::new("/data")).unwrap();
    source.create(&path).unwrap().write_all(&writer.finish().unwrap().0).unwrap();
    disk.adopt(&source, &path);
    path
}
