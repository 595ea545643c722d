//! The rate limit of compactions, and the end of one when the store closes or its family is dropped.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::maintenance::family_turns::FamilyTurn;
use crate::maintenance::rate_limit::RateLimit;
use crate::maintenance::tasks::Tasks;
use crate::sync::sleep;

/// Limits the rate of one compaction, and ends it early.
#[derive(Debug)]
pub(super) struct Pace<'a> {
    tasks: &'a Tasks,
    turn: &'a FamilyTurn<'a>,
    limit: &'a RateLimit,
    /// The bytes that were counted so far.
    counted: Cell<u64>,
}

impl<'a> Pace<'a> {
    /// Interval at which a waiting compaction checks whether it must end.
    const SLEEP_MAX: Duration = Duration::from_millis(20);

    pub(super) const fn new(
        tasks: &'a Tasks,
        turn: &'a FamilyTurn<'a>,
        limit: &'a RateLimit,
    ) -> Self {
        Self { tasks, turn, limit, counted: Cell::new(0) }
    }

    /// Waits until the rate allows `written` bytes.
    ///
    /// Returns `false` if the store closes or the family is to be dropped.
    pub(super) fn goes_on(&self, written: u64) -> bool {
        let new = written - self.counted.replace(written);
        let due = if new == 0 { None } else { self.limit.count(new) };
        while !self.tasks.is_stopping() && !self.turn.is_cancelled() {
            let early =
                due.map_or(Duration::ZERO, |due| due.saturating_duration_since(Instant::now()));
            if early.is_zero() {
                return true;
            }
            sleep(early.min(Self::SLEEP_MAX));
        }
        false
    }
}
