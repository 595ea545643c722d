//! Newtypes for numbers that must not be confused: block offsets, timestamps and sequence ids.

use std::fmt;
use std::ops::Add;

/// The offset of a block, in bytes from the start of its file.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct BlockOffset(u64);

impl BlockOffset {
    /// Returns the offset `bytes` after the start of a file.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// Returns the bytes from the start of the file.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl BlockOffset {
    /// Returns the offset `len` bytes later; saturates.
    #[must_use]
    pub const fn plus(self, len: u64) -> Self {
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
        write!(f, "{:#x}", self.0) // Hexadecimal, as in hex editors.
    }
}

/// The timestamp of a cell, by convention in milliseconds since 1970.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The latest timestamp: HBase's `LATEST_TIMESTAMP`.
    ///
    /// In a put, it means the current time. In a seek key, it sorts before all cells of the column,
    /// because newer cells sort first.
    pub const LATEST: Self = Self(i64::MAX);
    /// The earliest timestamp: HBase's `OLDEST_TIMESTAMP`.
    ///
    /// In a seek key, it sorts after all cells of the column.
    pub const OLDEST: Self = Self(i64::MIN);

    /// Returns a timestamp from milliseconds since 1970.
    pub const fn new(millis: i64) -> Self {
        Self(millis)
    }

    /// Returns the milliseconds since 1970.
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

/// The sequence id of a write, which orders the writes of a store.
///
/// HBase calls the sequence id of a cell its MVCC version.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SequenceId(u64);

impl SequenceId {
    /// The greatest sequence id, `i64::MAX`.
    pub const MAX: Self = Self(i64::MAX.unsigned_abs());

    /// Returns the sequence id with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number; 0 if the cell or file records no sequence id.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for SequenceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
