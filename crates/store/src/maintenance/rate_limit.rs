//! The bytes per second that the compactions of a store may write together.

use std::time::{Duration, Instant};

use crate::sync::{Mutex, lock};

/// The bytes per second that all compactions of a store may write together.
#[derive(Debug)]
pub(super) struct RateLimit {
    bytes_per_second: Option<u64>,
    /// When the bytes that were written so far are within the limit.
    due: Mutex<Option<Instant>>,
}

impl RateLimit {
    pub(super) fn new(bytes_per_second: Option<u64>) -> Self {
        Self { bytes_per_second, due: Mutex::default() }
    }

    /// Counts written bytes. Returns when they are within the limit; `None` without a limit.
    pub(super) fn count(&self, written: u64) -> Option<Instant> {
        let rate = self.bytes_per_second?;
        let duration = Duration::from_secs_f64(written as f64 / rate.max(1) as f64);
        let (mut due, now) = (lock(&self.due), Instant::now());
        let before = due.map_or(now, |due| due.max(now));
        *due = Some(before + duration);
        *due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_all_compactions_are_within_one_limit() {
        let limit = RateLimit::new(Some(1_000));
        let start = Instant::now();
        let one = limit.count(10_000).unwrap();
        assert!(one >= start + Duration::from_secs(10));
        assert_eq!(limit.count(5_000).unwrap(), one + Duration::from_secs(5));
        assert_eq!(RateLimit::new(None).count(u64::MAX), None);
    }
}
