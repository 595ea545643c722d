//! Interleavings of threads: all of them for small histories, 100,000 random ones for larger ones.
//!
//! The store takes its locks, atomics and threads from a scheduler model (see
//! `crates/store/src/sync.rs`), so the real store runs here, on a disk in memory:
//!
//! | model     | interleavings                                      | of                               |
//! |-----------|----------------------------------------------------|----------------------------------|
//! | `loom`    | all with a limited number of preemptions, memory   | group commit, and the hand-over  |
//! |           | order of atomics included                          | memstore → flushing → file; the  |
//! |           |                                                    | changes of a family map          |
//! | `shuttle` | random (PCT: a bug that needs few preemptions is   | a small store with its flush and |
//! |           | found with a known probability)                    | compaction threads               |
//!
//! A thread that is never woken is a failure in both models. Time does not advance, so timeouts
//! wake no thread.
//!
//! ```text
//! RUSTFLAGS='--cfg loom' cargo test --release --target-dir target/loom -p tests --test interleavings
//! EVERY_ORDER=1 RUSTFLAGS='--cfg loom' cargo test … group_commit      without a limit for two writers
//! RUSTFLAGS='--cfg shuttle' cargo test --release --target-dir target/shuttle -p tests --test interleavings
//! ```
#![cfg(any(loom, shuttle))]
#![expect(clippy::unwrap_used, reason = "this is a test, also outside of its test functions")]

#[cfg(loom)]
mod family_map;

use std::sync::Arc;

use store::{
    Clock, CompactionKind, Durability, FamilyOptions, Get, Increment, Put, Store, StoreOptions,
    Timestamp,
};
use support::disk::{Disk, Fault, Faults};
use support::say;

const STORE: &str = "/store";

fn options(disk: &Disk) -> StoreOptions {
    StoreOptions::default()
        .vfs(Arc::new(disk.clone()))
        .clock(Clock::fixed(Timestamp::new(1_000)))
        .background(false)
        .auto_compaction(false)
}

fn open(options: StoreOptions) -> Store {
    let store = Store::open(STORE, options).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    store
}

#[cfg(loom)]
mod every_order {
    use std::env;
    use std::path::Path;
    use std::sync::atomic::{AtomicU64, Ordering};

    use loom::thread::{Builder, JoinHandle};
    use store::vfs::Vfs;
    use support::Random;

    use super::*;

    /// Writing a store file needs more stack than the models give to a thread.
    const STACK_BYTES: usize = 1 << 20;

    fn put(store: &Store, row: &str, durability: Durability) -> store::Result<()> {
        store.write(Put::new(row).column("f", "q", row), durability)
    }

    pub(super) fn has(store: &Store, row: &str) -> bool {
        !store.get(&Get::row(row)).unwrap().is_empty()
    }

    /// Whether the log of the store on a disk has a row.
    fn is_logged(disk: &Disk, row: &str) -> bool {
        let holds = |path: &Path| {
            let file = disk.open(path).unwrap();
            let mut bytes = vec![0; usize::try_from(file.len()).unwrap()];
            file.read_exact_at(&mut bytes, 0).unwrap();
            bytes.windows(row.len()).any(|window| window == row.as_bytes())
        };
        disk.paths().iter().filter(|path| path.extension().is_some()).any(|path| holds(path))
    }

    pub(super) fn spawn(body: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
        Builder::new().stack_size(STACK_BYTES).spawn(body).unwrap()
    }

