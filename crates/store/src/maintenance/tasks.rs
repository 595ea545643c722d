//! What there is to do for the threads of a store, and who waits until it is done.

use std::time::{Duration, Instant};

use crate::sync::{Condvar, Mutex, lock, wait, wait_at_most};

/// What there is to do, and who waits for it.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    wanted: Mutex<Wanted>,
    /// Something is to be done, or was done.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Wanted {
    flush: bool,
    compact: bool,
    log_due: Option<Instant>,
    stop: bool,
    /// Flushes that ended, well or not.
    flushes: u64,
}

/// What a thread is there for. A compaction takes long, and no flush must wait for it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Duty {
    Flush,
    Compact,
}

/// What a thread does next.
pub(super) enum Task {
    WriteLog,
    Flush,
    Compact,
}

impl Tasks {
    /// How late an [`AsyncWal`](crate::Durability::AsyncWal) write may reach the log.
    const LOG_DELAY: Duration = Duration::from_millis(100);
    /// How long a writer waits for a flush before it looks again whether it still must.
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

    /// Whether the threads are about to end.
    pub(super) fn is_stopping(&self) -> bool {
        lock(&self.wanted).stop
    }

    /// How many flushes have ended.
    pub(super) fn flushes(&self) -> u64 {
        lock(&self.wanted).flushes
    }

    /// Waits until another flush has ended than those `before`, or some time has passed, `max` at
    /// most.
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

    /// Waits for something to do; `None` if there will be nothing more.
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
