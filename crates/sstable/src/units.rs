//! Numbers that must not be mistaken for one another.

use std::fmt;
use std::ops::Add;

/// Where a block starts, in bytes from the start of its file.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct BlockOffset(u64);

impl BlockOffset {
    /// The place `bytes` after the start of a file.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// Bytes from the start of the file.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl BlockOffset {
    /// The place `len` bytes behind this one; the greatest place of all if there is none.
    pub(crate) const fn plus(self, len: u64) -> Self {
        Self(self.0.saturating_add(len))
    }
}

impl Add<u64> for BlockOffset {
    type Output = Self;

    fn add(self, len: u64) -> Self {
        self.plus(len)
    }
}

impl fmt::Display for BlockOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0) // As `hfile layout` and a hex editor show it.
    }
}

/// The time of a cell, in milliseconds since 1970 unless its user means something else by it.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Later than every cell: "now" in a put, the start of a column in a seek (`LATEST_TIMESTAMP`).
    pub const LATEST: Self = Self(i64::MAX);
    /// Earlier than every cell, for seeks that must land behind a column (`OLDEST_TIMESTAMP`).
    pub const OLDEST: Self = Self(i64::MIN);

    /// A time in milliseconds.
    pub const fn new(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970.
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::LATEST => f.write_str("LATEST_TIMESTAMP"),
            Self::OLDEST => f.write_str("OLDEST_TIMESTAMP"),
            Self(millis) => write!(f, "{millis}"),
        }
    }
}

/// The order in which a store took its writes: HBase's sequence id, in a cell its mvcc.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SequenceId(u64);

impl SequenceId {
    /// Newer than every write.
    pub const MAX: Self = Self(i64::MAX.unsigned_abs());

    /// The `number`th write.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number of the write; 0 where none was recorded.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for SequenceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
