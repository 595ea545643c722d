//! When a write is acknowledged.

use std::fmt;

/// When a write is acknowledged. The variants are named as in HBase.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub enum Durability {
    /// As soon as the write is readable. It is lost if the process ends before a flush.
    SkipWal,
    /// As soon as the write is readable; it is logged within some hundred milliseconds.
    AsyncWal,
    /// Once the operating system has the log record: the write survives the process.
    #[default]
    SyncWal,
    /// Once the log record is on disk: the write survives a power cut.
    FsyncWal,
}

impl Durability {
    /// Every level, from the weakest to the strongest.
    pub const ALL: [Self; 4] = [Self::SkipWal, Self::AsyncWal, Self::SyncWal, Self::FsyncWal];

    /// Returns HBase's name: `SKIP_WAL`, `ASYNC_WAL`, `SYNC_WAL` or `FSYNC_WAL`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SkipWal => "SKIP_WAL",
            Self::AsyncWal => "ASYNC_WAL",
            Self::SyncWal => "SYNC_WAL",
            Self::FsyncWal => "FSYNC_WAL",
        }
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
