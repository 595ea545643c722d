//! Runs flushes, compactions and delayed log writes, on threads of the store or of its callers.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::family_turns::FamilyTurns;
use super::rate_limit::RateLimit;
use super::tasks::{Duty, Task, Tasks};
use crate::error::{Error, Result};
use crate::files::catalog::Catalog;
use crate::files::version::store_version::Family;
use crate::health::Health;
use crate::maintenance::failed_maps::FailedMaps;
use crate::options::StoreOptions;
use crate::sync::{Builder, JoinHandle, Mutex, MutexGuard, lock};
use crate::write::log::Log;

/// The locks, tasks and threads of flushes and compactions.
///
/// ```text
/// turn of a family → flush turn → writer → manifest → version     locks are taken from left to right
/// ```
#[derive(Debug)]
pub(crate) struct Maintenance {
    pub(super) options: StoreOptions,
    pub(super) tasks: Tasks,
    /// Held during a flush; taken before all other locks.
    pub(super) flush_turn: Mutex<()>,
    /// Who compacts, rebuilds or drops a family, or reads it into its map; taken before all locks.
    pub(super) turns: FamilyTurns,
    /// Shared by the compactions.
    pub(super) rate_limit: RateLimit,
    pub(super) health: Arc<Health>,
    /// The families whose map could not be built, for lack of memory.
    pub(super) failed_maps: Mutex<FailedMaps>,
    counts: Mutex<Counts>,
}

/// Counts since the store was opened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) flushes: u64,
    pub(crate) compactions: u64,
    pub(crate) compaction_read_bytes: u64,
    pub(crate) compaction_written_bytes: u64,
    pub(crate) compactions_failed: u64,
    pub(crate) files_expired: u64,
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
        self.0.health.poison_if_panicking();
        self.0.tasks.flush_ended();
    }
}

impl Maintenance {
    pub(crate) fn new(options: StoreOptions, health: Arc<Health>) -> Self {
        Self {
            rate_limit: RateLimit::new(options.compaction.bytes_per_second),
            options,
            tasks: Tasks::default(),
            flush_turn: Mutex::default(),
            turns: FamilyTurns::default(),
            health,
            failed_maps: Mutex::default(),
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

    /// Waits for the turn to flush. Returns an error if the store has stopped, or if the previous
    /// holder panicked.
    pub(super) fn take_flush_turn(&self) -> Result<MutexGuard<'_, ()>> {
        self.health.check_writable()?;
        let turn = self.flush_turn.lock().map_err(|_| Error::panicked())?;
        self.health.check_writable()?;
        Ok(turn)
    }

    /// Returns whether work on a family must end: the store closes, or the family is to be dropped.
    pub(super) fn must_end(&self, family: &Family) -> bool {
        self.tasks.is_stopping() || self.turns.is_cancelled(&family.name)
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
