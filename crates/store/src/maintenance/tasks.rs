//! The pending work of a store's background threads, and the waits for it.
//!
//! A store has two threads: one writes the log and flushes memstores, the other compacts files.

use std::time::{Duration, Instant};

use crate::sync::{Condvar, Mutex, lock, wait, wait_at_most};

/// The pending work, and the condition variable that announces it.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    wanted: Mutex<Wanted>,
    /// Notified when work is added, when a flush ends and when the threads are asked to end.
    changed: Condvar,
}

#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each requests other work")]
struct Wanted {
    flush: bool,
    compact: bool,
    /// Whether the family maps may lack files.
    cover_files: bool,
    /// When the family maps are looked at again; `None` for after the next change of the files.
    cover_due: Option<Instant>,
    /// When compactions are due: one that lacked space, or the removal of the next expired file.
    compact_due: Option<Instant>,
    /// When a flush that lacked space is tried again; `None` if none did.
    flush_due: Option<Instant>,
    /// When the delayed writes of the log must be written; `None` if there are none.
    log_due: Option<Instant>,
    /// Whether the threads are asked to end.
    stop: bool,
    /// The number of flushes that ended, successfully or not.
    ///
    /// A failed task and the end of a thread also count, so that writers that wait for a flush
    /// check whether the store still accepts writes.
    flushes: u64,
}

impl Wanted {
    /// Takes a request to cover files that is due.
    fn take_cover_files(&mut self, now: Instant) -> bool {
        let is_due = self.cover_due.is_some_and(|due| due <= now);
        if is_due {
            self.cover_due = None;
        }
        std::mem::take(&mut self.cover_files) || is_due
    }
}

/// The kind of tasks that a thread runs.
///
/// Flushes have a thread of their own, so that they do not wait for a compaction.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Duty {
    /// Flushes, and delayed writes of the log.
    Flush,
    /// Compactions, and reading files into family maps.
    Compact,
}

/// The next task of a thread.
pub(super) enum Task {
    WriteLog,
    Flush,
    Compact,
    CoverFiles,
}

impl Tasks {
    /// Delay until an [`Async`](crate::Durability::Async) write is in the log.
    const LOG_DELAY: Duration = Duration::from_millis(100);
    /// Time until a flush that lacked space is tried again.
    const FLUSH_DELAY: Duration = Duration::from_secs(1);
    /// Time until a compaction that lacked space is tried again.
    const COMPACT_DELAY: Duration = Duration::from_secs(30);
    /// Time until the reads of a family are counted again, which may be worth a family map.
    const COVER_DELAY: Duration = Duration::from_secs(1);
    /// Maximum time until a writer that waits for a flush checks again whether to wait.
    const STALL_MAX: Duration = Duration::from_millis(500);

    pub(super) fn want_flush(&self) {
        // If the last flush lacked space, the next is due after a while and not at once.
        self.want(|wanted| wanted.flush |= wanted.flush_due.is_none());
    }

    /// Requests a flush after a while: the last one lacked space or a descriptor.
    pub(super) fn want_flush_later(&self) {
        self.want(|wanted| wanted.flush_due = Some(Instant::now() + Self::FLUSH_DELAY));
    }

    pub(super) fn want_compaction(&self) {
        self.want(|wanted| wanted.compact = true);
    }

    /// Requests compactions after a while: the last one lacked space or a descriptor.
    pub(super) fn want_compaction_later(&self) {
        self.want_compaction_at(Instant::now() + Self::COMPACT_DELAY);
    }

    /// Ends the delay of flushes: there is space again.
    pub(super) fn end_flush_delay(&self) {
        lock(&self.wanted).flush_due = None;
    }

    /// Requests compactions, not later than at `due`.
    pub(super) fn want_compaction_at(&self, due: Instant) {
        self.want(|wanted| {
            let due = wanted.compact_due.map_or(due, |earlier| earlier.min(due));
            wanted.compact_due = Some(due);
        });
    }

