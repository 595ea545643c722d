//! Families of a store: altered, dropped, created again, also with the power cut at each change.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sstable::Compression;
use store::vfs::Vfs;
use store::{
    Age, Clock, CompactionKind, Delete, Durability, Error, FamilyOptions, Get, Put, Scan, Store,
    StoreOptions, Timestamp,
};
use support::Random;
use support::disk::Disk;
use support::test_store::{disk_with_data, quiet_on};

const STORE: &str = "/data/store";

fn options(disk: &Disk) -> StoreOptions {
    quiet_on(disk).clock(Clock::fixed(Timestamp::new(10_000)))
}

fn open(disk: &Disk) -> Store {
    Store::open(STORE, options(disk)).unwrap()
}

fn put(store: &Store, family: &str, row: &str, time: i64, value: &str) {
    let put = Put::new(row).column_at(family, "q", Timestamp::new(time), value);
    store.write(put, Durability::Synced).unwrap();
}

/// Returns row, time and value of all cells of a family, up to 9 versions.
fn cells(store: &Store, family: &str) -> Vec<String> {
    let cells = store.scan(Scan::family(family).versions(9)).unwrap().map(Result::unwrap);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    cells
        .map(|cell| format!("{}@{}={}", text(cell.row()), cell.timestamp(), text(cell.value())))
        .collect()
}

/// Returns the names in the directory of the store, sorted.
fn names(disk: &Disk) -> Vec<String> {
    let entries = disk.list(Path::new(STORE)).unwrap();
    let mut names: Vec<_> = entries.into_iter().map(|entry| entry.name).collect();
    names.sort();
    names
}

/// Returns the paths of the files below a directory of the store, relative to it.
fn paths(disk: &Disk, directory: &str) -> Vec<String> {
    let below = Path::new(STORE).join(directory);
    let paths = disk.paths().into_iter();
    paths
        .filter_map(|path| Some(path.strip_prefix(&below).ok()?.display().to_string()))
        .filter(|path| !path.is_empty())
        .collect()
}

#[test]
fn altered_settings_apply_to_reads_at_once_and_to_files_when_they_are_written() {
    let disk = disk_with_data();
    let store = open(&disk);
    store.create_family("f", FamilyOptions::default().versions(3)).unwrap();
    for time in [1_000, 2_000, 9_000] {
        put(&store, "f", "row", time, "value");
    }
    let before = store.snapshot();
    store.alter_family("f", store.family("f").unwrap().versions(1)).unwrap();
    assert_eq!(cells(&store, "f"), ["row@9000=value"]);
    let scan = before.scan(Scan::family("f").versions(9)).unwrap();
    assert_eq!(scan.count(), 3, "a snapshot keeps the settings");

    let ttl = Some(Duration::from_secs(5));
    store.alter_family("f", FamilyOptions::default().versions(3).ttl(ttl)).unwrap();
    assert_eq!(cells(&store, "f"), ["row@9000=value"], "the others have expired");
    store.alter_family("f", FamilyOptions::default().versions(3)).unwrap();
    assert_eq!(cells(&store, "f").len(), 3, "nothing has dropped them yet");

    // A flush writes the cells that the new settings keep, as they say.
    let altered = FamilyOptions::default().versions(2).compression(Compression::Gz);
    store.alter_family("f", altered.clone()).unwrap();
    store.flush().unwrap();
    store.alter_family("f", altered.clone().versions(3)).unwrap();
    assert_eq!(cells(&store, "f").len(), 2, "the flush kept two versions");
    drop((before, store));
    let store = open(&disk);
    assert_eq!(store.family("f"), Some(altered.versions(3)));
    assert_eq!(store.families().len(), 1);
    assert_eq!(cells(&store, "f").len(), 2);
}

#[test]
fn what_cannot_be_altered_or_dropped_is_refused_and_changes_nothing() {
    let disk = disk_with_data();
    let store = open(&disk);
    store.create_family("f", FamilyOptions::default()).unwrap();
    put(&store, "f", "row", 1, "value");
    let zero = FamilyOptions::default().bloom_type(sstable::BloomType::RowPrefixFixedLength(0));
    let refusals = [
        (store.alter_family("g", FamilyOptions::default()), "no family \"g\""),
        (store.alter_family("f", zero.clone()), "row prefixes of 0 bytes"),
        (store.create_family("g", zero), "row prefixes of 0 bytes"),
        (store.drop_family("g").map(drop), "no family \"g\""),
    ];
    for (refused, expected) in refusals {
        let Err(Error::Invalid { what }) = refused else { panic!("{refused:?}") };
        assert!(what.contains(expected), "{what}");
    }
    assert_eq!(store.family("f"), Some(FamilyOptions::default()));
    assert_eq!(cells(&store, "f"), ["row@1=value"]);
    drop(store);
    let reader = Store::open_read_only(STORE, options(&disk)).unwrap();
    let refused = reader.alter_family("f", FamilyOptions::default());
    assert!(matches!(refused, Err(Error::ReadOnly { .. })));
    assert!(matches!(reader.drop_family("f"), Err(Error::ReadOnly { .. })));
}