    /// Runs a history in every interleaving with at most `preemptions` preemptions.
    pub(super) fn in_every_order(
        what: &str,
        preemptions: Option<usize>,
        history: impl Fn() + Send + Sync + 'static,
    ) {
        let (history, orders) = (Arc::new(history), Arc::new(AtomicU64::new(0)));
        let counted = Arc::clone(&orders);
        let mut model = loom::model::Builder::new();
        model.preemption_bound = preemptions;
        model.max_branches = 100_000;
        model.check(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            let history = Arc::clone(&history);
            spawn(move || history()).join().unwrap();
        });
        let orders = orders.load(Ordering::Relaxed);
        assert!(orders > 100, "{what}: only {orders} orders");
        let all =
            preemptions.map_or("all".to_owned(), |max| format!("all with up to {max} preemptions"));
        say(&format!("{what}: {orders} orders, {all}: 0 wrong"));
    }

    #[test]
    fn acknowledged_rows_stay_readable_during_a_flush() {
        in_every_order("memstore to file", Some(3), || {
            let store = open(options(&Disk::default()));
            put(&store, "before", Durability::Skip).unwrap();
            let flushing = store.clone();
            let flush = spawn(move || flushing.flush().unwrap());
            let reading = store.clone();
            let reader = spawn(move || {
                assert!(has(&reading, "before"));
                // A row that was read once stays readable.
                let seen = has(&reading, "meanwhile");
                assert!(!seen || has(&reading, "meanwhile"));
            });
            put(&store, "meanwhile", Durability::Logged).unwrap();
            assert!(has(&store, "before") && has(&store, "meanwhile"));
            flush.join().unwrap();
            reader.join().unwrap();
            assert!(has(&store, "before") && has(&store, "meanwhile"));
        });
    }

    /// An increment replaces the cell that it read in the memstore.
    #[test]
    fn a_counter_is_never_absent_beside_its_increments() {
        in_every_order("a counter", Some(3), || {
            let store = open(options(&Disk::default()));
            let count = Increment::new("counter").column("f", "q", 1);
            store.increment(&count).unwrap();
            let reading = store.clone();
            let reader = spawn(move || {
                let mut last = 1;
                for _ in 0..2 {
                    let cells = reading.get(&Get::row("counter")).unwrap();
                    let [cell] = &cells[..] else { panic!("{} cells", cells.len()) };
                    let now = i64::from_be_bytes(cell.value().try_into().unwrap());
                    assert!((last..=3).contains(&now), "{now} after {last}");
                    last = now;
                }
            });
            store.increment(&count).unwrap();
            store.increment(&count).unwrap();
            reader.join().unwrap();
        });
    }

    /// Returns a store whose log has begun.
    ///
    /// Beginning a log involves one thread, and would only multiply the interleavings.
    fn with_log(disk: &Disk) -> Store {
        let store = open(options(disk));
        put(&store, "first record", Durability::Synced).unwrap();
        store
    }

    /// Writes each row in a separate thread with its durability.
    fn write_together(rows: &'static [(&'static str, Durability)]) {
        let disk = Disk::default();
        let store = with_log(&disk);
        let write = |(row, durability): (&'static str, Durability)| {
            let (store, disk) = (store.clone(), disk.clone());
            move || {
                put(&store, row, durability).unwrap();
                assert!(has(&store, row), "{row}: acknowledged, but not visible");
                let left = match durability {
                    Durability::Synced => disk.after_power_cut(0.0, &mut Random::new(0)),
                    _ => disk.after_kill(),
                };
                assert!(is_logged(&left, row), "{row}: acknowledged, but not on disk");
            }
        };
        let others: Vec<_> = rows[1..].iter().map(|row| spawn(write(*row))).collect();
        write(rows[0])();
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_eq!(store.stats().sequence_id, 1 + rows.len() as u64);
    }

    #[test]
    fn a_group_commit_is_acknowledged_when_it_is_durable_and_visible() {
        use Durability::{Logged, Synced};
        // All of them are two million, which take ten minutes.
        let preemptions = if env::var_os("EVERY_ORDER").is_some() { None } else { Some(8) };
        in_every_order("group commit of two", preemptions, || {
            write_together(&[("row1", Synced), ("row2", Synced)]);
        });
        // A writer with a lower level must not weaken that of the others.
        in_every_order("group commit of three", Some(3), || {
            write_together(&[("row1", Synced), ("row2", Synced), ("row3", Logged)]);
        });
    }

    #[test]
    fn a_group_commit_is_refused_as_a_whole_when_the_disk_fails() {
        in_every_order("group commit on a failing disk", Some(4), || {
            let disk = Disk::default();
            let store = with_log(&disk);
            disk.set_faults(Faults::from(2, Fault::Device)); // The first sync.
            let write = |row: &'static str| {
                let store = store.clone();
                move || {
                    assert!(put(&store, row, Durability::Synced).is_err());
                    assert!(!has(&store, row), "{row}: refused, but visible");
                }
            };
            let others = [spawn(write("row2")), spawn(write("row3"))];
            write("row1")();
            others.into_iter().for_each(|other| other.join().unwrap());
        });
    }
}

#[cfg(shuttle)]
mod orders_at_random {
    use std::sync::atomic::{AtomicU64, Ordering};

    use shuttle::scheduler::PctScheduler;
    use shuttle::{Config, Runner, thread};
    use store::{CompactionOptions, WriteBatch};

    use super::*;

    const WRITERS: usize = 2;
    const WRITES: u64 = 4;
    /// A memstore is full after two or three writes.
    const VALUE_BYTES: usize = 300;

    fn in_orders(what: &str, orders: usize, history: impl Fn(u64) + Send + Sync + 'static) {
        let mut config = Config::new();
        config.stack_size = 1 << 20;
        let number = AtomicU64::new(0);
        // With its seed a run can be repeated.
        let scheduler = PctScheduler::new_from_seed(0x5eed, 4, orders);
        let ran = Runner::new(scheduler, config)
            .run(move || history(number.fetch_add(1, Ordering::Relaxed)));
        assert_eq!(ran, orders);
        say(&format!("{what}: {orders} orders: 0 wrong"));
    }