    pub(super) fn want_cover_files(&self) {
        self.want(|wanted| wanted.cover_files = true);
    }

    /// Requests another look at the family maps, not later than at `due`.
    pub(super) fn want_cover_files_at(&self, due: Instant) {
        self.want(|wanted| {
            let due = wanted.cover_due.map_or(due, |earlier| earlier.min(due));
            wanted.cover_due = Some(due);
        });
    }

    /// Requests another look at the family maps after a while.
    pub(super) fn want_cover_files_later(&self) {
        self.want_cover_files_at(Instant::now() + Self::COVER_DELAY);
    }

    /// Takes a request to cover files that is due.
    ///
    /// Compactions call this in between, so that the files are covered while many are compacted.
    pub(super) fn take_cover_files(&self) -> bool {
        lock(&self.wanted).take_cover_files(Instant::now())
    }

    /// Requests a write of the log after the delay, unless one is already requested.
    pub(super) fn want_log(&self) {
        let mut wanted = lock(&self.wanted);
        if wanted.log_due.is_none() {
            wanted.log_due = Some(Instant::now() + Self::LOG_DELAY);
            drop(wanted);
            self.changed.notify_all();
        }
    }

    pub(super) fn stop(&self) {
        self.want(|wanted| wanted.stop = true);
    }

    /// Counts a flush, and wakes the writers that wait for one.
    pub(super) fn flush_ended(&self) {
        self.want(|wanted| wanted.flushes += 1);
    }

    /// Changes the pending work and wakes all waiting threads.
    fn want(&self, note: impl FnOnce(&mut Wanted)) {
        note(&mut lock(&self.wanted));
        self.changed.notify_all();
    }

    /// Returns whether the threads are asked to end.
    pub(super) fn is_stopping(&self) -> bool {
        lock(&self.wanted).stop
    }

    /// Returns the number of flushes that ended, successfully or not.
    pub(super) fn flushes(&self) -> u64 {
        lock(&self.wanted).flushes
    }

    /// Waits until another flush ends, but at most `max`, and at most half a second.
    ///
    /// `before` is an earlier result of [`flushes`](Self::flushes). Returns immediately if a flush
    /// has ended since then. Also returns when the threads are asked to end.
    pub(super) fn wait_for_flush(&self, before: u64, max: Duration) {
        let due = Instant::now() + max.min(Self::STALL_MAX);
        let mut wanted = lock(&self.wanted);
        while wanted.flushes == before && !wanted.stop {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            wanted = wait_at_most(&self.changed, wanted, left);
        }
    }

    /// Waits for the next task of a thread; `None` if the thread must end.
    ///
    /// A write of the log that is due comes before a flush.
    pub(super) fn next(&self, duty: Duty) -> Option<Task> {
        let mut wanted = lock(&self.wanted);
        loop {
            let now = Instant::now();
            if wanted.stop {
                return None;
            }
            let dues = if duty == Duty::Compact {
                let retries = wanted.compact_due.is_some_and(|due| due <= now);
                if std::mem::take(&mut wanted.compact) || retries {
                    wanted.compact_due = None;
                    return Some(Task::Compact);
                }
                if wanted.take_cover_files(now) {
                    return Some(Task::CoverFiles);
                }
                [wanted.cover_due, wanted.compact_due]
            } else {
                if wanted.log_due.is_some_and(|due| due <= now) {
                    wanted.log_due = None;
                    return Some(Task::WriteLog);
                }
                let retries = wanted.flush_due.is_some_and(|due| due <= now);
                if std::mem::take(&mut wanted.flush) || retries {
                    wanted.flush_due = None;
                    return Some(Task::Flush);
                }
                [wanted.log_due, wanted.flush_due]
            };
            wanted = match dues.into_iter().flatten().min() {
                None => wait(&self.changed, wanted),
                Some(due) => wait_at_most(&self.changed, wanted, due - now),
            };
        }
    }
}
