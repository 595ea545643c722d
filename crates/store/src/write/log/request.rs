//! A request to commit one batch.

use sstable::Cell;

use crate::options::Durability;

/// A batch with its durability.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) cells: Vec<Cell>,
    pub(super) durability: Durability,
    pub(super) default_timestamp: DefaultTimestamp,
}

/// The timestamp of cells that are written without one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DefaultTimestamp {
    /// The clock's time at the commit.
    Now,
    /// The sequence id of the batch.
    SequenceId,
}
