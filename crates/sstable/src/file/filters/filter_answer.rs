//! What a filter of a file says about a read.

use crate::trace::ReadTrace;

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

    /// Counts the check and, if the answer is no, the skipped file; or the unreadable filter.
    pub(super) fn counted(self, trace: &mut ReadTrace) -> Self {
        match self {
            Self::No | Self::Maybe => {
                trace.filter_checks += 1;
                trace.files_skipped_by_filter += u64::from(self == Self::No);
            }
            Self::NotCovered => {}
            Self::Unreadable => trace.filters_unreadable += 1,
        }
        self
    }
}
