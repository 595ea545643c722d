//! Runs flushes, compactions and delayed log writes, on threads of the store or of its callers.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::family_map::GivenUp;
use super::tasks::{Duty, Task, Tasks};
use crate::error::{Error, Result};
use crate::files::catalog::Catalog;
use crate::health::Health;
use crate::options::StoreOptions;
use crate::sync::{Builder, JoinHandle, Mutex, MutexGuard, lock};
use crate::write::log::Log;

/// The locks, tasks and threads of flushes and compactions.
///
/// ```text
/// turn (compaction, flush) → writer → manifest → version     locks are taken from left to right
/// ```
#[derive(Debug)]
pub(crate) struct Maintenance {
    pub(super) options: StoreOptions,
    pub(super) tasks: Tasks,
    /// Held during a flush; taken before all other locks.
    pub(super) flush_turn: Mutex<()>,
    /// Held during a compaction; taken before all other locks.
    pub(super) compaction_turn: Mutex<()>,
    pub(super) health: Arc<Health>,
    /// The families whose map could not be built, for lack of memory.
    pub(super) maps_given_up: Mutex<GivenUp>,
    counts: Mutex<Counts>,
}

/// Counts since the store was opened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) flushes: u64,
    pub(crate) compactions: u64,
    pub(crate) compactions_failed: u64,
    pub(crate) compaction_failure: Option<Arc<str>>,
    pub(crate) write_stalls: u64,
    pub(crate) write_stall_time: Duration,
    pub(crate) map_builds: u64,
    pub(crate) map_rebuilds: u64,
    pub(crate) map_build_time: Duration,
    pub(crate) map_failures: u64,
}

/// Ends a thread of the store. If the thread panicked, the store stops and waiting callers get an error.
struct Ends<'a>(&'a Maintenance);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        drop(self.0.health.poison_on_panic());
        self.0.tasks.flush_ended();
    }
}

impl Maintenance {
    pub(crate) fn new(options: StoreOptions, health: Arc<Health>) -> Self {
        Self {
            options,
            tasks: Tasks::default(),
            flush_turn: Mutex::default(),
            compaction_turn: Mutex::default(),
            health,
            maps_given_up: Mutex::default(),
            counts: Mutex::default(),
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        lock(&self.counts).clone()
    }

    pub(super) fn count(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut lock(&self.counts));
    }

    /// Ends the threads, each after its current task.
    pub(crate) fn stop(&self) {
        self.tasks.stop();
    }

    /// Locks a turn: one thread flushes at a time, and one compacts. Returns an error if the store has
    /// stopped, or if the previous holder panicked.
    pub(super) fn take_turn<'a>(&self, turn: &'a Mutex<()>) -> Result<MutexGuard<'a, ()>> {
        self.health.check_writable()?;
        let panicked = |_| Error::Poisoned { why: "a thread of the store panicked".into() };
        let turn = turn.lock().map_err(panicked)?;
        self.health.check_writable()?;
        Ok(turn)
    }

    /// Waits for the turn to change family maps, which excludes compactions.
    ///
    /// Maps are in memory only, so a store that is open for reading only can have them, too.
    pub(super) fn take_turn_of_maps(&self) -> Result<MutexGuard<'_, ()>> {
        if self.health.is_read_only() {
            return Ok(lock(&self.compaction_turn));
        }
        self.take_turn(&self.compaction_turn)
    }

    /// Starts the threads, if the options ask for them. They end after [`stop`](Self::stop).
    pub(crate) fn start(
        self: &Arc<Self>,
        catalog: &Arc<Catalog>,
        log: &Arc<Log>,
        threads: &mut Vec<JoinHandle<()>>,
    ) -> Result<()> {
        if !self.options.background {
            self.files_changed(catalog);
            return Ok(());
        }
        for (duty, name) in [(Duty::Flush, "store-flush"), (Duty::Compact, "store-compact")] {
            let (maintenance, catalog, log) =
                (Arc::clone(self), Arc::clone(catalog), Arc::clone(log));
            let thread = Builder::new()
                .name(name.to_owned())
                .spawn(move || maintenance.work(duty, &catalog, &log));
            threads.push(thread.map_err(Error::io(Path::new("background thread"), "start"))?);
        }
        self.files_changed(catalog);
        Ok(())
    }

    /// Runs a thread's tasks until the store closes.
    fn work(&self, duty: Duty, catalog: &Catalog, log: &Log) {
        let _end = Ends(self);
        while let Some(task) = self.tasks.next(duty) {
            let result = match task {
                Task::WriteLog => log.write_pending().inspect_err(|error| {
                    if error.is_shortage() {
                        self.tasks.want_log();
                    }
                }),
                Task::Flush if self.wants_flush(catalog) => self.flush(catalog, log),
                Task::Flush => Ok(()),
                Task::Compact => self.compact_as_needed(catalog).inspect_err(|error| {
                    if error.is_shortage() {
                        self.tasks.want_compaction_later();
                    }
                }),
                Task::CoverFiles => {
                    self.cover_files(catalog);
                    Ok(())
                }
            };
            // An error that stopped the store reaches the next caller; those that wait for a flush are
            // woken now.
            if result.is_err() {
                self.tasks.flush_ended();
            }
        }
    }
}
