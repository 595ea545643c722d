//! A full disk refuses writes and keeps what was acknowledged; once there is space, writing goes on.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{fs, io};

use sstable::{CellRef, Timestamp};
use store::vfs::{Vfs, real_files};
use store::{
    Age, Append, CompactionKind, Delete, Durability, Error, FamilyOptions, Increment, Put, Scan,
    Store, StoreOptions, WriteBatch,
};
use support::Random;
use support::cells::PUT;
use support::disk::{Disk, Fault, Faults};
use support::test_store::{disk_with_data, quiet_on};

/// Something that a store does.
type Work = dyn Fn(&Store) -> store::Result<()>;

const STORE: &str = "/data/store";

fn open(disk: &Disk) -> Store {
    Store::open(STORE, quiet_on(disk)).unwrap()
}

/// Returns a store on a new disk, with the row "before" and, if asked for, an open log segment.
fn with_row(has_segment: bool) -> (Disk, Store) {
    let disk = disk_with_data();
    let store = open(&disk);
    store.create_family("f", FamilyOptions::default()).unwrap();
    put(&store, "before").unwrap();
    if !has_segment {
        store.flush().unwrap();
    }
    (disk, store)
}

fn put(store: &Store, row: &str) -> store::Result<()> {
    store.put(Put::new(row).column("f", "q", "value ".repeat(200)))
}

fn rows(store: &Store) -> BTreeSet<String> {
    let cells = store.scan(Scan::family("f")).unwrap();
    cells.map(|cell| String::from_utf8(cell.unwrap().row().to_vec()).unwrap()).collect()
}

fn is_full(error: &Error) -> bool {
    let (Error::Io { source, .. } | Error::StoreFile(sstable::Error::Io { source, .. })) = error
    else {
        return false;
    };
    assert!(error.to_string().ends_with(&format!(": {source}")), "the message says why: {error}");
    source.kind() == io::ErrorKind::StorageFull
}

/// Lets each call of `work` fail in turn, for lack of space.
///
/// `check` gets the store and the result of `work`, and returns whether the store still accepts
/// writes. Returns the number of failed calls after which it did, and after which it did not.
fn fail_each_call(
    has_segment: bool,
    work: impl Fn(&Store) -> store::Result<()>,
    mut check: impl FnMut(&Disk, &Store, &store::Result<()>) -> bool,
) -> (usize, usize) {
    let (mut went_on, mut stopped) = (0, 0);
    for fault in [Fault::NoSpace, Fault::ShortWrite] {
        for number in 1.. {
            let (disk, store) = with_row(has_segment);
            disk.set_faults(Faults::once(number, fault));
            let result = work(&store);
            let is_past = disk.calls() < number;
            disk.set_faults(Faults::default());
            if is_past {
                result.unwrap();
                break;
            }
            if check(&disk, &store, &result) { went_on += 1 } else { stopped += 1 }
        }
    }
    (went_on, stopped)
}

