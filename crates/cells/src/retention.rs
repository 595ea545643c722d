//! Which cells a family keeps.

use std::fmt;
use std::time::Duration;

use crate::units::Timestamp;

/// Whether deleted cells are kept. The variants are named as in HBase.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum KeepDeletedCells {
    /// Flushes and compactions drop deleted cells.
    #[default]
    False,
    /// Deleted cells are kept within the limits of versions and TTL. Reads whose time range ends
    /// before the marker show them.
    True,
    /// As `True`, until the marker itself is older than the TTL.
    Ttl,
}

impl KeepDeletedCells {
    /// Returns HBase's name: `FALSE`, `TRUE` or `TTL`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::False => "FALSE",
            Self::True => "TRUE",
            Self::Ttl => "TTL",
        }
    }
}

impl fmt::Display for KeepDeletedCells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which cells of a family a flush or compaction keeps, and a read shows. The defaults are HBase's.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
pub struct Retention {
    /// The maximum number of versions of a column.
    pub versions: u32,
    /// The number of versions of a column that are kept although they have expired.
    pub min_versions: u32,
    /// The time after which cells expire; `None` for never.
    pub ttl: Option<Duration>,
    /// Whether deleted cells are kept.
    pub keep_deleted_cells: KeepDeletedCells,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            versions: 1,
            min_versions: 0,
            ttl: None,
            keep_deleted_cells: KeepDeletedCells::False,
        }
    }
}

impl Retention {
    /// Sets the maximum number of versions of a column.
    pub const fn versions(mut self, versions: u32) -> Self {
        self.versions = versions;
        self
    }

    /// Sets the number of versions of a column that are kept although they have expired.
    pub const fn min_versions(mut self, versions: u32) -> Self {
        self.min_versions = versions;
        self
    }

    /// Sets the time after which cells expire.
    pub const fn ttl(mut self, ttl: Option<Duration>) -> Self {
        self.ttl = ttl;
        self
    }

    /// Sets whether deleted cells are kept.
    pub const fn keep_deleted_cells(mut self, keep: KeepDeletedCells) -> Self {
        self.keep_deleted_cells = keep;
        self
    }

    /// Returns the oldest timestamp that has not expired by the TTL.
    ///
    /// Calls `now`, which may read the clock, only if there is a TTL.
    pub fn oldest_unexpired(&self, now: impl FnOnce() -> Timestamp) -> Timestamp {
        self.ttl.map_or(Timestamp::OLDEST, |ttl| {
            let millis = i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX);
            Timestamp::new(now().get().saturating_sub(millis))
        })
    }
}
