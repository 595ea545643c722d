//! Concurrent writers and readers during flushes and compactions.
//!
//! Each value contains its key, its version and its writer. Writers record the version that they
//! started to write and the one that was acknowledged; a reader must find a version between the
//! two. Keys are written in groups, one batch per group, and no reader may see part of a batch.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use store::{
    Cell, Clock, Durability, FamilyOptions, Get, Increment, MapMode, Put, Scan, Snapshot, Store,
    StoreOptions, Timestamp, WriteBatch,
};
use support::{Random, say};

const WRITERS: usize = 4;
const READERS: usize = 4;
/// Keys per batch.
const GROUP: usize = 4;
const GROUPS: usize = 2_000;
const CACHE_BYTES: u64 = 8 << 20;
const FLUSH_BYTES: usize = 1 << 20;
/// Writers wait when the memstores exceed four times the flush size.
const BUDGET: u64 = CACHE_BYTES + 4 * FLUSH_BYTES as u64;

/// For each group the last version whose write has begun, and the last acknowledged version.
struct Groups {
    begun: Vec<AtomicU64>,
    acknowledged: Vec<AtomicU64>,
}

#[derive(Default)]
struct Totals {
    writes: AtomicU64,
    gets: AtomicU64,
    scanned: AtomicU64,
    memory_max: AtomicU64,
}

fn key(number: usize) -> String {
    format!("key{number:06}")
}

/// A clock that never goes back.
fn clock() -> Clock {
    let start = Instant::now();
    let millis = move || i64::try_from(start.elapsed().as_millis()).unwrap();
    Clock::new(move || Timestamp::new(1_000_000 + millis()))
}

fn write(store: &Store, groups: &Groups, writer: usize, random: &mut Random) {
    let group = random.below(GROUPS / WRITERS) * WRITERS + writer;
    let version = groups.begun[group].load(Ordering::Relaxed) + 1;
    groups.begun[group].store(version, Ordering::SeqCst);
    let mut batch = WriteBatch::new();
    for number in group * GROUP..(group + 1) * GROUP {
        let padding = "x".repeat(random.below(200));
        let value = format!("{} {version} {writer} {padding}", key(number));
        batch.put(Put::new(key(number)).column("f", "q", value));
    }
    store.write(batch, Durability::Logged).unwrap();
    groups.acknowledged[group].store(version, Ordering::SeqCst);
}

