//! When a family map that could not be built, or a file that could not be read, is tried again.
//!
//! Memory returns when a snapshot ends, and a read of a disk may fail once. So a failed attempt is
//! repeated, first after a tenth of a second, and later after longer delays. A file whose bytes are
//! damaged is not read again: files do not change.

use std::time::{Duration, Instant};

/// A failed attempt, and when the next one may be made.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Backoff {
    /// The delay after the last failure.
    delay: Duration,
    /// `None` if no other attempt is made.
    due: Option<Instant>,
}

impl Backoff {
    const DELAY_MIN: Duration = Duration::from_millis(100);
    const DELAY_MAX: Duration = Duration::from_secs(600);

    /// No other attempt.
    pub(crate) const NEVER: Self = Self { delay: Duration::ZERO, due: None };

    /// Returns the next attempt after one that failed now; `before` was the one before that.
    pub(crate) fn after(before: Option<Self>, now: Instant) -> Self {
        let doubled = before.map_or(Self::DELAY_MIN, |before| before.delay.saturating_mul(2));
        let delay = doubled.clamp(Self::DELAY_MIN, Self::DELAY_MAX);
        Self { delay, due: now.checked_add(delay) }
    }

    pub(crate) const fn due(self) -> Option<Instant> {
        self.due
    }

    pub(crate) fn is_due(self, now: Instant) -> bool {
        self.due.is_some_and(|due| due <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_doubles_and_has_a_limit() {
        let now = Instant::now();
        let mut retry = Backoff::after(None, now);
        assert!(!retry.is_due(now) && retry.is_due(now + Duration::from_millis(100)));
        for _ in 0..5 {
            retry = Backoff::after(Some(retry), now);
        }
        assert_eq!(retry.due(), Some(now + Duration::from_millis(3_200)));
        for _ in 0..40 {
            retry = Backoff::after(Some(retry), now);
        }
        assert_eq!(retry.due(), Some(now + Duration::from_secs(600)));
        assert!(!Backoff::NEVER.is_due(now + Duration::from_secs(1 << 30)));
    }
}