/// Opens a store with the families `f` and `other`, each with a flushed row and a logged one.
fn two_families(disk: &Disk) -> Store {
    let store = open(disk);
    for family in ["f", "other"] {
        store.create_family(family, FamilyOptions::default()).unwrap();
        put(&store, family, "flushed", 1, "old");
    }
    store.flush().unwrap();
    for family in ["f", "other"] {
        put(&store, family, "logged", 2, "old");
    }
    store
}

/// The log still has the records of the dropped family's writes when the drop begins.
#[test]
fn a_dropped_family_does_not_return_under_its_name_after_a_kill() {
    let disk = disk_with_data();
    let store = two_families(&disk);
    let dropped = store.drop_family("f").unwrap();
    assert_eq!((dropped.files, dropped.file_cells, dropped.memstore_cells), (1, 1, 1));
    assert!(store.get(&Get::row("logged").family("f")).is_err());
    let killed = disk.after_kill();
    store.create_family("f", FamilyOptions::default()).unwrap();
    assert!(cells(&store, "f").is_empty());
    put(&store, "f", "new", 3, "new");
    let again = disk.after_kill();
    let (first, second) = (open(&killed), open(&again));
    assert!(first.family("f").is_none());
    assert_eq!(cells(&second, "f"), ["new@3=new"]);
    for store in [&first, &second] {
        assert_eq!(cells(store, "other"), ["flushed@1=old", "logged@2=old"]);
    }
    assert_eq!(names(&killed), ["LOCK", "MANIFEST", "other", "wal"]);
    // A delete of a whole row concerns the families that are left.
    first.delete(Delete::row("logged")).unwrap();
    assert_eq!(cells(&first, "other"), ["flushed@1=old"]);
}

#[test]
fn readers_that_began_before_a_drop_read_to_their_end() {
    let disk = disk_with_data();
    let store = open(&disk);
    store.create_family("f", FamilyOptions::default()).unwrap();
    for row in ["a", "b", "c"] {
        put(&store, "f", row, 1, "old");
    }
    store.flush().unwrap();
    put(&store, "f", "d", 1, "old");
    let snapshot = store.snapshot();
    let mut scan = store.scan(Scan::family("f")).unwrap();
    assert_eq!(scan.next().unwrap().unwrap().row(), b"a");
    store.drop_family("f").unwrap();
    assert_eq!(paths(&disk, "f").len(), 1, "readers need the file");
    // The same name, while the old file is in the directory.
    store.create_family("f", FamilyOptions::default()).unwrap();
    put(&store, "f", "new", 1, "new");
    store.flush().unwrap();
    assert_eq!(
        scan.map(|cell| cell.unwrap().row().to_vec()).collect::<Vec<_>>(),
        [b"b", b"c", b"d"]
    );
    assert_eq!(snapshot.get(&Get::row("b")).unwrap().len(), 1);
    assert_eq!(snapshot.get(&Get::row("new")).unwrap().len(), 0);
    assert_eq!(paths(&disk, "f").len(), 2);
    drop(snapshot);
    assert_eq!(paths(&disk, "f").len(), 1, "the last reader has ended");
    assert_eq!(cells(&store, "f"), ["new@1=new"]);

    // A directory that waits for a reader when the store is closed goes at the next open.
    let snapshot = store.snapshot();
    store.drop_family("f").unwrap();
    drop(store);
    assert_eq!(paths(&disk, "f").len(), 1);
    let killed = disk.after_kill();
    drop(snapshot);
    for disk in [disk, killed] {
        assert!(open(&disk).families().is_empty());
        assert_eq!(names(&disk), ["LOCK", "MANIFEST", "wal"]);
    }
}

