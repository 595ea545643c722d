//! The timestamp of cells that are written without one.

/// The timestamp of cells that are written without one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DefaultTimestamp {
    /// The clock's time at the commit.
    Now,
    /// The sequence id of the batch.
    SequenceId,
}
