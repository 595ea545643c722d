//! Group commit: a batch goes to the log, then to the memstores, then becomes visible and
//! acknowledged.
//!
//! Threads that write at the same time form a group. The first one is the leader: it writes the
//! batches of the group with one call to the operating system and, if one of them needs it, one
//! sync; the end of a segment divides a group. A batch has one sequence id. Readers see all of a batch or nothing, because they read up
//! to the last published sequence id.
//!
//! ```text
//! batch ─┐
//! batch ─┼─ queue ─ leader: log (one write, one sync) ─ memstores ─ publish ─ wake the group
//! batch ─┘
//! ```

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cells::Clock;
use smallvec::SmallVec;
use sstable::{Cell, SequenceId, Timestamp};

use super::log_tail::LogTail;
use super::request::Request;
use super::writer::LogWriter;
use crate::error::{Error, Result};
use crate::files::catalog::Catalog;
use crate::files::names::sequence;
use crate::health::Health;
use crate::options::{Durability, StoreOptions};
use crate::read::view::ReadView;
use crate::sync::{Condvar, Mutex, MutexGuard, lock, wait};
use crate::write::accepted_batch::{AcceptedBatch, check_cells};
use crate::write::mutation::WriteBatch;
use crate::write::replace::{may_replace, remove_replaced};
use crate::write::row_times::RowTimes;

/// The log of an open store, and the queue of the threads that write to it.
#[derive(Debug)]
pub(crate) struct Log {
    queue: Mutex<Queue>,
    done: Condvar,
    writer: Mutex<LogWriter>,
    written_bytes: Arc<AtomicU64>,
    clock: Clock,
    health: Arc<Health>,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: Vec<Request<WriteBatch>>,
    /// Number of requests so far, including the leader's own. A request's ticket is its number.
    enqueued: u64,
    /// Number of requests that were committed or refused.
    completed: u64,
    /// The errors of refused requests, by ticket, until their threads take them.
    refused: BTreeMap<u64, Error>,
    has_leader: bool,
}

impl Queue {
    /// Returns the error of a completed request, if it was refused.
    fn take_refusal(&mut self, ticket: u64) -> Result<()> {
        self.refused.remove(&ticket).map_or(Ok(()), Err)
    }
}

impl Log {
    /// Maximum bytes of pending records of asynchronous writes.
    const PENDING_BYTES_MAX: usize = 256 << 10;

    /// Creates the log that continues at `tail`; `newest` is the last assigned sequence id.
    pub(crate) fn new(
        tail: LogTail,
        newest: SequenceId,
        times: RowTimes,
        options: &StoreOptions,
        health: Arc<Health>,
    ) -> Self {
        let writer = LogWriter::new(tail, newest, times, options.wal_segment_bytes);
        Self {
            queue: Mutex::default(),
            done: Condvar::new(),
            written_bytes: writer.written_bytes(),
            writer: Mutex::new(writer),
            clock: options.clock.clone(),
            health,
        }
    }

    /// Returns the bytes of records written since the store was opened.
    pub(crate) fn written_bytes(&self) -> u64 {
        self.written_bytes.load(Ordering::Relaxed)
    }

