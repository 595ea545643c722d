//! One batch on its way into the log.

use sstable::Cell;

use crate::options::Durability;

/// A batch, and how it is to be written.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) cells: Vec<Cell>,
    pub(super) durability: Durability,
    pub(super) default_timestamp: DefaultTimestamp,
}

/// What becomes the timestamp of cells that leave it open.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DefaultTimestamp {
    /// The time of the write.
    Now,
    /// The sequence id of the write.
    SequenceId,
}