    fn busy(disk: &Disk) -> StoreOptions {
        options(disk)
            .background(true)
            .auto_compaction(true)
            .compaction(CompactionOptions::default().files_min(2))
            .memstore_flush_bytes(2 * VALUE_BYTES)
            .wal_segment_bytes(1_000)
    }

    /// Writes the same number to both rows of a writer in one batch.
    fn write(store: &Store, writer: usize, number: u64) -> store::Result<()> {
        let mut batch = WriteBatch::new();
        for half in ["left", "right"] {
            let value = format!("{number}{}", " ".repeat(VALUE_BYTES));
            let put = Put::new(format!("{half}{writer}"));
            batch.put(put.column_at("f", "q", Timestamp::new(number as i64), value));
        }
        store.write(batch, Durability::Synced)
    }

    /// Returns the last number that a writer wrote.
    fn number(store: &Store, writer: usize) -> u64 {
        let snapshot = store.snapshot();
        let [left, right] = ["left", "right"].map(|half| {
            let cells = snapshot.get(&Get::row(format!("{half}{writer}"))).unwrap();
            cells
                .first()
                .map_or(0, |cell| str::from_utf8(cell.value()).unwrap().trim().parse().unwrap())
        });
        assert_eq!(left, right, "part of a batch");
        left
    }

    /// For each writer the last number whose write has begun, and the last acknowledged number.
    #[derive(Default)]
    struct Progress {
        begun: [AtomicU64; WRITERS],
        acknowledged: [AtomicU64; WRITERS],
    }

    impl Progress {
        fn check(&self, store: &Store, writer: usize) {
            let least = self.acknowledged[writer].load(Ordering::SeqCst);
            let found = number(store, writer);
            let most = self.begun[writer].load(Ordering::SeqCst);
            assert!((least..=most).contains(&found), "{least} <= {found} <= {most}");
        }
    }

    fn run_small_store() {
        let (disk, progress) = (Disk::default(), Arc::new(Progress::default()));
        let store = open(busy(&disk));
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (store, progress) = (store.clone(), Arc::clone(&progress));
                thread::spawn(move || {
                    for number in 1..=WRITES {
                        progress.begun[writer].store(number, Ordering::SeqCst);
                        write(&store, writer, number).unwrap();
                        progress.acknowledged[writer].store(number, Ordering::SeqCst);
                        progress.check(&store, writer);
                    }
                })
            })
            .collect();
        let reader = {
            let (store, progress) = (store.clone(), Arc::clone(&progress));
            thread::spawn(move || (0..6).for_each(|time| progress.check(&store, time % WRITERS)))
        };
        store.flush().unwrap();
        store.compact("f", CompactionKind::Major).unwrap();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        reader.join().unwrap();
        drop(store);
        let again = Store::open(STORE, options(&disk)).unwrap();
        (0..WRITERS).for_each(|writer| assert_eq!(number(&again, writer), WRITES));
    }

    /// All calls fail from one of them on: every writer gets an error, no thread hangs, and
    /// acknowledged writes are there once the disk works again.
    fn run_on_failing_disk(failing: u64) {
        let (disk, progress) = (Disk::default(), Arc::new(Progress::default()));
        let store = open(busy(&disk));
        disk.set_faults(Faults::from(failing, Fault::Device));
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (store, progress) = (store.clone(), Arc::clone(&progress));
                thread::spawn(move || {
                    for number in 1..=WRITES {
                        if write(&store, writer, number).is_err() {
                            assert!(
                                write(&store, writer, number).is_err(),
                                "a stopped store refuses writes"
                            );
                            break;
                        }
                        progress.acknowledged[writer].store(number, Ordering::SeqCst);
                    }
                })
            })
            .collect();
        let _ = store.flush();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        drop(store);
        disk.set_faults(Faults::default());
        let again = Store::open(STORE, options(&disk)).unwrap();
        for (writer, acknowledged) in progress.acknowledged.iter().enumerate() {
            assert!(number(&again, writer) >= acknowledged.load(Ordering::SeqCst));
        }
    }

    #[test]
    fn a_small_store_is_right_in_2_000_orders() {
        in_orders("a small store", 2_000, |_| run_small_store());
    }

    #[test]
    fn nothing_hangs_when_the_disk_fails_in_1_000_orders() {
        in_orders("a failing disk", 1_000, |number| run_on_failing_disk(1 + number % 90));
    }

    #[test]
    #[ignore = "100,000 orders: minutes; see the command above, with --ignored"]
    fn a_small_store_is_right_in_100_000_orders() {
        in_orders("a small store", 100_000, |_| run_small_store());
    }
}