    /// Locks the writer, which keeps all other threads from writing.
    pub(crate) fn writer(&self) -> MutexGuard<'_, LogWriter> {
        lock(&self.writer)
    }

    /// Writes the pending records to the operating system.
    pub(crate) fn write_pending(&self) -> Result<()> {
        let written = self.writer().write_pending();
        written.map_err(|error| self.health.poison_unless_shortage(error))
    }

    /// Commits a batch, and returns once the batch has the requested durability.
    pub(crate) fn commit(
        &self,
        catalog: &Catalog,
        batch: WriteBatch,
        durability: Durability,
    ) -> Result<()> {
        self.health.check_writable()?;
        let mut queue = lock(&self.queue);
        queue.enqueued += 1;
        let ticket = queue.enqueued;
        let request = Request { ticket, batch, durability, replaces: false };
        if queue.has_leader {
            queue.waiting.push(request);
            loop {
                queue = wait(&self.done, queue);
                if queue.completed >= ticket {
                    self.health.check_writable()?;
                    return queue.take_refusal(ticket);
                }
                if !queue.has_leader {
                    break;
                }
            }
        } else {
            // The leader also takes waiting requests whose threads have not woken up yet.
            queue.waiting.push(request);
        }
        queue.has_leader = true;
        let group = mem::take(&mut queue.waiting);
        let incomplete = queue.enqueued - queue.completed;
        assert_eq!(group.len() as u64, incomplete, "each request is in one group");
        let (group_len, last_ticket) = (group.len(), queue.enqueued);
        let mut leader =
            GroupLeader { log: self, group_len, last_ticket, refused: BTreeMap::new() };
        drop(queue);
        let result = self.health.check_writable();
        let result = result.and_then(|()| self.commit_group(catalog, &mut self.writer(), group));
        leader.refused = result.map_err(|error| self.health.poison(error))?;
        leader.refused.remove(&ticket).map_or(Ok(()), Err)
    }

    /// Computes cells from the present state and commits them, while no other thread writes.
    ///
    /// Returns the cells. Commits nothing if `compute` fails or returns no cell. If `replaces`, the
    /// cells [replace](crate::write::replace) older versions in the memstore where they may.
    pub(crate) fn commit_computed(
        &self,
        catalog: &Catalog,
        durability: Durability,
        replaces: bool,
        compute: impl FnOnce(&ReadView, &mut RowTimes) -> Result<Vec<Cell>>,
    ) -> Result<Vec<Cell>> {
        let _watch = self.health.poison_on_panic();
        let mut writer = self.writer();
        self.health.check_writable()?;
        let mut cells = compute(&ReadView::current(catalog), writer.times())?;
        check_cells(&cells)?;
        let replaces = replaces && may_replace(catalog, &cells);
        let batch = WriteBatch { cells: cells.clone(), ..WriteBatch::default() };
        let request = Request { ticket: 0, batch, durability, replaces };
        let newest_before = writer.newest();
        let result = self.commit_group(catalog, &mut writer, vec![request]);
        let mut refused = result.map_err(|error| self.health.poison(error))?;
        refused.remove(&0).map_or(Ok(()), Err)?;
        if writer.newest() == newest_before {
            return Ok(Vec::new());
        }
        for cell in &mut cells {
            cell.set_sequence_id(writer.newest());
            if cell.timestamp() == Timestamp::LATEST {
                // As `log_batch` has set it.
                cell.set_timestamp(sequence::as_timestamp(writer.newest()));
            }
        }
        if replaces {
            // A read that has begun meanwhile may see the older versions. They stay then, until the
            // next replacement.
            catalog.with_unread(|version| remove_replaced(version, &cells));
        }
        Ok(cells)
    }

    /// Commits the requests of a group, except those that the current version does not accept, and
    /// those for which there is no space.
    ///
    /// Returns the errors of refused requests, by ticket.
    fn commit_group(
        &self,
        catalog: &Catalog,
        writer: &mut LogWriter,
        group: Vec<Request<WriteBatch>>,
    ) -> Result<BTreeMap<u64, Error>> {
        // While the writer is locked, no flush can replace the active memstores, and no family is
        // dropped.
        let version = catalog.version();
        // Most groups are of one request, which needs no allocation.
        let (mut accepted, mut refused) = (SmallVec::<[_; 1]>::new(), BTreeMap::new());
        for Request { ticket, batch, durability, replaces } in group {
            match AcceptedBatch::new(&version, batch) {
                Ok(batch) if batch.cells.is_empty() => {}
                Ok(batch) => accepted.push(Request { ticket, batch, durability, replaces }),
                Err(error) => {
                    refused.insert(ticket, error);
                }
            }
        }
        let mut left = &mut accepted[..];
        while !left.is_empty() {
            let mark = writer.mark();
            let logged = match self.log_part(catalog, writer, left) {
                Ok(logged) => logged,
                Err(error) if error.is_shortage() => {
                    // Nothing of the part was logged, so nothing of it is applied.
                    writer.return_to(mark);
                    let tickets = left.iter().map(|request| request.ticket);
                    refused.extend(tickets.map(|ticket| (ticket, error.copy_of_shortage())));
                    break;
                }
                Err(error) => return Err(error),
            };
            let (part, later) = left.split_at_mut(logged);
            for request in part {
                request.batch.move_to_memstores();
            }
            left = later;
            catalog.publish_writes(writer.newest());
            // The end of a segment makes all writes before it durable.
            if writer.has_long_segment() {
                match writer.close_segment() {
                    // The part is committed. `begin_segment` tries again.
                    Err(error) if error.is_shortage() => {}
                    closed => closed?,
                }
            }
        }
        Ok(refused)
    }

    /// Logs a prefix of `requests`, and returns its length.
    ///
    /// They are in one segment, so that a lack of space leaves all or none of them in the log.
    fn log_part(
        &self,
        catalog: &Catalog,
        writer: &mut LogWriter,
        requests: &mut [Request<AcceptedBatch<'_>>],
    ) -> Result<usize> {
        let now = self.clock.now();
        let (mut durability, mut logged) = (Durability::Skip, 0);
        for request in requests {
            let is_logged = request.durability != Durability::Skip;
            if durability > Durability::Skip && is_logged && writer.has_long_segment() {
                break;
            }
            durability = durability.max(request.durability);
            if is_logged {
                writer.begin_segment(catalog)?;
            }
            writer.log_batch(request, now)?;
            logged += 1;
        }
        if durability >= Durability::Logged || writer.pending_len() > Self::PENDING_BYTES_MAX {
            writer.write_pending()?;
        }
        if durability == Durability::Synced {
            writer.sync()?;
        }
        Ok(logged)
    }
}

/// Guards the leader of a group: when dropped, also by a panic, it wakes the waiting threads.
struct GroupLeader<'a> {
    log: &'a Log,
    group_len: usize,
    last_ticket: u64,
    /// The errors of refused requests, except the leader's own.
    refused: BTreeMap<u64, Error>,
}

impl Drop for GroupLeader<'_> {
    fn drop(&mut self) {
        // Before the waiting threads wake: after a panic of the leader, the store takes no writes.
        self.log.health.poison_if_panicking();
        let mut queue = lock(&self.log.queue);
        queue.has_leader = false;
        queue.completed = self.last_ticket;
        queue.refused.append(&mut self.refused);
        let others_wait = self.group_len > 1 || !queue.waiting.is_empty();
        drop(queue);
        if others_wait {
            self.log.done.notify_all();
        }
    }
}
