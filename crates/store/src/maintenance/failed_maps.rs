//! The families whose map could not be built or swept.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::family_map::backoff::Backoff;

/// The families whose map could not be built or swept, by id.
pub(crate) type FailedMaps = BTreeMap<u16, FailedMap>;

/// A map that could not be built or swept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FailedMap {
    /// The number of rows of the family at the last attempt.
    pub(crate) rows: u64,
    pub(crate) retry: Backoff,
}

impl FailedMap {
    /// Returns whether the next attempt may be made, if the family now has this number of rows.
    ///
    /// Before it is due, only if the number has more than doubled or halved: far fewer rows may
    /// fit, and far more rows gain more from a map.
    pub(crate) fn may_try(self, rows: u64, now: Instant) -> bool {
        rows > self.rows.saturating_mul(2) || rows < self.rows / 2 || self.retry.is_due(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_that_was_given_up_is_tried_for_far_more_or_fewer_rows() {
        let now = Instant::now();
        let failed = FailedMap { rows: 1_000, retry: Backoff::after(None, now) };
        let may_try = |rows| failed.may_try(rows, now);
        assert!(may_try(499) && !may_try(500) && !may_try(2_000) && may_try(2_001));
        assert!(failed.may_try(1_000, now + std::time::Duration::from_millis(100)));
    }
}
