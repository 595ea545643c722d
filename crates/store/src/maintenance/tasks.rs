//! The pending work of a store's threads.

use std::time::{Duration, Instant};

use crate::sync::{Condvar, Mutex, lock, wait, wait_at_most};

/// The pending work, and the condition variable that announces it.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    wanted: Mutex<Wanted>,
    /// Signalled when work is added or done.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Wanted {
    flush: bool,
    compact: bool,
    log_due: Option<Instant>,
    stop: bool,
    /// Flushes that ended, successfully or not.
    flushes: u64,
}

/// What a thread does. Flushes have their own thread, so that they do not wait for a compaction.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Duty {
    Flush,
    Compact,
}

/// The next work of a thread.
pub(super) enum Task {
    WriteLog,
    Flush,
    Compact,
}

impl Tasks {
    /// Delay until an [`AsyncWal`](crate::Durability::AsyncWal) write is in the log.
    const LOG_DELAY: Duration = Duration::from_millis(100);
    /// Interval at which a writer that waits for a flush checks its condition.
    const STALL_MAX: Duration = Duration::from_millis(500);

    pub(super) fn want_flush(&self) {
        self.want(|wanted| wanted.flush = true);
    }

    pub(super) fn want_compaction(&self) {
        self.want(|wanted| wanted.compact = true);
    }

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

    pub(super) fn flush_ended(&self) {
        self.want(|wanted| wanted.flushes += 1);
    }

    fn want(&self, note: impl FnOnce(&mut Wanted)) {
        note(&mut lock(&self.wanted));
        self.changed.notify_all();
    }

    /// Returns whether the threads are asked to end.
    pub(super) fn is_stopping(&self) -> bool {
        lock(&self.wanted).stop
    }

    /// Returns the number of flushes that ended.
    pub(super) fn flushes(&self) -> u64 {
        lock(&self.wanted).flushes
    }

    /// Waits until more than `before` flushes have ended, or a timeout of at most `max` has passed.
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

    /// Waits for work. Returns `None` when the thread is to end.
    pub(super) fn next(&self, duty: Duty) -> Option<Task> {
        let mut wanted = lock(&self.wanted);
        loop {
            let now = Instant::now();
            if wanted.stop {
                return None;
            }
            if duty == Duty::Compact {
                if std::mem::take(&mut wanted.compact) {
                    return Some(Task::Compact);
                }
                wanted = wait(&self.changed, wanted);
                continue;
            }
            if wanted.log_due.is_some_and(|due| due <= now) {
                wanted.log_due = None;
                return Some(Task::WriteLog);
            }
            if std::mem::take(&mut wanted.flush) {
                return Some(Task::Flush);
            }
            wanted = match wanted.log_due {
                None => wait(&self.changed, wanted),
                Some(due) => wait_at_most(&self.changed, wanted, due - now),
            };
        }
    }
}
