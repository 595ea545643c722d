//! What a filter of a file says about a read.

/// The answer of a file's filter about a row.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FilterAnswer {
    /// The file does not hold the row.
    No,
    /// The file may hold the row.
    Maybe,
    /// No filter was queried: the file has none that covers such a read, or a family map has answered.
    NotCovered,
    /// The file has a filter that covers the read, but the filter cannot be read.
    Unreadable,
}

impl FilterAnswer {
    pub(super) const fn of(may_contain: bool) -> Self {
        if may_contain { Self::Maybe } else { Self::No }
    }

    /// Returns whether a filter has answered.
    pub(super) const fn is_of_filter(self) -> bool {
        matches!(self, Self::No | Self::Maybe)
    }
}
