use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;

use cells::Clock;

use crate::Timestamp;
use crate::error::{Error, Result};
use crate::maintenance::compaction::progress::CompactionPhase;
use crate::options::{CompactionOptions, FamilyOptions, StoreOptions};
use crate::read::query::{Get, Scan};
use crate::store::{CheckedFile, CompactionKind, Store, compact};
use crate::write::mutation::Put;

fn put(store: &Store, row: &str) -> Result<()> {
    store.put(Put::new(row).column("f", "q", [7; 1000]))
}

/// Opens a store in which one thread panics at a later reading of the clock.
fn with_panic(directory: &Path, thread: &'static str, later: Duration) -> Store {
    let clock = Clock::new(move || {
        if std::thread::current().name() == Some(thread) {
            std::thread::sleep(later);
            panic!("the clock is broken");
        }
        Timestamp::new(1000)
    });
    let options = StoreOptions::default().clock(clock).memstore_flush_bytes(10_000);
    let store = Store::open(directory, options).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    store
}

fn assert_says_who_panicked(result: Result<()>, thread: &str) {
    let Err(Error::Poisoned { why }) = result else { panic!("{result:?}") };
    assert!(why.contains(thread), "{why}");
}

#[test]
fn a_panic_in_the_background_stops_the_store_and_nothing_hangs() {
    for thread in ["store-flush", "store-compact"] {
        let directory = tempfile::tempdir().unwrap();
        let store = with_panic(directory.path(), thread, Duration::ZERO);
        let refused = (0..).find_map(|row| put(&store, &format!("{row}")).err()).unwrap();
        assert_says_who_panicked(Err(refused), thread);
        assert_says_who_panicked(put(&store, "more"), thread);
        assert_says_who_panicked(store.flush(), thread);
        assert_says_who_panicked(store.compact("f", CompactionKind::Major), thread);
        assert_says_who_panicked(store.create_family("g", FamilyOptions::default()), thread);
        assert_eq!(store.get(&Get::row("0")).unwrap().len(), 1, "present rows can be read");
        drop(store);
        let store = Store::open(directory.path(), StoreOptions::default()).unwrap();
        assert_eq!(store.get(&Get::row("0")).unwrap().len(), 1);
    }
}

#[test]
fn who_waits_for_a_flush_that_panics_is_told() {
    let directory = tempfile::tempdir().unwrap();
    // Enough time for all writers to fill the memstores and wait.
    let store = with_panic(directory.path(), "store-flush", Duration::from_millis(300));
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let store = &store;
            scope.spawn(move || {
                let refused = (0..).find_map(|row| put(store, &format!("{writer}-{row}")).err());
                assert_says_who_panicked(Err(refused.unwrap()), "store-flush");
            });
        }
    });
    assert!(store.stats().write_stalls >= 4, "{:?}", store.stats());
}

#[test]
fn a_write_waits_no_longer_than_is_allowed() {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions::default().memstore_flush_bytes(2000).stall_max(Duration::ZERO);
    let store = Store::open(directory.path(), options).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    // Faster than a flush, which waits for the disk.
    let refused = (0..100_000).find_map(|row| put(&store, &format!("{row}")).err()).unwrap();
    assert!(matches!(refused, Error::Busy { .. }), "{refused}");
    assert!(store.stats().write_stalls > 0);
    store.flush().unwrap();
    put(&store, "later").unwrap();
}

#[test]
fn a_write_that_no_family_accepts_is_refused_without_a_wait() {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions::default().memstore_flush_bytes(2000).stall_max(Duration::ZERO);
    let store = Store::open(directory.path(), options).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    let mut busy = 0;
    for row in 0..20_000 {
        if let Err(error) = put(&store, &format!("{row}")) {
            assert!(matches!(error, Error::Busy { .. }), "{error}");
            busy += 1;
            let stalls = store.stats().write_stalls;
            let error = store.put(Put::new("row").column("none", "q", "")).unwrap_err();
            assert!(matches!(error, Error::Invalid { .. }), "{error}");
            assert_eq!(store.stats().write_stalls, stalls);
        }
    }
    assert!(busy > 0);
}

#[test]
fn closing_a_store_does_not_wait_for_a_compaction() {
    let directory = tempfile::tempdir().unwrap();
    let slow = CompactionOptions::default().bytes_per_second(Some(1));
    let options = StoreOptions::default().compaction(slow);
    let store = Store::open(directory.path(), options).unwrap();
    store.create_family("f", FamilyOptions::default().block_size(1000)).unwrap();
    for file in 0..4 {
        for row in 0..5000 {
            let put = Put::new(format!("{file}{row}")).column("f", "q", "some bytes");
            store.write(put, crate::options::Durability::Skip).unwrap();
        }
        store.flush().unwrap();
    }
    // At one byte per second this takes days.
    drop(store);
    let store = Store::open(directory.path(), StoreOptions::default()).unwrap();
    assert_eq!(store.get(&Get::row("04999")).unwrap().len(), 1);
    store.compact("f", CompactionKind::Major).unwrap();
    assert_eq!(store.stats().families[0].files, 1);
}

/// The numbers of open snapshots and of kept files, and whether memstores and an age are shown.
fn held(store: &Store) -> (u64, u64, bool, bool) {
    let held = store.stats().snapshots;
    assert_eq!(held.files == 0, held.file_bytes == 0);
    (held.open, held.files, held.memstore_bytes > 0, held.oldest.is_some())
}

