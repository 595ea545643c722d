//! Lookups of rows that are there, by two threads, while everything happens to the files that can.
//!
//! Groups of rows are flushed, bulk-loaded and imported, and expire in the order of their times.
//! Meanwhile the files are compacted, the family map is dropped and built in each form, and the
//! store is opened again. The threads get rows of groups that have not expired, from the store and
//! from snapshots that are older than the present map. `LOOKUPS` is their number:
//!
//! ```text
//! LOOKUPS=1000000000 cargo test --release -p tests --test reads family_map::lookups -- --nocapture
//! ```

use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Instant;

use super::*;

const THREADS: u64 = 2;
/// Gets between two looks at what the store has.
const CHUNK: u64 = 200;
/// The readers wait for the thread that changes the store when they are ahead of it.
const LOOKUPS_PER_CHANGE: u64 = 20_000;
/// Milliseconds from one group to the next.
const STEP: i64 = 1_000;
/// The number of groups that have not expired.
const LIVE_GROUPS: i64 = 24;
const SNAPSHOTS_MAX: usize = 4;

/// A group of rows with one timestamp.
#[derive(Clone, Copy, Debug)]
struct Group {
    number: i64,
    rows: u64,
}

impl Group {
    fn key(self, row: u64) -> String {
        // In no order, so that the ranges of all files overlap.
        format!("{:016x}", Random::new((self.number as u64) << 32 | row).next_u64())
    }

    const fn time(self) -> i64 {
        self.number * STEP
    }
}

/// What the store has, for readers.
struct Present {
    store: Store,
    live: Vec<Group>,
    /// Snapshots with the newest group at their time.
    snapshots: Vec<(Snapshot, i64)>,
}

/// The thread that changes the store.
struct Changes {
    place: PathBuf,
    clock: TestClock,
    present: RwLock<Present>,
    lookups: AtomicU64,
    changes: AtomicU64,
    is_over: AtomicBool,
}

fn open_store(place: &Path, clock: &TestClock) -> Store {
    let options = StoreOptions::default()
        .clock(clock.clock())
        .cache_bytes(8 << 20)
        .memstore_flush_bytes(256 << 10)
        .durability(Durability::Skip);
    Store::open(place, options).unwrap()
}

fn family_with(map: MapMode) -> FamilyOptions {
    // A group expires when the clock has reached its time and this.
    let ttl = Duration::from_millis((LIVE_GROUPS * STEP + STEP / 2) as u64);
    FamilyOptions::default().ttl(Some(ttl)).block_size(4 << 10).family_map(map)
}

impl Changes {
    fn new(place: PathBuf) -> Self {
        let clock = TestClock::at(0);
        let store = open_store(&place, &clock);
        store.create_family("f", family_with(MapMode::Files)).unwrap();
        let present = Present { store, live: Vec::new(), snapshots: Vec::new() };
        let (lookups, changes, is_over) = Default::default();
        Self { place, clock, present: RwLock::new(present), lookups, changes, is_over }
    }

    fn store(&self) -> Store {
        self.present.read().unwrap().store.clone()
    }

    /// Adds a group in one of the ways in which files come into a store.
    fn add(&self, group: Group, way: usize) {
        {
            // No reader gets a row of the group that expires now.
            let mut present = self.present.write().unwrap();
            present.live.retain(|live| live.number + LIVE_GROUPS > group.number);
            self.clock.set(group.time());
        }
        let store = self.store();
        let mut keys: Vec<_> = (0..group.rows).map(|row| group.key(row)).collect();
        if way < 3 {
            let mut batch = WriteBatch::new();
            for key in &keys {
                let time = Timestamp::new(group.time());
                batch.put(Put::new(key.clone()).column_at("f", "q", time, key.clone()));
            }
            store.write(batch, Durability::Skip).unwrap();
            if way < 2 {
                store.flush().unwrap();
            }
        } else {
            keys.sort();
            let path = self.place.with_extension("hfile");
            let cells = keys.iter().map(|key| CellRef {
                row: key.as_bytes(),
                qualifier: b"q",
                timestamp: Timestamp::new(group.time()),
                value: key.as_bytes(),
                ..PUT
            });
            std::fs::write(&path, hfile(&path, WriterOptions::default(), cells)).unwrap();
            let files = [path];
            let age = if way == 3 { Age::Newest } else { Age::Carried };
            store.import("f", &files, age).unwrap();
        }
        self.present.write().unwrap().live.push(group);
    }

    fn take_snapshot(&self) {
        let mut present = self.present.write().unwrap();
        if present.snapshots.len() == SNAPSHOTS_MAX {
            present.snapshots.remove(0);
        }
        let newest = present.live.last().unwrap().number;
        let snapshot = present.store.snapshot();
        present.snapshots.push((snapshot, newest));
    }