/// Checks that the store goes on after a refused write, unless a sync failed, and what it has.
fn check_refused(disk: &Disk, store: &Store, refused: &store::Result<()>) -> bool {
    let mut expected = BTreeSet::from(["before".to_owned()]);
    if refused.is_ok() {
        expected.insert("during".to_owned());
    }
    assert_eq!(rows(store), expected);
    match put(store, "after") {
        Ok(()) => {
            assert!(refused.as_ref().err().is_none_or(is_full), "{refused:?}");
            expected.insert("after".to_owned());
            assert_eq!(rows(store), expected);
            assert_eq!(rows(&open(&disk.after_kill())), expected);
            true
        }
        Err(Error::Poisoned { .. }) => false,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_put_without_space_is_refused_as_a_whole_and_the_next_one_succeeds() {
    let (went_on, stopped) = fail_each_call(true, |store| put(store, "during"), check_refused);
    assert_eq!((went_on, stopped), (2, 0), "a put into an open segment is one call");
    // It begins a segment and replaces the manifest: four failed syncs and a rename stop the store.
    let (went_on, stopped) = fail_each_call(false, |store| put(store, "during"), check_refused);
    assert!(went_on >= 10 && stopped == 10, "{went_on} {stopped}");
}

#[test]
fn increments_appends_and_deletes_without_space_are_refused_too() {
    let works: [&Work; 3] = [
        &|store| store.increment(&Increment::new("during").column("f", "n", 1)).map(drop),
        &|store| store.append(&Append::new("during").column("f", "a", "x")).map(drop),
        &|store| store.delete(Delete::row("before")),
    ];
    for work in works {
        let (disk, store) = with_row(true);
        disk.set_faults(Faults::from(1, Fault::NoSpace));
        // The cut-off fails as well: the disk does nothing at all.
        assert!(work(&store).is_err());
        let (disk, store) = with_row(true);
        disk.set_faults(Faults::once(1, Fault::ShortWrite));
        assert!(is_full(&work(&store).unwrap_err()));
        assert_eq!(rows(&store).len(), 1);
        work(&store).unwrap();
        let written = rows(&store);
        assert_eq!(rows(&open(&disk.after_kill())), written);
    }
}

#[test]
fn a_failed_sync_stops_the_store_also_if_the_disk_is_full() {
    let (disk, store) = with_row(true);
    disk.set_faults(Faults::once(2, Fault::NoSpace));
    let durable = Put::new("row").column("f", "q", "value");
    store.write(durable, Durability::Synced).unwrap_err();
    assert!(matches!(put(&store, "after"), Err(Error::Poisoned { .. })));
}

/// Space comes and goes; writes of every durability fail in the middle of a record, of the records before
/// it, at the end of a segment and at the beginning of the next.
#[test]
fn what_is_written_while_space_comes_and_goes_is_kept_and_what_is_refused_is_not() {
    let (mut refused, mut went_on) = (0, 0);
    for seed in 0..400 {
        let (disk, mut random) = (Disk::default(), Random::new(seed));
        let segment_bytes = [500, 2_000, 8_000][random.below(3)];
        let store = Store::open(STORE, quiet_on(&disk).wal_segment_bytes(segment_bytes)).unwrap();
        store.create_family("f", FamilyOptions::default()).unwrap();
        let mut expected = BTreeSet::new();
        for row in (0..40).map(|row| format!("row{row:02}")) {
            disk.set_space([None, Some(0), Some(random.below(3_000))][random.below(3)]);
            let durability = [Durability::Async, Durability::Async, Durability::Logged];
            let put = Put::new(&row).column("f", "q", vec![7; random.below(1_500)]);
            match store.write(put, durability[random.below(3)]) {
                Ok(()) => drop(expected.insert(row)),
                Err(error) => {
                    assert!(is_full(&error), "{seed}: {error}");
                    refused += 1;
                }
            }
        }
        disk.set_space(None);
        assert_eq!(rows(&store), expected, "{seed}");
        put(&store, "after").unwrap();
        expected.insert("after".to_owned());
        assert_eq!(rows(&store), expected, "{seed}");
        assert_eq!(rows(&open(&disk.after_kill())), expected, "{seed}: recovered");
        went_on += 1;
    }
    assert!(refused > 1_000 && went_on == 400, "{refused} {went_on}");
}

/// Returns the files of a family, and whether all have final names.
fn family_files(disk: &Disk) -> Vec<String> {
    let entries = disk.list(&Path::new(STORE).join("f")).unwrap();
    entries.into_iter().map(|entry| entry.name).collect()
}

#[test]
fn a_flush_or_compaction_without_space_leaves_nothing_and_can_be_repeated() {
    let flush = |store: &Store| store.flush();
    let compact = |store: &Store| {
        put(store, "during")?;
        store.flush()?;
        store.compact("f", CompactionKind::Major)
    };
    let works: [&Work; 2] = [&flush, &compact];
    for work in works {
        let check = |disk: &Disk, store: &Store, result: &store::Result<()>| {
            let before = rows(store);
            match put(store, "after") {
                Err(Error::Poisoned { .. }) => return false,
                written => written.unwrap(),
            }
            let listed: u64 = store.stats().families.iter().map(|family| family.files).sum();
            // If only the removal of an old file fails, the next open does it.
            if result.is_err() {
                assert_eq!(family_files(disk).len() as u64, listed, "{result:?}");
            }
            store.flush().unwrap();
            store.compact("f", CompactionKind::Major).unwrap();
            let mut expected = before;
            expected.insert("after".to_owned());
            assert_eq!(rows(store), expected);
            assert_eq!(rows(&open(&disk.after_kill())), expected);
            true
        };
        let (went_on, stopped) = fail_each_call(true, work, check);
        assert!(went_on > 10 && stopped < went_on * 2, "{went_on} {stopped}");
    }
}

/// A failed flush leaves its memstore, so that the next flush writes two.
#[test]
fn a_flush_after_a_failed_one_keeps_the_tags_of_either_memstore() {
    const TAGS: &[u8] = b"\0\x02\x41x";
    for tags in [[TAGS, b""], [b"", TAGS]] {
        let write = |store: &Store, row: &str, tags| {
            let mut batch = WriteBatch::new();
            let (row, timestamp) = (row.as_bytes(), Timestamp::new(7));
            batch.cell(&CellRef { row, timestamp, tags, ..PUT });
            store.write(batch, Durability::Logged)
        };
        let mut from_two = 0;
        let mut check = |disk: &Disk, store: &Store, result: &store::Result<()>| {
            match write(store, "second", tags[1]) {
                Err(Error::Poisoned { .. }) => return false,
                written => written.unwrap(),
            }
            store.flush().unwrap();
            let cells = |store: &Store| -> Vec<_> {
                let cells = store.scan(Scan::family("f")).unwrap().map(Result::unwrap);
                let written = cells.filter(|cell| cell.row() != b"before");
                written.map(|cell| (cell.row().to_vec(), cell.as_ref().tags.to_vec())).collect()
            };
            let mut expected = vec![(b"second".to_vec(), tags[1].to_vec())];
            if cells(store).len() == 2 {
                expected.insert(0, (b"first".to_vec(), tags[0].to_vec()));
                from_two += usize::from(result.is_err());
            }
            assert_eq!(cells(store), expected, "{result:?}");
            assert_eq!(cells(&open(&disk.after_kill())), expected, "{result:?}");
            true
        };
        let work = |store: &Store| {
            write(store, "first", tags[0])?;
            store.flush()
        };
        fail_each_call(false, work, &mut check);
        assert!(from_two > 5, "{from_two}");
    }
}

/// A file under its final name is complete, whichever call of the export fails.
#[test]
fn an_export_leaves_no_incomplete_file() {
    for number in 1.. {
        let (disk, store) = with_row(true);
        put(&store, "row2").unwrap();
        disk.set_faults(Faults::once(number, Fault::ShortWrite));
        let result = store.export("/data/out", &[b"row".to_vec()]);
        let is_past = disk.calls() < number;
        disk.set_faults(Faults::default());
        if is_past {
            assert_eq!(result.unwrap().files.len(), 2);
            break;
        }
        assert!(result.is_err(), "call {number}");
        for entry in disk.list(Path::new("/data/out/f")).unwrap_or_default() {
            let path = Path::new("/data/out/f").join(&entry.name);
            let name = sstable::FileName::new(entry.name);
            let source = disk.open(&path).unwrap();
            let found = sstable::verify(source, name, sstable::Limits::default(), |_| {}).unwrap();
            assert!(found.problems.is_empty(), "call {number}: {:?}", found.problems);
        }
    }
}

/// A bulk load that fails keeps no copy.
#[test]
fn a_bulk_load_without_space_leaves_no_copy() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/hfile/s01-default.hfile");
    fs::copy(data, &path).unwrap();
    let check = |disk: &Disk, store: &Store, _: &store::Result<()>| {
        if let Err(Error::Poisoned { .. }) = put(store, "after") {
            return false;
        }
        let listed: u64 = store.stats().families.iter().map(|family| family.files).sum();
        assert_eq!(family_files(disk).len() as u64, listed);
        true
    };
    let load = |store: &Store| {
        store.flush()?;
        store.import("f", std::slice::from_ref(&Path::new("/data/file").to_path_buf()), Age::Newest)
    };
    let with_file = |disk: &Disk| {
        let bytes = fs::read(&path).unwrap();
        disk.create(Path::new("/data/file")).unwrap().write_all(&bytes).unwrap();
    };
    let (mut went_on, mut past) = (0, false);
    for number in 1.. {
        let (disk, store) = with_row(true);
        with_file(&disk);
        disk.set_faults(Faults::once(number, Fault::NoSpace));
        let result = load(&store);
        past |= disk.calls() < number;
        disk.set_faults(Faults::default());
        if past {
            break;
        }
        went_on += usize::from(check(&disk, &store, &result));
    }
    assert!(went_on > 10, "{went_on}");
}

/// A file system of 4 MiB, in a namespace where this process is root.
#[cfg(target_os = "linux")]
#[test]
fn a_store_on_a_full_file_system_loses_nothing_and_goes_on_once_there_is_space() {
    const MOUNTED: &str = "ON_A_SMALL_FILE_SYSTEM";
    let Some(place) = std::env::var_os(MOUNTED) else {
        let directory = tempfile::tempdir().unwrap();
        let name = "a_store_on_a_full_file_system_loses_nothing_and_goes_on_once_there_is_space";
        let script = format!(
            "mount -t tmpfs -o size=4m none \"${MOUNTED}\" || exit 77; exec \"$0\" --exact full_disk::{name}"
        );
        let output = Command::new("unshare")
            .args(["-rm", "sh", "-c", &script])
            .arg(std::env::current_exe().unwrap())
            .env(MOUNTED, directory.path())
            .output();
        match output {
            Ok(output) if output.status.success() => {
                assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
            }
            Ok(output) if output.status.code() == Some(101) => {
                panic!("{}", String::from_utf8_lossy(&output.stdout));
            }
            _ => support::say("skipped: this system lets no user mount a file system"),
        }
        return;
    };
    let (ballast, place) = (Path::new(&place).join("ballast"), Path::new(&place).join("store"));
    fs::write(&ballast, vec![1; 2 << 20]).unwrap();
    let options = || {
        let options = StoreOptions::default().auto_compaction(false);
        options.memstore_flush_bytes(256 << 10).stall_max(Duration::from_millis(100))
    };
    let store = Store::open(&place, options()).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    let mut acknowledged = BTreeSet::new();
    let mut fill = |store: &Store, count: usize| {
        for number in 0..count {
            let row = format!("row{:06}", acknowledged.len());
            match put(store, &row) {
                Ok(()) => acknowledged.insert(row),
                Err(error) => {
                    assert!(is_full(&error) || matches!(error, Error::Busy { .. }), "{error}");
                    return (number, acknowledged.clone());
                }
            };
        }
        (count, acknowledged.clone())
    };
    let (written, rows_before) = fill(&store, 10_000);
    assert!(written < 10_000, "the disk becomes full");
    assert_eq!(rows(&store), rows_before);
    fs::remove_file(&ballast).unwrap();
    // The flush that makes room is tried again after a while.
    let begin = Instant::now();
    while fill(&store, 100).0 < 100 {
        assert!(begin.elapsed() < Duration::from_secs(60), "there is space again");
    }
    store.flush().unwrap();
    let (_, rows_now) = fill(&store, 1);
    assert_eq!(rows(&store), rows_now);
    drop(store);
    assert_eq!(rows(&Store::open(&place, options()).unwrap()), rows_now);
    let real = StoreOptions::default().vfs(real_files());
    let outcome = store::tools::verify(&place, &real, |_| {}).unwrap();
    assert_eq!(outcome, store::tools::VerifyOutcome::Sound);
}
