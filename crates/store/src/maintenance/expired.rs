//! Removes files all of whose cells have expired, without reading them.
//!
//! A compaction would drop each of their cells, and reads skip the files already: by the family's TTL,
//! if it keeps no minimum of versions. Snapshots and scans that began before keep the files until they
//! end, as after a compaction.
//!
//! HBase: `hbase.store.delete.expired.storefile`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sstable::Timestamp;

use super::background::Maintenance;
use crate::error::Result;
use crate::files::catalog::Catalog;
use crate::files::version::store_file::StoreFile;
use crate::files::version::store_version::FamilyVersion;

impl Maintenance {
    /// Time until expired files are looked for again, at least.
    const EXPIRY_DELAY_MIN: Duration = Duration::from_secs(1);
    /// And at most, so that the clock is asked often enough to follow its jumps.
    const EXPIRY_DELAY_MAX: Duration = Duration::from_secs(600);

    /// Removes the expired files of a family, whose turn the caller has.
    pub(super) fn remove_expired_files(&self, catalog: &Catalog, name: &str) -> Result<()> {
        let version = Arc::clone(catalog.version().known_family(name.as_bytes())?);
        let expired: Vec<_> = expired_files(catalog, &version).cloned().collect();
        if expired.is_empty() {
            return Ok(());
        }
        catalog.replace_files(&version.family, &expired, None)?;
        self.count(|counts| counts.files_expired += expired.len() as u64);
        Ok(())
    }

    /// Requests a look for expired files, for the time when the next file expires.
    pub(super) fn schedule_expiry(&self, catalog: &Catalog) {
        let version = catalog.version();
        let expires = |family: &Arc<FamilyVersion>| {
            let options = &family.family.options;
            let ttl = options.ttl.filter(|_| options.min_versions == 0)?;
            let newest = family.files.by_sequence().map(|file| file.newest());
            let first = newest.filter(|newest| *newest < Timestamp::LATEST).min()?;
            let ttl = i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX);
            // A cell expires once it is older than the TTL.
            Some(first.get().saturating_add(ttl).saturating_add(1))
        };
        let Some(due) = version.families.iter().filter_map(expires).min() else { return };
        let millis = due.saturating_sub(catalog.clock.now_for_expiry().get());
        let delay = Duration::from_millis(u64::try_from(millis).unwrap_or(0));
        let delay = delay.clamp(Self::EXPIRY_DELAY_MIN, Self::EXPIRY_DELAY_MAX);
        self.tasks.want_compaction_at(Instant::now() + delay);
    }
}

/// Returns the files of a family all of whose cells have expired.
pub(super) fn expired_files<'v>(
    catalog: &Catalog,
    version: &'v FamilyVersion,
) -> impl Iterator<Item = &'v Arc<StoreFile>> {
    let options = &version.family.options;
    let oldest_unexpired = options.retention().oldest_unexpired(|| catalog.clock.now_for_expiry());
    let has_expired = move |file: &&Arc<StoreFile>| file.newest() < oldest_unexpired;
    version.files.by_sequence().filter(has_expired).filter(|_| options.min_versions == 0)
}