    /// Opens the store again; returns the counters of its reads until then.
    fn reopen(&self) -> ReadTrace {
        let mut present = self.present.write().unwrap();
        present.snapshots.clear();
        let reads = present.store.stats().reads();
        // The lock of the directory must be free.
        let other = self.place.with_extension("other");
        present.store = Store::open(other, StoreOptions::default()).unwrap();
        present.store = open_store(&self.place, &self.clock);
        reads
    }

    /// Gets rows that are there until there were enough lookups.
    fn read(&self, thread: u64, lookups: u64) {
        let mut random = Random::new(thread);
        while self.lookups.fetch_add(CHUNK, Ordering::Relaxed) < lookups {
            let present = self.present.read().unwrap();
            let Present { store, live, snapshots } = &*present;
            let ahead = self.changes.load(Ordering::Relaxed) * LOOKUPS_PER_CHANGE;
            if live.is_empty() || self.lookups.load(Ordering::Relaxed) > ahead + CHUNK * THREADS {
                drop(present);
                self.lookups.fetch_sub(CHUNK, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(1));
                continue;
            }
            let any = |random: &mut Random, live: &[Group]| {
                let group = live[random.below(live.len())];
                group.key(random.below(group.rows as usize) as u64)
            };
            let check = |key: &str, cells: &[store::Cell], what: &str| {
                let value = cells.first().map(store::Cell::value);
                assert_eq!(value, Some(key.as_bytes()), "row {key} of {what} was denied");
            };
            let old = snapshots.get(random.below(SNAPSHOTS_MAX)).and_then(|(snapshot, newest)| {
                let count = live.iter().take_while(|group| group.number <= *newest).count();
                (count > 0).then(|| (snapshot, &live[..count]))
            });
            if let Some((snapshot, live)) = old {
                for _ in 0..CHUNK {
                    let key = any(&mut random, live);
                    check(&key, &snapshot.get(&Get::row(key.as_str())).unwrap(), "a snapshot");
                }
            } else if random.below(4) == 0 {
                let keys: Vec<_> = (0..CHUNK).map(|_| any(&mut random, live)).collect();
                let gets: Vec<_> = keys.iter().map(|key| Get::row(key.as_str())).collect();
                let found = store.multi_get(&gets).unwrap();
                keys.iter().zip(&found).for_each(|(key, cells)| check(key, cells, "a batch"));
            } else {
                for _ in 0..CHUNK {
                    let key = any(&mut random, live);
                    check(&key, &store.get(&Get::row(key.as_str())).unwrap(), "the store");
                }
            }
        }
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Changes the store until the readers end; returns the counters of all reads.
    fn change(&self) -> (i64, ReadTrace) {
        let (mut random, mut reads) = (Random::new(28), ReadTrace::default());
        for number in 1.. {
            if self.is_over.load(Ordering::Relaxed) {
                reads.add(&self.store().stats().reads());
                return (number, reads);
            }
            let rows = 100 + random.below(2_000) as u64;
            self.add(Group { number, rows }, random.below(5));
            match random.below(8) {
                0 => self.store().compact("f", CompactionKind::Major).unwrap(),
                1 => self.store().compact("f", CompactionKind::Minor).unwrap(),
                2 => {
                    const MODES: [MapMode; 5] = [
                        MapMode::Files,
                        MapMode::Wide,
                        MapMode::Files,
                        MapMode::Auto,
                        MapMode::Off,
                    ];
                    let map = MODES[random.below(MODES.len())];
                    self.store().alter_family("f", family_with(map)).unwrap();
                }
                3 => self.take_snapshot(),
                4 if number % 5 == 0 => reads.add(&self.reopen()),
                5 => self.store().rebuild_filters("f").unwrap(),
                _ => {}
            }
            self.changes.fetch_add(1, Ordering::Relaxed);
        }
        unreachable!("the loop ends with the readers")
    }
}

/// A million lookups, or as many as the environment says.
#[test]
fn lookups_deny_no_row_whatever_happens_to_the_files() {
    let lookups = std::env::var("LOOKUPS").map_or(1_000_000, |number| number.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let changes = Changes::new(directory.path().join("store"));
    let start = Instant::now();
    let (groups, reads) = std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let changes = &changes;
            scope.spawn(move || {
                let ends = Ends(&changes.is_over);
                changes.read(thread, lookups);
                drop(ends);
            });
        }
        changes.change()
    });
    say(&format!(
        "{lookups} lookups in {:.0?} beside {groups} changes: 0 denied; {} asked a map, {} a filter",
        start.elapsed(),
        reads.map_lookups,
        reads.filter_checks
    ));
    assert!(reads.map_lookups > lookups / 4, "{reads:?}");
}

/// Ends the changes also if a reader panicked.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
