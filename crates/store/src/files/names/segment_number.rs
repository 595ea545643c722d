//! The number of a log segment, which is the name of its file.

use std::fmt;
use std::path::{Path, PathBuf};

/// The number of a log segment. Segments are numbered in the order of their writes.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct SegmentNumber(pub(crate) u64);

impl SegmentNumber {
    pub(crate) const FIRST: Self = Self(1);
    /// A number after all segments; no segment has it.
    pub(crate) const END: Self = Self(u64::MAX);

    /// Returns the number of the segment after this one.
    ///
    /// # Panics
    ///
    /// If this is [`END`](Self::END).
    pub(crate) const fn next(self) -> Self {
        Self(self.0.checked_add(1).expect("no segment follows the end"))
    }

    pub(crate) fn path(self, directory: &Path) -> PathBuf {
        directory.join(self.to_string())
    }

    /// Parses the name of a segment file. Returns `None` for any other name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let digits = name.strip_suffix(".wal")?;
        let number = Self(u64::from_str_radix(digits, 16).ok()?);
        (number.to_string() == name && number < Self::END).then_some(number)
    }
}

impl fmt::Display for SegmentNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}.wal", self.0)
    }
}
