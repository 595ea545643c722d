//! When a write is acknowledged.

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