/// Changes a store while its disk is copied before each change; checks each copy after a kill and
/// after power cuts.
fn crash_everywhere(change: impl FnOnce(&Store), check: impl Fn(&Store)) {
    let disk = disk_with_data();
    let store = two_families(&disk);
    let moments = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&moments);
    disk.watch(move |disk| seen.lock().unwrap().push(disk.clone()));
    change(&store);
    disk.unwatch();
    moments.lock().unwrap().push(disk.after_kill());
    drop(store);
    let moments = std::mem::take(&mut *moments.lock().unwrap());
    assert!(moments.len() > 3, "the change writes to the disk");
    let mut random = Random::new(1);
    for (number, moment) in moments.iter().enumerate() {
        let cuts = [0.0, 0.5, 0.5, 0.5, 1.0].map(|kept| moment.after_power_cut(kept, &mut random));
        for (cut, left) in [moment.after_kill()].into_iter().chain(cuts).enumerate() {
            let store = Store::open(STORE, options(&left));
            let store = store.unwrap_or_else(|error| panic!("moment {number}, {cut}: {error}"));
            assert_eq!(cells(&store, "other"), ["flushed@1=old", "logged@2=old"]);
            check(&store);
            let listed = store.families().into_iter().map(|(name, _)| name);
            let mut expected: Vec<_> = ["LOCK", "MANIFEST", "wal"].map(str::to_owned).into();
            expected.extend(listed);
            expected.sort();
            let mut there = names(&left);
            // A power cut before a manifest lists a new family may leave its empty directory.
            there.retain(|name| {
                name != "f" || expected.contains(name) || !paths(&left, name).is_empty()
            });
            assert_eq!(there, expected, "moment {number}, {cut}");
        }
    }
}

#[test]
fn a_power_cut_leaves_the_old_settings_or_the_new() {
    let new = FamilyOptions::default().versions(7).ttl(Some(Duration::from_secs(100)));
    let altered = new.clone();
    crash_everywhere(
        |store| store.alter_family("f", altered).unwrap(),
        |store| {
            let found = store.family("f").unwrap();
            assert!([FamilyOptions::default(), new.clone()].contains(&found), "{found:?}");
            assert_eq!(cells(store, "f"), ["flushed@1=old", "logged@2=old"]);
        },
    );
}

#[test]
fn a_power_cut_leaves_all_of_a_dropped_family_or_nothing() {
    crash_everywhere(
        |store| drop(store.drop_family("f").unwrap()),
        |store| {
            if store.family("f").is_some() {
                assert_eq!(cells(store, "f"), ["flushed@1=old", "logged@2=old"]);
            } else {
                store.create_family("f", FamilyOptions::default()).unwrap();
                assert!(cells(store, "f").is_empty());
            }
        },
    );
}

#[test]
fn a_power_cut_never_brings_back_cells_into_a_family_that_was_created_again() {
    crash_everywhere(
        |store| {
            store.drop_family("f").unwrap();
            store.create_family("f", FamilyOptions::default().versions(2)).unwrap();
            put(store, "f", "new", 3, "new");
        },
        |store| match store.family("f") {
            Some(options) if options.retention().versions == 1 => {
                assert_eq!(cells(store, "f"), ["flushed@1=old", "logged@2=old"]);
            }
            Some(_) => assert!(cells(store, "f").iter().all(|cell| cell == "new@3=new")),
            None => {}
        },
    );
}

/// The log refers to families by number, and a dropped family leaves a gap in the numbers.
#[test]
fn a_store_without_a_manifest_is_salvaged_with_a_dash_for_a_dropped_family() {
    let disk = disk_with_data();
    let store = open(&disk);
    for family in ["f", "g", "h"] {
        store.create_family(family, FamilyOptions::default()).unwrap();
    }
    store.drop_family("f").unwrap();
    put(&store, "g", "row", 1, "of g");
    put(&store, "h", "row", 1, "of h");
    drop(store);
    disk.unlink(&Path::new(STORE).join("MANIFEST")).unwrap();
    let names = ["-", "g", "h"].map(str::to_owned);
    let salvage = |out: &str, names: &[String]| {
        store::tools::salvage(Path::new(STORE), Path::new(out), &options(&disk), names, |_| {})
    };
    let refused = salvage("/data/first", &[]).unwrap_err().to_string();
    assert!(refused.contains("write - for a family that was dropped"), "{refused}");
    salvage("/data/saved", &names).unwrap();
    let saved = Store::open("/data/saved", options(&disk)).unwrap();
    assert_eq!(cells(&saved, "g"), ["row@1=of g"]);
    assert_eq!(cells(&saved, "h"), ["row@1=of h"]);
}

