//! The answers of verbs: exit statuses 0 and 1.

/// The answer of a verb (an `hfile` subcommand) that ran to its end.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Answer {
    /// Exit status 0: sound, equal, found, written.
    Positive,
    /// Exit status 1: damaged, different, not found.
    Negative,
}

impl Answer {
    /// Returns `Positive` if `sound` is true.
    pub(crate) const fn from_bool(sound: bool) -> Self {
        if sound { Self::Positive } else { Self::Negative }
    }

    /// Returns `Positive` if both answers are.
    pub(crate) fn and(self, other: Self) -> Self {
        self.max(other)
    }
}