/// Returns the key number and the version of a cell; the value must agree.
fn parse(cell: &Cell) -> (usize, u64) {
    let value = str::from_utf8(cell.value()).unwrap();
    let mut words = value.split(' ');
    let (named, version, writer) =
        (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
    assert_eq!(named.as_bytes(), cell.row(), "the value names its own key");
    let number: usize = named[3..].parse().unwrap();
    assert_eq!(
        writer.parse::<usize>().unwrap(),
        number / GROUP % WRITERS,
        "the value names the writer of the key"
    );
    (number, version.parse().unwrap())
}

fn check_get(store: &Store, groups: &Groups, random: &mut Random) {
    let number = random.below(GROUPS * GROUP);
    let group = number / GROUP;
    let oldest = groups.acknowledged[group].load(Ordering::SeqCst);
    let cells = store.get(&Get::row(key(number)).column("f", "q")).unwrap();
    let newest = groups.begun[group].load(Ordering::SeqCst);
    let version = cells.first().map_or(0, |cell| parse(cell).1);
    assert!((oldest..=newest).contains(&version), "{oldest} <= {version} <= {newest}");
}

fn scan(snapshot: &Snapshot, first: usize) -> Vec<(usize, u64)> {
    let scan = Scan::family("f").start(key(first)).rows_max(400);
    snapshot.scan(scan).unwrap().map(|cell| parse(&cell.unwrap())).collect()
}

/// Reads a range twice in one snapshot; returns the number of rows.
fn check_scan(store: &Store, groups: &Groups, random: &mut Random) -> usize {
    let first = random.below(GROUPS) * GROUP;
    let load = |versions: &[AtomicU64]| -> Vec<u64> {
        versions.iter().map(|version| version.load(Ordering::SeqCst)).collect()
    };
    let oldest = load(&groups.acknowledged);
    let snapshot = store.snapshot();
    let newest = load(&groups.begun);
    let found = scan(&snapshot, first);
    assert!(found.windows(2).all(|pair| pair[0].0 < pair[1].0), "sorted, without duplicates");
    for (number, version) in &found {
        let group = number / GROUP;
        assert!((oldest[group]..=newest[group]).contains(version), "{number}: {version}");
    }
    for rows in found.chunk_by(|left, right| left.0 / GROUP == right.0 / GROUP) {
        assert!(rows.iter().all(|row| row.1 == rows[0].1), "part of a batch: {rows:?}");
    }
    let last = found.last().map_or(first, |row| row.0);
    let expected = oldest[first / GROUP..last / GROUP].iter().filter(|count| **count > 0).count();
    assert!(found.len() >= expected * GROUP, "{} rows of {expected} groups", found.len());
    assert_eq!(scan(&snapshot, first), found, "both scans of a snapshot are equal");
    found.len()
}

/// Returns the memory of memstores and cache, by the store's own account.
fn memory(store: &Store) -> u64 {
    let stats = store.stats();
    stats.families.iter().map(|family| family.memstore_bytes).sum::<u64>()
        + stats.cache.block_bytes
        + stats.cache.reserved_bytes
}

/// Runs writers and readers; the family has each of the maps in turn.
fn run(duration: Duration, maps: &[MapMode]) {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions::default()
        .clock(clock())
        .cache_bytes(CACHE_BYTES)
        .memstore_flush_bytes(FLUSH_BYTES)
        .wal_segment_bytes(1 << 20);
    let store = Store::open(directory.path(), options).unwrap();
    let family = |map| FamilyOptions::default().block_size(8 << 10).family_map(map);
    store.create_family("f", family(maps[0])).unwrap();
    let none = || (0..GROUPS).map(|_| AtomicU64::new(0)).collect();
    let groups = Groups { begun: none(), acknowledged: none() };
    let (totals, is_over) = (Totals::default(), AtomicBool::new(false));
    let goes_on = || !is_over.load(Ordering::Relaxed);
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (store, groups, totals) = (&store, &groups, &totals);
            scope.spawn(move || {
                let mut random = Random::new(writer as u64);
                while goes_on() {
                    write(store, groups, writer, &mut random);
                    totals.writes.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for reader in 0..READERS {
            let (store, groups, totals) = (&store, &groups, &totals);
            scope.spawn(move || {
                let mut random = Random::new(100 + reader as u64);
                while goes_on() {
                    for _ in 0..50 {
                        check_get(store, groups, &mut random);
                    }
                    let rows = check_scan(store, groups, &mut random);
                    totals.gets.fetch_add(50, Ordering::Relaxed);
                    totals.scanned.fetch_add(rows as u64, Ordering::Relaxed);
                }
            });
        }
        let start = Instant::now();
        for round in 1_usize.. {
            let stats = store.stats();
            let is_enough = stats.flushes > 1 && stats.compactions > 0;
            // On a busy machine the first compaction comes late.
            if start.elapsed() >= if is_enough { duration } else { 20 * duration } {
                break;
            }
            if maps.len() > 1 && round.is_multiple_of(20) {
                // The readers go on while the map is dropped and built.
                store.alter_family("f", family(maps[round / 20 % maps.len()])).unwrap();
            }
            totals.memory_max.fetch_max(memory(&store), Ordering::Relaxed);
            thread::sleep(Duration::from_millis(5));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let stats = store.stats();
    let memory_max = totals.memory_max.into_inner();
    say(&format!(
        "threads: {} batches, {} gets, {} rows scanned, {} flushes, {} compactions in {duration:?}; \
         {memory_max} bytes in memstores and cache of {BUDGET}",
        totals.writes.into_inner(),
        totals.gets.into_inner(),
        totals.scanned.into_inner(),
        stats.flushes,
        stats.compactions,
    ));
    assert!(stats.flushes > 1 && stats.compactions > 0, "{stats:?}");
    assert!(memory_max <= BUDGET + BUDGET / 10, "{memory_max} bytes of {BUDGET}");
}

#[test]
fn reads_are_right_under_writes_flushes_and_compactions() {
    run(Duration::from_secs(3), &[MapMode::Off]);
}

#[test]
fn reads_are_right_while_the_family_map_is_dropped_and_built() {
    run(Duration::from_secs(3), &[MapMode::Files, MapMode::Off, MapMode::Wide, MapMode::Files]);
}

#[test]
#[ignore = "takes five minutes; run with --release --ignored"]
fn reads_are_right_under_writes_flushes_and_compactions_for_five_minutes() {
    run(Duration::from_secs(300), &[MapMode::Files, MapMode::Wide, MapMode::Off]);
}

#[test]
fn concurrent_increments_lose_nothing() {
    const EACH: i64 = 500;
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions::default().memstore_flush_bytes(32 << 10);
    let store = Store::open(directory.path(), options).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    thread::scope(|scope| {
        for writer in 0..4 {
            let store = store.clone();
            scope.spawn(move || {
                for _ in 0..EACH {
                    let increment = Increment::new("sum").column("f", "q", 1);
                    store.increment(&increment).unwrap();
                    // Writes to other columns happen concurrently.
                    store.put(Put::new("sum").column("f", format!("{writer}"), [0; 50])).unwrap();
                }
            });
        }
    });
    let sum = store.get(&Get::row("sum").column("f", "q")).unwrap();
    assert_eq!(sum[0].value(), (4 * EACH).to_be_bytes());
}
