//! The rate limit of a compaction, and its end when the store closes.

use std::time::{Duration, Instant};

use crate::maintenance::tasks::Tasks;
use crate::sync::sleep;

/// Limits the rate of one compaction, and stops it when the store closes.
#[derive(Debug)]
pub(super) struct Pace<'a> {
    tasks: &'a Tasks,
    bytes_per_second: Option<u64>,
    start: Instant,
}

impl<'a> Pace<'a> {
    /// Interval at which a waiting compaction checks whether the store closes.
    const SLEEP_MAX: Duration = Duration::from_millis(20);

    pub(super) fn new(tasks: &'a Tasks, bytes_per_second: Option<u64>) -> Self {
        Self { tasks, bytes_per_second, start: Instant::now() }
    }

    /// Waits until the rate allows `written` bytes. Returns `false` if the store closes.
    pub(super) fn goes_on(&self, written: u64) -> bool {
        let due = self.bytes_per_second.map_or(Duration::ZERO, |rate| {
            Duration::from_secs_f64(written as f64 / rate.max(1) as f64)
        });
        while !self.tasks.is_stopping() {
            match due.checked_sub(self.start.elapsed()) {
                None | Some(Duration::ZERO) => return true,
                Some(early) => sleep(early.min(Self::SLEEP_MAX)),
            }
        }
        false
    }
}