#[test]
fn statistics_show_snapshots_and_what_is_kept_for_reads_only() {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions::default().background(false).auto_compaction(false);
    let store = Store::open(directory.path(), options).unwrap();
    for family in ["f", "g"] {
        store.create_family(family, FamilyOptions::default()).unwrap();
        store.put(Put::new("a").column(family, "q", "1")).unwrap();
    }
    assert_eq!(held(&store), (0, 0, false, false));
    let first = store.snapshot();
    store.flush().unwrap();
    assert_eq!(held(&store), (1, 0, true, true), "the memstores are replaced by files");
    store.put(Put::new("b").column("f", "q", "2")).unwrap();
    store.flush().unwrap();
    let (second, scan) = (store.snapshot(), store.scan(Scan::family("f")).unwrap());
    let clone = second.clone();
    assert_eq!(held(&store), (2, 0, true, true), "a clone does not count");
    drop(first);
    assert_eq!(held(&store), (1, 0, false, true));
    store.compact("f", CompactionKind::Major).unwrap();
    store.drop_family("g").unwrap();
    assert_eq!(held(&store), (1, 3, false, true), "two files of f and one of g are replaced");
    drop(second);
    assert_eq!(held(&store), (1, 3, false, true));
    drop(clone);
    assert_eq!(held(&store), (0, 2, false, false), "the scan has the files of f");
    assert_eq!(scan.count(), 2);
    assert_eq!(held(&store), (0, 0, false, false));
    let snapshots: Vec<_> = (0..100).map(|_| store.snapshot()).collect();
    assert_eq!(held(&store).0, 100);
    drop(snapshots);
    assert_eq!(held(&store).0, 0);
}

#[test]
fn a_panic_of_the_progress_of_a_compaction_keeps_the_files_and_stops_writes() {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions::default().background(false).auto_compaction(false);
    let store = Store::open(directory.path(), options).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    for row in ["a", "b"] {
        store.put(Put::new(row).column("f", "q", "1")).unwrap();
        store.flush().unwrap();
    }
    let compact = || compact(&store, "f", CompactionKind::Major, |_| panic!("of the program"));
    assert!(catch_unwind(AssertUnwindSafe(compact)).is_err());
    assert_eq!(store.scan(Scan::family("f")).unwrap().count(), 2);
    let refused = store.put(Put::new("c").column("f", "q", "1"));
    assert!(matches!(refused, Err(Error::Poisoned { .. })));
    drop(store);
    let store = Store::open(directory.path(), StoreOptions::default()).unwrap();
    store.put(Put::new("c").column("f", "q", "1")).unwrap();
    assert_eq!(store.scan(Scan::family("f")).unwrap().count(), 3);
}

#[test]
fn a_compaction_reports_its_progress() {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions::default().auto_compaction(false);
    let store = Store::open(directory.path(), options).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    for file in 0..3 {
        for row in 0..3000 {
            let put = Put::new(format!("{file}{row:04}")).column("f", "q", "some bytes");
            store.write(put, crate::options::Durability::Skip).unwrap();
        }
        store.flush().unwrap();
    }
    let bytes = store.stats().families[0].file_bytes;
    let mut reports = Vec::new();
    compact(&store, "f", CompactionKind::Major, |progress| reports.push(progress)).unwrap();
    assert!(reports.iter().all(|report| report.total == bytes && report.done <= bytes));
    let of_phase = |phase| reports.iter().filter(move |report| report.phase == phase);
    assert_eq!(of_phase(CompactionPhase::Check).count(), 3, "one report per file and MiB");
    let merged: Vec<u64> = of_phase(CompactionPhase::Merge).map(|report| report.done).collect();
    assert_eq!((merged.len(), merged[0]), (3, 0), "one report per 4096 cells");
    assert!(merged.is_sorted() && merged[2] > bytes * 8 / 10, "{merged:?} of {bytes}");
    reports.clear();
    compact(&store, "f", CompactionKind::Minor, |progress| reports.push(progress)).unwrap();
    assert!(reports.is_empty(), "there was nothing to merge");
}

#[test]
fn damage_that_no_block_checksum_sees_does_not_get_into_a_compacted_file() {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions::default().auto_compaction(false);
    let store = Store::open(directory.path(), options).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    for row in ["a", "b"] {
        put(&store, row).unwrap();
        store.flush().unwrap();
    }
    let CheckedFile { path, damage } = store.check_files("f").unwrap().remove(0);
    assert_eq!(damage, None);
    let mut bytes = std::fs::read(&path).unwrap();
    let last = bytes.len() - 1;
    bytes[last - 100] ^= 1; // In the trailer, of which nothing reads the end.
    std::fs::write(&path, &bytes).unwrap();
    assert!(matches!(store.compact("f", CompactionKind::Major), Err(Error::Corrupt { .. })));
    let files = store.check_files("f").unwrap();
    let damaged = files.into_iter().filter(|file| file.damage.is_some());
    assert_eq!(damaged.map(|file| file.path).collect::<Vec<_>>(), [path]);
    assert_eq!(store.stats().families[0].files, 2);
    assert_eq!(store.get(&Get::row("a")).unwrap().len(), 1);
}
