//! Records builds of maps and reads of files that failed, and schedules the next attempts.

use std::collections::BTreeMap;
use std::time::Instant;

use super::missing::rows_of;
use crate::files::family_map::backoff::Backoff;
use crate::files::version::file_list::Files;
use crate::files::version::store_file::StoreFile;
use crate::files::version::store_version::Family;
use crate::maintenance::background::Maintenance;
use crate::sync::lock;

/// The families whose map could not be built or swept, by id.
pub(crate) type GivenUp = BTreeMap<u16, GivenUpMap>;

/// A map that could not be built or swept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GivenUpMap {
    /// The number of rows of the family at the last attempt.
    rows: u64,
    retry: Backoff,
}

impl GivenUpMap {
    /// Returns whether the next attempt may be made, if the family now has this number of rows.
    ///
    /// Before it is due, only if the number has more than doubled or halved: far fewer rows may
    /// fit, and far more rows gain more from a map.
    pub(super) fn may_try(self, rows: u64, now: Instant) -> bool {
        rows > self.rows.saturating_mul(2) || rows < self.rows / 2 || self.retry.is_due(now)
    }
}

impl Maintenance {
    /// Leaves a file out of all maps until the store is opened again.
    pub(super) fn leave_out(&self, file: &StoreFile) {
        file.set_map_retry(Some(Backoff::NEVER));
        self.count(|counts| counts.map_failures += 1);
    }

    /// Leaves a file out of all maps for a while, because it could not be read.
    pub(super) fn retry_later(&self, file: &StoreFile) {
        let retry = Backoff::after(file.map_retry(), Instant::now());
        file.set_map_retry(Some(retry));
        self.failed(retry);
    }

    /// Records that the map of these files cannot be built or swept now.
    pub(super) fn give_up(&self, family: &Family, files: &Files) {
        let now = Instant::now();
        let mut given_up = lock(&self.maps_given_up);
        let before = given_up.get(&family.id).map(|given_up| given_up.retry);
        let retry = Backoff::after(before, now);
        given_up.insert(family.id, GivenUpMap { rows: rows_of(files, now), retry });
        drop(given_up);
        self.failed(retry);
    }

    /// Counts a failure, and requests the next attempt.
    pub(super) fn failed(&self, retry: Backoff) {
        self.count(|counts| counts.map_failures += 1);
        if let Some(due) = retry.due() {
            self.tasks.want_cover_files_at(due);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_that_was_given_up_is_tried_for_far_more_or_fewer_rows() {
        let now = Instant::now();
        let given_up = GivenUpMap { rows: 1_000, retry: Backoff::after(None, now) };
        let may_try = |rows| given_up.may_try(rows, now);
        assert!(may_try(499) && !may_try(500) && !may_try(2_000) && may_try(2_001));
        assert!(given_up.may_try(1_000, now + std::time::Duration::from_millis(100)));
    }
}
