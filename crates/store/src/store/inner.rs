//! The parts of an open store: catalog, log, and maintenance.

use std::sync::Arc;

use sstable::SequenceId;

use crate::error::{Error, Result};
use crate::files::catalog::Catalog;
use crate::files::manifest::Manifest;
use crate::files::version::file_opener::FileOpener;
use crate::files::version::store_version::StoreVersion;
use crate::health::Health;
use crate::maintenance::background::Maintenance;
use crate::options::{Durability, StoreOptions};
use crate::process::check_process;
use crate::stats::Stats;
use crate::sync::JoinHandle;
use crate::vfs::Lock;
use crate::write::log::{Log, LogTail};
use crate::write::row_times::RowTimes;

/// The parts of an open store and its threads. All clones of a [`Store`](super::Store) share it.
#[derive(Debug)]
pub(crate) struct StoreInner {
    pub(crate) catalog: Arc<Catalog>,
    pub(super) log: Arc<Log>,
    pub(crate) maintenance: Arc<Maintenance>,
    /// The durability of writes that specify none.
    pub(super) durability: Durability,
    threads: Vec<JoinHandle<()>>,
    /// `None` if the store is read-only.
    _lock: Option<Arc<dyn Lock>>,
}

/// The state of a store as loaded from its files.
pub(super) struct LoadedState {
    pub(super) opener: FileOpener,
    pub(super) manifest: Manifest,
    pub(super) version: StoreVersion,
    pub(super) log_tail: LogTail,
    /// The greatest sequence id of all writes.
    pub(super) newest: SequenceId,
    /// The timestamps of cells that are written without one.
    pub(super) times: RowTimes,
}

impl StoreInner {
    /// Creates the parts of a store; without a lock the store is read-only.
    pub(super) fn new(
        options: StoreOptions,
        state: LoadedState,
        lock: Option<Arc<dyn Lock>>,
    ) -> Self {
        let LoadedState { opener, manifest, version, log_tail, newest, times } = state;
        let health = match lock {
            Some(_) => Health::default(),
            None => Health::read_only(opener.directory().to_path_buf()),
        };
        let health = Arc::new(health);
        let log = Log::new(log_tail, newest, times, &options, Arc::clone(&health));
        let shared = Arc::clone(&health);
        let catalog = Catalog::new(opener, &options, manifest, version, newest, shared);
        Self {
            durability: options.durability,
            catalog: Arc::new(catalog),
            log: Arc::new(log),
            maintenance: Arc::new(Maintenance::new(options, health)),
            threads: Vec::new(),
            _lock: lock,
        }
    }

    /// Starts the background threads, if the options ask for them, and shortens a long log.
    pub(super) fn start(&mut self) -> Result<()> {
        self.maintenance.start(&self.catalog, &self.log, &mut self.threads)?;
        self.maintenance.shorten_log(&self.catalog, &self.log)
    }

    /// Panics in a fork, where a thread of the parent can hold a lock for ever. For calls that return no error.
    pub(super) fn assert_is_no_fork(&self) {
        let checked = check_process(self.catalog.health().process());
        checked.unwrap_or_else(|forked| panic!("{forked}"));
    }

    pub(super) fn stats(&self) -> Stats {
        let version = self.catalog.version();
        let families = version.families.iter().map(|family| family.stats());
        let filter_problems = version.families.iter().flat_map(|family| {
            let files = family.files.by_sequence();
            files.filter_map(|file| file.filter_problem(&family.family.name)).collect::<Vec<_>>()
        });
        let counts = self.maintenance.counts();
        Stats {
            filter_problems: filter_problems.collect(),
            families: families.collect(),
            sequence_id: self.catalog.visible().get(),
            flushes: counts.flushes,
            compactions: counts.compactions,
            compaction_read_bytes: counts.compaction_read_bytes,
            compaction_written_bytes: counts.compaction_written_bytes,
            log_bytes: self.log.written_bytes(),
            files_expired: counts.files_expired,
            compactions_failed: counts.compactions_failed,
            compaction_failure: counts.compaction_failure,
            write_stalls: counts.write_stalls,
            write_stall_time: counts.write_stall_time,
            map_builds: counts.map_builds,
            map_rebuilds: counts.map_rebuilds,
            map_build_time: counts.map_build_time,
            map_failures: counts.map_failures,
            snapshots: self.catalog.held.stats(),
            cache: self.catalog.opener.cache().stats(),
        }
    }
}

impl StoreInner {
    /// Stops the background work, writes pending log records, and flushes unlogged cells.
    ///
    /// Called a second time, it tries again what failed.
    pub(super) fn close(&mut self) -> Result<()> {
        let health = self.catalog.health();
        if !health.process().is_current() {
            // A fork has no threads of the store to wait for, and writes nothing.
            self.threads.drain(..).for_each(std::mem::forget);
            return Err(Error::Forked);
        }
        self.maintenance.stop();
        for thread in self.threads.drain(..) {
            let _ = thread.join(); // A panic has poisoned the store already.
        }
        if health.is_read_only() {
            return Ok(());
        }
        health.check_writable()?;
        let written = self.log.write_pending();
        let has_unlogged = self.log.writer().has_unlogged();
        // A full memstore that waits for its flush can have unlogged cells, too.
        let Some(version) = self.catalog.version_if_usable() else {
            return written.and(Err(Error::panicked()));
        };
        let is_flushing = version.families.iter().any(|family| !family.flushing.is_empty());
        drop(version);
        if has_unlogged || is_flushing {
            return written.and(self.maintenance.flush(&self.catalog, &self.log));
        }
        written
    }
}

impl Drop for StoreInner {
    /// Closes the store. Errors are ignored: [`Store::close`](super::Store::close) returns them.
    fn drop(&mut self) {
        let _ = self.close();
    }
}
