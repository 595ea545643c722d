//! Records builds of maps and reads of files that failed, and schedules the next attempts.

use std::time::Instant;

use super::missing::rows_of;
use crate::family_map::backoff::Backoff;
use crate::files::version::file_list::Files;
use crate::files::version::store_file::StoreFile;
use crate::files::version::store_version::Family;
use crate::maintenance::background::Maintenance;
use crate::maintenance::failed_maps::FailedMap;
use crate::sync::lock;

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
        let mut failed = lock(&self.failed_maps);
        let before = failed.get(&family.id).map(|failed| failed.retry);
        let retry = Backoff::after(before, now);
        failed.insert(family.id, FailedMap { rows: rows_of(files, now), retry });
        drop(failed);
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