/// The dropped family may have the only file with the last sequence id.
#[test]
fn sequence_ids_are_not_given_twice_after_a_drop() {
    let disk = disk_with_data();
    let store = open(&disk);
    for family in ["f", "g"] {
        store.create_family(family, FamilyOptions::default()).unwrap();
    }
    let path = Path::new("/data/loaded");
    let cell = store::CellRef { row: b"row", ..support::cells::PUT };
    let bytes = support::cells::hfile(path, sstable::WriterOptions::default(), [cell]);
    disk.create(path).unwrap().write_all(&bytes).unwrap();
    for _ in 0..3 {
        store.import("f", &[path.to_path_buf()], Age::Newest).unwrap();
    }
    let before = store.stats().sequence_id;
    store.drop_family("f").unwrap();
    drop(store);
    let store = open(&disk);
    assert_eq!((before, store.stats().sequence_id), (3, 3));
}

/// Files that the store did not write are never removed.
#[test]
fn a_foreign_file_in_the_directory_of_a_dropped_family_stays() {
    let disk = disk_with_data();
    let store = open(&disk);
    store.create_family("f", FamilyOptions::default()).unwrap();
    put(&store, "f", "row", 1, "old");
    store.flush().unwrap();
    disk.create(&Path::new(STORE).join("f/notes")).unwrap().write_all(b"mine").unwrap();
    store.drop_family("f").unwrap();
    drop(store);
    drop(open(&disk));
    assert_eq!(paths(&disk, "f"), ["notes"]);
}

/// Writers, readers, flushes and compactions run while a family is altered, dropped and created.
#[test]
fn families_change_under_writes_reads_flushes_and_compactions() {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions::default().memstore_flush_bytes(16 << 10).wal_segment_bytes(8 << 10);
    let store = Store::open(directory.path(), options.clone()).unwrap();
    store.create_family("kept", FamilyOptions::default()).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    let is_done = AtomicBool::new(false);
    let refused_or = |result: store::Result<()>| match result {
        Err(Error::Invalid { what }) => {
            // A compaction is cancelled by the drop of its family.
            let is_expected = ["no family \"f\"", "cancelled, because the family \"f\" is dropped"];
            assert!(is_expected.iter().any(|expected| what.contains(expected)), "{what}");
        }
        result => result.unwrap(),
    };
    let acknowledged = Mutex::new(0_u32);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0_u32.. {
                if is_done.load(Ordering::Relaxed) {
                    break;
                }
                store.put(Put::new(number.to_be_bytes()).column("kept", "q", "v")).unwrap();
                *acknowledged.lock().unwrap() = number + 1;
            }
        });
        for thread in 0..2 {
            let (store, is_done, refused_or) = (&store, &is_done, &refused_or);
            scope.spawn(move || {
                for number in 0_u32.. {
                    if is_done.load(Ordering::Relaxed) {
                        break;
                    }
                    let row = format!("{thread}.{number}");
                    refused_or(store.put(Put::new(&row).column("f", "q", [7; 100])));
                    refused_or(store.get(&Get::row(&row).family("f")).map(drop));
                    refused_or(
                        store.increment(&store::Increment::new("n").column("f", "n", 1)).map(drop),
                    );
                    if number % 16 == 0 {
                        let is_major = number % 32 == 0;
                        let kind =
                            if is_major { CompactionKind::Major } else { CompactionKind::Minor };
                        refused_or(store.compact("f", kind));
                        store.flush().unwrap();
                    }
                }
            });
        }
        for round in 0..30_u32 {
            for versions in 1..4 {
                store.alter_family("f", FamilyOptions::default().versions(versions)).unwrap();
                std::thread::sleep(Duration::from_millis(2));
            }
            store.drop_family("f").unwrap();
            assert!(store.scan(Scan::family("f")).is_err());
            store.create_family("f", FamilyOptions::default().versions(round + 1)).unwrap();
        }
        is_done.store(true, Ordering::Relaxed);
    });
    let stats = store.stats();
    assert_eq!(stats.compactions_failed, 0, "{:?}", stats.compaction_failure);
    drop(store);
    let store = Store::open(directory.path(), options).unwrap();
    let kept = store.scan(Scan::family("kept")).unwrap().count();
    assert_eq!(u32::try_from(kept).unwrap(), *acknowledged.lock().unwrap());
    assert_eq!(store.family("f").unwrap().retention().versions, 30);
}
