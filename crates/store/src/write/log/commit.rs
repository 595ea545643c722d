//! The log of a store and how writes meet there: log, then memstore, then visible and acknowledged.
//!
//! Threads that write at the same time form a group. The first of them leads: it logs the batches
//! of all that wait with one call to the operating system, and if one of them asks for the disk,
//! with one sync. A batch gets one sequence id, and readers see it wholly or not at all: they read
//! up to the last sequence id that has been published.
//!
//! ```text
//! batch ─┐                       ┌ log: one write, one sync ┐
//! batch ─┼─ queue ─ first leads ─┤                          ├─ publish ─ wake the others
//! batch ─┘                       └ memstores, in log order  ┘
//! ```

use std::mem;
use std::sync::Arc;

use sstable::{Cell, SequenceId};

use super::log_tail::LogTail;
use super::request::{DefaultTimestamp, Request};
use super::writer::Writer;
use crate::clock::Clock;
use crate::error::Result;
use crate::files::catalog::Catalog;
use crate::health::Health;
use crate::options::{Durability, StoreOptions};
use crate::read::get::ReadView;
use crate::sync::{Condvar, Mutex, MutexGuard, lock, wait};
use crate::write::prepare::{apply_to_memstores, prepare};

/// The log of an open store, where all writes meet.
#[derive(Debug)]
pub(crate) struct Log {
    queue: Mutex<Queue>,
    done: Condvar,
    writer: Mutex<Writer>,
    clock: Clock,
    health: Arc<Health>,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: Vec<Request>,
    /// Requests that came so far, the leader's own too; their numbers are tickets.
    came: u64,
    /// Requests that were served.
    served: u64,
    has_leader: bool,
}

impl Log {
    /// Maximum bytes of buffered records that need not be in the operating system yet.
    const PENDING_BYTES_MAX: usize = 256 << 10;

    /// The log that goes on at `end`; `newest` is the greatest sequence id that was given.
    pub(crate) fn new(
        tail: LogTail,
        newest: SequenceId,
        options: &StoreOptions,
        health: Arc<Health>,
    ) -> Self {
        Self {
            queue: Mutex::default(),
            done: Condvar::new(),
            writer: Mutex::new(Writer::new(tail, newest, options.wal_segment_bytes)),
            clock: options.clock.clone(),
            health,
        }
    }

    /// Keeps all others from writing.
    pub(crate) fn writer(&self) -> MutexGuard<'_, Writer> {
        lock(&self.writer)
    }

    /// Writes buffered records to the operating system.
    pub(crate) fn write_pending(&self) -> Result<()> {
        let written = self.writer().write_pending();
        written.map_err(|error| self.health.poison(error))
    }

    /// Writes a batch, and returns when it is as safe as was asked for.
    pub(crate) fn commit(
        &self,
        catalog: &Catalog,
        cells: Vec<Cell>,
        durability: Durability,
        default_timestamp: DefaultTimestamp,
    ) -> Result<()> {
        self.health.check_writable()?;
        let request = Request { cells, durability, default_timestamp };
        let mut queue = lock(&self.queue);
        queue.came += 1;
        let ticket = queue.came;
        if queue.has_leader {
            queue.waiting.push(request);
            loop {
                queue = wait(&self.done, queue);
                if queue.served >= ticket {
                    return self.health.check_writable();
                }
                if !queue.has_leader {
                    break;
                }
            }
        } else {
            // A leader takes every request that waits, also those whose threads have not woken up yet.
            queue.waiting.push(request);
        }
        queue.has_leader = true;
        let group = mem::take(&mut queue.waiting);
        let unserved = queue.came - queue.served;
        assert_eq!(group.len() as u64, unserved, "each request is in one group");
        let leading = GroupLeader { log: self, group_len: group.len(), last: queue.came };
        drop(queue);
        let result = self.health.check_writable();
        let result = result.and_then(|()| self.commit_group(catalog, &mut self.writer(), group));
        let result = result.map_err(|error| self.health.poison(error));
        drop(leading);
        result
    }

    /// Computes cells from the present state and writes them, while no other thread writes; returns them.
    ///
    /// If `compute` fails or wants nothing, nothing is written.
    pub(crate) fn commit_computed(
        &self,
        catalog: &Catalog,
        durability: Durability,
        compute: impl FnOnce(&ReadView) -> Result<Vec<Cell>>,
    ) -> Result<Vec<Cell>> {
        let _watch = self.health.poison_on_panic();
        let mut writer = self.writer();
        self.health.check_writable()?;
        let mut cells = prepare(&catalog.version(), compute(&ReadView::current(catalog))?)?;
        if cells.is_empty() {
            return Ok(cells);
        }
        let request =
            Request { cells: cells.clone(), durability, default_timestamp: DefaultTimestamp::Now };
        let result = self.commit_group(catalog, &mut writer, vec![request]);
        result.map_err(|error| self.health.poison(error))?;
        for cell in &mut cells {
            cell.set_sequence_id(writer.newest());
        }
        Ok(cells)
    }

    fn commit_group(
        &self,
        catalog: &Catalog,
        writer: &mut Writer,
        mut group: Vec<Request>,
    ) -> Result<()> {
        // The version's active memstores stay so for as long as the writer is held.
        let version = catalog.version();
        let now = self.clock.now();
        let mut durability = Durability::SkipWal;
        for request in &mut group {
            if request.durability != Durability::SkipWal {
                writer.begin_segment(catalog)?;
            }
            writer.log_batch(&version, request, now)?;
            durability = durability.max(request.durability);
        }
        if durability >= Durability::SyncWal || writer.pending_len() > Self::PENDING_BYTES_MAX {
            writer.write_pending()?;
        }
        if durability == Durability::FsyncWal {
            writer.sync()?;
        }
        for request in group {
            apply_to_memstores(&version, request.cells);
        }
        catalog.publish(writer.newest());
        writer.close_long_segment()
    }
}

/// A thread that leads a group. However it ends, those who wait are woken.
struct GroupLeader<'a> {
    log: &'a Log,
    group_len: usize,
    /// The last of the group.
    last: u64,
}

impl Drop for GroupLeader<'_> {
    fn drop(&mut self) {
        drop(self.log.health.poison_on_panic());
        let mut queue = lock(&self.log.queue);
        queue.has_leader = false;
        queue.served = self.last;
        // Whoever leads need not be the one that came last, nor first.
        let others_wait = self.group_len > 1 || !queue.waiting.is_empty();
        drop(queue);
        if others_wait {
            self.log.done.notify_all();
        }
    }
}
