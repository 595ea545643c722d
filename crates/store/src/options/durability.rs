//! When a write is acknowledged.

/// When a write is acknowledged.
///
/// The text form has HBase's names ([`name`](Self::name)). HBase's `SYNC_WAL` is [`Logged`](Self::Logged):
/// it does not sync the disk.
///
/// ```
/// use store::Durability;
///
/// assert_eq!(Durability::Logged.name(), "SYNC_WAL");
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub enum Durability {
    /// As soon as the write is readable. It is lost if the process ends before a flush or a
    /// [close](crate::Store::close).
    Skip,
    /// As soon as the write is readable; it is logged within some hundred milliseconds, and by a
    /// [close](crate::Store::close).
    Async,
    /// Once the operating system has the log record: the write survives the process.
    #[default]
    Logged,
    /// Once the log record is on disk: the write survives a power cut.
    Synced,
}

impl Durability {
    /// Every level, from the weakest to the strongest.
    #[doc(hidden)]
    pub const ALL: [Self; 4] = [Self::Skip, Self::Async, Self::Logged, Self::Synced];

    /// Returns HBase's name: `SKIP_WAL`, `ASYNC_WAL`, `SYNC_WAL` or `FSYNC_WAL`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Skip => "SKIP_WAL",
            Self::Async => "ASYNC_WAL",
            Self::Logged => "SYNC_WAL",
            Self::Synced => "FSYNC_WAL",
        }
    }
}
