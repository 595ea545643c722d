//! What happens without anybody waiting for it: flushes, compactions, and the log's late writes.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::store::Inner;
use crate::sync::{Builder, Condvar, JoinHandle, Mutex, lock, wait, wait_at_most};

/// What there is to do, and who waits for it.
#[derive(Debug, Default)]
pub(crate) struct Background {
    tasks: Mutex<Tasks>,
    /// Something is to be done, or was done.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Tasks {
    flush: bool,
    compact: bool,
    log_due: Option<Instant>,
    stop: bool,
    /// Flushes that ended, well or not.
    flushes: u64,
}

/// What a thread is there for. A compaction takes long, and no flush must wait for it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Duty {
    Flush,
    Compact,
}

/// What a thread does next.
enum Task {
    WriteLog,
    Flush,
    Compact,
}

/// A thread that works for the store. If it ends by a panic the store stops, and whoever waits for
/// it learns of that.
struct Ends<'a>(&'a Inner);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        drop(self.0.commit.poison_on_panic());
        self.0.background.flush_ended();
    }
}

impl Background {
    /// How late an [`AsyncWal`](crate::Durability::AsyncWal) write may reach the log.
    const LOG_DELAY: Duration = Duration::from_millis(100);
    /// How long a writer waits for a flush before it looks again whether it still must.
    const STALL_MAX: Duration = Duration::from_millis(500);

    pub(crate) fn want_flush(&self) {
        self.want(|tasks| tasks.flush = true);
    }

    pub(crate) fn want_compaction(&self) {
        self.want(|tasks| tasks.compact = true);
    }

    pub(crate) fn want_log(&self) {
        self.want(|tasks| {
            tasks.log_due.get_or_insert_with(|| Instant::now() + Self::LOG_DELAY);
        });
    }

    pub(crate) fn stop(&self) {
        self.want(|tasks| tasks.stop = true);
    }

    pub(crate) fn flush_ended(&self) {
        self.want(|tasks| tasks.flushes += 1);
    }

    fn want(&self, note: impl FnOnce(&mut Tasks)) {
        note(&mut lock(&self.tasks));
        self.changed.notify_all();
    }

    /// Whether the threads are about to end.
    pub(crate) fn is_stopping(&self) -> bool {
        lock(&self.tasks).stop
    }

    /// How many flushes have ended.
    pub(crate) fn flushes(&self) -> u64 {
        lock(&self.tasks).flushes
    }

    /// Waits until another flush has ended than those `before`, or some time has passed, `max` at
    /// most.
    pub(crate) fn wait_for_flush(&self, before: u64, max: Duration) {
        let due = Instant::now() + max.min(Self::STALL_MAX);
        let mut tasks = lock(&self.tasks);
        while tasks.flushes == before && !tasks.stop {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            tasks = wait_at_most(&self.changed, tasks, left);
        }
    }

    /// Starts the threads, which end after [`stop`](Self::stop).
    pub(crate) fn start(store: &Arc<Inner>, threads: &mut Vec<JoinHandle<()>>) -> Result<()> {
        threads.push(Self::start_one(store, Duty::Flush, "store-flush")?);
        threads.push(Self::start_one(store, Duty::Compact, "store-compact")?);
        Ok(())
    }

    fn start_one(store: &Arc<Inner>, duty: Duty, name: &str) -> Result<JoinHandle<()>> {
        let store = Arc::clone(store);
        Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                let _end = Ends(&store);
                while let Some(task) = store.background.next(duty) {
                    let result = match task {
                        Task::WriteLog => store.write_log(),
                        Task::Flush if store.memstores_are_full() || store.memstores_wait() => {
                            store.flush()
                        }
                        Task::Flush => Ok(()),
                        Task::Compact => store.compact_as_needed(),
                    };
                    // If this has stopped the store, the next caller is told, and who waits for a
                    // flush is told now.
                    if result.is_err() {
                        store.background.flush_ended();
                    }
                }
            })
            .map_err(Error::io(Path::new("background thread"), "start"))
    }

    /// Waits for something to do; `None` if there will be nothing more.
    fn next(&self, duty: Duty) -> Option<Task> {
        let mut tasks = lock(&self.tasks);
        loop {
            let now = Instant::now();
            if tasks.stop {
                return None;
            }
            if duty == Duty::Compact {
                if std::mem::take(&mut tasks.compact) {
                    return Some(Task::Compact);
                }
                tasks = wait(&self.changed, tasks);
                continue;
            }
            if tasks.log_due.is_some_and(|due| due <= now) {
                tasks.log_due = None;
                return Some(Task::WriteLog);
            }
            if std::mem::take(&mut tasks.flush) {
                return Some(Task::Flush);
            }
            tasks = match tasks.log_due {
                None => wait(&self.changed, tasks),
                Some(due) => wait_at_most(&self.changed, tasks, due - now),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use sstable::Timestamp;

    use super::*;
    use crate::{Clock, CompactionOptions, FamilyOptions, Get, Put, Store, StoreOptions};

    fn put(store: &Store, row: &str) -> Result<()> {
        store.put(Put::new(row).column("f", "q", [7; 1000]))
    }

    /// A store in which one thread panics when it asks for the time, some time later.
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
            assert_says_who_panicked(store.compact("f", true), thread);
            assert_says_who_panicked(store.create_family("g", FamilyOptions::default()), thread);
            assert_eq!(store.get(&Get::row("0")).unwrap().len(), 1, "what is there can be read");
            drop(store);
            let store = Store::open(directory.path(), StoreOptions::default()).unwrap();
            assert_eq!(store.get(&Get::row("0")).unwrap().len(), 1);
        }
    }

    #[test]
    fn who_waits_for_a_flush_that_panics_is_told() {
        let directory = tempfile::tempdir().unwrap();
        // Time enough for all writers to fill the memstores and to wait.
        let store = with_panic(directory.path(), "store-flush", Duration::from_millis(300));
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let store = &store;
                scope.spawn(move || {
                    let refused =
                        (0..).find_map(|row| put(store, &format!("{writer}-{row}")).err());
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
        // A flush waits for the disk; this does not.
        let refused = (0..100_000).find_map(|row| put(&store, &format!("{row}")).err()).unwrap();
        assert!(matches!(refused, Error::Busy { .. }), "{refused}");
        assert!(store.stats().write_stalls > 0);
        store.flush().unwrap();
        put(&store, "later").unwrap();
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
                store.write(put, crate::Durability::SkipWal).unwrap();
            }
            store.flush().unwrap();
        }
        // At a byte a second this would take days.
        drop(store);
        let store = Store::open(directory.path(), StoreOptions::default()).unwrap();
        assert_eq!(store.get(&Get::row("04999")).unwrap().len(), 1);
        store.compact("f", true).unwrap();
        assert_eq!(store.stats().families[0].files, 1);
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
        let (path, wrong) = store.check_files("f").unwrap().remove(0);
        assert!(wrong.is_none());
        let mut bytes = std::fs::read(&path).unwrap();
        let last = bytes.len() - 1;
        bytes[last - 100] ^= 1; // In the trailer, of which nothing reads the end.
        std::fs::write(&path, &bytes).unwrap();
        assert!(matches!(store.compact("f", true), Err(Error::Corrupt { .. })));
        let wrong = store.check_files("f").unwrap().into_iter().filter(|(_, it)| it.is_some());
        assert_eq!(wrong.map(|(path, _)| path).collect::<Vec<_>>(), [path]);
        assert_eq!(store.stats().families[0].files, 2);
        assert_eq!(store.get(&Get::row("a")).unwrap().len(), 1);
    }
}
